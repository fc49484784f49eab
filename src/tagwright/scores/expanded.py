"""Attributes token by token: the factorised Batch written out, for online learners.

An online learner changes weights after every sentence, so tables over forms would be stale at once. It reads, for each
token, the list of all its attributes instead: those of its slots, or those it carries itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Bools, Doubles, Ints, Longs
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder, SlotArrays, slot_arrays
from tagwright.encode.forms import find_form


class TokenAttributes(NamedTuple):
    """Token p has attributes[pointers[p] : pointers[p + 1]], with `values` there ([0] when all are 1)."""

    pointers: Longs
    attributes: Ints
    values: Doubles


class LabelledTokens(NamedTuple):
    """Training sentences with the attributes of their tokens."""

    offsets: Longs  # [N + 1]
    gold: Ints  # [n]
    tokens: TokenAttributes

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1


@kernel
def write_slots(forms: Ints, offsets: Longs, codes: Ints, slots: SlotArrays, filled: Longs, attributes: Ints) -> None:
    """Append the slot attributes of every token at filled[p]; with an empty `attributes`, only count them there."""
    counting = attributes.shape[0] == 0
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        for p in range(begin, end):
            for s in range(slots.offsets.shape[0]):
                f = find_form(forms, p, slots.offsets[s], begin, end)
                for k in range(slots.pointers[s], slots.pointers[s + 1]):
                    code = codes[f, slots.terms[k]]
                    if code >= 0:
                        if not counting:
                            attributes[filled[p]] = slots.bases[k] + code
                        filled[p] += 1


def expand(encoder: Encoder, batch: Batch) -> TokenAttributes:
    """All attributes of all tokens."""
    if not encoder.sources:
        return TokenAttributes(batch.pointers, batch.attributes, np.asarray(batch.values, np.float64))
    sources = [(batch.forms[c], encoder.codes_of(c, batch), slots) for c, slots in enumerate(slot_arrays(encoder))]
    counts = np.zeros(batch.n_tokens, np.int64)
    nothing = np.empty(0, np.int32)
    for forms, codes, slots in sources:
        write_slots(forms, batch.offsets, codes, slots, counts, nothing)
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    filled = pointers[:-1].copy()
    attributes = np.empty(int(pointers[-1]), np.int32)
    if len(attributes):
        for forms, codes, slots in sources:
            write_slots(forms, batch.offsets, codes, slots, filled, attributes)
    return TokenAttributes(pointers, attributes, np.empty(0))


def expand_frequent(encoder: Encoder, batch: Batch, min_count: int) -> TokenAttributes:
    """The attributes that at least so many tokens have."""
    tokens = expand(encoder, batch)
    if min_count <= 1:
        return tokens
    return keep(
        tokens, (np.bincount(tokens.attributes, minlength=encoder.n_attributes) >= min_count)[tokens.attributes]
    )


def keep(tokens: TokenAttributes, kept: Bools) -> TokenAttributes:
    """Some of all tokens' attributes."""
    pointers = np.concatenate([[0], np.cumsum(kept)])[tokens.pointers]
    values = tokens.values[kept] if len(tokens.values) else tokens.values
    return TokenAttributes(pointers, tokens.attributes[kept], values)


def most_attributes(tokens: TokenAttributes) -> int:
    """Of a token."""
    return int(np.diff(tokens.pointers).max(initial=0))
