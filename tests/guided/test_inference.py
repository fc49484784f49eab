"""Inference against the paper's algorithm in plain Python, step by step, and against Viterbi."""

from __future__ import annotations

import numpy as np
import pytest
from guided.reference import infer as plain_infer
from oracle import TrigramLattice, all_labellings

from tagwright.arrays import padded
from tagwright.attributes.templates import FeatureSet
from tagwright.guided import label_contexts
from tagwright.guided.algorithm1_inference import InferenceModel, ScoredSentence, infer
from tagwright.guided.chart import SpanChart
from tagwright.guided.decoder import DIRECTIONS
from tagwright.guided.label_contexts import BASE, PART, PART_STRIDE, STRIDES, ContextLayout, ContextWeights, lay_out
from tagwright.guided.well_formed import find_gaps, score_gaps

SETS = {
    "pairs": "label @ -1, 1",
    "left": "label @ -1\nlabel[-2] & label[-1]",
    "c": "label @ -2..-1\nlabel @ 1..2\nlabel[-2] & label[-1]\nlabel[-1] & label[1]\nlabel[1] & label[2]\n"
    "label[-1] & word[0]\nlabel[2] & word[0]\nlabel[-2] & label[-1] & word[0]\nlabel[-1] & label[1] & word[0]",
    "far": "label[-2] & label[2]\nlabel[-2] & label[-1] & label[1] & label[2]\nlabel[-1] & word[0] & word[1]",
}


class RandomSentence:
    """Random weights, a random sentence, and U written down from the weights by name."""

    def __init__(self, text: str, n: int, Y: int, seed: int, *, whole: bool, most: int = 1 << 22) -> None:
        rng = np.random.default_rng(seed)
        self.templates = FeatureSet.parse(text).labels
        self.n, self.Y, W = n, Y, 3
        parts = {t.cells for t in self.templates if t.cells}
        self.layout: ContextLayout = lay_out(self.templates, Y, dict.fromkeys(parts, W), most)
        self.lexical = np.array([[0] * n, *rng.integers(-1, W, (len(self.layout.parts) - 1, n))], np.int32).T.copy()

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
                    index = self.index(m, template.offsets, context, w)
                    for y, value in enumerate(make((Y,))):
                        self.named[template, context, w, y] = value
                        if self.layout.numbers[m, PART] < 0:
                            rows[index, y] = value
                        elif rng.random() < 0.7:
                            keys.append(index), labels.append(y), values.append(value)
                        else:
                            self.named[template, context, w, y] = 0.0
            assert part >= 0
        entries = np.array(keys, np.int64), np.array(labels, np.int32), np.array(values, np.float64)
        self.contexts = ContextWeights.build(rows, *entries).run(self.layout, np.float64)
        self.allowed: list[list[bool]] | None = None
        self.reach, self.gaps = np.array(self.layout.reach, np.int64), np.ones((0, Y, Y), np.bool_)

    def obey(self, allowed: np.ndarray) -> None:
        """Let labels be followed by these alone."""
        self.allowed = allowed.tolist()
        self.reach, self.gaps = np.maximum(self.reach, 1), find_gaps(allowed)

    def index(self, m: int, offsets: tuple[int, ...], context: tuple[int, ...], w: int) -> int:
        numbers = self.layout.numbers[m]
        strides = dict(zip((-2, -1, 1, 2), numbers[STRIDES].tolist(), strict=True))
        index = numbers[BASE] + sum(strides[o] * label for o, label in zip(offsets, context, strict=True))
        return int(index + numbers[PART_STRIDE] * w)

    def score(self, k: int, y: int, l2: int | None, l1: int | None, r1: int | None, r2: int | None) -> float:
        known = {-2: l2, -1: l1, 1: r1, 2: r2}
        total = self.emission[k, y]
        for template in self.templates:
            context = tuple(known[offset] for offset in template.offsets)
            w = self.lexical[k, self.layout.parts.index(template.cells)]
            if None not in context and w >= 0:
                total += self.named[template, context, int(w), y]
        return float(total)

    def search(self, beam: int, direction: str) -> tuple[SpanChart, np.ndarray, float]:
        chart = SpanChart.build(self.n + 2, beam, padded(self.Y), np.float64)
        labels = np.zeros(self.n, np.int32)
        gaps = score_gaps(self.gaps, padded(self.Y), np.float64)
        model = InferenceModel(self.contexts, self.reach, gaps, DIRECTIONS[direction])
        total = infer(chart, model, ScoredSentence(self.emission, self.lexical), labels)
        return chart, labels, total


def check_steps(sentence: RandomSentence, beam: int, direction: str) -> None:
    chart, path, total = sentence.search(beam, direction)
    reach = tuple(sentence.reach.tolist())
    spans = list(plain_infer(sentence.n, sentence.score, sentence.Y, beam, reach, direction, sentence.allowed))
    assert chart.order[: sentence.n].tolist() == [span.k for span in spans]
    for span in spans:
        k = span.k
        assert chart.bounds[k].tolist() == [span.begin, span.end]
        assert chart.n_states[k] == len(span.top) <= beam
        for b, h in enumerate(span.top):
            assert chart.V[k, b] == pytest.approx(h.total, abs=1e-9)
            assert chart.U[k, b] == pytest.approx(h.action, abs=1e-9)
            assert chart.label[k, b] == h.y
            interfaces = [y for y in chart.interfaces[k, b].tolist() if y < sentence.Y]
            left = list(h.labels[: reach[1]]) if span.begin > 0 else []
            right = list(h.labels[::-1][: reach[0]]) if span.end < sentence.n - 1 else []
            assert interfaces == left + right
    assert path.tolist() == list(spans[-1].top[0].labels)
    assert total == pytest.approx(spans[-1].top[0].total, abs=1e-9)


@pytest.mark.parametrize("beam", [1, 2, 3, 5])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("text", SETS.values(), ids=SETS)
def test_equals_the_paper_step_by_step(text: str, direction: str, beam: int) -> None:
    for n in range(1, 13):
        check_steps(RandomSentence(text, n, 3, seed=100 * n + beam, whole=False), beam, direction)


@pytest.mark.parametrize("beam", [1, 3])
def test_ties_are_settled_alike(beam: int) -> None:
    for n in range(1, 13):
        check_steps(RandomSentence(SETS["c"], n, 4, seed=n, whole=True), beam, "both")


def test_label_pairs_as_keys_score_as_rows_do() -> None:
    for n in range(1, 8):
        sentence = RandomSentence(SETS["c"], n, 3, seed=n, whole=False, most=0)
        assert sentence.layout.n_rows == 0
        check_steps(sentence, 3, "both")


@pytest.mark.parametrize("text", SETS.values(), ids=SETS)
def test_templates_that_are_not_put_together_score_as_those_that_are(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 450 labels, a row for every pair of labels would be 450 million numbers."""
    monkeypatch.setattr(label_contexts, "MOST_NUMBERS", 0)
    for n in range(1, 8):
        sentence = RandomSentence(text, n, 3, seed=n, whole=False)
        assert len(sentence.contexts.rows) == sentence.layout.n_rows
        check_steps(sentence, 3, "both")


@pytest.mark.parametrize(("text", "beam"), [("label @ -1", 3), ("label @ -1\nlabel[-2] & label[-1]", 9)])
@pytest.mark.parametrize("seed", range(10))
def test_left_to_right_with_all_states_is_viterbi(text: str, beam: int, seed: int) -> None:
    n = 1 + seed % 6
    sentence = RandomSentence(text, n, 3, seed=seed, whole=False)
    pair, *further = FeatureSet.parse(text).labels
    transition = np.array([[sentence.named[pair, (a,), 0, b] for b in range(3)] for a in range(3)])
    trigram = np.zeros((3, 3, 3))
    for template in further:
        for a, b, c in np.ndindex(3, 3, 3):
            trigram[a, b, c] = sentence.named[template, (a, b), 0, c]
    lattice = TrigramLattice(sentence.emission[:, :3], transition, np.zeros(3), np.zeros(3), trigram=trigram)
    labels, score = max(all_labellings(lattice), key=lambda pair: pair[1])
    _, path, total = sentence.search(beam, "left_to_right")
    assert path.tolist() == list(labels)
    assert total == pytest.approx(score, abs=1e-9)


def test_impossible_labels() -> None:
    sentence = RandomSentence(SETS["c"], 5, 3, seed=1, whole=False)
    sentence.emission[2, :2] = -np.inf
    check_steps(sentence, 3, "both")
    assert sentence.search(3, "both")[1][2] == 2
    sentence.emission[2, 2] = -np.inf
    assert sentence.search(3, "both")[2] == -np.inf
