"""The guided search against the paper's algorithm in plain Python, step by step, and against Viterbi."""

from __future__ import annotations

import numpy as np
import pytest
from guided_reference import infer
from oracle import TrigramLattice, all_labellings

from tagwright.arrays import padded
from tagwright.attributes.templates import FeatureSet
from tagwright.chain.gaps import find_gaps
from tagwright.chain.guided import BOTH, LEFT_TO_RIGHT, RIGHT_TO_LEFT, Rules, Search, search_sentence
from tagwright.scores.label_contexts import ContextWeights, Layout, lay_out

DIRECTIONS = {"both": BOTH, "left_to_right": LEFT_TO_RIGHT, "right_to_left": RIGHT_TO_LEFT}
SETS = {
    "pairs": "label @ -1, 1",
    "left": "label @ -1\nlabel[-2] & label[-1]",
    "c": "label @ -2..-1\nlabel @ 1..2\nlabel[-2] & label[-1]\nlabel[-1] & label[1]\nlabel[1] & label[2]\n"
    "label[-1] & word[0]\nlabel[2] & word[0]\nlabel[-2] & label[-1] & word[0]\nlabel[-1] & label[1] & word[0]",
    "far": "label[-2] & label[2]\nlabel[-2] & label[-1] & label[1] & label[2]\nlabel[-1] & word[0] & word[1]",
}


class Problem:
    """Random weights, a random sentence, and U written down from the weights by name."""

    def __init__(self, text: str, n: int, Y: int, seed: int, *, whole: bool, most: int = 1 << 22) -> None:
        rng = np.random.default_rng(seed)
        self.templates = FeatureSet.parse(text).labels
        self.n, self.Y, W = n, Y, 3
        parts = {t.cells for t in self.templates if t.cells}
        self.layout: Layout = lay_out(self.templates, Y, dict.fromkeys(parts, W), most)
        self.lexical = np.array([[0] * n, *rng.integers(-1, W, (len(self.layout.parts) - 1, n))], np.int32)

        def make(size: tuple[int, ...]) -> np.ndarray:
            drawn = rng.integers(-3, 4, size) if whole else rng.normal(0, 1, size)
            return drawn.astype(np.float32).astype(np.float64)

        self.emission = np.zeros((n, padded(Y)), np.float64)
        self.emission[:, :Y] = make((n, Y))
        self.named: dict[tuple, float] = {}
        rows, keys, labels, values = np.zeros((self.layout.n_rows, Y)), [], [], []
        for m, template in enumerate(self.layout.templates):
            part = self.layout.parts.index(template.cells)
            for context in np.ndindex(*(Y,) * len(template.offsets)):
                for w in range(W if template.cells else 1):
                    place = self.place(m, template.offsets, context, w)
                    for y, value in enumerate(make((Y,))):
                        self.named[template, context, w, y] = value
                        if self.layout.lexical[m] < 0:
                            rows[place, y] = value
                        elif rng.random() < 0.7:
                            keys.append(place), labels.append(y), values.append(value)
                        else:
                            self.named[template, context, w, y] = 0.0
            assert part >= 0
        entries = np.array(keys, np.int64), np.array(labels, np.int32), np.array(values, np.float64)
        self.contexts = ContextWeights.build(rows, *entries).run(self.layout, np.float64)
        self.allowed: list[list[bool]] | None = None
        self.rules = Rules(np.array(self.layout.reach, np.int64), np.ones((0, Y, Y), np.bool_))

    def obey(self, allowed: np.ndarray) -> None:
        """Let labels be followed by these alone."""
        self.allowed = allowed.tolist()
        self.rules = Rules(np.maximum(self.rules.reach, 1), find_gaps(allowed))

    def place(self, m: int, offsets: tuple[int, ...], context: tuple[int, ...], w: int) -> int:
        strides = dict(zip((-2, -1, 1, 2), self.layout.strides[m].tolist(), strict=True))
        place = self.layout.bases[m] + sum(strides[o] * label for o, label in zip(offsets, context, strict=True))
        return int(place + self.layout.lexical_strides[m] * w)

    def score(self, k: int, y: int, l2: int | None, l1: int | None, r1: int | None, r2: int | None) -> float:
        known = {-2: l2, -1: l1, 1: r1, 2: r2}
        total = self.emission[k, y]
        for template in self.templates:
            context = tuple(known[offset] for offset in template.offsets)
            w = self.lexical[self.layout.parts.index(template.cells), k]
            if None not in context and w >= 0:
                total += self.named[template, context, int(w), y]
        return float(total)

    def search(self, beam: int, direction: str) -> tuple[Search, np.ndarray, float]:
        search = Search.build(self.n + 2, beam, padded(self.Y), np.float64)
        path = np.zeros(self.n, np.int32)
        total = search_sentence(
            search, self.contexts, self.lexical, 0, self.n, self.Y, self.rules, self.emission, DIRECTIONS[direction],
            path,
        )  # fmt: skip
        return search, path, total


def check_steps(problem: Problem, beam: int, direction: str) -> None:
    search, path, total = problem.search(beam, direction)
    reach = tuple(problem.rules.reach.tolist())
    spans = list(infer(problem.n, problem.score, problem.Y, beam, reach, direction, problem.allowed))
    assert search.order[: problem.n].tolist() == [span.k for span in spans]
    for span in spans:
        k = span.k
        assert search.bounds[k, :2].tolist() == [span.begin, span.end]
        assert search.n_states[k] == len(span.top) <= beam
        for b, h in enumerate(span.top):
            assert search.total[k, b] == pytest.approx(h.total, abs=1e-9)
            assert search.action[k, b] == pytest.approx(h.action, abs=1e-9)
            assert search.label[k, b] == h.y
            face = [y for y in search.faces[k, b].tolist() if y < problem.Y]
            left = list(h.labels[: reach[1]]) if span.begin > 0 else []
            right = list(h.labels[::-1][: reach[0]]) if span.end < problem.n - 1 else []
            assert face == left + right
    assert path.tolist() == list(spans[-1].top[0].labels)
    assert total == pytest.approx(spans[-1].top[0].total, abs=1e-9)


@pytest.mark.parametrize("beam", [1, 2, 3, 5])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("text", SETS.values(), ids=SETS)
def test_equals_the_paper_step_by_step(text: str, direction: str, beam: int) -> None:
    for n in range(1, 13):
        check_steps(Problem(text, n, 3, seed=100 * n + beam, whole=False), beam, direction)


@pytest.mark.parametrize("beam", [1, 3])
def test_ties_are_settled_alike(beam: int) -> None:
    for n in range(1, 13):
        check_steps(Problem(SETS["c"], n, 4, seed=n, whole=True), beam, "both")


def test_label_pairs_as_keys_score_as_rows_do() -> None:
    for n in range(1, 8):
        problem = Problem(SETS["c"], n, 3, seed=n, whole=False, most=0)
        assert problem.layout.n_rows == 0
        check_steps(problem, 3, "both")


@pytest.mark.parametrize(("text", "beam"), [("label @ -1", 3), ("label @ -1\nlabel[-2] & label[-1]", 9)])
@pytest.mark.parametrize("seed", range(10))
def test_left_to_right_with_all_states_is_viterbi(text: str, beam: int, seed: int) -> None:
    n = 1 + seed % 6
    problem = Problem(text, n, 3, seed=seed, whole=False)
    pair, *further = FeatureSet.parse(text).labels
    transition = np.array([[problem.named[pair, (a,), 0, b] for b in range(3)] for a in range(3)])
    trigram = np.zeros((3, 3, 3))
    for template in further:
        for a, b, c in np.ndindex(3, 3, 3):
            trigram[a, b, c] = problem.named[template, (a, b), 0, c]
    lattice = TrigramLattice(problem.emission[:, :3], transition, np.zeros(3), np.zeros(3), trigram=trigram)
    labels, score = max(all_labellings(lattice), key=lambda pair: pair[1])
    _, path, total = problem.search(beam, "left_to_right")
    assert path.tolist() == list(labels)
    assert total == pytest.approx(score, abs=1e-9)


def test_impossible_labels() -> None:
    problem = Problem(SETS["c"], 5, 3, seed=1, whole=False)
    problem.emission[2, :2] = -np.inf
    check_steps(problem, 3, "both")
    assert problem.search(3, "both")[1][2] == 2
    problem.emission[2, 2] = -np.inf
    assert problem.search(3, "both")[2] == -np.inf
