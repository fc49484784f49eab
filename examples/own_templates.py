"""Write your own templates, see which attributes they give a token, and train with them.

python examples/own_templates.py
"""

from __future__ import annotations

from tagwright import CRF, FeatureSet, datasets

TEMPLATES = """
word lower suffix(1..3) @ 0      # the word, its lower case, its last one to three letters
word @ -1, 1                     # its neighbours
has_digit capitalised @ 0        # yes or no
word[-1] & suffix(2)[0]          # a conjunction: the previous word and the ending
"""

features = FeatureSet.parse(TEMPLATES, name="mine")
print("attributes of 'dogs' in 'The dogs bark':")
for name in features.explain(["The", "dogs", "bark"], 1):
    print(f"    {name}")

X, y = datasets.sample()
model = CRF(features, c2=0.5, n_jobs=-1).fit(X[:400], y[:400])
print(f"\n{model.n_parameters_:,} weights; held-out accuracy {100 * model.score(X[400:], y[400:]):.2f} %")

model.save("mine.tw")  # the templates are inside; see them with: tagwright inspect mine.tw
print("saved as mine.tw")
