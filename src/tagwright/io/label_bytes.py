"""Labels into the bytes of a file: the end of the fast way.

    Tokens, label numbers ─► the block's bytes with the labels in their places

All that is not a label is copied, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bytes, Ints, Longs
from tagwright.io.format import FormatRules
from tagwright.io.layout import Layout
from tagwright.io.slashed import is_tag
from tagwright.io.tokens import Tokens


class LabelBytes(NamedTuple):
    """The names of labels: label y is letters[y, : sizes[y]]."""

    letters: Bytes  # [Y, L]
    sizes: Longs  # [Y]

    @classmethod
    def build(cls, labels: Sequence[str]) -> LabelBytes:
        encoded = [label.encode() for label in labels]
        longest = max(map(len, encoded), default=0)
        letters = np.frombuffer(b"".join(label.ljust(longest, b"\0") for label in encoded), np.uint8)
        return cls(letters.reshape(len(encoded), longest), np.array(list(map(len, encoded)), np.int64))

    def write(self, tokens: Tokens, labels: Ints) -> memoryview:
        """The bytes of a block with the labels [n]."""
        rest = np.frombuffer(tokens.rest, np.uint8)
        most = tokens.end - tokens.begin + len(rest) + len(labels) * (1 + self.letters.shape[1])
        target = np.empty(most, np.uint8)
        size = write_labels(
            tokens.letters, tokens.begin, tokens.end, tokens.at, tokens.to, tokens.marks, labels, self.letters,
            self.sizes, target,
        )  # fmt: skip
        target[size : size + len(rest)] = rest
        return target[: size + len(rest)].data


def can_write(rules: FormatRules, layout: Layout, labels: Sequence[str]) -> bool:
    """Whether all labels can stand in a file with these rules."""
    if any(character in label for label in labels for character in rules.not_in_labels):
        return False
    fit = not rules.line_is_sentence or all(is_tag(label, layout.separator) for label in labels)
    return fit and all(map(is_utf8, labels))


def is_utf8(label: str) -> bool:
    """Whether a label has an encoding: lone surrogates have none."""
    return label.encode("utf-8", "replace").decode() == label


@tight_kernel
def write_labels(
    letters: Bytes, begin: int, end: int, at: Longs, to: Longs, marks: Bytes, labels: Ints, names: Bytes, sizes: Longs,
    target: Bytes,
) -> int:  # fmt: skip
    """Fills the target; returns how much of it."""
    p, q = begin, 0
    for t in range(at.shape[0]):
        q += copy_bytes(letters[p : at[t]], target[q:])
        if marks[t] != 0:
            target[q] = marks[t]
            q += 1
        y = labels[t]
        q += copy_bytes(names[y, : sizes[y]], target[q:])
        p = to[t]
    return q + copy_bytes(letters[p:end], target[q:])


@tight_kernel
def copy_bytes(source: Bytes, target: Bytes) -> int:
    """Copies; returns how many."""
    n: int = source.shape[0]
    for k in range(n):
        target[k] = source[k]
    return n
