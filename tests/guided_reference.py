"""Guided learning written down as the paper has it: slow, with dictionaries, for tests to compare with.

GUIDED algorithms 1 and 2. Labels are numbers; a label that is not known is None. `score(k, y, l2, l1, r1, r2)` is U: label y
for token k between the labels at k − 2, k − 1, k + 1 and k + 2. A hypothesis is its labels, its scores and its last action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Score = Callable[..., float]


@dataclass(frozen=True)
class Hypothesis:
    """Labels of a span, V, U of the last action, and that action: label y for token k."""

    labels: tuple[int, ...]
    total: float
    action: float
    k: int
    y: int
    context: tuple[int | None, ...]  # l2, l1, r1, r2


@dataclass(frozen=True)
class Span:
    """Tokens begin to end, and the top hypotheses of its best states, best first."""

    begin: int
    end: int
    top: list[Hypothesis]
    k: int


def state(labels: tuple[int, ...], begin: int, end: int, n: int, reach: tuple[int, int]) -> tuple:
    """What tokens outside the span can see of it: nothing beyond the ends of the sentence."""
    left = labels[: reach[1]] if begin > 0 else ()
    right = labels[len(labels) - min(reach[0], len(labels)) :] if end < n - 1 else ()
    return left, right


def make_span(
    k: int, n: int, P: list[Span], score: Score, n_labels: int, beam: int, reach: tuple[int, int]
) -> Span:
    """All labels for token k between all states of the spans beside it; the B best states."""
    left = next((span for span in P if span.end == k - 1), None)
    right = next((span for span in P if span.begin == k + 1), None)
    begin, end = left.begin if left else k, right.end if right else k
    top: dict[tuple, tuple[float, int, Hypothesis]] = {}
    number = 0
    for a in left.top if left else [None]:
        for b in right.top if right else [None]:
            before, after = a.labels if a else (), b.labels if b else ()
            seen_left = before[len(before) - min(reach[0], len(before)) :]
            seen_right = after[: reach[1]]
            l2, l1 = (None, None, *seen_left)[-2:]
            r1, r2 = (*seen_right, None, None)[:2]
            for y in range(n_labels):
                action = score(k, y, l2, l1, r1, r2)
                total = (a.total if a else 0.0) + (b.total if b else 0.0) + action
                if total == float("-inf"):
                    continue
                labels = (*before, y, *after)
                key = state(labels, begin, end, n, reach)
                number += 1
                if key not in top or total > top[key][0]:
                    top[key] = total, number, Hypothesis(labels, total, action, k, y, (l2, l1, r1, r2))
    best = sorted(top.values(), key=lambda entry: (-entry[0], entry[1]))[:beam]
    return Span(begin, end, [h for _, _, h in best], k)


def make_queue(n: int, P: list[Span], direction: str, *settings: object) -> list[Span]:
    """Q: a span for every token that is outside P (in a fixed order: for the next one alone)."""
    inside = {t for span in P for t in range(span.begin, span.end + 1)}
    outside = [k for k in range(n) if k not in inside]
    chosen = {"both": outside, "left_to_right": outside[:1], "right_to_left": outside[-1:]}[direction]
    return [make_span(k, n, P, *settings) for k in chosen]  # type: ignore[arg-type]


def easiest(Q: list[Span]) -> Span | None:
    """The span whose top hypothesis has the highest action score; the leftmost of equal ones."""
    return max((span for span in Q if span.top), key=lambda span: (span.top[0].action, -span.k), default=None)


def adopt(P: list[Span], span: Span) -> list[Span]:
    """P with the span, without those inside it."""
    return [*(other for other in P if other.end < span.begin or other.begin > span.end), span]


def infer(
    n: int, score: Score, n_labels: int, beam: int, reach: tuple[int, int], direction: str = "both"
) -> Iterator[Span]:
    """Algorithm 1: the spans as they are accepted; the last one has the whole sentence."""
    P: list[Span] = []
    for _ in range(n):
        span = easiest(make_queue(n, P, direction, score, n_labels, beam, reach))
        if span is None:
            return
        P = adopt(P, span)
        yield span
