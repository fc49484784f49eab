"""Is the difference between two systems chance? The paired approximate randomisation test.

Stands beside `metrics`, after prediction: two predictions of the same sentences in, a p-value out; `compare` prints it.

If the systems are equally good, it does not matter which of them made which prediction of a sentence. So swap the two
predictions of a sentence with probability 1/2, for all sentences at once, and see how often the difference of the
scores becomes as large as the one observed, in either direction (Noreen 1989, Computer-Intensive Methods for Testing
Hypotheses, chapter 2; Yeh 2000, More accurate tests for the statistical significance of result differences):

    p = (rounds with |difference| >= |observed| + 1) / (rounds + 1)

Both scores are functions of sums over sentences. With d[i] = b[i] - a[i], the counts of sentence i in system b less
those in system a, and m[i] = 1 where it is swapped, the sums become A + m·d and B - m·d: one matrix product for many
rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tagwright.chunks import ALL_SCHEMES, LabelLists, align, find_spans, has_span_labels
from tagwright.errors import ParameterError

Metric = Literal["accuracy", "f1"]
Doubles = NDArray[np.float64]

_BLOCK = 1 << 20  # swap flags drawn at once
_TOLERANCE = 1e-9  # percentage points: equal differences must count as equal after rounding


@dataclass(frozen=True, slots=True)
class Significance:
    """The score of a less that of b, in percentage points, and how probable one so large is if a and b are equal."""

    difference: float
    p_value: float
    rounds: int


def approximate_randomisation(
    gold: LabelLists,
    a: LabelLists,
    b: LabelLists,
    *,
    metric: Metric = "accuracy",
    rounds: int = 10_000,
    random_state: int | np.random.Generator | None = 0,
) -> Significance:
    """Test whether systems a and b differ, two-sided, by swapping whole sentences between them."""
    if metric not in ("accuracy", "f1"):
        raise ParameterError(f'metric is {metric!r}; expected "accuracy" or "f1"')
    counts_a = count_per_sentence(gold, a, metric, name="a")
    counts_b = count_per_sentence(gold, b, metric, name="b")
    return randomise(counts_a, counts_b, rounds=rounds, random_state=random_state)


def randomise(
    counts_a: Doubles, counts_b: Doubles, *, rounds: int = 10_000, random_state: int | np.random.Generator | None = 0
) -> Significance:
    """The test itself, on counts [N, 2] of N things that are swapped as wholes (see `count_per_sentence`)."""
    if rounds < 1:
        raise ParameterError(f"rounds is {rounds}; expected at least 1")
    total_a, total_b = counts_a.sum(axis=0), counts_b.sum(axis=0)
    observed = float(_percent(total_a) - _percent(total_b))
    delta = counts_b - counts_a
    delta = delta[delta.any(axis=1)]  # swapping sentences with equal counts changes nothing
    generator = np.random.default_rng(random_state)
    block = max(1, _BLOCK // max(1, len(delta)))
    extreme = 0
    for first in range(0, rounds, block):
        swapped = _draw_swaps(generator, min(block, rounds - first), len(delta)) @ delta
        differences = _percent(total_a + swapped) - _percent(total_b - swapped)
        extreme += int((np.abs(differences) >= abs(observed) - _TOLERANCE).sum())
    return Significance(observed, (extreme + 1) / (rounds + 1), rounds)


def count_per_sentence(gold: LabelLists, predicted: LabelLists, metric: Metric, *, name: str = "predicted") -> Doubles:
    """Per sentence [N, 2]: twice the correct things, and the gold and predicted things together.

    The score is the quotient of the sums: F1 for spans. For tokens it is the accuracy, as there are as many predicted
    as gold ones. `name` is what errors call the prediction.
    """
    aligned = align(gold, predicted, name=name)
    n = aligned.n_sentences
    if metric == "accuracy":
        tokens = np.bincount(aligned.sentence, minlength=n)
        correct = np.bincount(aligned.sentence[aligned.gold == aligned.predicted], minlength=n)
        return np.column_stack((2 * correct, 2 * tokens)).astype(np.float64)
    if not has_span_labels(aligned):
        raise ParameterError('metric="f1" needs span labels (O, B-X, I-X ...) in gold; use metric="accuracy"')
    _, *sides = find_spans(aligned, ALL_SCHEMES)
    in_gold, in_predicted, in_both = (np.bincount(side[:, 1], minlength=n) for side in sides)
    return np.column_stack((2 * in_both, in_gold + in_predicted)).astype(np.float64)


def _percent(sums: Doubles) -> Doubles:
    """Sums [..., 2] to scores. The second sum is never 0: gold has tokens, and spans where spans are scored."""
    return np.divide(100 * sums[..., 0], sums[..., 1])


def _draw_swaps(generator: np.random.Generator, rounds: int, n: int) -> Doubles:
    """Random bits [rounds, n], eight from each byte."""
    packed = generator.integers(256, size=(rounds, -(-n // 8)), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=n).astype(np.float64)
