"""`tagwright evaluate`: how good a model is on labelled sentences, for a person, as JSON, and as a page in HTML."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from collections import Counter
from itertools import chain

from tagwright.cli.console import note, print_json
from tagwright.cli.corpus import LabelledFile, collect, open_like, reading_options, training_layout
from tagwright.cli.output import check_target, write_text
from tagwright.cli.report import Tagged, tag_corpus
from tagwright.errors import DataError
from tagwright.learners import SequenceTagger, load

PAGE = "index.html"


def run(arguments: Namespace) -> None:
    """Evaluate as the command line says."""
    page = None if arguments.report is None else prepare_page(arguments.report)
    model = load(arguments.model)
    corpus = collect(open_like(arguments.file, training_layout(model), **reading_options(arguments)))
    found = tag_corpus(model, corpus, n_jobs=arguments.threads or -1)
    if not arguments.quiet:
        note_unknown_labels(model, corpus)
    if page is not None:
        from tagwright.cli.page.evaluation import evaluation_page  # only those who want a page wait for it

        write_text(page, evaluation_page(found))
    if arguments.json:
        speed = {"seconds": found.seconds, "tokens_per_second": found.tokens_per_second}
        print_json(found.scores.to_json() | speed | ({} if page is None else {"report": page}))
    else:
        print(format_report(found) + ("" if page is None else f"\n\nreport: {page}"))


def prepare_page(folder: str) -> str:
    """The file of the page. Its folder is made; one that cannot be written to is refused."""
    try:
        os.makedirs(folder, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError("found a file, expected a folder for the report; name another", location=folder) from None
    page = os.path.join(folder, PAGE)
    check_target(page)
    return page


def note_unknown_labels(model: SequenceTagger, corpus: LabelledFile) -> None:
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


def format_report(found: Tagged) -> str:
    """The scores as tables, and the speed."""
    width = shutil.get_terminal_size().columns
    speed = f"tagged in {found.seconds:.3f} s ({found.tokens_per_second:,.0f} tokens/s)"
    return f"{found.scores.format(width)}\n\n{speed}"
