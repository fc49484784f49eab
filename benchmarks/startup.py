"""Where the start of `tagwright tag` goes: from nothing to the first label, and to the end of the process.

    python -m benchmarks.startup [SRC ...] [--turns 15] [--model MODEL] [--json FILE]

SRC are source folders (the `src` of checkouts; default: this one's), which take turns. Each row is a process that goes
a step further than the row before; what it takes more is that step. `processor` is the time of the processor, user and
system, which a busy machine changes less. Machine code is compiled before the first turn. Without --model, the model is
a small CRF (features `pos`, 30 iterations) of the sample.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

READY = "import gc; gc.disable(); "  # as the command line does
IMPORTED = READY + "import tagwright.compat, tagwright.cli.console, tagwright.cli.tag, tagwright.learners.crf; "
STEPS = {
    "Python": "pass",
    "NumPy": READY + "import numpy",
    "Numba": READY + "import tagwright.compat",
    "own modules": IMPORTED + "import os; os._exit(0)",
    "loading the model": IMPORTED + "gc.freeze(); tagwright.cli.tag.load({model!r}); import os; os._exit(0)",
    "tagging a sentence": "import os\nfrom tagwright.cli import main\nmain({tag!r})\nos._exit(0)",
    "leaving": "import sys\nfrom tagwright.cli import main\nsys.exit(main({tag!r}))",
}
"""What each process does. The first three end as Python does; it has little to tidy then."""
COMMAND = "python -m tagwright tag"


def run(source: Path, argv: list[str], cache: Path) -> dict[str, float]:
    """Seconds to the first output, to the end, and of the processor; megabytes."""
    env = {**os.environ, "PYTHONPATH": str(source.resolve()), "NUMBA_CACHE_DIR": str(cache)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # users have the bytecode of modules
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, *argv], env=env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(1)
    first = time.perf_counter() - began
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {argv}")
    seconds = time.perf_counter() - began
    processor = usage.ru_utime + usage.ru_stime
    return {"first": first, "seconds": seconds, "processor": processor, "mib": usage.ru_maxrss / 1024}


def train(source: Path, folder: Path) -> Path:
    """A small model. Not in this process: on Linux another begins with the memory that its parent had at most."""
    path = folder / "model.tw"
    argv = ["train", "sample", "--out", str(path), "--features", "pos", "--set", "max_iterations=30", "--quiet"]
    run(source, ["-m", "tagwright", *argv], folder)
    return path


def measure(sources: list[Path], model: Path, folder: Path, turns: int) -> dict[str, dict[str, dict[str, float]]]:
    """Medians, for every source and every step. Each source has machine code of its own."""
    (folder / "sentence").write_text("The dog barks .\n", encoding="utf-8")
    tag = ["tag", str(model), str(folder / "sentence"), "--format", "plain", "--quiet"]
    jobs = {name: ["-c", code.format(model=str(model), tag=tag)] for name, code in STEPS.items()}
    jobs[COMMAND] = ["-m", "tagwright", *tag]
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    for turn in range(turns + 1):
        for name, argv in jobs.items():
            for number, source in enumerate(sources):
                if turn == 0 and name != COMMAND:
                    continue
                figures = run(source, argv, folder / str(number))  # the first compiles
                if turn:
                    found.setdefault((str(source), name), []).append(figures)
    medians: dict[str, dict[str, dict[str, float]]] = {}
    for (own, name), runs in found.items():
        medians.setdefault(own, {})[name] = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    return medians


def print_table(medians: dict[str, dict[str, dict[str, float]]]) -> None:
    for source, steps in medians.items():
        print(f"{source}\n{'milliseconds':24}{'processor':>10}{'wall':>8}{'more':>10}{'more':>8}")
        before = {"processor": 0.0, "seconds": 0.0}
        for name, own in steps.items():
            line = f"{name:24}{1000 * own['processor']:10.0f}{1000 * own['seconds']:8.0f}"
            if name == COMMAND:
                print(f"{line}   first label after {1000 * own['first']:.0f}, {own['mib']:.0f} MiB\n")
                continue
            print(line + "".join(f"{1000 * (own[key] - before[key]):{w}.0f}" for key, w in zip(before, (10, 8))))
            before = {key: own[key] for key in before}


def main() -> None:
    parser = ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sources", nargs="*", type=Path, default=[Path(__file__).parent.parent / "src"])
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--json", type=Path, help="write the medians there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = options.model or train(options.sources[0], folder)
        medians: dict[str, Any] = measure(options.sources, model, folder, options.turns)
    print_table(medians)
    if options.json:
        options.json.write_text(json.dumps(medians, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
