"""Build a wheel that brings machine code: `make wheel`.

The kernels are compiled for the CPU that `_machine_code.PORTABLE` names, whatever this machine's, and put beside the
sources. pip then builds the wheel (setup.py adds the folder and the platform's tag).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from zipfile import ZipFile

from tagwright._machine_code import ENDING, PORTABLE
from tagwright.compat import numba

ROOT = Path(__file__).parents[1]


def compile_kernels(folder: Path) -> None:
    """All kernels for the portable CPU, in one folder."""
    with tempfile.TemporaryDirectory() as cache:
        target = {"NUMBA_CPU_NAME": PORTABLE, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-m", "tagwright", "warm-up"]
        paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        subprocess.run(command, env={**os.environ, **target, "PYTHONPATH": paths}, check=True)
        for path in Path(cache).rglob(f"*{ENDING}"):
            shutil.copyfile(path, folder / path.name)


def build(target: Path) -> Path:
    """The wheel, in the folder `target`."""
    with tempfile.TemporaryDirectory() as code, tempfile.TemporaryDirectory() as made:
        compile_kernels(Path(code))
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
        environment = {**os.environ, "TAGWRIGHT_MACHINE_CODE": code}
        subprocess.run([*command, "--wheel-dir", made, str(ROOT)], env=environment, check=True)
        (wheel,) = Path(made).glob("*.whl")
        target.mkdir(exist_ok=True)
        return Path(shutil.move(wheel, target / wheel.name))


def describe(wheel: Path) -> str:
    """What a wheel holds."""
    with ZipFile(wheel) as archive:
        sizes = [entry.file_size for entry in archive.infolist() if entry.filename.endswith(ENDING)]
    assert numba is not None
    return (
        f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB\n"
        f"{len(sizes)} kernels, {sum(sizes) / 1e6:.1f} MB of machine code for {PORTABLE}, Numba {numba.__version__}, "
        f"Python {sys.version_info.major}.{sys.version_info.minor}"
    )


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("dist"), help="where to put it (default: dist)")
    print(describe(build(parser.parse_args().folder)))
