"""scikit-learn's conventions without scikit-learn: parameters are constructor arguments, kept as they were given.

`get_params`, `set_params`, `clone`, `GridSearchCV` and `Pipeline` work; nothing is imported unless scikit-learn asks.
Parameters are checked when `fit` is called, against the ranges that the learner declares.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from tagwright.errors import NotFittedError, ParameterError


class Estimator:
    """Base of all learners. `ranges` maps a parameter to (test, what is expected)."""

    ranges: ClassVar[Mapping[str, tuple[Callable[[Any], bool], str]]] = {}

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}; it has: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def check_params(self) -> None:
        """Refuse parameters outside their ranges."""
        for name, (test, expected) in self.ranges.items():
            value = getattr(self, name)
            try:
                fine = test(value)
            except TypeError:
                fine = False
            if not fine:
                raise ParameterError(f"{type(self).__name__}: {name} must be {expected}, found {value!r}")

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"this {type(self).__name__} is not trained yet; call fit(X, y) first, or load a model"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def __sklearn_tags__(self) -> Any:
        from tagwright.compat import sklearn_tags

        return sklearn_tags()

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [f"{n}={v!r}" for n, v in self.get_params().items() if not _same(v, defaults[n].default)]
        return f"{type(self).__name__}({', '.join(changed)})"


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and a == b)


def is_whole(value: Any, least: int) -> bool:
    """Whether `value` is an integer (not a bool) of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


WHOLE = (lambda value: is_whole(value, 1), "a whole number of at least 1")
NATURAL = (lambda value: is_whole(value, 0), "a whole number of at least 0")
NOT_NEGATIVE = (lambda value: 0 <= value < float("inf"), "a number of at least 0")
POSITIVE = (lambda value: not isinstance(value, bool) and 0 < value < float("inf"), "a number above 0")
SHARE = (lambda value: not isinstance(value, bool) and 0 <= value < 1, "a number from 0 to 1, less than 1")
FLAG = (lambda value: isinstance(value, bool), "True or False")
SEED = (lambda value: value is None or is_whole(value, 0), "None or a whole number of at least 0")
JOBS = (lambda value: value is None or value == -1 or is_whole(value, 1), "None, -1 (all cores) or at least 1")
FILE = (lambda value: value is None or isinstance(value, str | os.PathLike), "None or a file name")


def optional(range_: tuple[Callable[[Any], bool], str]) -> tuple[Callable[[Any], bool], str]:
    """The same range and None."""
    test, expected = range_
    return (lambda value: value is None or test(value)), f"None or {expected}"


def one_of(*names: str) -> tuple[Callable[[Any], bool], str]:
    """The range of a parameter that takes one of some names."""
    return (lambda value: value in names), "one of " + ", ".join(map(repr, names))
