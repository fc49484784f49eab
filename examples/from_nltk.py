"""Train on NLTK's tagged sentences, lists of (token, tag), as its CRFTagger is trained; tag in the same form.

python examples/from_nltk.py
"""

from __future__ import annotations

from tagwright import CRF, datasets

Tagged = list[tuple[str, str]]


def train(sentences: list[Tagged]) -> CRF:
    """Instead of CRFTagger().train(sentences, file)."""
    X, y = [[word for word, _ in own] for own in sentences], [[tag for _, tag in own] for own in sentences]
    return CRF("pos").fit(X, y)


def tag_sents(model: CRF, sentences: list[list[str]]) -> list[Tagged]:
    """Instead of CRFTagger.tag_sents."""
    return [
        list(zip(words, tags, strict=True)) for words, tags in zip(sentences, model.predict(sentences), strict=True)
    ]


if __name__ == "__main__":
    data = [list(zip(*own, strict=True)) for own in zip(*datasets.sample(), strict=True)]
    model = train(data[:400])
    model.save("nltk.tw")
    print(tag_sents(model, [["She", "sold", "her", "house", "."]]))
