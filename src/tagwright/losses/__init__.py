"""The losses over label sequences, by name: sequence or pointwise, log or exp (LOSS section 3.3; losses/run.py).

Their names are known at once, for those who only tag; what computes them is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tagwright.losses.run import Loss

_LOSSES: dict[str, tuple[str, str, float | None]] = {
    "sequence_log": ("tagwright.losses.sequence", "sum_of_terms", 0.0),
    "sequence_exp": ("tagwright.losses.sequence", "log_of_mean", 1.0),
    "pointwise_log": ("tagwright.losses.pointwise", "sum_of_terms", None),
    "pointwise_exp": ("tagwright.losses.pointwise", "log_of_mean", None),
}
"""The module of the function of that name, how terms add up, and the rate of a sequence loss."""


class _Losses(Mapping[str, "Loss"]):
    """The losses by their names."""

    def __getitem__(self, name: str) -> Loss:
        from tagwright.losses import run

        module, add_up, rate = _LOSSES[name]
        return run.Loss(getattr(import_module(module), name), getattr(run, add_up), rate)

    def __iter__(self) -> Iterator[str]:
        return iter(_LOSSES)

    def __len__(self) -> int:
        return len(_LOSSES)


LOSSES: Mapping[str, Loss] = _Losses()
