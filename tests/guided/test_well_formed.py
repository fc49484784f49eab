"""Well-formed output of guided inference: gaps by enumeration, steps against the reference, no dead ends."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from guided.test_inference import SETS, RandomSentence, check_steps

from tagwright.guided.well_formed import MOST_GAPS, find_gaps, rule_out_impossible
from tagwright.io.spans import allowed_transitions

SCHEMES = {
    "iob1": ["B-A", "B-C", "I-A", "I-C", "O"],
    "iob2": ["B-A", "B-C", "I-A", "I-C", "O"],
    "iobes": ["B-A", "B-C", "E-A", "E-C", "I-A", "I-C", "O", "S-A", "S-C"],
    "bilou": ["B-A", "I-A", "L-A", "O", "U-A"],
}


def possible_labels(emission: np.ndarray, allowed: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Which label of which token some labelling has, by enumeration [n, Y]."""
    found = np.zeros(emission.shape, np.bool_)
    for labels in product(range(len(start)), repeat=len(emission)):
        fits = start[labels[0]] and stop[labels[-1]] and all(allowed[a, b] for a, b in pairwise(labels))
        if fits and all(emission[t, y] > -np.inf for t, y in enumerate(labels)):
            found[np.arange(len(labels)), labels] = True
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
def test_gaps_by_enumeration(scheme: str) -> None:
    allowed = allowed_transitions(SCHEMES[scheme], scheme)[0]
    gaps = find_gaps(allowed)
    assert 0 < len(gaps) < MOST_GAPS
    for m in range(3):
        between = list(product(range(len(allowed)), repeat=m))
        expected = [
            [any(all(allowed[p] for p in pairwise((a, *labels, b))) for labels in between) for b in range(len(allowed))]
            for a in range(len(allowed))
        ]
        assert expected == (gaps[m] if m < len(gaps) else np.ones_like(allowed)).tolist()


def test_all_allowed_has_no_gaps() -> None:
    assert find_gaps(np.ones((3, 3), np.bool_)).shape == (0, 3, 3)


@pytest.mark.parametrize("scheme", ["iob2", "bilou"])
def test_possible_labels_by_enumeration(scheme: str) -> None:
    rules = allowed_transitions(SCHEMES[scheme], scheme)
    rng = np.random.default_rng(0)
    emission = np.where(rng.random((12, 16)) < 0.3, -np.inf, 1.0)
    offsets = np.array([0, 4, 5, 9, 12])
    expected = [possible_labels(emission[a:b, :5], *rules) for a, b in pairwise(offsets)]
    rule_out_impossible(emission, offsets, *rules)
    np.testing.assert_array_equal(emission[:, :5] > -np.inf, np.concatenate(expected))


def make_sentence(scheme: str, text: str, n: int, seed: int, *, share: float = 0.0) -> RandomSentence:
    """Random weights; a share of the labels of every token is impossible."""
    names = SCHEMES[scheme]
    sentence = RandomSentence(SETS[text], n, len(names), seed, whole=False)
    allowed, start, stop = allowed_transitions(names, scheme)
    sentence.obey(allowed)
    Y = len(names)
    sentence.emission[:, :Y][np.random.default_rng(seed).random((n, Y)) < share] = -np.inf
    rule_out_impossible(sentence.emission, np.array([0, n]), allowed, start, stop)
    return sentence


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize(("scheme", "text"), [("iob1", "c"), ("iob2", "left"), ("iobes", "pairs"), ("bilou", "c")])
def test_equals_the_reference_step_by_step(scheme: str, text: str, beam: int) -> None:
    """And comes to the end: `check_steps` compares whole labellings."""
    for n in range(1, 10):
        for direction in ("both", "left_to_right", "right_to_left"):
            check_steps(make_sentence(scheme, text, n, seed=10 * n + beam), beam, direction)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_output_is_well_formed_and_exists_where_one_does(scheme: str) -> None:
    """Tokens with few labels can bring the search to a dead end: left to right then finds what there is."""
    allowed, start, stop = allowed_transitions(SCHEMES[scheme], scheme)
    dead = 0
    for seed in range(60):
        n = 1 + seed % 7
        sentence = make_sentence(scheme, "pairs", n, seed, share=0.5 * (seed % 2))
        _, path, total = sentence.search(1 + seed % 3, "both")
        if total == -np.inf:
            assert (sentence.emission[:, : sentence.Y] == -np.inf).all(axis=1).any()
            dead += 1
            continue
        assert start[path[0]]
        assert stop[path[-1]]
        assert all(allowed[a, b] for a, b in pairwise(path))
        assert (sentence.emission[np.arange(n), path] > -np.inf).all()
    assert dead < 30
