"""spaCy's tagger and ours on the same data: UD English EWT, Penn tags; times and accuracy.

    python -m benchmarks.drop_in.spacy_tagger [--steps 2000] [--data FOLDER]

It needs spaCy (`pip install spacy`) in the environment. spaCy's tagger is that of `spacy init config --pipeline tagger
--optimize efficiency`, on the CPU with one thread, without vectors; it trains for so many steps, and the weights that
are best on the dev set are kept. Seconds are processor time. Both tag words, not raw text.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.corpora import Text, add_data_option, read_task, words_alone
from tagwright import CRF

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "BLIS_NUM_THREADS": "1"}


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def write_documents(text: Text, path: Path) -> None:
    """A .spacy file: one document for each sentence."""
    tokens, vocabulary = import_module("spacy.tokens"), import_module("spacy").blank("en").vocab
    documents = [tokens.Doc(vocabulary, words=words, tags=tags) for words, tags in zip(*text, strict=True)]
    tokens.DocBin(docs=documents).to_disk(path)


def train_spacy(folder: Path, steps: int) -> float:
    """Seconds of `spacy train`."""
    spacy = [sys.executable, "-m", "spacy"]
    config = ["init", "config", str(folder / "config.cfg"), "--pipeline", "tagger", "--optimize", "efficiency"]
    subprocess.run([*spacy, *config], check=True, capture_output=True)
    command = [*spacy, "train", str(folder / "config.cfg"), "--output", str(folder / "out")]
    command += ["--paths.train", str(folder / "train.spacy"), "--paths.dev", str(folder / "dev.spacy")]
    before = os.times()
    subprocess.run([*command, "--training.max_steps", str(steps)], check=True, env=os.environ | ONE_THREAD)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def accuracy(gold: list[list[str]], found: list[list[str]]) -> float:
    pairs = [(a, b) for one, other in zip(gold, found, strict=True) for a, b in zip(one, other, strict=True)]
    return 100 * sum(a == b for a, b in pairs) / len(pairs)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    add_data_option(parser)
    options = parser.parse_args()
    task = read_task("ewt", options.data)
    train, dev, test = (words_alone(part) for part in (task.train, task.dev, task.test))
    n = sum(map(len, test[1]))
    CRF("pos", max_iterations=2).fit(train[0][:50], train[1][:50]).predict(test[0][:50])  # compiles
    ours, model = clock(lambda: CRF("pos").fit(*train))
    tagging, found = clock(lambda: model.predict(test[0]))
    print(f"tagwright CRF    train {ours:7.1f} s   test {accuracy(test[1], found):.2f} %   {n / tagging:9.0f} tokens/s")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_documents(train, folder / "train.spacy")
        write_documents(dev, folder / "dev.spacy")
        theirs = train_spacy(folder, options.steps)
        nlp, tokens = import_module("spacy").load(folder / "out" / "model-best"), import_module("spacy.tokens")
        documents = [tokens.Doc(nlp.vocab, words=words) for words in test[0]]
        list(nlp.pipe(tokens.Doc(nlp.vocab, words=words) for words in test[0][:50]))
        tagging, tagged = clock(lambda: list(nlp.pipe(documents)))
        found = [[token.tag_ for token in document] for document in tagged]
    print(
        f"spaCy tagger     train {theirs:7.1f} s   test {accuracy(test[1], found):.2f} %   {n / tagging:9.0f} tokens/s"
    )


if __name__ == "__main__":
    main()
