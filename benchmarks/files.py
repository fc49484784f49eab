"""How fast files are tagged: `tagwright tag`, and python-crfsuite reading and writing the same file in plain Python.

    python -m benchmarks.files [--megabytes 50] [--threads 1,2] [--rounds 3] [--json FILE] [--data DIR]

The text is UD English EWT made longer (grown_text.py: words exchanged, rare ones respelled, so that some are unknown),
as plain text, as columns and as CoNLL-U, which has less than a tenth of the tokens: its comments and other columns are
bytes too. The model is a CRF on the training part (Penn tags, preset `pos`, 40 iterations); python-crfsuite gets the
same attributes, ten iterations, and the first part of each file, as much as it tags in a few seconds.

Every figure is that of a process of its own, the best of some rounds in which the systems take turns. `start` is what
`tagwright tag` takes for an empty file: Python, the model, the kernels. Rates are tokens a second, `all` with the
start, `rate` without. `processor` is the time of all threads together, which other work on the machine disturbs less.
Memory is ru_maxrss.
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
TRAINING = "ewt/en_ewt-ud-train.conllu"
RIVAL = Path(__file__).parent / "rivals" / "files_job.py"
RIVAL_BYTES = {"plain": 500_000, "columns": 500_000, "conllu": 5_000_000}
OPTIONS = {"plain": [], "columns": [], "conllu": ["--column", "XPOS"]}


def write_files(folder: Path, training: list[Sentence], n_bytes: int) -> None:
    """The same text in every format, so many bytes of each."""
    X = [[str(item) for item in sentence.items] for sentence in training]
    sentences, _ = lengthen((X, [sentence.labels or [] for sentence in training]), n_bytes // 4, SEED)
    order = list(range(len(X)))
    random.Random(SEED).shuffle(order)  # as `lengthen` does
    for format in FORMATS:
        with (folder / format).open("w", encoding="utf-8") as file:
            size = 0
            for i, words in enumerate(sentences):
                text = write_words(format, words, training[order[i % len(order)]])
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


def write_words(format: str, words: list[str], sentence: Sentence) -> str:
    """A sentence with these words; CoNLL-U has the lines of the sentence that it was made of."""
    if format == "plain":
        return " ".join(words) + "\n"
    if format == "columns":
        return "\n".join(words) + "\n\n"
    lines = list(sentence.lines)
    for i, word in zip(sentence.words, words, strict=True):
        fields = lines[i].split("\t")
        lines[i] = "\t".join([fields[0], word, *fields[2:]])
    return "\n".join(lines) + "\n"


def count_tokens(path: Path, format: str) -> int:
    """The tokens of a file."""
    options = {"inputs": ["FORM"]} if format == "conllu" else {}
    return sum(map(len, read_sentences(path, format=format, label=None, **options)))  # type: ignore[arg-type]


def run_tagwright(folder: Path, name: str, format: str, threads: int) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and megabytes of `tagwright tag`."""
    argv = [
        sys.executable,
        "-m",
        "tagwright",
        "tag",
        folder / "pos.tw",
        folder / name,
        "--format",
        format,
        *OPTIONS[format],
        "--quiet",
    ]
    argv += ["--threads", threads, "-o", folder / "tagged"]
    began = time.perf_counter()
    process = subprocess.Popen([str(part) for part in argv])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"tagwright tag failed on {format}")
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
    (folder / "empty").write_bytes(b"")
    starts: list[float] = []
    runs: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    rivals = {}
    for number in range(rounds):
        starts.append(run_tagwright(folder, "empty", "plain", 1)[0])
        for format in FORMATS:
            for n in threads:
                runs.setdefault((format, n), []).append(run_tagwright(folder, format, format, n))
            if rival and number == 0:
                rivals[format] = run_rival(folder, format)
    table: dict[str, Any] = {"start": min(starts), "formats": {}}
    for format in FORMATS:
        tokens, rows = count_tokens(folder / format, format), {}
        for n in threads:
            seconds, processor, _ = map(min, zip(*runs[format, n], strict=True))
            rates = {"all": tokens / seconds, "rate": tokens / (seconds - min(starts))}
            memory = max(found[-1] for found in runs[format, n])
            rows[n] = {"seconds": seconds, "processor": processor, **rates, "megabytes": memory}
        size = (folder / format).stat().st_size
        table["formats"][format] = {"tokens": tokens, "bytes": size, "threads": rows, "rival": rivals.get(format)}
    return table


def print_table(table: dict[str, Any]) -> None:
    """Rates in million tokens a second."""
    print(f"start {table['start']:.2f} s\n")
    print("format   threads    seconds  processor    all   rate   MB   times one thread   times python-crfsuite")
    for format, own in table["formats"].items():
        first, rival = next(iter(own["threads"].values()))["rate"], own["rival"]
        for n, row in own["threads"].items():
            than_rival = f"{row['rate'] / rival['rate']:.0f}" if rival else "-"
            cells = (
                f"{row['seconds']:>10.2f} {row['processor']:>10.2f} {row['all'] / 1e6:>6.2f} {row['rate'] / 1e6:>6.2f}"
            )
            last = f"{row['megabytes']:>4.0f} {row['rate'] / first:>18.2f} {than_rival:>23}"
            print(f"{format:<8} {n:>7} {cells} {last}")
        if rival:
            print(f"{format:<8} crfsuite {'':>27}{rival['rate'] / 1e6:>6.3f} {rival['megabytes']:>5.0f}")


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
