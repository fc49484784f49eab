"""scikit-learn's conventions without scikit-learn: parameters are constructor arguments, kept as they were given.

A parameter is declared once, in the body of its learner's class:

    c2: float = parameter(NOT_NEGATIVE, "strength of the L2 penalty", default=0.6)

From that come the constructor and its signature, the check when `fit` is called, and the line in the class's
documentation. A subclass has the parameters of its bases, and may declare one anew to change its default or its text.
`get_params`, `set_params`, `clone`, `GridSearchCV` and `Pipeline` work; nothing is imported unless scikit-learn asks.
"""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, dataclass_transform

from tagwright.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a parameter may have."""

    test: Callable[[Any], bool]
    expected: str  # what to say of it

    def accepts(self, value: object) -> bool:
        try:
            return bool(self.test(value))
        except TypeError:
            return False

    def __or__(self, other: Range) -> Range:
        return Range(lambda value: self.accepts(value) or other.accepts(value), f"{self.expected} or {other.expected}")


def is_whole(value: Any, least: int) -> bool:
    """Whether `value` is an integer (not a bool) of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def one_of(*names: str) -> Range:
    """The range of a parameter that takes one of some names."""
    return Range(lambda value: value in names, "one of " + ", ".join(map(repr, names)))


def whole_up_to(most: int) -> Range:
    """The range of a parameter that memory grows with."""
    return Range(lambda value: is_whole(value, 1) and value <= most, f"a whole number from 1 to {most:,}")


MOST_ORDERS = 100
"""Of the training sentences: as many trainings side by side."""
ANYTHING = Range(lambda value: True, "anything")
NONE = Range(lambda value: value is None, "None")
WHOLE = Range(lambda value: is_whole(value, 1), "a whole number of at least 1")
NATURAL = Range(lambda value: is_whole(value, 0), "a whole number of at least 0")
NOT_NEGATIVE = Range(lambda value: 0 <= value < float("inf"), "a number of at least 0")
POSITIVE = Range(lambda value: not isinstance(value, bool) and 0 < value < float("inf"), "a number above 0")
SHARE = Range(lambda value: not isinstance(value, bool) and 0 <= value < 1, "a number from 0 to 1, less than 1")
FLAG = Range(lambda value: isinstance(value, bool), "True or False")
SEED = NONE | NATURAL
JOBS = Range(lambda value: value is None or value == -1 or is_whole(value, 1), "None, -1 (all cores) or at least 1")
FILE = NONE | Range(lambda value: isinstance(value, str | os.PathLike), "a file name")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a learner."""

    default: Any
    range: Range
    about: str
    keyword: bool = True  # whether it must be given by name


def parameter(allowed: Range, about: str, *, default: Any, kw_only: bool = True) -> Any:
    """Declare a parameter in the body of a learner's class."""
    return Parameter(default, allowed, about, kw_only)


FITTED = object()


def fitted(*, init: Literal[False] = False) -> Any:
    """Declare an attribute that `fit` makes; a learner that is not fitted does not have it."""
    return FITTED


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter, fitted))
class Estimator:
    """Base of all learners."""

    parameters: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Gather the parameters of the class and of its bases; write its signature and its documentation."""
        super().__init_subclass__(**options)
        own = {name: value for name, value in cls.__dict__.items() if isinstance(value, Parameter)}
        for name, value in list(cls.__dict__.items()):
            if value is FITTED or isinstance(value, Parameter):
                delattr(cls, name)
        inherited = {name: value for base in reversed(cls.__mro__[1:]) for name, value in _parameters(base).items()}
        cls.parameters = inherited | own
        cls.__signature__ = _signature(cls)  # type: ignore[attr-defined]
        if own:
            cls.__doc__ = _documentation(cls)

    def __init__(self, *args: Any, **params: Any) -> None:
        given = inspect.signature(type(self)).bind(*args, **params)
        given.apply_defaults()
        self.__dict__.update(given.arguments)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
        return {name: getattr(self, name) for name in self.parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        for name, value in params.items():
            if name not in self.parameters:
                known = ", ".join(self.parameters)
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}; it has: {known}")
            setattr(self, name, value)
        return self

    def check_params(self) -> None:
        """Refuse parameters outside their ranges."""
        for name, declared in self.parameters.items():
            value = getattr(self, name)
            if not declared.range.accepts(value):
                expected = declared.range.expected
                raise ParameterError(f"{type(self).__name__}: {name} must be {expected}, found {value!r}")

    def __sklearn_tags__(self) -> Any:
        from tagwright.compat import sklearn_tags

        return sklearn_tags()

    def __repr__(self) -> str:
        params = self.get_params()
        changed = [f"{n}={params[n]!r}" for n, p in self.parameters.items() if not _same(params[n], p.default)]
        return f"{type(self).__name__}({', '.join(changed)})"


def _parameters(cls: type) -> dict[str, Parameter]:
    return cls.parameters if isinstance(cls, type) and issubclass(cls, Estimator) else {}


def _annotations(cls: type) -> dict[str, str]:
    return {name: kind for base in reversed(cls.__mro__) for name, kind in inspect.get_annotations(base).items()}


def _signature(cls: type[Estimator]) -> inspect.Signature:
    kinds = _annotations(cls)
    ordered = sorted(cls.parameters.items(), key=lambda pair: pair[1].keyword)  # keeps the order among equals
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY if p.keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=p.default,
                annotation=kinds.get(name, "object"),
            )
            for name, p in ordered
        ]
    )


def _documentation(cls: type[Estimator]) -> str:
    """The class's own words, then a line for each parameter with its default."""
    words = inspect.cleandoc(cls.__dict__.get("__doc__") or "")
    lines = [
        textwrap.fill(f"{name}: {p.about} (default: {p.default!r})", 116, subsequent_indent="    ")
        for name, p in cls.parameters.items()
    ]
    return "\n".join([words, "", *lines])


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and a == b)
