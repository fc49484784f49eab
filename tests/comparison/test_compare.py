"""`compare` on the sample against the same trainings by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright import HMM, StructuredPerceptron, datasets
from tagwright.comparison import Labelled, compare, format_comparison, make_plan, summarise
from tagwright.comparison.plan import warm_up
from tagwright.errors import DataError, ParameterError
from tagwright.metrics import evaluate
from tagwright.optim.progress import Progress

X, y = (side[:90] for side in datasets.sample())
CHUNKS = tuple(side[:60] for side in datasets.sample("chunk"))


def systems() -> dict[str, HMM | StructuredPerceptron]:
    return {"hmm": HMM(), "perceptron": StructuredPerceptron("s1", epochs=2, random_state=0)}


def test_against_trainings_by_hand() -> None:
    found = compare(systems(), X, y, folds=3)
    splits = make_plan(systems(), Labelled(X, y), folds=3).splits
    for row in found.rows:
        scores = []
        for split in splits:
            train, test = split.train.tolist(), split.test.tolist()
            model = systems()[row.name].fit([X[i] for i in train], [y[i] for i in train])
            scores.append(100 * model.score([X[i] for i in test], [y[i] for i in test]))
        assert row.accuracy.repetitions == pytest.approx(scores)
        assert row.score.mean == pytest.approx(np.mean(scores))
        assert (row.f1, row.runs, row.size) == (None, 3, 60)
        assert min(row.train_seconds, row.tokens_per_second, row.model_bytes, row.parameters) > 0
    assert found.rows[0].score.mean >= found.rows[1].score.mean


def test_spans_are_scored_by_f1() -> None:
    held = (CHUNKS[0][40:], CHUNKS[1][40:])
    found = compare({"hmm": HMM()}, CHUNKS[0][:40], CHUNKS[1][:40], test=held)
    expected = evaluate(held[1], HMM().fit(CHUNKS[0][:40], CHUNKS[1][:40]).predict(held[0]))
    (row,) = found.rows
    assert found.metric == "f1"
    assert row.f1 is not None
    assert row.f1.mean == pytest.approx(expected.f1)
    assert row.accuracy.mean == pytest.approx(expected.accuracy)
    assert row.f1.over == "sentences"


def test_sizes_take_the_first_of_each_training_part() -> None:
    found = compare({"hmm": HMM()}, X, y, folds=3, sizes=[40, 20])
    assert [row.size for row in found.rows] == [20, 40]
    assert found.runs == found.planned == 6
    split = make_plan({"hmm": HMM()}, Labelled(X, y), folds=3).splits[0]
    train, test = split.train[:20].tolist(), split.test.tolist()
    model = HMM().fit([X[i] for i in train], [y[i] for i in train])
    expected = 100 * model.score([X[i] for i in test], [y[i] for i in test])
    assert found.rows[0].accuracy.repetitions[0] == pytest.approx(expected)


def test_a_dev_set_reaches_the_learner() -> None:
    told: list[float | None] = []
    model = StructuredPerceptron("s1", epochs=2, callbacks=[lambda progress: told.append(progress.dev_score)])
    compare({"perceptron": model}, X[:30], y[:30], folds=2, dev=(X[30:40], y[30:40]))
    assert len(told) == 4
    assert all(score is not None for score in told)


def test_a_run_under_way_is_thrown_away() -> None:
    asked: list[bool] = []

    def stop_training(progress: Progress) -> bool:
        asked.append(True)
        return True

    models = {"hmm": HMM(), "perceptron": StructuredPerceptron("s1", epochs=5, callbacks=[stop_training])}
    plan = make_plan(models, Labelled(X[:30], y[:30]), folds=3)
    found = summarise(plan, list(plan.run(stop=lambda: bool(asked))))
    assert [(row.name, row.runs) for row in found.rows] == [("hmm", 1)]
    assert "1 of 6 runs are finished" in format_comparison(found)


def test_warming_up_trains_one_round_on_sentences_with_all_labels() -> None:
    seen: list[int] = []

    class Watched(StructuredPerceptron):
        def fit(self, X, y, *rest):  # type: ignore[no-untyped-def]
            labels = {label for labels in y for label in labels}
            super().fit(X, y, *rest)
            seen.extend([len(X), len(labels), self.n_iter_])
            return self

    labels = {label for labels in y for label in labels}
    warm_up(Watched("s1", epochs=50), Labelled(X, y))
    assert seen[0] <= len(labels)
    assert seen[1:] == [len(labels), 1]


def test_the_table_is_aligned() -> None:
    text = format_comparison(compare(systems(), X[:40], y[:40], folds=2))
    head, *rows = text.split("\n\n")[0].splitlines()
    assert head.split() == [
        "system",
        "features",
        "accuracy",
        "p",
        "training",
        "tokens/s",
        "model",
        "parameters",
        "runs",
    ]
    assert len({len(line) for line in (head, *rows)}) == 1
    assert [row.split()[0] for row in rows] in (["hmm", "perceptron"], ["perceptron", "hmm"])
    assert "best" in rows[0]


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ParameterError, match="nothing to compare"):
        compare({}, X, y)
    with pytest.raises(DataError, match="every token has the label 'O', so all systems are right"):
        compare({"hmm": HMM()}, [["a"], ["b"]], [["O"], ["O"]], folds=2)
    with pytest.raises(DataError, match="no sentences to compare on"):
        compare({"hmm": HMM()}, [], [])
    with pytest.raises(DataError, match="2 sentences but 1 label lists"):
        compare({"hmm": HMM()}, [["a"], ["b"]], [["O"]], folds=2)
    with pytest.raises(DataError, match=r"fold . of draw 1 has no spans, so no F1"):
        compare({"hmm": HMM()}, [["a"], ["b"], ["c"]], [["O"], ["B-X"], ["B-X"]], folds=3)
    with pytest.raises(ParameterError, match="smoothing must be a number above 0"):
        compare({"hmm": HMM(smoothing=-1)}, X, y)
