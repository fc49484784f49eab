"""Sequence AdaBoost: how often features are chosen again, test scores and sparsity, rounds a second, tagging speed.

    python -m benchmarks.boosting [selections] [accuracy] [speed] [together] [--features s2,s3] [--power 0] [--data DIR]

selections   the most selected features of the first 100 rounds under the loose, tight and exact bound (WSJ sample)
accuracy     Spanish entities, words alone: F1 with rounds chosen on the dev set, test set scored once; the share of
             features used; size and tagging speed; the CRF with the same features beside it
speed        Spanish entities: rounds a second after a warm-up, what they cost, and a round that passes all the data
together     Spanish entities: 800 rounds with one, five or twenty choices each
"""

from __future__ import annotations

import json
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from tagwright.encode.flat_text import FlatText

from benchmarks.corpora import Text, add_data_option, read_task, words_alone
from tagwright.arrays import Doubles, Longs, Workers
from tagwright.attributes.templates import resolve
from tagwright.encode.encoder import Encoder
from tagwright.learners import CRF, SequenceAdaBoost, SequenceTagger
from tagwright.learners._booster import Booster
from tagwright.learners._exact_step import exact_step
from tagwright.learners._labels import number_labels
from tagwright.metrics import evaluate
from tagwright.scores.pattern import find_pattern

PAPER = {"s2": 66.11, "s3": 71.07}  # boosting, LOSS tables 2 and 3
MEASURED = 500  # rounds of the speed part, after its warm-up
ROUNDS = 800  # of the part with several features a round


def cut(sentences: list[list[Any]], length: int) -> list[list[Any]]:
    """Pieces of `length` items; what is shorter is left out. 0: whole sentences."""
    if length == 0:
        return sentences
    pieces = [sentence[i : i + length] for sentence in sentences for i in range(0, len(sentence), length)]
    return [piece for piece in pieces if len(piece) == length]


def measure_selections(options: Namespace) -> list[dict[str, Any]]:
    """How often the first 100 rounds choose the same feature. Steps are cut late, so that a cut is no reason.

    With the power 1 and whole sentences, the longest sentence is all that counts in these rounds. So the papers cut
    sentences into pieces of about the same length (--pieces); with the power 0, all sentences count as they are.
    """
    X, y = (cut(part, options.pieces) for part in read_task("wsj", options.data).train)
    print(f"{'bound':8}{'most selected, times of 100 rounds':>36}{'features':>10}{'log R':>12}{'seconds':>9}")
    rows = []
    for bound in ("loose", "tight", "exact"):
        began = time.perf_counter()
        model = SequenceAdaBoost("s2", bound=bound, power=options.power, rounds=100, max_step=20.0, tolerance=0.0)
        model.fit(X, y)
        times = sorted([len(feature.rounds) for feature in model.chosen_features()], reverse=True)
        row = {"bound": bound, "times": times[:5], "features": len(times), "objective": model.objective_}
        rows.append(row)
        seconds = time.perf_counter() - began
        print(f"{bound:8}{times[:5]!s:>36}{len(times):10}{model.objective_:12.2f}{seconds:9.1f}", flush=True)
    return rows


def describe(model: SequenceTagger, test: Text) -> dict[str, float]:
    """Test F1, weights, bytes of the file and tokens a second (best of three)."""
    X, y = test
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        predicted = model.predict(X)
        best = min(best, time.perf_counter() - began)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tw"
        model.save(path)
        size = path.stat().st_size
    f1 = evaluate(y, predicted).f1 or 0.0
    return {"f1": f1, "weights": model.n_parameters_, "bytes": size, "tokens_per_second": sum(map(len, X)) / best}


def measure_accuracy(options: Namespace) -> list[dict[str, Any]]:
    """Both learners with the same features, boosting's rounds by the dev set."""
    task = read_task("ner", options.data)
    train, dev, test = map(words_alone, (task.train, task.dev, task.test))
    heads = "F1:7 paper:7 weights:9 share:8 bytes:11 tokens/s:11 rounds:8 seconds:9"
    print(" " * 14 + "".join(name.rjust(int(room)) for name, room in (head.split(":") for head in heads.split())))
    rows = []
    for features in options.features.split(","):
        boosting = SequenceAdaBoost(
            features, rounds=options.rounds, bound=options.bound, power=options.power, max_step=options.max_step,
            features_per_round=options.features_per_round, max_features=options.max_features, score_every=100,
            patience=options.patience, n_jobs=2,
        )  # fmt: skip
        for model in (boosting, CRF(features, n_jobs=2)):
            began = time.perf_counter()
            model.fit(*train, *(dev if model is boosting else ()))
            seconds = time.perf_counter() - began
            found = describe(model, test)
            if model is boosting:
                rounds, n_features = max(f.rounds[-1] for f in model.chosen_features()), model.n_features_
            else:
                rounds, n_features = model.n_iter_, int(found["weights"])
            share = found["weights"] / n_features
            row = {"learner": model.learner, "features": features, "rounds": rounds, "share": share, **found}
            rows.append(row | {"seconds": seconds})
            print(
                f"{features:4}{model.learner:10}{found['f1']:7.2f}{PAPER.get(features, 0):7.2f}{found['weights']:9.0f}"
                f"{share:8.1%}{found['bytes']:11.0f}{found['tokens_per_second']:11.0f}{rounds:8}{seconds:9.1f}",
                flush=True,
            )
    return rows


class TimedBooster(Booster):
    """Knows what its parts cost."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.spent = {"forward-backward": 0.0, "sums": 0.0}
        super().__init__(*arguments, **options)

    def _time(self, name: str, work: Callable[[], None]) -> None:
        began = time.perf_counter()
        work()
        self.spent[name] += time.perf_counter() - began

    def expect_into(self, chosen: Longs, residuals: Doubles, chain_residuals: Doubles, losses: Doubles) -> None:
        into = residuals, chain_residuals, losses
        self._time("forward-backward", lambda: super(TimedBooster, self).expect_into(chosen, *into))

    def _add_changes(self, chosen: Longs, weight_change: Doubles) -> None:
        self._time("sums", lambda: super(TimedBooster, self)._add_changes(chosen, weight_change))

    def pass_everything(self) -> None:
        """What a round costs without the lists: all sentences passed, all sums made."""
        everyone = np.arange(self.data.n_sentences)
        self._expect(everyone)
        self.awake[:] = True
        self._refresh()
        self.choose()


def make_booster(text: Text, options: Namespace) -> TimedBooster:
    X, y = text
    flat = FlatText.build(X)
    names = sorted(set(chain.from_iterable(y)))
    encoder = Encoder(resolve("s2", flat.width), min_conjunction=2)
    data = replace(encoder.learn(flat), labels=number_labels(list(chain.from_iterable(y)), names))
    pattern = find_pattern(encoder, data, len(names), all_states=False, min_count=1)
    return TimedBooster(
        encoder, data, pattern, len(names), Workers(1), loose=options.bound == "loose", most_step=options.max_step,
        boundaries=True, power=options.power,
    )  # fmt: skip


def time_round(booster: TimedBooster, bound: str, at_most: int = 1) -> tuple[int, list[float]]:
    """One round: the feature (the first, if several are added), and what choice, steps and addition cost."""
    times = [time.perf_counter()]
    k = booster.choose()
    features = booster.choose_more(k, at_most)
    times.append(time.perf_counter())
    steps = [exact_step(booster, k) if bound == "exact" else booster.bound.step(k) for k in features]
    times.append(time.perf_counter())
    booster.add(features, steps)
    times.append(time.perf_counter())
    return k, np.diff(times).tolist()


def measure_speed(options: Namespace) -> dict[str, Any]:
    """Rounds of one feature, one thread, once the warm-up (several a round) has chosen so many features."""
    booster = make_booster(words_alone(read_task("ner", options.data).train), options)
    wanted = options.warm_up * len(booster.weights)
    while np.count_nonzero(booster.weights) < wanted:
        time_round(booster, options.bound, options.features_per_round)
    print(f"warmed up: {np.count_nonzero(booster.weights)} features chosen", flush=True)
    booster.spent = dict.fromkeys(booster.spent, 0.0)
    rounds = [time_round(booster, options.bound) for _ in range(MEASURED)]
    pairs = sum(k >= booster.pattern.n_weights for k, _ in rounds)
    own = [sum(times) for _, times in rounds]
    others = mean(sum(times) for k, times in rounds if k < booster.pattern.n_weights)
    spent = {name: mean(times[n] for _, times in rounds) for n, name in enumerate(("choice", "step", "addition"))}
    spent |= {f"of these {name}": seconds / len(own) for name, seconds in booster.spent.items()}
    whole = []
    for _ in range(5):
        began = time.perf_counter()
        booster.pass_everything()
        whole.append(time.perf_counter() - began)
    found = {
        "median": median(own), "mean": mean(own), "mean without label-label": others, "label_pairs": pairs,
        "everything": median(whole),
        "ratio": median(whole) / median(own), "ratio_of_mean": median(whole) / mean(own), **spent,
    }  # fmt: skip
    print(
        f"s2, bound {options.bound}, power {options.power}, {MEASURED} rounds from {options.warm_up:.0%} of the ",
        end="",
    )
    print(f"features on, {pairs} of them label-label")
    for name in ("median", "mean", "mean without label-label"):
        print(f"{name} round {1e3 * found[name]:.2f} ms ({1 / found[name]:.0f} a second)", end="; ")
    print(", ".join(f"{k} {1e3 * v:.2f}" for k, v in spent.items()))
    print(f"a round that passes all the data {1e3 * found['everything']:.1f} ms: {found['ratio']:.0f} x the ", end="")
    print(f"median, {found['ratio_of_mean']:.0f} x the mean, {found['everything'] / others:.0f} x without label-label")
    return found


def measure_together(options: Namespace) -> list[dict[str, Any]]:
    """The effect of features_per_round: more choices in as many rounds."""
    task = read_task("ner", options.data)
    train, dev = words_alone(task.train), words_alone(task.dev)
    print(f"{'a round':>7}{'rounds':>8}{'choices':>9}{'features':>10}{'log R':>9}{'dev F1':>8}{'seconds':>9}")
    rows = []
    for k in (1, 5, 20):
        began = time.process_time()
        model = SequenceAdaBoost("s2", rounds=ROUNDS, features_per_round=k, max_step=options.max_step).fit(*train)
        seconds = time.process_time() - began
        choices = sum(len(feature.rounds) for feature in model.chosen_features())
        score = evaluate(dev[1], model.predict(dev[0])).f1 or 0.0
        row = {"features_per_round": k, "rounds": model.n_iter_, "choices": choices, "features": model.n_parameters_}
        rows.append(row | {"objective": model.objective_, "dev": score, "seconds": seconds})
        print(
            f"{k:7}{model.n_iter_:8}{choices:9}{model.n_parameters_:10}{model.objective_:9.3f}{score:8.2f}{seconds:9.1f}",
            flush=True,
        )
    return rows


PARTS = {
    "selections": measure_selections, "accuracy": measure_accuracy, "speed": measure_speed,
    "together": measure_together,
}  # fmt: skip


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--features", default="s2,s3")
    parser.add_argument("--bound", default="exact")
    parser.add_argument("--power", type=float, default=0.0, help="of the risk: 1 is R^exp, 0 the log risk")
    parser.add_argument("--pieces", type=int, default=0, help="cut sentences of the selections part so short")
    parser.add_argument("--rounds", type=int, default=4000, help="of the accuracy part, at most")
    parser.add_argument("--patience", type=int, default=500)
    parser.add_argument("--max-step", type=float, default=1.0)
    parser.add_argument("--features-per-round", type=int, default=20)
    parser.add_argument("--max-features", type=float, default=0.15, help="the share that the accuracy part may choose")
    parser.add_argument("--warm-up", type=float, default=0.1, help="share of features before the speed is measured")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    add_data_option(parser)
    options = parser.parse_args()
    found = {part: PARTS[part](options) for part in options.parts}
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
