"""`tagwright compare`: learners and feature sets on the same splits of a file, for a person, as JSON, as a picture.

Whatever can fail fails before the first training: names, settings, files, splits, the folder of the picture. The first
Ctrl-C ends the training under way, which is thrown away; what is finished by then is shown. Where nothing is finished,
nothing is shown (exit code 130).
"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from typing import Any

from tqdm import tqdm

from tagwright.cli.console import note, print_json
from tagwright.cli.corpus import (
    LabelledFile,
    collect,
    note_odd_choice,
    note_other_labels,
    note_shared_files,
    open_like,
    open_training,
)
from tagwright.cli.interrupt import Stop
from tagwright.cli.output import check_target
from tagwright.cli.settings import check_learner, find_features, make_learner, share_settings
from tagwright.cli.sources import keep_inputs
from tagwright.comparison import Comparison, Job, Plan, Run, draw_comparison, format_comparison, make_plan, summarise
from tagwright.errors import ParameterError
from tagwright.learners import LEARNERS
from tagwright.optim.progress import Progress
from tagwright.plots import require_plots, save_figure

REDRAW = 0.1  # seconds
LINE = "{n_fmt} of {total_fmt} runs [{elapsed}<{remaining}] {desc}{postfix}"


def run(arguments: Namespace) -> None:
    """Compare as the command line says."""
    if arguments.plot is not None:
        check_target(arguments.plot)
        keep_inputs(arguments.plot, *arguments.files, arguments.dev, arguments.test)
        require_plots(arguments.plot)
    corpus, plan = read_plan(arguments)
    stop = Stop("stopping, what is finished will be shown")
    runs = run_all(plan, stop, quiet=arguments.quiet)
    if not runs:
        raise KeyboardInterrupt
    found = summarise(plan, runs)
    if stop.asked and not arguments.quiet:
        note(f"interrupted: {found.runs} of {found.planned} runs are finished")
    if arguments.plot is not None:
        save_figure(draw_comparison(found, title=corpus.name), arguments.plot)
    if arguments.json:
        print_json(describe(arguments, corpus) | found.to_json() | {"interrupted": stop.asked})
    else:
        print(format_report(arguments, corpus, found))


def read_plan(arguments: Namespace) -> tuple[LabelledFile, Plan]:
    """The training file, and what will be compared on it."""
    names = list(LEARNERS) if arguments.learners == ["all"] else list(dict.fromkeys(arguments.learners))
    for name in names:
        check_learner(name, "--learners")
    settings = share_settings(names, arguments.settings)
    if any(key == "checkpoint" for pairs in settings.values() for key, _ in pairs):
        raise ParameterError("--set: a checkpoint belongs to one training, and compare trains many; leave it out")
    models = {
        name: make_learner(name, settings[name], seed=arguments.seed, threads=arguments.threads) for name in names
    }
    sentences = open_training(arguments, arguments.files)
    features = [find_features(name, sentences.layout.n_inputs) for name in dict.fromkeys(arguments.features)]
    systems = [
        (name, type(model)(**{**model.get_params(), "features": choice}))
        for name, model in models.items()
        for choice in features
    ]
    corpus = collect(sentences)
    note_odd_choice(arguments, corpus)
    options = {name: getattr(arguments, name) for name in ("folds", "draws", "size", "sizes")}
    for name in ("dev", "test"):
        file = getattr(arguments, name)
        if file is not None:
            options[name] = collect(open_like(file, corpus.layout, encoding=arguments.encoding))
            note_other_labels(arguments, corpus, options[name])
            note_shared_files(arguments, arguments.files, file)
    return corpus, make_plan(systems, corpus, random_state=arguments.seed, **options)


def run_all(plan: Plan, stop: Stop, *, quiet: bool) -> list[Run]:
    """The runs, all or as many as there are when the user stops them; on a terminal, a line tells how far they are."""
    finished: list[Run] = []
    silent = True if quiet else None  # None: unless stderr is a terminal
    with (
        tqdm(total=len(plan.jobs), file=sys.stderr, disable=silent, leave=False, bar_format=LINE) as bar,
        stop.on_interrupt(),
    ):
        drawn = 0.0

        def begin(job: Job) -> None:
            part = f"draw {job.split.draw + 1}" + ("" if job.split.fold is None else f", fold {job.split.fold + 1}")
            bar.set_description_str(f"{plan.names[job.system]}, {part}, {job.size} sentences")

        def show_training(progress: Progress) -> None:
            nonlocal drawn
            if time.monotonic() - drawn > REDRAW:
                drawn = time.monotonic()
                bar.set_postfix_str(f"{progress.unit} {progress.iteration}")

        for model in plan.models:
            model.set_params(callbacks=[stop, show_training])
        try:
            for run in plan.run(begin=begin, stop=lambda: stop.asked):
                finished.append(run)
                bar.update()
        except KeyboardInterrupt:  # the second one, between trainings
            stop.asked = True
    return finished


def describe(arguments: Namespace, corpus: LabelledFile) -> dict[str, Any]:
    """What the systems were compared on, for JSON."""
    facts = {"file": corpus.name, "sentences": len(corpus.X), "tokens": corpus.n_tokens}
    options = {name: getattr(arguments, name) for name in ("folds", "draws", "size", "sizes", "dev", "test", "seed")}
    return facts | options | ({"folds": None} if arguments.test else {})


def format_report(arguments: Namespace, corpus: LabelledFile, found: Comparison) -> str:
    """A line that says what the systems were compared on, and the table."""
    how = f"test on {arguments.test}" if arguments.test else f"{arguments.folds} folds"
    size = f" of {arguments.size:,} sentences" if arguments.size else ""
    draws = f", {arguments.draws} draws{size}" if arguments.draws > 1 else f", one draw{size}" if size else ""
    head = f"{corpus.name}: {corpus.n_tokens:,} tokens in {len(corpus.X):,} sentences; {how}{draws}"
    picture = [] if arguments.plot is None else ["", f"picture: {arguments.plot}"]
    return "\n".join([head, "", format_comparison(found), *picture])
