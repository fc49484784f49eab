"""The only optional imports. Everything else may assume NumPy and safetensors alone."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from tagwright.errors import DataError, MissingPackageError

numba: ModuleType | None
if any(os.environ.get(name, "") not in ("", "0") for name in ("TAGWRIGHT_NO_JIT", "NUMBA_DISABLE_JIT")):
    numba = None
else:
    try:
        import numba
    except ImportError:
        numba = None
llvm: ModuleType | None = import_module("llvmlite.ir") if numba is not None else None  # the language Numba writes
llvm_blocks: ModuleType | None = import_module("numba.core.cgutils") if numba is not None else None
llvm_binding: Any = import_module("llvmlite.binding") if numba is not None else None
numba_codegen: Any = import_module("numba.core.codegen") if numba is not None else None
numba_compiler: Any = import_module("numba.core.compiler") if numba is not None else None
numba_runtime: Any = import_module("numba.core.runtime") if numba is not None else None
numba_serialize: Any = import_module("numba.core.serialize") if numba is not None else None
numba_types: Any = import_module("numba.core.types") if numba is not None else None


def sklearn_tags() -> object:
    """What scikit-learn (1.6 and later) asks of an estimator. Called by scikit-learn alone, so it is there."""
    from sklearn.utils import InputTags, Tags, TargetTags

    return Tags(
        estimator_type=None,
        target_tags=TargetTags(required=True),
        input_tags=InputTags(two_d_array=False, string=True, dict=True),
    )


def sklearn_module(name: str, what: str) -> ModuleType:
    """sklearn.<name>, which `what` needs."""
    try:
        return import_module(f"sklearn.{name}")
    except ImportError as error:
        raise MissingPackageError(f"{what} needs scikit-learn: pip install 'tagwright[sklearn]'") from error


def download(address: str, sha256: str, *, cure: str) -> bytes:
    """What an address gives, checked. `cure`: what to do where that fails."""
    try:
        import pooch
    except ImportError as error:
        raise DataError(
            f"downloading needs the package pooch: pip install 'tagwright[data]'; or {cure}", location=address
        ) from error
    with TemporaryDirectory() as folder:
        try:
            path = pooch.retrieve(address, f"sha256:{sha256}", fname="download", path=folder, progressbar=False)
        except (OSError, ValueError) as error:  # no connection; a wrong checksum
            wrong = isinstance(error, ValueError)
            what = "what came is not what is registered" if wrong else "it could not be downloaded"
            raise DataError(f"{what} ({str(error).splitlines()[0]:.120}); {cure}", location=address) from error
        return Path(path).read_bytes()


def find_matplotlib() -> ModuleType | None:
    """matplotlib with its figures, None where it is not installed. No window, no global state: `pyplot` stays out."""
    try:
        import_module("matplotlib.figure")
    except ImportError:
        return None
    return import_module("matplotlib")
