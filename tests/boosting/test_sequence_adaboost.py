"""Sequence AdaBoost against its definition: risks, bounds and steps by writing down all labellings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from toy import toy_dicts, toy_words

from tagwright import SequenceAdaBoost, load
from tagwright.arrays import Doubles, Workers
from tagwright.boosting.adaboost import AdaBoost, Options
from tagwright.boosting.bounds import best_step, gain_of
from tagwright.boosting.exact_step import step_by_counts
from tagwright.boosting.sentence_weights import NEGLIGIBLE
from tagwright.boosting.training_set import TrainingSet
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.errors import ConvergenceWarning, DataError, ParameterError
from tagwright.learners._labels import number_labels
from tagwright.scores.expanded import expand
from tagwright.scores.pattern import find_pattern

LABELS = ["A", "B", "C"]
PAPER: dict[str, object] = {"bound": "tight", "power": 1.0, "features_per_round": 1, "max_step": 1.0}


def random_problem(seed: int, *, values: bool = False) -> tuple[list, list]:
    """A few short sentences of ready-made attributes, with labels that cannot all be right at once."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(int(rng.integers(3, 7))):
        T = int(rng.integers(1, 5))
        names = [rng.choice(list("abcd"), int(rng.integers(1, 4)), replace=False) for _ in range(T)]
        X.append([{str(a): float(rng.choice([-1.5, 0.5, 1.0, 2.0])) if values else True for a in own} for own in names])
        y.append([str(rng.choice(LABELS)) for _ in range(T)])
    y[0][0] = "A"
    if sorted({label for labels in y for label in labels}) != LABELS:
        return random_problem(seed + 1000, values=values)
    return X, y


class Booster(AdaBoost):
    """With the encoder, for the definition below."""

    encoder: Encoder


def make_booster(
    X: list, y: list, *, bound: str = "tight", max_step: float = 3.0, power: float = 1.0, weights: Doubles | None = None
) -> Booster:
    flat = [label for labels in y for label in labels]
    encoder, (data,) = Encoder.learn(None, [Text.build(X)])
    data = data._replace(labels=number_labels(flat, LABELS))
    pattern = find_pattern(encoder, data, 3, all_states=True, min_count=1)
    training = TrainingSet.build(encoder, data, pattern, 3, loose=bound == "loose", boundaries=True)
    booster = Booster(training, Options(bound == "exact", power, max_step), Workers(1), weights)
    booster.encoder = encoder
    return booster


class Definition:
    """Every labelling of every sentence with its vector of feature values u = Φ(x_i, y) − Φ(x_i, y_i)."""

    def __init__(self, booster: Booster) -> None:
        data, pattern = booster.training.data, booster.training.pattern
        tokens = expand(booster.encoder, data)
        K = pattern.n_weights
        self.values: list[np.ndarray] = []  # for each sentence [labellings but the gold one, features]
        for i in range(data.n_sentences):
            begin, end = data.offsets[i], data.offsets[i + 1]

            def phi(labels: tuple[int, ...], begin: int = begin, end: int = end) -> np.ndarray:
                found = np.zeros(len(booster.w))
                for t, p in enumerate(range(begin, end)):
                    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
                        a = tokens.attributes[e]
                        own = pattern.labels[pattern.pointers[a] : pattern.pointers[a + 1]].tolist()
                        if labels[t] in own:
                            found[pattern.pointers[a] + own.index(labels[t])] += tokens.values[e]
                for previous, current in itertools.pairwise(labels):
                    found[K + 3 * previous + current] += 1
                found[K + 9 + labels[0]] += 1
                found[K + 12 + labels[-1]] += 1
                return found

            gold = tuple(data.labels[begin:end].tolist())
            others = [labels for labels in itertools.product(range(3), repeat=end - begin) if labels != gold]
            self.values.append(np.array([phi(labels) - phi(gold) for labels in others]))

    def risk(self, weights: np.ndarray) -> float:
        """R^exp = Σ_i Σ_{y ≠ y_i} exp[F(x_i, y) − F(x_i, y_i)]."""
        return sum(float(np.exp(values @ weights).sum()) for values in self.values)

    def slope(self, weights: np.ndarray, k: int, power: float) -> float:
        """dR/dw_k of R = Σ ((1/p)^power − 1)/power."""
        total = 0.0
        for values in self.values:
            mass = np.exp(values @ weights)
            total += (1 + mass.sum()) ** (power - 1) * float(mass @ values[:, k])
        return total

    def tight(self, weights: np.ndarray, k: int, step: float) -> float:
        """The tight bound on R·Z (LM-POS 10), with each sentence's range of values; the gold labelling has 0."""
        total = 0.0
        for values in self.values:
            mass, u = np.exp(values @ weights), values[:, k]
            low, high = min(u.min(), 0.0), max(u.max(), 0.0)
            if high == low:
                total += mass.sum()
                continue
            total += float(mass @ ((high - u) * np.exp(step * low) + (u - low) * np.exp(step * high))) / (high - low)
        return total

    def loose(self, weights: np.ndarray, k: int, step: float) -> float:
        """The loose bound on R·Z (LM-POS 7)."""
        everything = np.concatenate([values[:, k] for values in self.values])
        low, high = min(everything.min(), 0.0), max(everything.max(), 0.0)
        mass = np.concatenate([np.exp(values @ weights) for values in self.values])
        if high == low:
            return float(mass.sum())
        terms = (high - everything) * np.exp(step * low) + (everything - low) * np.exp(step * high)
        return float(mass @ terms) / (high - low)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_equal_their_definitions(seed: int, values: bool) -> None:
    """For every feature and step: our loose and tight bounds are the papers'; loose ≥ tight ≥ exact."""
    X, y = random_problem(seed, values=values)
    tight, loose = make_booster(X, y), make_booster(X, y, bound="loose")
    definition = Definition(tight)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        scale, risk = np.exp(tight.sentences.reference), definition.risk(tight.w)
        assert np.exp(tight.log_risk) == pytest.approx(risk, rel=1e-11)
        tight.choose()
        loose.choose()
        for k in range(len(tight.w)):
            unit = np.eye(len(tight.w))[k]
            for step in (-1.3, -0.2, 0.4, 1.7):
                ours = risk - scale * gain_of(tight.bounds, k, step)
                wide = risk - np.exp(loose.sentences.reference) * gain_of(loose.bounds, k, step)
                exact = definition.risk(tight.w + step * unit)
                if k < tight.training.pattern.n_weights + 9 and k >= tight.training.pattern.n_weights:
                    assert ours >= definition.tight(tight.w, k, step) - 1e-9 * risk  # pairs: T // 2 is a limit
                else:
                    assert ours == pytest.approx(definition.tight(tight.w, k, step), rel=1e-9)
                    assert wide == pytest.approx(definition.loose(tight.w, k, step), rel=1e-9)
                assert wide >= ours - 1e-9 * risk
                assert ours >= exact - 1e-9 * risk
        k, step = int(rng.integers(len(tight.w))), float(rng.normal())
        tight.reweight([k], [step])
        loose.reweight([k], [step])


@pytest.mark.parametrize("bound", ["loose", "tight", "exact"])
@pytest.mark.parametrize("seed", range(4))
def test_each_round_takes_the_best_step_and_z_equals_enumeration(seed: int, bound: str) -> None:
    X, y = random_problem(seed + 50, values=bound != "exact" and seed % 2 == 1)
    booster = make_booster(X, y, bound=bound, max_step=2.0)
    definition = Definition(booster)
    measure = definition.loose if bound == "loose" else definition.tight
    before = first = definition.risk(booster.w)
    product = 1.0
    for _ in range(12):
        k = booster.choose()
        scale = np.exp(booster.sentences.reference)
        gains = np.array(
            [gain_of(booster.bounds, j, best_step(booster.bounds, j)) for j in range(len(booster.bounds.gains))]
        )
        assert gains[k] == pytest.approx(gains.max(), rel=1e-9, abs=1e-13)
        grid = np.linspace(-2, 2, 401)
        if k < booster.training.pattern.n_weights:  # no point of a grid is better than our step
            least = min(measure(booster.w, k, step) for step in grid)
            assert before - scale * gains[k] <= least * (1 + 1e-9)
        step = booster.step(k)
        unit = np.eye(len(booster.w))[k]
        if bound == "exact":
            least = min(definition.risk(booster.w + s * unit) for s in grid)
            assert definition.risk(booster.w + step * unit) <= least * (1 + 1e-9)
        booster.reweight([k], [step])
        now = np.exp(booster.log_risk)
        product *= now / before
        assert now == pytest.approx(definition.risk(booster.w), rel=1e-9)
        assert now <= before - scale * gains[k] + 1e-9 * before  # Z is below its bound
        before = now
    assert product == pytest.approx(definition.risk(booster.w) / first, rel=1e-9)


@pytest.mark.parametrize("power", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("bound", ["loose", "tight", "exact"])
def test_risks_of_less_power(bound: str, power: float) -> None:
    """R = Σ ((1/p)^power − 1)/power (Σ −log p for 0): its slopes are the sums B, and rounds gain what they promise."""
    X, y = random_problem(7, values=bound == "loose")
    booster = make_booster(X, y, bound=bound, max_step=1.0, power=power)
    definition = Definition(booster)

    def risk(weights: np.ndarray) -> float:
        inverse = np.array([1 + np.exp(values @ weights).sum() for values in definition.values])  # 1/p
        return float(np.log(inverse).sum() if power == 0 else ((inverse**power - 1) / power).sum())

    for _ in range(10):
        best = booster.choose()
        scale, before = np.exp(booster.sentences.reference), risk(booster.w)
        assert np.exp(booster.log_risk) == pytest.approx(before, rel=1e-10)
        for k in range(len(booster.w)):
            slope = scale * booster.bounds.B[booster.bounds.pointers[k] : booster.bounds.pointers[k + 1]].sum()
            unit = 1e-5 * np.eye(len(booster.w))[k]
            numerical = (risk(booster.w + unit) - risk(booster.w - unit)) / 2e-5
            assert slope == pytest.approx(numerical, rel=1e-6, abs=1e-7)
        gain = scale * booster.bounds.gains[best]
        step = booster.step(best)
        booster.reweight([best], [step])
        assert risk(booster.w) <= before - gain + 1e-10 * before


def fresh_copy(booster: Booster, X: list, y: list) -> Booster:
    return make_booster(X, y, bound="loose" if booster.training.loose else "tight", weights=booster.w)


@pytest.mark.parametrize("bound", ["tight", "loose"])
def test_sums_kept_over_rounds_are_those_made_anew(bound: str) -> None:
    X, y = toy_dicts(40, seed=3)
    booster = make_booster(X, y, bound=bound, max_step=1.0)
    for _ in range(60):
        k = booster.choose()
        booster.reweight([k], [best_step(booster.bounds, k)])
    booster.choose()
    fresh = fresh_copy(booster, X, y)
    fresh.choose()
    assert booster.log_risk == pytest.approx(fresh.log_risk, abs=1e-9)
    ratio = np.exp(booster.sentences.reference - fresh.sentences.reference)
    np.testing.assert_allclose(booster.bounds.B * ratio, fresh.bounds.B, atol=1e-10)
    np.testing.assert_allclose(booster.bounds.A * ratio, fresh.bounds.A, atol=1e-10)


def test_inactive_sentences_change_nothing() -> None:
    """Very different lengths: short sentences are inactive at first, active in time, and the risk is right."""
    X, y = toy_words(30, longest=4)
    long_X, long_y = toy_words(60, seed=9, longest=7)
    X, y = [*X, list(itertools.chain(*long_X))], [*y, list(itertools.chain(*long_y))]
    X = [[{w: True, w[-1]: True} for w in words] for words in X]
    booster = make_booster(X, y, max_step=1.0)
    assert booster.log_risk > 200
    assert not booster.sentences.active.all()
    for number in range(1, 801):
        k = booster.choose()
        booster.reweight([k], [best_step(booster.bounds, k)])
        active = booster.sentences.active
        if number % 100 == 0 and not active.all():  # all inactive ones are negligible
            fresh = fresh_copy(booster, X, y)
            assert np.exp(fresh.sentences.losses[~active] - fresh.log_risk).sum() < NEGLIGIBLE
            np.testing.assert_allclose(booster.sentences.losses[active], fresh.sentences.losses[active], atol=1e-8)
    assert booster.sentences.active.all()
    assert booster.log_risk < 40
    fresh = fresh_copy(booster, X, y)
    assert booster.log_risk == pytest.approx(fresh.log_risk, abs=1e-8)
    np.testing.assert_allclose(booster.sentences.losses, fresh.sentences.losses, atol=1e-8)  # of the small ones too


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagwright.boosting.training_scores.PIECE_TOKENS", 32)
    monkeypatch.setattr("tagwright.boosting.sums.SHARD_TOKENS", 32)
    X, y = toy_words(80)
    one, two = (SequenceAdaBoost("s2", rounds=60, n_jobs=n).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(one._all_weights(), two._all_weights())
    assert one.chosen_.rounds == two.chosen_.rounds
    assert one.objective_curve_ == two.objective_curve_


@pytest.mark.parametrize("bound", ["loose", "tight", "exact"])
def test_risk_never_increases(bound: str) -> None:
    X, y = toy_words(60)
    model = SequenceAdaBoost("s2", bound=bound, rounds=80).fit(X, y)
    curve = np.array(model.objective_curve_)
    assert len(curve) == 81
    assert (np.diff(curve) < 1e-12).all()


def test_several_features_a_round_share_no_sentence() -> None:
    X, y = toy_words(80)
    booster = SequenceAdaBoost("s2", rounds=30, **{**PAPER, "features_per_round": 5}).fit(X, y)
    alone = SequenceAdaBoost("s2", rounds=30, **PAPER).fit(X, y)
    assert booster.objective_ < alone.objective_
    rounds = [r for feature in booster.chosen_features() for r in feature.rounds]
    assert max(rounds.count(r) for r in rounds) > 1
    words = {r: [f.attribute for f in booster.chosen_features() if r in f.rounds] for r in rounds}
    for names in words.values():
        having = [[i for i, s in enumerate(X) if any(w == n.removeprefix("word[0]=") for w in s)] for n in names]
        together = [i for own, n in zip(having, names, strict=True) if n.startswith("word[0]=") for i in own]
        assert len(together) == len(set(together))


def test_chosen_features_tell_order_weight_and_rounds() -> None:
    X, y = toy_words(80)
    model = SequenceAdaBoost("s2", rounds=50, **PAPER).fit(X, y)
    features = model.chosen_features()
    firsts = [f.rounds[0] for f in features]
    assert firsts == sorted(firsts)
    assert firsts[0] == 1
    assert sorted(r for f in features for r in f.rounds) == list(range(1, 51))
    assert model.n_parameters_ == len(features)
    names = model.encoder_.attribute_names()
    scores = model.decoder_.scores
    for f in features:
        if f.attribute in names:
            a, label = names.index(f.attribute), model.labels_.index(f.label)
            run = slice(scores.pattern.pointers[a], scores.pattern.pointers[a + 1])
            own = scores.weights.values[run][scores.pattern.labels[run] == label]
            assert own.tolist() == [f.weight]


def test_warm_start_goes_on() -> None:
    X, y = toy_words(80)  # without two features that are always equal: which of them comes first is open
    whole = SequenceAdaBoost("s2", rounds=60, boundaries=False, **PAPER).fit(X, y)
    model = SequenceAdaBoost("s2", rounds=25, boundaries=False, warm_start=True, **PAPER).fit(X, y)
    model.set_params(rounds=35).fit(X, y)
    assert model.objective_ == pytest.approx(whole.objective_, abs=1e-8)
    found, expected = model.chosen_features(), whole.chosen_features()
    assert [f[:2] for f in found] == [f[:2] for f in expected]
    assert [f.rounds for f in found] == [f.rounds for f in expected]
    np.testing.assert_allclose([f.weight for f in found], [f.weight for f in expected], atol=1e-7)


def test_warm_start_keeps_what_was_better() -> None:
    """More rounds on labels that say the contrary of the dev set: the model stays as it was."""
    X, y = toy_words(80)
    model = SequenceAdaBoost("s2", rounds=60, all_possible_states=True, warm_start=True).fit(X, y)
    before = model.chosen_features()
    wrong = [[{"A": "B", "B": "C"}.get(label, "A") for label in labels] for labels in y]
    model.set_params(rounds=20, score_every=5).fit(X, wrong, X, y)
    assert model.chosen_features() == before
    assert model.score(X, y) > max(model.dev_curve_) / 100


def test_the_model_file_holds_the_chosen_features_alone(tmp_path: object) -> None:
    X, y = toy_words(120)
    template = "word suffix(1) suffix(2) @ -1..1\nword[-1] & word[0]"
    model = SequenceAdaBoost(template, rounds=20, min_conjunction=1, **PAPER).fit(X, y)
    model.save(tmp_path / "model.tw")
    again = load(tmp_path / "model.tw")
    assert again.chosen_features() == model.chosen_features()
    used = {f.attribute.partition("=")[2] for f in again.chosen_features()}
    kept = {value for vocabulary in again.encoder_.columns[0].vocabularies for value in vocabulary.values}
    assert kept <= used | {part for value in used for part in value.split("|")}
    assert again.predict(X) == model.predict(X)


def test_dev_set_chooses_the_rounds() -> None:
    X, y = toy_words(60)
    dev = toy_words(40, seed=5)
    model = SequenceAdaBoost("s2", rounds=200, score_every=10, patience=40).fit(X, y, *dev)
    best = int(np.argmax(model.dev_curve_)) + 1
    assert model.n_iter_ == min(200, 10 * best + 40)
    assert max(f.rounds[-1] for f in model.chosen_features()) == 10 * best
    assert model.score(*dev) * 100 == pytest.approx(max(model.dev_curve_))


def test_cross_validation_chooses_the_rounds() -> None:
    X, y = toy_words(60)
    model = SequenceAdaBoost("s2", rounds=120, score_every=20)
    rounds = model.choose_rounds(X, y, folds=3)
    assert rounds in range(20, 121, 20)
    assert model.rounds == rounds
    assert model.fit(X, y).n_iter_ == rounds


# ---- bad input ----


@pytest.mark.parametrize("fitted", [False, True])
def test_a_fit_that_fails_leaves_the_model_as_it_was(fitted: bool) -> None:
    """Whether data, dev labels or a callback are to blame."""
    X, y = toy_words(40)
    model = SequenceAdaBoost("s2", rounds=10, warm_start=True)
    if fitted:
        model.fit(X, y)
    before = dict(vars(model))

    def fail(progress: object) -> None:
        raise RuntimeError("no more")

    numbered = [[f"{label}1" for label in labels] for labels in y]
    with pytest.raises(DataError):
        model.fit(X, y[:-1])
    with pytest.raises(DataError):
        model.fit(X, numbered, X, y[:-1])
    with pytest.raises(ParameterError, match="span labels"):
        model.set_params(well_formed=True).fit(X, numbered)
    with pytest.raises(RuntimeError, match="no more"):
        model.set_params(well_formed=False, callbacks=[fail]).fit(X, numbered)
    model.set_params(callbacks=None)
    assert model.__sklearn_is_fitted__() == fitted
    assert vars(model) == before


def test_no_weak_learner_improves() -> None:
    with pytest.warns(ConvergenceWarning, match="no weak learner lowers the risk after 0 rounds"):
        model = SequenceAdaBoost("s1", boundaries=False).fit([["a"], ["a"]], [["A"], ["B"]])
    assert model.n_iter_ == 0
    assert model.n_parameters_ == 0
    assert model.end_ == "no weak learner improves"


def test_the_only_possible_labelling() -> None:
    model = SequenceAdaBoost("s1").fit([["a", "b"]], [["A", "A"]])
    assert (model.n_iter_, model.end_, model.objective_) == (0, "certain", None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rounds", 0),
        ("rounds", -3),
        ("rounds", 1.5),
        ("max_step", 0),
        ("bound", "x"),
        ("patience", 0),
        ("power", 1.5),
        ("max_features", 0),
    ],
)
def test_bad_parameters(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=f"{name} must be"):
        SequenceAdaBoost(**{name: value}).fit([["a"]], [["A"]])


def test_features_that_never_occur() -> None:
    """Attributes of value 0, and attributes that too few tokens have: the chain alone is left."""
    X = [[{"never": 0.0}, {"never": 0.0}]] * 4 + [[{"once": 1.0}]]
    y = [["A", "B"]] * 4 + [["A"]]
    model = SequenceAdaBoost(rounds=30, min_count=2).fit(X, y)
    assert model.predict([[{"never": 1.0}, {}]]) == [["A", "B"]]
    assert {f.attribute for f in model.chosen_features()} <= {"A", "B", "<s>"}


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("values", [False, True])
def test_the_searched_step_is_where_the_risk_is_least(
    monkeypatch: pytest.MonkeyPatch, values: bool, power: float
) -> None:
    """For every feature, those of the chain too. With the power 1 and without values, the step that counting gives."""
    X, y = random_problem(8, values=values)
    booster = make_booster(X, y, bound="exact", max_step=1.5, power=power)
    definition = Definition(booster)
    booster.reweight([0, 5], [0.4, -0.3])
    emission, weights = booster.scores.tokens.emission.copy(), booster.w.copy()
    state = booster.scores, booster.sentences
    counted = [step_by_counts(*state, k, 1.5) for k in range(len(weights))] if power == 1 and not values else []
    monkeypatch.setattr("tagwright.boosting.exact_step.FEW", -1)
    inside = 0
    for k in range(len(weights)):
        step, unit = booster.step(k), np.eye(len(weights))[k]
        slopes = [definition.slope(weights + s * unit, k, power) for s in (0.0, step)]
        if abs(step) == 1.5:
            assert slopes[0] * slopes[1] > 0
        else:
            assert abs(slopes[1]) <= 1.1e-3 * abs(slopes[0]) + 1e-9
            inside += 1
        if counted:
            assert step == pytest.approx(counted[k], rel=2e-3, abs=1e-6)
    assert inside > 3
    np.testing.assert_allclose(booster.scores.tokens.emission, emission, atol=1e-12)  # nothing moved
    np.testing.assert_allclose(booster.w, weights, atol=1e-12)


def test_a_share_of_the_features() -> None:
    X, y = toy_dicts(40, seed=3)
    settings: dict[str, object] = {**PAPER, "power": 0.0, "tolerance": 0.0}
    free = SequenceAdaBoost(rounds=60, **settings).fit(X, y)
    model = SequenceAdaBoost(rounds=60, max_features=0.1, **settings).fit(X, y)
    most = int(0.1 * model.n_features_)
    assert model.n_parameters_ == most < free.n_parameters_
    until = max(feature.rounds[0] for feature in model.chosen_features())
    assert until < 40
    assert model.objective_curve_[:until] == free.objective_curve_[:until]
    assert model.objective_curve_[-1] < model.objective_curve_[until]  # rounds go on
