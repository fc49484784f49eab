"""Tagwright beside its rivals, on four tasks: `python -m benchmarks.speed`.

    corpora ─► workspace ─► order ─► launch ─► job ─► figures ─► results ─► table, JSON, pictures
                (files)     (JSON)  (process)  rivals/, ours.py

systems.py      the rivals and their settings; what of ours stands beside each
environments.py a rival's environment, made on first use; or why it cannot be had
workspace.py    a task as files that every job can read
launch.py       runs one command alone: time to the first byte, whole time, peak memory
measure.py      all figures of one system on one task, each in a process of its own
ours.py         Tagwright's job
results.py      finished blocks (ours, a rival, ours again), kept one by one
figures.py      a figure and its ratio, with spread
report.py       table, Markdown, pictures
"""
