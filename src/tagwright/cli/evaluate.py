"""`tagwright evaluate`: how good a model is on labelled sentences, for a person, as JSON, and as a page in HTML.

    file ─► parts (parts.py) ─► tallies (scoring.py) ─► their sum ─► scores

The page shows sentences, so that it is made from lists of all of them.
"""

from __future__ import annotations

import os
import shutil
import time
from argparse import Namespace
from collections import Counter
from contextlib import closing
from typing import NamedTuple

from tagwright.cli.console import note, print_json
from tagwright.cli.corpus import Alike, clean_name, collect, open_like, read_alike, reading_options, training_layout
from tagwright.cli.first_lines import check_first_lines, check_items
from tagwright.cli.output import check_target, write_text
from tagwright.cli.parts import open_source, work_on_parts
from tagwright.cli.report import tag_corpus
from tagwright.cli.scoring import Scoring, count_unknown
from tagwright.cli.sources import find_sources, name_sources
from tagwright.errors import DataError
from tagwright.io import Sentences
from tagwright.io.formats import HEAD
from tagwright.io.lines import Lines, source_name
from tagwright.io.sentences import no_sentences
from tagwright.learners import SequenceTagger, load
from tagwright.metrics import Evaluation, Tally

PAGE = "index.html"


class Found(NamedTuple):
    """The scores of a file, the labels that the model does not know, and the time it took."""

    scores: Evaluation
    unknown: Counter[str]
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        return self.scores.tokens / self.seconds


def run(arguments: Namespace) -> None:
    """Evaluate as the command line says."""
    page = None if arguments.report is None else prepare_page(arguments.report)
    model = load(arguments.model)
    arguments.files = find_sources(arguments.files)
    found = score_parts(model, arguments) if page is None else score_lists(model, arguments, page)
    if not arguments.quiet:
        note_unknown_labels(clean_name(name_sources(arguments.files)), found)
    if arguments.json:
        speed = {"seconds": found.seconds, "tokens_per_second": found.tokens_per_second}
        print_json(found.scores.to_json() | speed | ({} if page is None else {"report": page}))
    else:
        print(format_report(found) + ("" if page is None else f"\n\nreport: {page}"))


def score_parts(model: SequenceTagger, arguments: Namespace) -> Found:
    """Part by part, in constant memory."""
    trained, options = training_layout(model), reading_options(arguments)
    encoding = options.pop("encoding")

    alike = Alike()

    def begin(lines: Lines) -> tuple[Sentences, Scoring]:
        sentences = open_like(lines, trained, **options)
        if lines.peek(1) and not alike.has(sentences):
            raise alike.error(sentences)
        if arguments.format == "auto":
            check_first_lines(model, trained, sentences.layout, lines, labelled=True)
        work = Scoring(model, sentences.layout, lines.name)
        work.rehearse()
        return sentences, work

    tally, unknown, seconds = Tally(), Counter[str](), 0.0
    for name in arguments.files:
        before, source = tally.sentences, open_source(name)
        with closing(work_on_parts(source, encoding, arguments.threads, begin)) as parts:
            began = time.perf_counter()
            for part in parts:
                tally.add(part.tally)
                unknown.update(part.unknown)
            seconds += time.perf_counter() - began
        if tally.sentences == before:
            raise no_sentences(source_name(source))
    return Found(tally.evaluate(), unknown, seconds)


def score_lists(model: SequenceTagger, arguments: Namespace, page: str) -> Found:
    """All sentences at once, and a page about them."""
    trained, options = training_layout(model), reading_options(arguments)
    corpus = collect(read_alike(arguments.files, trained, **options))
    if arguments.format == "auto" and len(corpus.X[0]) > 1:
        check_items(model, trained, corpus.layout, corpus.X[0][:HEAD], corpus.name)
    tagged = tag_corpus(model, corpus, n_jobs=arguments.threads or -1)
    from tagwright.cli.page.evaluation import evaluation_page  # only those who want a page wait for it

    write_text(page, evaluation_page(tagged))
    return Found(tagged.scores, count_unknown(model, corpus.y), tagged.seconds)


def prepare_page(folder: str) -> str:
    """The file of the page. Its folder is made; one that cannot be written to is refused."""
    try:
        os.makedirs(folder, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError("found a file, expected a folder for the report; name another", location=folder) from None
    page = os.path.join(folder, PAGE)
    check_target(page)
    return page


def note_unknown_labels(name: str, found: Found) -> None:
    """Note labels that the model cannot give: they count as errors."""
    unknown, n_tokens = found.unknown, found.scores.tokens
    if unknown:
        mostly = 2 * unknown.total() > n_tokens
        shown = ", ".join([label for label, _ in unknown.most_common(5)]) + (", ..." if len(unknown) > 5 else "")
        note(
            f"{name}: {unknown.total():,} of {n_tokens:,} tokens have labels that the model does not "
            f"know ({shown}); they count as errors" + (". Is this the right column?" if mostly else "")
        )


def format_report(found: Found) -> str:
    """The scores as tables, and the speed."""
    width = shutil.get_terminal_size().columns
    speed = f"tagged in {found.seconds:.3f} s ({found.tokens_per_second:,.0f} tokens/s)"
    return f"{found.scores.format(width)}\n\n{speed}"
