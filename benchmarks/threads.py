"""Does a server's second core help? Sentences a second from threads of one process, and from processes.

    python -m benchmarks.threads [--threads 1,2,8] [--sizes 1,8,32,128] [--rounds 5] [--seconds 0.5] [--data FOLDER]

Each thread calls `Tagger.tag` with one sentence of new text after another, or `tag_sentences` with several at a time,
as the threads of a server do. All combinations take turns, so that a noisy minute meets all; the table has medians, and
how many times as many sentences as one thread. The last lines are the same for processes that each tag one sentence at
a time. Processor time tells waiting from work: beside the rate, how many cores were busy.

The corpus is UD English EWT where there is one, else the sample. Prints a table and writes benchmarks/out/threads.json.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier, Thread
from typing import Any

from benchmarks.corpora import add_data_option, read_task, words_alone
from tagwright import CRF, Tagger, datasets
from tagwright.errors import DataError

OUT = Path(__file__).parent / "out" / "threads.json"
Sentences = list[list[Any]]


def tag_in_turn(tagger: Tagger, text: Sentences, size: int, seconds: float, start: int) -> int:
    """Tag from sentence `start` on, `size` at a time, for so long; how many sentences that were."""
    end, i, n = time.perf_counter() + seconds, start, 0
    while time.perf_counter() < end:
        if size == 1:
            tagger.tag(text[i])
        else:
            tagger.tag_sentences(text[i : i + size])
        n += size
        i = i + size if i + 2 * size <= len(text) else 0
    return n


def in_threads(tagger: Tagger, text: Sentences, threads: int, size: int, seconds: float) -> tuple[float, float]:
    """Sentences a second of some threads together, and how many cores they kept busy."""
    counts, ready = [0] * threads, Barrier(threads + 1)

    def work(k: int) -> None:
        ready.wait()
        counts[k] = tag_in_turn(tagger, text, size, seconds, k * (len(text) - size) // threads)

    started = [Thread(target=work, args=(k,)) for k in range(threads)]
    for thread in started:
        thread.start()
    ready.wait()
    began, used = time.perf_counter(), time.process_time()
    for thread in started:
        thread.join()
    took = time.perf_counter() - began
    return sum(counts) / took, (time.process_time() - used) / took


def work_as_process(model: str, text: Sentences, seconds: float, start: int, connection: Any) -> None:
    """One process: ready when it is told to begin, and says how many sentences it tagged."""
    tagger = Tagger(model)
    tag_in_turn(tagger, text, 1, 0.1, start)
    connection.send(None)
    connection.recv()
    connection.send(tag_in_turn(tagger, text, 1, seconds, start))


def in_processes(model: str, text: Sentences, processes: int, seconds: float) -> float:
    """Sentences a second of some processes together, one sentence at a time."""
    context, pairs, started = get_context("spawn"), [], []
    for k in range(processes):
        ours, theirs = context.Pipe()
        pairs.append(ours)
        started.append(context.Process(target=work_as_process, args=(model, text, seconds, k * 50, theirs)))
        started[-1].start()
    for pipe in pairs:
        pipe.recv()
    for pipe in pairs:
        pipe.send(None)
    n: int = sum(pipe.recv() for pipe in pairs)
    for process in started:
        process.join()
    return n / seconds


def by_turns(work: Sequence[Callable[[], Any]], rounds: int) -> list[list[Any]]:
    """Each piece of work so many times, taking turns; the results of each."""
    found = [[one() for one in work] for _ in range(rounds)]
    return [list(results) for results in zip(*found, strict=True)]


def read_text(folder: Path) -> tuple[tuple[Any, Any], Sentences]:
    """What to train on, and what to tag."""
    try:
        task = read_task("ewt", folder)
    except (DataError, OSError):
        X, y = datasets.sample()
        return (X[:400], y[:400]), X[400:]
    return words_alone(task.train), words_alone(task.dev)[0] + words_alone(task.test)[0]


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", default="1,2,8")
    parser.add_argument("--sizes", default="1,8,32,128")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    add_data_option(parser)
    options = parser.parse_args()
    threads, sizes = ([int(part) for part in text.split(",")] for text in (options.threads, options.sizes))
    training, text = read_text(options.data)
    model = CRF("pos", solver="sgd", max_iterations=3, tolerance=1e-9, random_state=0, n_jobs=2).fit(*training)
    tagger = Tagger(model)
    tagger.tag_sentences(text)
    cases = list(product(sizes, threads))
    found = by_turns(
        [lambda size=s, n=n: in_threads(tagger, text, n, size, options.seconds) for s, n in cases],  # type: ignore[misc]
        options.rounds,
    )
    rows = [
        {"sentences": size, "threads": n, "rate": statistics.median(r for r, _ in results),
         "cores": statistics.median(c for _, c in results)}
        for (size, n), results in zip(cases, found, strict=True)
    ]  # fmt: skip
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.tw")
        model.save(path)
        rates = by_turns(
            [lambda n=n: in_processes(path, text, n, options.seconds) for n in threads],  # type: ignore[misc]
            max(1, options.rounds // 2),
        )
    processes = [{"processes": n, "rate": statistics.median(one)} for n, one in zip(threads, rates, strict=True)]
    show(rows, processes)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"python": sys.version, "threads": rows, "processes": processes}, indent=1) + "\n")


def show(rows: Sequence[dict[str, Any]], processes: Sequence[dict[str, Any]]) -> None:
    """The table."""
    print(f"{'sentences a call':>17}{'threads':>9}{'sentences/s':>13}{'times one':>11}{'cores':>7}")
    for row in rows:
        one = next(other["rate"] for other in rows if other["sentences"] == row["sentences"])
        print(
            f"{row['sentences']:17}{row['threads']:9}{row['rate']:13,.0f}{row['rate'] / one:11.2f}{row['cores']:7.2f}"
        )
    print(f"\n{'processes':>26}{'sentences/s':>13}{'times one':>11}")
    for row in processes:
        print(f"{row['processes']:26}{row['rate']:13,.0f}{row['rate'] / processes[0]['rate']:11.2f}")


if __name__ == "__main__":
    main()
