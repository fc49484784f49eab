"""What a token was encoded as, in words."""

from __future__ import annotations

from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.scores.expanded import expand


def named_attributes(encoder: Encoder, X: list) -> list[list[str]]:
    """For every token of X, the names of its attributes after encoding."""
    names = encoder.attribute_names()
    tokens = expand(encoder, encoder.encode(Text.build(X)))
    return [
        sorted(names[a] for a in tokens.attributes[b:e])
        for b, e in zip(tokens.pointers[:-1], tokens.pointers[1:], strict=True)
    ]
