"""`tagwright evaluate`: how good a model is on labelled sentences, for a person or as JSON."""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections import Counter
from itertools import chain

from tagwright.cli.console import note, notes, print_json
from tagwright.cli.corpus import Corpus, collect, open_like
from tagwright.cli.models import open_model
from tagwright.cli.report import Measured, measure
from tagwright.learners import SequenceTagger


def run(arguments: Namespace) -> None:
    """Evaluate as the command line says."""
    with notes(quiet=arguments.quiet):
        loaded = open_model(arguments.model)
        corpus = collect(
            open_like(
                arguments.file,
                loaded.layout,
                format=arguments.format,
                column=arguments.column,
                inputs=arguments.inputs,
            )
        )
        found = measure(loaded.model, corpus)
        if not arguments.quiet:
            tell_unknown_labels(loaded.model, corpus)
        if arguments.json:
            speed = {"seconds": found.seconds, "tokens_per_second": found.tokens_per_second}
            print_json(found.scores.to_json() | speed)
        else:
            print(format_report(found))


def tell_unknown_labels(model: SequenceTagger, corpus: Corpus) -> None:
    """Note labels that the model cannot give: they count as errors."""
    unknown = Counter(chain.from_iterable(corpus.y))
    for label in model.labels_:
        del unknown[label]
    if unknown:
        mostly = 2 * unknown.total() > corpus.n_tokens
        shown = ", ".join([label for label, _ in unknown.most_common(5)]) + (", ..." if len(unknown) > 5 else "")
        note(
            f"{corpus.name}: {unknown.total():,} of {corpus.n_tokens:,} tokens have labels that the model does not "
            f"know ({shown}); they count as errors" + (". Is this the right column?" if mostly else "")
        )


def format_report(found: Measured) -> str:
    """The scores as tables, and the speed."""
    width = shutil.get_terminal_size().columns
    speed = f"tagged in {found.seconds:.3f} s ({found.tokens_per_second:,.0f} tokens/s)"
    return f"{found.scores.format(width)}\n\n{speed}"
