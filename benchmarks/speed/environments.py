"""A rival's environment: made on first use under benchmarks/out/environments, from PyPI alone.

A rival that cannot be had raises `Missing` with the reason; the table names it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = {
    "crfsuite": "python-crfsuite==0.9.12",
    "chaine": "chaine==4.0.1",
    "nltk": "nltk==3.10.4",
    "udpipe": "ufal.udpipe==1.4.0.1",
    "wapiti": "libwapiti==0.2.1",
}
NOT_TO_BE_HAD = {
    "crfpp": "neither PyPI nor Debian has its trainer (PyPI's pycrfpp can tag but not train)",
    "morphodita": "ufal.morphodita can tag but not train; its trainer is measured as UDPipe 1",
}


class Missing(Exception):  # noqa: N818  # it is no error: a table says so
    """A rival cannot be had; the message says why."""


@dataclass(frozen=True, slots=True)
class Environment:
    """python: runs the rival's job. program: its own command line, where it has one. version: of what is measured."""

    python: Path
    version: str
    program: Path | None = None


def find_environment(job: str, folder: Path) -> Environment:
    """The environment of a job, made if it is not there."""
    if job in NOT_TO_BE_HAD:
        raise Missing(NOT_TO_BE_HAD[job])
    requirement = REQUIREMENTS[job]
    if job == "wapiti":
        return Environment(Path(sys.executable), "1.5.0", build_wapiti(requirement, folder / "wapiti"))
    python = folder / job / "bin" / "python"
    ready = folder / job / "ready"
    if not ready.exists() or ready.read_text() != requirement:
        print(f"making the environment of {requirement} ...", file=sys.stderr)
        call([sys.executable, "-m", "venv", "--clear", str(folder / job)])
        call([str(python), "-m", "pip", "install", "--quiet", requirement])
        ready.write_text(requirement)
    return Environment(python, requirement.split("==")[1])


def build_wapiti(requirement: str, folder: Path) -> Path:
    """PyPI's libwapiti carries the sources of Wapiti 1.5.0; its program is built from them as its Makefile would."""
    program = folder / "wapiti"
    if program.exists():
        return program
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise Missing("there is no C compiler (cc), and PyPI has its sources only")
    print("building Wapiti ...", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    call([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), requirement])
    with tarfile.open(next(folder.glob("libwapiti-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    sources = sorted(map(str, folder.glob("libwapiti-*/cwapiti/src/*.c")))
    call([compiler, "-DNDEBUG", "-std=c99", "-O3", "-o", str(program), *sources, "-lm", "-lpthread"])
    return program


def call(command: list[str]) -> None:
    """Run a command of the set-up; `Missing` with its last line where it fails."""
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        told = str(getattr(error, "stderr", "") or error).strip().splitlines()
        raise Missing(f"{' '.join(map(str, command[:4]))} failed: {told[-1] if told else error}") from error
