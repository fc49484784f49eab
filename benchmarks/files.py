"""How fast files are tagged and scored: `tagwright tag` and `evaluate`, and python-crfsuite reading and writing the
same files in plain Python.

    python -m benchmarks.files [--megabytes 50] [--threads 1,2] [--rounds 3] [--json FILE] [--data DIR]

The text is UD English EWT made longer (grown_text.py: words exchanged, rare ones respelled, so that some are unknown),
as plain text, as columns and as CoNLL-U, which has less than a tenth of the tokens: its comments and other columns are
bytes too. `evaluate` gets columns of words and labels, and the same CoNLL-U. The model is a CRF on the training part
(Penn tags, preset `pos`, 40 iterations); python-crfsuite gets the same attributes, ten iterations, and the first part
of each file, as much as it tags in a few seconds.

Every figure is that of a process of its own, the median of some rounds in which the systems take turns. `start` is what
`tagwright tag` takes for an empty file (`evaluate`: for one word): Python, the model, the kernels. Rates are tokens a
second, `all` with the start, `rate` without. `processor` is the time of all threads together, which other work on the
machine disturbs less. Memory is ru_maxrss.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from argparse import ArgumentParser
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from warnings import catch_warnings, simplefilter

from benchmarks.corpora import add_data_option
from benchmarks.grown_text import lengthen
from tagwright import CRF
from tagwright.errors import ConvergenceWarning
from tagwright.io import read_sentences
from tagwright.sequence import Sentence

SEED = 1
FORMATS = ("plain", "columns", "conllu")
FILES = (*FORMATS, "labelled")
JOBS = (*(("tag", name) for name in FORMATS), ("evaluate", "labelled"), ("evaluate", "conllu"))
"""Commands and their files."""
TRAINING = "ewt/en_ewt-ud-train.conllu"
RIVAL = Path(__file__).parent / "rivals" / "files_job.py"
RIVAL_BYTES = {"plain": 500_000, "columns": 500_000, "conllu": 5_000_000}
OPTIONS = {
    "plain": ["--format", "plain"],
    "columns": ["--format", "columns"],
    "conllu": ["--format", "conllu", "--column", "XPOS"],
    "labelled": ["--format", "columns"],
}
EMPTY = {"tag": "", "evaluate": "a\tNN\n\n"}


def write_files(folder: Path, training: list[Sentence], n_bytes: int) -> None:
    """The same text in every format, so many bytes of each."""
    X = [[str(item) for item in sentence.items] for sentence in training]
    sentences, labels = lengthen((X, [sentence.labels or [] for sentence in training]), n_bytes // 4, SEED)
    order = list(range(len(X)))
    random.Random(SEED).shuffle(order)  # as `lengthen` does
    for format in FILES:
        with (folder / format).open("w", encoding="utf-8") as file:
            size = 0
            for i, words in enumerate(sentences):
                text = write_words(format, words, labels[i], training[order[i % len(order)]])
                size += len(text.encode())
                if size > n_bytes:
                    break
                file.write(text)


def prepare(folder: Path, path: Path, megabytes: int) -> None:
    """The files, the model, and the training data as JSON."""
    training = list(read_sentences(path, label="XPOS"))
    write_files(folder, training, megabytes * 1_000_000)
    X, y = read_sentences(path, label="XPOS").collect()
    (folder / "training.json").write_text(json.dumps({"X": X, "y": y}), encoding="utf-8")
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)
        CRF("pos", max_iterations=40).fit(X, y).save(folder / "pos.tw")


def write_words(format: str, words: list[str], labels: list[str], sentence: Sentence) -> str:
    """A sentence with these words; CoNLL-U has the lines of the sentence that it was made of."""
    if format == "labelled":
        return "\n".join([f"{word}\t{label}" for word, label in zip(words, labels, strict=True)]) + "\n\n"
    if format == "plain":
        return " ".join(words) + "\n"
    if format == "columns":
        return "\n".join(words) + "\n\n"
    lines = list(sentence.lines)
    for i, word in zip(sentence.words, words, strict=True):
        fields = lines[i].split("\t")
        lines[i] = "\t".join([fields[0], word, *fields[2:]])
    return "\n".join(lines) + "\n"


def count_tokens(path: Path, name: str) -> int:
    """The tokens of a file."""
    options = {"inputs": ["FORM"]} if name == "conllu" else {"inputs": [0]} if name == "labelled" else {}
    format = "columns" if name == "labelled" else name
    return sum(map(len, read_sentences(path, format=format, label=None, **options)))


def run_tagwright(
    folder: Path, command: str, path: Path, options: list[str], threads: int
) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and megabytes of a command."""
    argv: list[object] = [sys.executable, "-m", "tagwright", command, folder / "pos.tw", path, *options, "--quiet"]
    argv += ["--threads", threads, *(["-o", folder / "tagged"] if command == "tag" else ["--json"])]
    began = time.perf_counter()
    process = subprocess.Popen([str(part) for part in argv], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"tagwright {command} failed on {path.name}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def train_rival(folder: Path) -> None:
    """Its model, as folder/pos.crfsuite."""
    argv = [sys.executable, RIVAL, "train", folder / "pos.crfsuite", folder / "training.json"]
    subprocess.run([str(part) for part in argv], check=True)


def run_rival(folder: Path, format: str) -> dict[str, float]:
    """Tokens, rate and memory of python-crfsuite, on the first part of a file."""
    text, path = (folder / format).read_bytes(), folder / f"{format}.part"
    text, end = text[: RIVAL_BYTES[format]], b"\n" if format == "plain" else b"\n\n"
    path.write_bytes(text[: text.rindex(end)] + end)
    argv = [sys.executable, str(RIVAL), "tag", str(folder / "pos.crfsuite"), str(path), format]
    found = json.loads(subprocess.run(argv, check=True, capture_output=True).stdout)
    tokens = count_tokens(path, format)
    return {"tokens": tokens, "rate": tokens / found["seconds"], "megabytes": found["megabytes"]}


# ---- the table ----


def measure_all(folder: Path, threads: list[int], rounds: int, *, rival: bool) -> dict[str, Any]:
    """Systems take turns, so that a busy minute is that of all."""
    starts: dict[str, list[float]] = {command: [] for command in EMPTY}
    runs: dict[tuple[str, str, int], list[tuple[float, float, float]]] = {}
    rivals = {}
    for command, text in EMPTY.items():
        (folder / f"empty.{command}").write_text(text)
    for number in range(rounds):
        for command, own in starts.items():
            own.append(run_tagwright(folder, command, folder / f"empty.{command}", OPTIONS["columns"], 1)[0])
        for command, name in JOBS:
            for n in threads:
                found = run_tagwright(folder, command, folder / name, OPTIONS[name], n)
                runs.setdefault((command, name, n), []).append(found)
            if rival and number == 0 and command == "tag":
                rivals[name] = run_rival(folder, name)
    sizes = {name: (count_tokens(folder / name, name), (folder / name).stat().st_size) for name in FILES}
    table: dict[str, Any] = {"start": {command: median(own) for command, own in starts.items()}, "jobs": []}
    for command, name in JOBS:
        tokens, size = sizes[name]
        rows = {n: summarise(runs[command, name, n], tokens, table["start"][command]) for n in threads}
        job: dict[str, Any] = {"command": command, "file": name, "tokens": tokens, "bytes": size, "threads": rows}
        table["jobs"].append(job | {"rival": rivals.get(name) if command == "tag" else None})
    return table


def summarise(runs: list[tuple[float, float, float]], tokens: int, start: float) -> dict[str, float]:
    """The medians of some rounds; the most memory."""
    seconds, processor, _ = map(median, zip(*runs, strict=True))
    rates = {"all": tokens / seconds, "rate": tokens / (seconds - start)}
    return {"seconds": seconds, "processor": processor, **rates, "megabytes": max(found[-1] for found in runs)}


def print_table(table: dict[str, Any]) -> None:
    """Rates in million tokens a second."""
    print("start " + ", ".join([f"{seconds:.2f} s ({command})" for command, seconds in table["start"].items()]) + "\n")
    head = "command  file     threads    seconds  processor    all   rate   MB"
    print(f"{head}   times one thread   times python-crfsuite")
    for job in table["jobs"]:
        first, rival = next(iter(job["threads"].values()))["rate"], job["rival"]
        for n, row in job["threads"].items():
            than_rival = f"{row['rate'] / rival['rate']:.0f}" if rival else "-"
            cells = (
                f"{row['seconds']:>10.2f} {row['processor']:>10.2f} {row['all'] / 1e6:>6.2f} {row['rate'] / 1e6:>6.2f}"
            )
            last = f"{row['megabytes']:>4.0f} {row['rate'] / first:>18.2f} {than_rival:>23}"
            print(f"{job['command']:<8} {job['file']:<8} {n:>7} {cells} {last}")
        if rival:
            print(f"crfsuite {job['file']:<8} {'':>36}{rival['rate'] / 1e6:>6.3f} {rival['megabytes']:>4.0f}")


def main() -> None:
    parser = ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--no-rival", action="store_true", help="leave python-crfsuite out")
    add_data_option(parser)
    arguments = parser.parse_args()
    threads = [int(n) for n in arguments.threads.split(",")]
    with TemporaryDirectory() as name:
        folder = Path(name)
        # Not here: on Linux a process begins with the memory that its parent had at most.
        work = get_context("spawn").Process(
            target=prepare, args=(folder, arguments.data / TRAINING, arguments.megabytes)
        )
        work.start()
        work.join()
        if not arguments.no_rival:
            train_rival(folder)
        table = measure_all(folder, threads, arguments.rounds, rival=not arguments.no_rival)
    print_table(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
