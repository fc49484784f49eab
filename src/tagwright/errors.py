"""Every error a user can cause: each says where, what was found, what was expected, and the cure.

The command line prints the message alone and exits with code 1; the library raises.
"""

from __future__ import annotations

import os
import sys
import warnings

_PACKAGE = os.path.dirname(__file__) + os.sep
_NUMBA = f"{os.sep}numba{os.sep}"


class TagwrightError(Exception):
    """Base of all errors raised on purpose."""


class DataError(TagwrightError, ValueError):
    """Input that cannot be used: a bad line in a file, a bad sentence or label in an argument.

    `location` is "file:line" or the argument's name ("X[3][7]").
    """

    def __init__(self, message: str, *, location: str | None = None) -> None:
        super().__init__(f"{location}: {message}" if location else message)
        self.location = location


class TemplateError(DataError):
    """A feature template that cannot be read."""


class ParameterError(TagwrightError, ValueError):
    """A learner's parameter outside its range."""


class ModelFileError(TagwrightError, ValueError):
    """A file that is not a usable model."""


class NotFittedError(TagwrightError, ValueError, AttributeError):
    """A model that was asked to predict before `fit` (scikit-learn's meaning, without importing it)."""


class MissingPackageError(TagwrightError, ImportError):
    """An optional package that is not installed."""


class DataWarning(UserWarning):
    """Data that can be used, but from which less can be learned than was asked for."""


class CacheWarning(UserWarning):
    """Compiled kernels cannot be kept."""


class ConvergenceWarning(UserWarning):
    """An optimiser stopped before it converged."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and name the line outside the package that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_inner(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inner(file: str) -> bool:
    """Ours, or Numba's: that calls us when it has compiled."""
    return file.startswith(_PACKAGE) or _NUMBA in file
