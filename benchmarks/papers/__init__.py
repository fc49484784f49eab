"""Every table and figure of the five papers, run again: `python -m benchmarks.papers`.

tables.py       a table is made of cells; a cell is a number of a run beside the paper's
corpora.py      the papers' data, or what stands in for it
losses.py       LOSS tables 1 to 3, BOOST tables 1 and 2, LM-POS table 2: losses, perceptron, boosting
selections.py   LM-POS section 5: how often boosting chooses the same feature again
margins.py      HMSVM figures 1 to 3, LM-POS figure 2: 300 sentences, 5 folds
guided.py       GUIDED tables 2 to 4
claims.py       what should hold on any data, and whether it does
report.py       Markdown and pictures
"""
