"""Probabilities of spans against enumeration: the share of all labellings that have the span."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracle import all_labellings, distribution, edge_marginals, node_marginals, random_lattice

from tagwright.chain.lattice import Lattice
from tagwright.chain.span_probability import span_probabilities
from tagwright.io.spans import Span, read_spans, span_borders

LABELS = {
    "iob2": ["O", "B-X", "I-X", "B-Y"],
    "iob1": ["I-Y", "B-X", "I-X", "O"],
    "iobes": ["O", "B-X", "E-X", "S-X"],
    "bilou": ["I-X", "L-X", "O", "U-Y"],
    "untyped": ["B", "I", "O"],
}


def all_spans(T: int, types: list[str]) -> list[Span]:
    return [Span(b, e, type) for b in range(T) for e in range(b + 1, T + 1) for type in types]


def probabilities_of(lattice: Lattice, labels: list[str], spans: list[Span], dtype: type = np.float64) -> np.ndarray:
    borders = span_borders(labels)
    coded = np.array([(s.start, s.end, borders.types.index(s.type)) for s in spans], np.int64)
    chain = (lattice.transition, lattice.start, lattice.stop)
    emission = lattice.emission.astype(dtype)
    return span_probabilities(emission, chain, borders.begins, borders.goes_on, borders.type, coded)


@pytest.mark.parametrize("scheme", LABELS)
@pytest.mark.parametrize("scale", [1.0, 10.0, 500.0])
def test_equals_the_share_of_labellings_with_the_span(scheme: str, scale: float) -> None:
    labels = LABELS[scheme]
    rng = np.random.default_rng(int(scale))
    some = 0
    for _ in range(12):
        lattice = random_lattice(rng, T=int(rng.integers(1, 6)), Y=len(labels), scale=scale)
        spans = all_spans(lattice.n_positions, span_borders(labels).types)
        truth = dict.fromkeys(spans, 0.0)
        for path, probability in distribution(lattice):
            for span in read_spans([labels[y] for y in path]):
                truth[span] += probability
        found = probabilities_of(lattice, labels, spans)
        np.testing.assert_allclose(found, list(truth.values()), atol=1e-9)
        some += sum(1e-3 < p < 1 - 1e-3 for p in truth.values())
    assert some > 20 or scale > 1


@pytest.mark.parametrize("scheme", LABELS)
def test_spans_that_begin_at_a_position_add_up(scheme: str) -> None:
    """Σ over ends and types = probability that a span begins there: from the pairs of labels, by enumeration."""
    labels, rng = LABELS[scheme], np.random.default_rng(3)
    borders = span_borders(labels)
    for _ in range(10):
        lattice = random_lattice(rng, T=5, Y=len(labels), scale=1.0, forbid=0.0)
        spans = all_spans(5, borders.types)
        found = probabilities_of(lattice, labels, spans)
        edges = edge_marginals(lattice)
        first = node_marginals(lattice)[0][borders.type >= 0].sum()
        wanted = [first, *[(edges[t] * borders.begins).sum() for t in range(4)]]
        sums = [sum(p for span, p in zip(spans, found, strict=True) if span.start == b) for b in range(5)]
        np.testing.assert_allclose(sums, wanted, atol=1e-10)


def test_well_formed_iob2_begins_with_b() -> None:
    """Where I may only follow its own name, the spans that begin at t have the probability of B at t."""
    labels, rng = LABELS["iob2"], np.random.default_rng(4)
    lattice = random_lattice(rng, T=5, Y=4, scale=1.0, forbid=0.0)
    transition, start = lattice.transition.copy(), lattice.start.copy()
    transition[[0, 3], 2] = start[2] = -np.inf
    lattice = Lattice(lattice.emission, transition, start, lattice.stop)
    spans = all_spans(5, ["X", "Y"])
    found = probabilities_of(lattice, labels, spans)
    marginals = node_marginals(lattice)
    for b in range(5):
        for type, label in (("X", 1), ("Y", 3)):
            total = sum(p for s, p in zip(spans, found, strict=True) if s.start == b and s.type == type)
            assert total == pytest.approx(marginals[b, label], abs=1e-10)


def test_borders_are_those_of_read_spans() -> None:
    labels = ["O", "B-X", "I-X", "E-X", "S-X", "L-Y", "U-Y", "I-Y", "B", "I"]
    borders = span_borders(labels)
    assert borders.types == ["", "X", "Y"]
    for (p, previous), (c, current) in itertools.product(enumerate(labels), repeat=2):
        spans = read_spans([previous, current])
        assert borders.begins[p, c] == any(span.start == 1 for span in spans)
        assert borders.goes_on[p, c] == any(span.end - span.start == 2 for span in spans)


def test_single_precision_rows_and_padding() -> None:
    rng = np.random.default_rng(8)
    lattice = random_lattice(rng, T=4, Y=4, scale=1.0, forbid=0.0)
    spans = all_spans(4, ["X", "Y"])
    wide = np.full((4, 16), 99.0, np.float32)
    wide[:, :4] = lattice.emission
    borders = span_borders(LABELS["iob2"])
    coded = np.array([(s.start, s.end, borders.types.index(s.type)) for s in spans], np.int64)
    chain = (lattice.transition, lattice.start, lattice.stop)
    found = span_probabilities(wide, chain, borders.begins, borders.goes_on, borders.type, coded)
    np.testing.assert_allclose(found, probabilities_of(lattice, LABELS["iob2"], spans), atol=1e-5)
    assert len(all_labellings(lattice)) == 4**4
