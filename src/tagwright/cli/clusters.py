"""`tagwright clusters`: classes of words from text without labels, for `train --clusters`."""

from __future__ import annotations

import time
from argparse import Namespace
from contextlib import closing

from tagwright.attributes.clusters import WordClusters
from tagwright.attributes.exchange import MOST_PASSES
from tagwright.cli.console import print_json
from tagwright.cli.output import check_target
from tagwright.cli.sources import find_sources, keep_inputs, read_together
from tagwright.io import read_sentences
from tagwright.optim.progress import Progress, ProgressLine


def run(arguments: Namespace) -> None:
    """Learn clusters as the command line says."""
    check_target(arguments.out)
    keep_inputs(arguments.out, *arguments.files)
    options = {"format": arguments.format, "encoding": arguments.encoding, "separator": arguments.separator}
    source = read_together(
        find_sources(arguments.files), lambda name: read_sentences(name, label=None, n_inputs=1, **options)
    )
    sentences = [list(sentence.items) for sentence in source]
    began = time.perf_counter()
    with closing(ProgressLine(quiet=arguments.quiet)) as line:

        def tell(passes: int, moved: int) -> None:
            line(Progress(passes, MOST_PASSES, moved, None, None, time.perf_counter() - began, unit="pass"))

        clusters = WordClusters.learn(sentences, n_clusters=arguments.number, min_count=arguments.min_count, tell=tell)
    clusters.write(arguments.out)
    report(arguments, clusters, sum(map(len, sentences)), time.perf_counter() - began)


def report(arguments: Namespace, clusters: WordClusters, n_tokens: int, seconds: float) -> None:
    """Print what was found, for a person or as JSON."""
    if arguments.json:
        facts = {"tokens": n_tokens, "words": len(clusters), "clusters": clusters.n_clusters, "seconds": seconds}
        print_json({**facts, "file": arguments.out})
    elif not arguments.quiet:
        print(f"{n_tokens:,} tokens, {len(clusters):,} words in {clusters.n_clusters} clusters, {seconds:.1f} s")
        print(arguments.out)
