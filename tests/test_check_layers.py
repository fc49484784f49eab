"""The layer check on small made-up trees, good and bad, and on the real one."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import check_layers
import pytest

GOOD = {
    "__init__.py": "from tagwright.learners.crf import CRF\nfrom tagwright.tagger import Tagger",
    "__main__.py": "import sys\nfrom tagwright.cli import main\nsys.exit(main())",
    "errors.py": "from __future__ import annotations",
    "compat.py": "try:\n    import numba\n    import sklearn.base\nexcept ImportError:\n    numba = None",
    "_jit.py": "import os.path\nfrom tagwright.compat import numba",
    "io/__init__.py": "from tagwright.io import columns\nfrom .spans import Span",
    "io/columns.py": "import numpy as np\nfrom tagwright import errors\nfrom . import spans",
    "io/spans.py": "from ..errors import DataError",
    "model_file.py": "import safetensors.numpy\nfrom safetensors import SafetensorError",
    "optim/progress.py": "from tqdm import tqdm",
    "learners/crf.py": "from tagwright import metrics\nfrom tagwright.optim.progress import x",
    "metrics.py": "def f():\n    from tagwright.io import spans",
    "tagger.py": "from tagwright.learners.crf import CRF",
    "cli/__init__.py": "import tqdm\nfrom tagwright import CRF, Tagger\nfrom tagwright.cli.train import main",
    "cli/train.py": "import tagwright.learners.crf",
}


def violations(folder: Path, changes: dict[str, str] | None = None) -> list[str]:
    """The violations of the good tree with some files changed."""
    root = folder / "tagwright"
    for name, text in (GOOD | (changes or {})).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return [line.removeprefix(f"{root}/") for line in check_layers.check(root)]


def test_a_good_tree(tmp_path: Path) -> None:
    assert violations(tmp_path) == []


def test_the_package_itself_may_import_anything(tmp_path: Path) -> None:
    assert violations(tmp_path, {"__init__.py": "from tagwright.cli.train import main", "cli/__init__.py": ""}) == []


@pytest.mark.parametrize(
    "text",
    [
        "import tagwright.chain.viterbi",
        "import os, tagwright.chain.viterbi as v",
        "from tagwright.chain import viterbi",
        "from tagwright.chain.viterbi import best_path",
        "from tagwright.chain import *",
        "from tagwright import chain",
        "from ..chain import viterbi",
        "from .. import chain",
        "def f():\n    from tagwright.chain import viterbi",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tagwright.chain.viterbi import Path",
        "try:\n    import tagwright.chain\nexcept ImportError:\n    pass",
        "import importlib\nimportlib.import_module('tagwright.chain')",
        "__import__('tagwright.chain')",
    ],
)
def test_import_of_a_later_layer(tmp_path: Path, text: str) -> None:
    found = violations(tmp_path, {"io/columns.py": text, "chain/viterbi.py": "", "chain/__init__.py": ""})
    line = 1 + next(i for i, row in enumerate(text.splitlines()) if "chain" in row)
    assert len(found) == 1
    assert found[0].startswith(f"io/columns.py:{line}: io imports tagwright.chain")
    assert "chain stands later in the order" in found[0]


def test_the_order_of_neighbours(tmp_path: Path) -> None:
    """Every name may import every name of its row and of earlier rows, and none of later rows."""
    names = [name for row in check_layers.LAYERS for name in row if name]
    for here in names:
        for there in names:
            allowed = check_layers.ROW[there] <= check_layers.ROW[here]
            assert (not check_layers.forbidden(f"tagwright.{here}.x", f"tagwright.{there}")) == allowed


def test_the_order_is_the_one_agreed() -> None:
    before = ["sequence", "io", "metrics", "text", "attributes", "encode", "chain", "scores"]
    order = [*before, "losses", "objective", "optim", "learners", "kernels", "hmsvm"]
    rows = [check_layers.ROW[name] for name in [*order, "tagger", "cli"]]
    assert rows == sorted(set(rows))
    assert len({check_layers.ROW[name] for name in ("metrics", "significance", "model_file", "datasets")}) == 1
    assert {check_layers.ROW[name] for name in ("errors", "compat", "arrays", "_jit", "sequence")} == {0}


def test_the_package_itself_is_for_the_command_line_alone(tmp_path: Path) -> None:
    found = violations(tmp_path, {"errors.py": "import tagwright", "tagger.py": "from tagwright import CRF"})
    assert [line.partition(":")[0] for line in found[:2]] == ["errors.py", "tagger.py"]
    assert "__init__ stands later in the order" in found[0]
    assert any("import circle: " in line for line in found[2:])


def test_a_circle_in_one_folder(tmp_path: Path) -> None:
    changes = {"io/spans.py": "from tagwright.io.text import x", "io/text.py": "def f():\n    from . import columns"}
    found = violations(tmp_path, changes)
    assert len(found) == 1
    circle = found[0].partition("import circle: ")[2].split(" -> ")
    assert circle[0] == circle[-1]
    edges = set(pairwise(circle))
    names = [f"tagwright.io.{name}" for name in ("columns", "spans", "text", "columns")]
    assert edges == set(pairwise(names))  # the importer comes first


def test_every_circle_is_found(tmp_path: Path) -> None:
    changes = {
        "metrics.py": "from tagwright.metrics import x",
        "io/columns.py": "",
        "io/spans.py": "from tagwright import io",
    }
    found = sorted(line.partition("import circle: ")[2] for line in violations(tmp_path, changes))
    assert len(found) == 2
    assert set(found[0].split(" -> ")) == {"tagwright.io", "tagwright.io.spans"}
    assert found[1] == "tagwright.metrics -> tagwright.metrics"


def test_a_circle_through_a_type_only_import(tmp_path: Path) -> None:
    late = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tagwright.io.columns import x"
    assert "import circle" in violations(tmp_path, {"io/spans.py": late})[0]


@pytest.mark.parametrize(
    ("file", "text", "package"),
    [
        ("io/columns.py", "import numba", "numba"),
        ("_jit.py", "from numba import njit", "numba"),
        ("learners/crf.py", "def f():\n    from sklearn.base import BaseEstimator", "sklearn"),
        ("__init__.py", "import numba", "numba"),
        ("__main__.py", "import torch", "torch"),
        ("tagger.py", "import safetensors", "safetensors"),
        ("model_files.py", "import safetensors", "safetensors"),
        ("optim/lbfgs.py", "import scipy.optimize", "scipy"),
        ("optim/lbfgs.py", "import tqdm.auto", "tqdm"),
        ("io/columns.py", "import importlib\nimportlib.import_module('pandas')", "pandas"),
    ],
)
def test_an_outside_package(tmp_path: Path, file: str, text: str, package: str) -> None:
    found = violations(tmp_path, {file: text})
    assert found[0].startswith(f"{file}:{text.count(chr(10)) + 1}: ")
    assert f" imports {package}, allowed only in " in found[0]


def test_a_module_without_a_layer(tmp_path: Path) -> None:
    found = violations(tmp_path, {"util.py": "import tagwright.errors", "helpers/x.py": ""})
    assert [line.partition(":")[0] for line in found] == ["helpers/x.py", "util.py"]
    assert all("stands in no layer" in line for line in found)


def test_import_of_a_name_without_a_layer(tmp_path: Path) -> None:
    found = violations(tmp_path, {"tagger.py": "import os\nfrom .util import x"})
    assert found == ["tagger.py:2: tagger imports tagwright.util, but util stands in no layer: is the name right?"]


def test_a_file_that_is_no_python(tmp_path: Path) -> None:
    assert violations(tmp_path, {"metrics.py": "x = 1\ndef f(:"})[0].startswith("metrics.py:2: cannot be parsed")


def test_an_empty_tree_is_no_success(tmp_path: Path) -> None:
    assert "no modules found" in check_layers.check(tmp_path)[0]


def test_the_real_tree() -> None:
    script = Path(check_layers.__file__)
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_the_script_fails_on_a_bad_tree(tmp_path: Path) -> None:
    violations(tmp_path / "src", {"errors.py": "import numba"})
    script = tmp_path / "tests" / "check_layers.py"
    script.parent.mkdir()
    script.write_text(Path(check_layers.__file__).read_text())
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "errors.py:1: tagwright.errors imports numba, allowed only in tagwright.compat" in result.stdout
