"""Guided learning written down as the paper has it: slow, with dictionaries, for tests to compare with.

GUIDED algorithms 1 and 2. Labels are numbers; a label that is not known is None. `score(k, y, l2, l1, r1, r2)` is U:
label y for token k between the labels at k − 2, k − 1, k + 1 and k + 2. `allowed[l][r]`: whether r may follow l in
well-formed output; None: everything may.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Score = Callable[..., float]
Allowed = list[list[bool]] | None


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


def joinable(allowed: list[list[bool]], left: int, right: int, gap: int) -> bool:
    """Whether so many labels can be found that fit between two others."""
    reached = {left}
    for _ in range(gap):
        reached = {label for label in range(len(allowed)) if any(allowed[before][label] for before in reached)}
    return any(allowed[before][right] for before in reached)


def fits(P: list[Span], allowed: Allowed, k: int, y: int, left: int | None, right: int | None) -> bool:
    """Whether label y for token k may stand beside the labels left and right of it; where there is none, whether the
    gap to the next span on that side can be filled, in all of its states."""
    if allowed is None:
        return True
    before = [span for span in P if span.end < k]
    after = [span for span in P if span.begin > k]
    if left is not None:
        pairs = [(left, y, 0)]
    else:
        pairs = [(h.labels[-1], y, k - s.end - 1) for s in before if s.end == max(b.end for b in before) for h in s.top]
    if right is not None:
        pairs += [(y, right, 0)]
    else:
        first = min((span.begin for span in after), default=0)
        pairs += [(y, h.labels[0], s.begin - k - 1) for s in after if s.begin == first for h in s.top]
    return all(joinable(allowed, *pair) for pair in pairs)


def make_span(
    k: int, n: int, P: list[Span], score: Score, n_labels: int, beam: int, reach: tuple[int, int],
    allowed: Allowed = None,
) -> Span:  # fmt: skip
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
                beside = before[-1] if before else None, after[0] if after else None
                if total == float("-inf") or not fits(P, allowed, k, y, *beside):
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
    n: int, score: Score, n_labels: int, beam: int, reach: tuple[int, int], direction: str = "both",
    allowed: Allowed = None,
) -> Iterator[Span]:  # fmt: skip
    """Algorithm 1: the spans as they are accepted; the last one has the whole sentence, unless there is a dead end."""
    P: list[Span] = []
    for _ in range(n):
        span = easiest(make_queue(n, P, direction, score, n_labels, beam, reach, allowed))
        if span is None:
            return
        P = adopt(P, span)
        yield span


class Learner:
    """Algorithm 2 and its two rivals, with weights in a dictionary and every average written out.

    `features(i, k, y, l2, l1, r1, r2)`: the features of an action in sentence i, as {name: value}.
    """

    def __init__(
        self, features: Callable[..., dict], n_labels: int, *, beam: int, reach: tuple[int, int], direction: str,
        margin: float, bound: int,
    ) -> None:  # fmt: skip
        self.features, self.margin, self.bound = features, margin, bound
        self.n_labels, self.settings, self.direction = n_labels, (n_labels, beam, reach), direction
        self.reach = reach
        self.w: dict = defaultdict(float)
        self.total: dict = defaultdict(float)
        self.steps, self.updates = 1, 0

    def score(self, i: int, gold: list[int]) -> Score:
        def score(k: int, y: int, *context: int | None) -> float:
            found = self.features(i, k, y, *context)
            return sum(self.w[f] * v for f, v in found.items()) - self.margin * (y == gold[k])

        return score

    def correct(self, i: int, k: int, gold: tuple, wrong: tuple) -> None:
        """w += f(gold action) − f(wrong action); an action is a label and its context."""
        for sign, action in ((1, gold), (-1, wrong)):
            for f, v in self.features(i, k, *action).items():
                self.w[f] += sign * v

    def action(self, span: Span, labels: tuple[int, ...] | list[int], k: int) -> tuple:
        """The action that labelled the last token of a span, if the whole sentence were labelled like that."""
        left = [labels[t] for t in range(max(span.begin, k - self.reach[0]), k)]
        right = [labels[t] for t in range(k + 1, min(span.end, k + self.reach[1]) + 1)]
        return (labels[k], *(None, None, *left)[-2:], *(*right, None, None)[:2])

    def aggressive(self, i: int, gold: list[int]) -> None:
        n, P, updates = len(gold), [], 0
        while sum(span.end - span.begin + 1 for span in P) < n:
            span = easiest(make_queue(n, P, self.direction, self.score(i, gold), *self.settings))
            assert span is not None
            top = span.top[0]
            if list(top.labels) == gold[span.begin : span.end + 1]:
                P = adopt(P, span)
                continue
            if updates == self.bound * n:
                break
            updates += 1
            self.correct(i, span.k, self.action(span, gold, span.k), (top.y, *top.context))
        self.updates += updates

    def early(self, i: int, gold: list[int]) -> None:
        n, spans = len(gold), []
        for span in infer(n, self.score(i, gold), *self.settings, self.direction):
            spans.append(span)
            found = [list(h.labels) for h in span.top]
            truth = gold[span.begin : span.end + 1]
            if truth not in found or (len(spans) == n and found[0] != truth):
                labels = [*gold[: span.begin], *found[0], *gold[span.end + 1 :]]
                for old in spans:
                    if span.begin <= old.k <= span.end:
                        self.correct(i, old.k, self.action(old, gold, old.k), self.action(old, labels, old.k))
                self.updates += 1
                return

    def local(self, i: int, gold: list[int]) -> None:
        n = len(gold)
        for k in range(n):
            spans = dict.fromkeys([(k, k), (0, k), (k, n - 1), (0, n - 1)])
            if k in (0, n - 1):
                spans = dict.fromkeys([(k, k), *([(0, k)] if k else []), *([(k, n - 1)] if k < n - 1 else [])])
            for begin, end in spans:
                context = self.action(Span(begin, end, [], k), gold, k)[1:]
                scores = [self.score(i, gold)(k, y, *context) for y in range(self.n_labels)]
                best = scores.index(max(scores))
                if best != gold[k]:
                    self.correct(i, k, (gold[k], *context), (best, *context))
                    self.updates += 1

    def finish_sentence(self) -> None:
        for f, x in self.w.items():
            self.total[f] += x
        self.steps += 1

    def average(self) -> dict:
        return {f: x / self.steps for f, x in self.total.items() if abs(x) > 1e-9}
