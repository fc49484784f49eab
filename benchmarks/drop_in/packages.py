"""Packages of PyPI that bring CRFsuite models, run unchanged: with python-crfsuite, and with ours in its place.

    python -m benchmarks.drop_in.packages [NAME ...] [--inputs 1000] [--turns 3] [--json FILE]

It needs an environment that has the packages, and what Tagwright itself needs:

    pip install sklearn-crfsuite usaddress probablepeople pythainlp ssg pyvi pyidaungsu autopager emoji pygtrie \
        numba safetensors tqdm; pip install --no-deps khmer-nltk sinling tltk

Each package runs in processes of its own, by turns. Printed are how many outputs differ, and seconds of the whole
package, of which the CRF is a part.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.drop_in.inputs import MAKERS, make_inputs

PROGRAM = str(Path(__file__).with_name("programs.py"))
DISTRIBUTIONS = {
    "crfcut": "pythainlp", "han_solo": "pythainlp", "crfchunk": "pythainlp", "pyvi_accents": "pyvi",
    "khmernltk": "khmer-nltk",
}  # fmt: skip
"""Where the name of a program is not that of its package."""
WAYS = {"original": [], "ours": ["-m", "tagwright.as_crfsuite"]}


def run_once(name: str, way: str, folder: Path) -> dict[str, Any]:
    """The figures of one run; its outputs are in `folder`."""
    order = folder / f"{way}.order.json"
    inputs = json.loads((folder / "inputs.json").read_text(encoding="utf-8"))
    order.write_text(json.dumps({"inputs": inputs, "output": str(folder / f"{way}.json")}), encoding="utf-8")
    command = [sys.executable, *WAYS[way], PROGRAM, name, str(order)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise RuntimeError(f"{name}, {way}: {found.stderr.strip().splitlines()[-1]}")
    figures: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    wanted = {"original": "pycrfsuite", "ours": "tagwright.pycrfsuite"}[way]
    assert figures["module"] == wanted, figures
    return figures


def compare(name: str, n: int, turns: int) -> dict[str, Any]:
    """Both ways by turns: how many outputs differ, and the times."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        (folder / "inputs.json").write_text(json.dumps(make_inputs(name, n)), encoding="utf-8")
        runs = [{way: run_once(name, way, folder) for way in WAYS} for _ in range(turns)]
        outputs = [json.loads((folder / f"{way}.json").read_text(encoding="utf-8")) for way in WAYS]
    package = DISTRIBUTIONS.get(name, name)
    figures: dict[str, Any] = {"package": f"{package} {version(package)}", "inputs": n}
    figures["differ"] = sum(a != b for a, b in zip(*outputs, strict=True))
    for way in WAYS:
        figures[way] = median(run[way]["processor"] for run in runs)
    figures["ratio"] = median(run["original"]["processor"] / run["ours"]["processor"] for run in runs)
    return figures


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(MAKERS)}")
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {}
    print(f"{'':16}{'package':24}{'inputs':>8}{'differ':>8}{'original s':>12}{'ours s':>9}{'times as fast':>15}")
    for name in options.names or MAKERS:
        try:
            own = found[name] = compare(name, options.inputs, options.turns)
        except (LookupError, PackageNotFoundError, RuntimeError) as error:
            print(f"{name:16}{error}", flush=True)
            continue
        print(
            f"{name:16}{own['package']:24}{own['inputs']:8}{own['differ']:8}{own['original']:12.2f}{own['ours']:9.2f}"
            f"{own['ratio']:15.2f}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
