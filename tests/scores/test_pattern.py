"""Which pairs get a weight, against sets of labels in plain Python: labels in one word of bits, and in several."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from toy import toy_columns, toy_dicts

from tagwright.attributes.templates import resolve
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.scores.expanded import expand
from tagwright.scores.pattern import BITS, find_pattern

KINDS = {"columns": (toy_columns, "s2"), "dicts": (toy_dicts, None)}


@pytest.mark.parametrize("min_count", [1, 3])
@pytest.mark.parametrize("n_labels", [3, BITS, BITS + 1, 3 * BITS + 5])
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_of_many_labels_are_those_seen(kind: str, n_labels: int, min_count: int) -> None:
    make, features = KINDS[kind]
    X, _ = make(60)
    text, rng = Text.build(X), np.random.default_rng(n_labels)
    encoder, (data,) = Encoder.learn(None if features is None else resolve(features, text.width), [text])
    sets = rng.random((4, n_labels)) < 0.1
    gold = rng.integers(-len(sets), n_labels, data.n_tokens).astype(np.int32)
    gold[: n_labels if n_labels < data.n_tokens else 0] = np.arange(n_labels)[: data.n_tokens]
    data = data._replace(labels=gold)
    seen: defaultdict[int, set[int]] = defaultdict(set)
    counts: defaultdict[int, int] = defaultdict(int)
    tokens = expand(encoder, data)
    for p, label in enumerate(gold.tolist()):
        for a in tokens.attributes[tokens.pointers[p] : tokens.pointers[p + 1]].tolist():
            seen[a] |= {label} if label >= 0 else set(np.flatnonzero(sets[-1 - label]).tolist())
            counts[a] += 1
    for all_states in (False, True):
        found = find_pattern(encoder, data, n_labels, all_states=all_states, min_count=min_count, sets=sets)
        for a in range(encoder.n_attributes):
            labels = found.labels[found.pointers[a] : found.pointers[a + 1]].tolist()
            wanted = set(range(n_labels)) if all_states else seen[a]
            assert labels == sorted(wanted if counts[a] >= min_count else ())
