"""Attributes token by token: the factorised Dataset written out, for online learners.

An online learner changes weights after every sentence, so tables over forms would be stale at once. It reads, for each
token, the list of all its attributes instead: those of its slots, or those it carries itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Ints, Longs
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.scores.places import find_form, slot_arrays


@dataclass(frozen=True, slots=True)
class TokenAttributes:
    """Token p has attributes[pointers[p] : pointers[p + 1]], with `values` there ([0] when all are 1)."""

    pointers: Longs
    attributes: Ints
    values: Doubles


@kernel
def write_slots(
    forms: Ints, offsets: Longs, codes: Ints, slot_offsets: Longs, slot_pointers: Longs, slot_terms: Longs,
    slot_bases: Longs, filled: Longs, attributes: Ints,
) -> None:  # fmt: skip
    """Append the slot attributes of every token at filled[p]; with an empty `attributes`, only count them there."""
    counting = attributes.shape[0] == 0
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        for p in range(begin, end):
            for s in range(slot_offsets.shape[0]):
                f = find_form(forms, p, slot_offsets[s], begin, end)
                for k in range(slot_pointers[s], slot_pointers[s + 1]):
                    code = codes[f, slot_terms[k]]
                    if code >= 0:
                        if not counting:
                            attributes[filled[p]] = slot_bases[k] + code
                        filled[p] += 1


def expand(encoder: Encoder, data: Dataset) -> TokenAttributes:
    """All attributes of all tokens."""
    if not encoder.sources:
        return TokenAttributes(data.pointers, data.attributes, np.asarray(data.values, np.float64))
    slots = slot_arrays(encoder)
    counts = np.zeros(data.n_tokens, np.int64)
    nothing = np.empty(0, np.int32)
    for c, s in enumerate(slots):
        codes = encoder.sources[c].codes
        write_slots(data.forms[c], data.offsets, codes, s.offsets, s.pointers, s.terms, s.bases, counts, nothing)
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    filled = pointers[:-1].copy()
    attributes = np.empty(int(pointers[-1]), np.int32)
    if len(attributes):
        for c, s in enumerate(slots):
            codes = encoder.sources[c].codes
            write_slots(data.forms[c], data.offsets, codes, s.offsets, s.pointers, s.terms, s.bases, filled, attributes)
    return TokenAttributes(pointers, attributes, np.empty(0))
