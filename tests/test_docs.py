"""README and docs/ tell the truth: their code is run, and what it prints is compared, numbers aside.

```python     a doctest (>>>), all blocks of a page in one namespace
```console    lines `$ command` for a shell, then its output; `...` stands for anything
```templates  template text
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tagwright
from tagwright.attributes import FUNCTIONS, PRESETS, FeatureSet

ROOT = Path(__file__).parents[1]
PACKAGE = Path(tagwright.__file__).parent
PAGES = [
    "README.md",
    "docs/cli.md",
    "docs/migrating.md",
    "docs/api.md",
    "docs/templates.md",
    "docs/solvers.md",
    "docs/perceptron.md",
]
EXACT = ["docs/label-bias.md"]  # pages whose numbers are the point: they are compared, too
PLAIN = [
    "docs/architecture.md",
    "docs/dependencies.md",
    "docs/growth.md",
    "docs/guided.md",
    "docs/hmsvm.md",
    "docs/performance.md",
    "docs/references.md",
    "docs/results/README.md",
    "docs/sample.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]  # nothing to run
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")


def read_blocks(page: str, kind: str) -> list[str]:
    return [text for found, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")) if found == kind]


def without_numbers(text: str) -> str:
    """The text with every number as # and every run of spaces as one."""
    return re.sub(r" +", " ", NUMBER.sub("#", text))


def matches(expected: str, found: str) -> bool:
    """Whether two outputs agree, numbers aside; `...` in the expected one stands for anything."""
    parts = [re.escape(part) for part in without_numbers(expected).strip().split("...")]
    return re.fullmatch(".*".join(parts), without_numbers(found).strip(), re.DOTALL) is not None


class NumbersAside(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(without_numbers(want), without_numbers(got), optionflags)


@pytest.mark.parametrize("page", [*PAGES, *EXACT])
def test_python(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(read_blocks(page, "python"))
    if not text:
        pytest.skip("no Python on this page")
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    checker = doctest.OutputChecker() if page in EXACT else NumbersAside()
    runner = doctest.DocTestRunner(checker, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert len(test.examples) > 2
    assert runner.failures == 0, "".join(report)


def read_commands(page: str) -> Iterator[tuple[str, str]]:
    """The commands of a page and their outputs."""
    for block in read_blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


@pytest.mark.parametrize("page", PAGES[:3])
def test_commands(page: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "80"}
    commands = list(read_commands(page))
    assert len(commands) > 3
    for command, output in commands:
        assert "tagwright" in command
        found = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert found.returncode == 0, found.stderr
        assert matches(output, found.stdout), f"$ {command}\n{found.stdout}"


def test_matching_can_fail() -> None:
    assert matches("a 1.5 s\n...\nend", "a 27 s\nb\nc\nend\n")
    assert not matches("a 1.5 s", "a 27 min")
    assert not matches("a\n...\nend", "a\nb\nc")


def test_templates() -> None:
    blocks = read_blocks("docs/templates.md", "templates")
    assert len(blocks) == 4
    assert all(FeatureSet.parse(text) != FeatureSet("custom") for text in blocks)


def test_tables_of_presets_and_functions_are_complete() -> None:
    text = (ROOT / "docs/templates.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)(?:\(n\))?` \| (.*) \|$", text, re.MULTILINE))
    expected = {name: preset.doc for name, preset in PRESETS.items()}
    expected |= {name: function.doc for name, function in FUNCTIONS.items()}
    assert rows == expected


@pytest.mark.parametrize("page", [*PAGES, *EXACT, *PLAIN])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or ((ROOT / page).parent / target).exists(), target


def sections(page: Path) -> set[str]:
    """The names by which a link reaches the headings of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, *EXACT, *PLAIN])
def test_links_to_sections_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target, section in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
        assert section in sections((ROOT / page).parent / target if target else ROOT / page), f"{target}#{section}"


@pytest.mark.parametrize(
    "page", ["docs/architecture.md", "docs/references.md", "docs/performance.md", "docs/solvers.md"]
)
def test_files_named_exist(page: str) -> None:
    """Every file and folder in backticks is in the package or in the repository; a file without folder, anywhere."""
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", text))
    assert len(named) > 3
    bare = {file.name for file in PACKAGE.rglob("*.py")}
    missing = [name for name in named if name not in bare and not any((top / name).exists() for top in (PACKAGE, ROOT))]
    assert sorted(missing) == []


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("demo.py", b"\nwhat it learned: "),
        ("own_templates.py", b"saved as mine.tw"),
        ("grid_search.py", b"best: {'c2': "),
        ("from_nltk.py", b"[[('She', 'PRP'), ('sold', 'VBD'), "),
        ("from_spacy.py", b"of the dev set; saved as tagger.tw"),
        ("stream_names.py", b'["PER", "Maria Lopez"]'),
    ],
)
def test_examples_run(name: str, wanted: bytes, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / name)]
    text = b"Maria Lopez flew from Lisbon to Oslo .\n"
    found = subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, check=False)
    assert found.returncode == 0, found.stderr.decode()
    assert wanted in found.stdout
    assert b"\033" not in found.stdout  # colours are for terminals
