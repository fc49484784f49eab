"""What pyproject.toml cannot say: a wheel may bring machine code, and is then for one platform and one Python.

`make wheel` (release/wheel.py) names the folder of that code in TAGWRIGHT_MACHINE_CODE. Without it, as in
`pip install .`, the wheel is pure Python.
"""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

CODE = os.environ.get("TAGWRIGHT_MACHINE_CODE")


class BuildWithCode(build_py):
    def run(self) -> None:
        super().run()
        folder = Path(self.build_lib) / "tagwright" / "machine_code"
        shutil.rmtree(folder, ignore_errors=True)  # of a build before
        if CODE and not self.editable_mode:
            shutil.copytree(CODE, folder)


class PlatformWheel(bdist_wheel):
    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = not CODE


setup(cmdclass={"build_py": BuildWithCode, "bdist_wheel": PlatformWheel})
