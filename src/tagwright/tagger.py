"""The running model for applications: load once, tag anywhere.

    tagger = Tagger("pos.tw")
    tagger.tag(["The", "dog", "barks", "."])          # ['DT', 'NN', 'VBZ', '.']

Thin over the learner's `predict`: it takes one sentence where `predict` takes a list, and hides training. Threads may
share one Tagger.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tagwright.errors import DataError, ParameterError
from tagwright.io.spans import Span, read_spans
from tagwright.learners import SequenceTagger, load
from tagwright.sequence import Item


class Tagger:
    """A trained model, given as a file or as it is."""

    def __init__(self, model: str | os.PathLike[str] | SequenceTagger) -> None:
        if isinstance(model, SequenceTagger):
            model._check_fitted()
            self.model = model
        elif isinstance(model, str | os.PathLike):
            self.model = load(Path(model))
        else:
            raise ParameterError(f"expected a model file or a trained learner, found {type(model).__name__}")

    @property
    def labels(self) -> list[str]:
        """All labels that the model can give."""
        return list(self.model.labels_)

    def tag(self, tokens: Sequence[Item]) -> list[str]:
        """The labels of one sentence. A token is what the model was trained on: a string, a tuple or a dict."""
        if isinstance(tokens, str):
            raise DataError(f"expected a list, found the string {tokens[:40]!r}; use tag_text", location="tokens")
        return self.tag_sentences([tokens])[0]

    def tag_sentences(self, sentences: Sequence[Sequence[Item]]) -> list[list[str]]:
        """The labels of many sentences at once: faster than one by one."""
        return self.model.predict(sentences)

    def tag_text(self, text: str) -> list[tuple[str, str]]:
        """(token, label) for every token of a sentence in plain text, its tokens separated by white space."""
        tokens = text.split()
        return list(zip(tokens, self.tag(tokens), strict=True))

    def find_spans(self, tokens: Sequence[Item]) -> list[Span]:
        """The spans (names, chunks) of one sentence, for models whose labels are IOB or IOBES."""
        return read_spans(self.tag(tokens))

    def __repr__(self) -> str:
        return f"Tagger({self.model!r}, {len(self.model.labels_)} labels)"
