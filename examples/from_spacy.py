"""Train a tagger on the data of spaCy's, and put its tags into spaCy's documents.

python examples/from_spacy.py train.spacy dev.spacy      # needs spaCy: files that `spacy convert` wrote
python examples/from_spacy.py                            # on the sample of the package, without spaCy
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from tagwright import CRF, datasets

Sentences, Labels = list[list[str]], list[list[str]]


def read_documents(path: str) -> list[Any]:
    """The documents of a .spacy file."""
    vocabulary = import_module("spacy").blank("en").vocab
    return list(import_module("spacy.tokens").DocBin().from_disk(path).get_docs(vocabulary))


def words_and_tags(documents: Iterable[Any]) -> tuple[Sentences, Labels]:
    """Words and fine-grained tags (`token.tag_`) of all sentences."""
    sentences = [list(sentence) for document in documents for sentence in document.sents]
    words = [[token.text for token in sentence] for sentence in sentences]
    return words, [[token.tag_ for token in sentence] for sentence in sentences]


def set_tags(documents: Iterable[Any], model: CRF) -> None:
    """What a pipeline's tagger does: fill in `token.tag_`."""
    for document in documents:
        sentences = [list(sentence) for sentence in document.sents]
        labels = model.predict([[token.text for token in sentence] for sentence in sentences])
        for sentence, own in zip(sentences, labels, strict=True):
            for token, label in zip(sentence, own, strict=True):
                token.tag_ = label


if __name__ == "__main__":
    if len(sys.argv) == 3:
        train, dev = (words_and_tags(read_documents(path)) for path in sys.argv[1:])
    else:
        X, y = datasets.sample()
        train, dev = (X[:400], y[:400]), (X[400:], y[400:])
    tagger = CRF("pos", n_jobs=-1).fit(*train)
    tagger.save("tagger.tw")
    print(f"{100 * tagger.score(*dev):.2f} % of the dev set; saved as tagger.tw")
    if len(sys.argv) == 3:
        documents = read_documents(sys.argv[2])
        set_tags(documents, tagger)
        print([(token.text, token.tag_) for token in documents[0][:10]])
