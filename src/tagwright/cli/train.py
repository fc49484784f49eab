"""`tagwright train`: read, check, learn, save, report.

Whatever can fail fails before training: the folder of the model, the learner's parameters, the templates, every line of
the training and dev files. The first Ctrl-C ends training after the current round, the second one at once (the learner
then keeps the last whole round); both save the model so far. Where there is none yet, nothing is written.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Mapping
from contextlib import closing
from itertools import chain
from typing import Any, NamedTuple

from tagwright import __version__
from tagwright.attributes.clusters import WordClusters
from tagwright.cli.console import compiling, note, print_json
from tagwright.cli.corpus import (
    LabelledFile,
    collect,
    hold_out,
    is_share,
    note_odd_choice,
    note_other_labels,
    note_shared_files,
    open_like,
    open_training,
)
from tagwright.cli.interrupt import Stop
from tagwright.cli.output import check_target
from tagwright.cli.report import Tagged, count, tag_corpus
from tagwright.cli.settings import find_features, make_learner
from tagwright.cli.sources import keep_inputs
from tagwright.io import detect_scheme
from tagwright.learners import CRF, SequenceTagger
from tagwright.metrics import SCORES, Evaluation
from tagwright.optim.progress import ProgressLine

MANY_LABELS = 200
"""From here on, what a CRF does with pairs of labels takes most of its time."""
LEAST_SHOWN = 0.05
"""Seconds of compiling that are worth a word."""


class Took(NamedTuple):
    """Seconds of `fit`, and of those how many went into compiling kernels."""

    all: float
    compiling: float

    @property
    def learning(self) -> float:
        return self.all - self.compiling


def run(arguments: Namespace) -> None:
    """Train as the command line says."""
    check_target(arguments.out)
    keep_inputs(arguments.out, *arguments.train, arguments.dev, arguments.features, arguments.clusters)
    model = make_learner(arguments.learner, arguments.settings, seed=arguments.seed, threads=arguments.threads)
    corpus, dev = read_corpora(arguments, model)
    if not arguments.quiet:
        note_slow_choice(model, corpus)
    stop = Stop("stopping after this round, the model is kept")
    began, compiled = time.perf_counter(), compiling.seconds
    with closing(ProgressLine(quiet=arguments.quiet)) as line, stop.on_interrupt():
        model.set_params(callbacks=[stop, line])
        model.fit(corpus.X, corpus.y, *(() if dev is None else (dev.X, dev.y)))
    took = Took(time.perf_counter() - began, compiling.seconds - compiled)
    model.info_ = remember(arguments, corpus, stop)
    model.save(arguments.out)
    if not arguments.quiet or arguments.json:
        report(arguments, model, corpus, dev, took, interrupted=stop.asked)


def read_corpora(arguments: Namespace, model: SequenceTagger) -> tuple[LabelledFile, LabelledFile | None]:
    """The training sentences and the dev sentences; `model` gets its templates."""
    sentences = open_training(arguments, arguments.train)
    model.features = find_features(arguments.features, sentences.layout.n_inputs)
    if arguments.clusters is not None:
        model.features = model.features, WordClusters.read(arguments.clusters)
    corpus = collect(sentences)
    note_odd_choice(arguments, corpus)
    if arguments.dev is None:
        return corpus, None
    if is_share(arguments.dev):
        return hold_out(corpus, arguments.dev)
    dev = collect(open_like(arguments.dev, corpus.layout, encoding=arguments.encoding))
    note_other_labels(arguments, corpus, dev)
    note_shared_files(arguments, arguments.train, arguments.dev)
    return corpus, dev


def note_slow_choice(model: SequenceTagger, corpus: LabelledFile) -> None:
    """Say what is quicker where a CRF has hundreds of labels."""
    labels = len(set(chain.from_iterable(corpus.y)))
    if labels < MANY_LABELS or not isinstance(model, CRF) or model.tag_dictionary:
        return
    has_words = bool(corpus.X) and not isinstance(corpus.X[0][0], Mapping)
    quicker = "--learner perceptron is many times as fast"
    if has_words and not model.loss.startswith("pointwise"):
        any_solver = (model.solver, model.loss, model.order, model.c1) == ("auto", "sequence_log", 1, 0)
        settings = "tag_dictionary=3 solver=sgd" if any_solver else "tag_dictionary=3"
        quicker = f"--set {settings} looks only at labels that a word was seen with, and {quicker}, too"
    note(f"{labels:,} labels: a CRF takes time with the square of that; {quicker} (docs/growth.md)")


def remember(arguments: Namespace, corpus: LabelledFile, stop: Stop) -> dict[str, Any]:
    """What the model file keeps of its training. No times: the same training gives the same bytes."""
    return {
        "tagwright": __version__,
        "file": corpus.name,
        "column": arguments.column,
        "sentences": len(corpus.X),
        "tokens": corpus.n_tokens,
        "scheme": detect_scheme(corpus.y),
        "layout": corpus.layout.to_json(),
        "interrupted": stop.asked,
    }


def report(
    arguments: Namespace,
    model: SequenceTagger,
    corpus: LabelledFile,
    dev: LabelledFile | None,
    took: Took,
    *,
    interrupted: bool,
) -> None:
    """Print what was learned, for a person or as JSON."""
    found = None if dev is None else tag_corpus(model, dev)
    n_bytes = os.path.getsize(arguments.out)
    if interrupted and not arguments.quiet:
        note(f"interrupted: the model so far is kept in {arguments.out}")
    if not arguments.json:
        print(format_report(model, corpus, found, took))
        print(f"{arguments.out}  {n_bytes:,} bytes")
        return
    scores = {name: None if found is None else getattr(found.scores, name) for name in SCORES}
    facts = {
        "tokens_per_second": None if found is None else found.tokens_per_second,
        "seconds": took.learning,
        "compiling_seconds": took.compiling,
        "iterations": model.n_iter_,
        "parameters": model.n_parameters_,
        "model_bytes": n_bytes,
        "learner": model.learner,
        "train_sentences": len(corpus.X),
        "train_tokens": corpus.n_tokens,
        "interrupted": interrupted,
        "model": arguments.out,
    }
    print_json(scores | facts)


def format_report(model: SequenceTagger, corpus: LabelledFile, dev: Tagged | None, took: Took) -> str:
    """A few lines: what was learned, how long it took, how good it is."""
    features = model.encoder_.features
    kernels = f" (and {took.compiling:.1f} s to compile kernels)" if took.compiling >= LEAST_SHOWN else ""
    lines = [
        f"{model.learner}, {'ready-made attributes' if features is None else f'features {features.name}'}: "
        f"{count(len(model.labels_), 'label')}, {model.n_parameters_:,} parameters",
        f"learned from {count(corpus.n_tokens, 'token')} in {count(len(corpus.X), 'sentence')} of {corpus.name} in "
        f"{took.learning:.1f} s{kernels}, {count(model.n_iter_, 'iteration')}",
    ]
    if dev is not None:
        lines.append(f"held out: {format_scores(dev.scores)}")
    return "\n".join(lines)


def format_scores(scores: Evaluation) -> str:
    """The scores in one line."""
    f1 = "" if scores.f1 is None else f"F1 {scores.f1:.2f}, "
    words = ((scores.known_accuracy, "known"), (scores.unknown_accuracy, "unknown"))
    known = ", ".join([f"{name} words {score:.2f}" for score, name in words if score is not None])
    return f"{f1}accuracy {scores.accuracy:.2f} %{f' ({known})' if known else ''} on {scores.tokens:,} tokens"
