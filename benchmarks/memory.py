"""Where the memory of a training goes: what a process holds after each step, and its peak.

    python -m benchmarks.memory [SRC ...] [--turns 3] [--iterations 15] [--data DIR] [--json FILE]

SRC are source folders (the `src` of checkouts; default: this one's), which take turns, each with machine code of its
own. A default CRF (`pos`) is trained on UD English EWT, Penn tags, with two threads; after 15 iterations L-BFGS has as
many vectors as it ever has. Megabytes (MiB) are what the system says (Linux only), medians of the turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

TRAINING = "ewt/en_ewt-ud-train.conllu"


def resident(field: str = "VmRSS") -> float:
    """What this process holds now (VmRSS), or held at most (VmHWM), in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def worker(path: Path, iterations: int) -> None:
    """Train; print what is held after each step."""
    import warnings

    steps = {"Python": resident()}
    import numpy as np  # noqa: F401

    steps["NumPy"] = resident()
    import tagwright.compat  # noqa: F401

    steps["Numba"] = resident()
    from tagwright.io import read_sentences
    from tagwright.learners import crf
    from tagwright.objective import threads

    steps["own modules"] = resident()
    X, y = read_sentences(path, label="XPOS", inputs=["FORM"]).collect()
    steps["the file, read"] = resident()

    def note_before(where: Any, name: str, step: str) -> None:
        work = getattr(where, name)

        def noting(*given: Any, **options: Any) -> Any:
            steps[step] = resident()
            return work(*given, **options)

        setattr(where, name, noting)

    note_before(crf, "find_pattern", "words as numbers")
    note_before(threads.ThreadedObjective, "__init__", "weights, where they stand")
    note_before(threads.ThreadedObjective, "count_features", "tables, lists for the gradient")

    def stop(progress: Any) -> bool:
        return bool(progress.iteration >= iterations)

    warnings.simplefilter("ignore")
    crf.CRF("pos", n_jobs=2, callbacks=[stop]).fit(X, y)
    steps["vectors of L-BFGS: the peak"] = resident("VmHWM")
    steps["the model"] = resident()
    print(json.dumps(steps))


def measure(sources: list[Path], path: Path, turns: int, iterations: int) -> dict[str, dict[str, float]]:
    """Medians, for every source and every step."""
    found: dict[str, list[dict[str, float]]] = {str(source): [] for source in sources}
    with tempfile.TemporaryDirectory() as cache:
        for turn in range(turns + 1):
            for number, source in enumerate(sources):
                env = {**os.environ, "NUMBA_CACHE_DIR": str(Path(cache) / str(number))}
                env["PYTHONPATH"] = str(source.resolve())
                env.pop("PYTHONDONTWRITEBYTECODE", None)
                command = [sys.executable, __file__, "--worker", str(path.resolve())]
                command += ["--iterations", str(iterations if turn else 1)]
                done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
                if turn:  # the first compiles
                    found[str(source)].append(json.loads(done.stdout))
    return {
        source: {step: statistics.median(run[step] for run in runs) for step in runs[0]}
        for source, runs in found.items()
    }


def main() -> None:
    parser = ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sources", nargs="*", type=Path, default=[Path(__file__).parent.parent / "src"])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--worker", type=Path, help="the training file")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("TAGWRIGHT_DATA", "../shared/data")))
    parser.add_argument("--json", type=Path, help="write the medians there")
    options = parser.parse_args()
    if options.worker is not None:
        worker(options.worker, options.iterations)
        return
    table = measure(options.sources, options.data / TRAINING, options.turns, options.iterations)
    names = list(next(iter(table.values())))
    print(f"{'MiB':32}" + "".join(f"{source[-24:]:>26}" for source in table))
    for name in names:
        print(f"{name:32}" + "".join(f"{steps[name]:26.0f}" for steps in table.values()))
    if options.json:
        options.json.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
