"""`python -m tagwright.as_crfsuite program` against `python program`: all that a program can see or show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tagwright
from tagwright.as_crfsuite import install

PROGRAM = '''"""A program."""
import atexit, os, pickle, sys

class Own: pass

def stop(how: int | str):
    if how == "error":
        raise ValueError("no")
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "hook":
        sys.excepthook = lambda kind, error, trace: print(kind, trace.tb_lineno)
        raise ValueError("no")
    sys.exit(how)

atexit.register(lambda: print("at exit", __name__, sys.modules["__main__"].Own is Own))
print(sys.argv, sys.path, stop.__annotations__, __file__, __doc__, __package__, type(__loader__), bool(__spec__))
print(sorted(globals()))
print(type(pickle.loads(pickle.dumps(Own()))), vars(sys.modules["__main__"]) is globals())
if len(sys.argv) > 1:
    stop(int(sys.argv[1]) if sys.argv[1].isdigit() else sys.argv[1])
'''
WHOSE = """import pycrfsuite, sklearn_crfsuite, sys
from pycrfsuite._pycrfsuite import Tagger
from sklearn_crfsuite import CRF, metrics, scorers, utils
from sklearn_crfsuite.estimator import CRF as Same
print(pycrfsuite.__name__, sklearn_crfsuite.__name__, metrics.__name__, Tagger is pycrfsuite.Tagger, CRF is Same)
if sys.argv[1:] == ["fork"]:
    import os
    if os.fork() == 0:
        import pycrfsuite
        print(pycrfsuite.__name__, flush=True)
        os._exit(0)
    os.wait()
"""
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(tagwright.__file__).parents[1]), "PYTHONIOENCODING": "utf-8"}


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    found = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    return found.returncode, re.sub("0x[0-9a-f]+", "0x", found.stdout), found.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("sub/program.py", "a b", "-x"),
        ("sub/program.py", "error"),
        ("sub/program.py", "interrupt"),
        ("link.py", "3"),
        ("-m", "sub.program", "error"),
        ("sub", "hook"),
        ("broken.py",),
        ("nothing.py",),
    ],
    ids=" ".join,
)
def test_runs_as_python_does(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("program.py", "__main__.py"):
        (tmp_path / "sub" / name).write_text(PROGRAM)
    (tmp_path / "link.py").symlink_to(tmp_path / "sub" / "program.py")
    (tmp_path / "broken.py").write_text("x = = 1\n")
    expected = run(tmp_path, *arguments)
    assert run(tmp_path, "-m", "tagwright.as_crfsuite", *arguments) == expected
    assert any(expected)


def test_programs_get_our_modules(tmp_path: Path) -> None:
    (tmp_path / "whose.py").write_text(WHOSE)
    code, out, err = run(tmp_path, "-m", "tagwright.as_crfsuite", "whose.py", "fork")
    first, *forked = out.splitlines()
    assert (code, err, forked) == (0, "", ["tagwright.pycrfsuite"])
    assert first == "tagwright.pycrfsuite tagwright.sklearn_crfsuite tagwright.sklearn_crfsuite.metrics True True"


def test_usage(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "-m", "tagwright.as_crfsuite", "-c", "1")
    assert (code, out) == (2, "")
    assert err.startswith("usage: python -m tagwright.as_crfsuite PROGRAM ARGS...")


def test_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] in ("pycrfsuite", "sklearn_crfsuite"):
            monkeypatch.delitem(sys.modules, name)
    before = dict(sys.modules)
    try:
        install()
        import pycrfsuite
        import sklearn_crfsuite.scorers

        assert pycrfsuite.Tagger is tagwright.pycrfsuite.Tagger  # type: ignore[attr-defined]
        assert sklearn_crfsuite.scorers is tagwright.sklearn_crfsuite.scorers  # type: ignore[attr-defined]
    finally:
        for name in set(sys.modules) - set(before):
            if not name.startswith("tagwright"):
                del sys.modules[name]
