"""The CRF's solvers: one problem, five names, the same reports and checkpoints.

TrainingProblem (scores, data, loss, penalties) ─► its objective ─► solve ─► optim/ ─► Minimum
                                                                      │
                                                          Watch (dev set, callbacks), Checkpoint

minimise   loss(w) + c1 ‖w‖₁ + c2 ‖w‖²
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Vectors, Workers, inner
from tagwright.learners._checkpoint import Checkpoint, Form, State
from tagwright.learners._watch import Watch
from tagwright.objective.evaluation import ValueAndGradient
from tagwright.objective.problem import TrainingProblem
from tagwright.optim.conjugate_gradient import minimise_cg
from tagwright.optim.descent import PERIOD, Iteration, Minimum, Point, Trail, flattened
from tagwright.optim.lbfgs import MOST_PAIRS, minimise_lbfgs
from tagwright.optim.owlqn import minimise_owlqn
from tagwright.optim.progress import Progress
from tagwright.optim.stochastic import RATE, AdaGradState, AveragedAdaGrad, Epoch, minimise_stochastic
from tagwright.scores.wide_rows import TokenData

SETTLED = 2e-3
"""With a dev set, a descent may end where the objective improves by no more over as many iterations."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop."""

    max_iterations: int
    tolerance: float


def solve(
    solver: str,
    problem: TrainingProblem,
    limits: Limits,
    *,
    watch: Watch[Doubles],
    checkpoint: Checkpoint | None,
    seed: int | None,
    workers: Workers,
) -> Minimum:
    """Minimise by the solver of that name, from the checkpoint if there is one."""
    stored = None if checkpoint is None else checkpoint.read()
    if solver == "sgd":
        found, state = _solve_stochastic(problem, limits, watch, checkpoint, stored, seed)
    else:
        found, state = _solve_by_descent(solver, problem, limits, watch, checkpoint, stored, workers)
    if checkpoint is not None and (found.converged or watch.exhausted):
        checkpoint.delete()
    elif checkpoint is not None and (last := state()) is not None:
        checkpoint.write(last)
    return found


def _solve_by_descent(
    solver: str,
    problem: TrainingProblem,
    limits: Limits,
    watch: Watch[Doubles],
    checkpoint: Checkpoint | None,
    stored: State | None,
    workers: Workers,
) -> tuple[Minimum, Callable[[], State | None]]:
    """L-BFGS, OWL-QN or conjugate gradients, on all sentences at once."""
    objective, vectors = problem.objective(workers), Vectors(workers)

    def smooth(weights: Doubles, reference: float = 0.0) -> ValueAndGradient:
        found = objective(weights, reference)
        square = vectors.add_scaled(found.gradient, 2.0 * problem.c2, weights)
        return found._replace(value=found.value + problem.c2 * square)

    last: State | None = None

    def tell(now: Iteration) -> bool:
        nonlocal last
        point = now.point
        report = Progress(now.number, limits.max_iterations, point.value, now.gradient_norm, point.step, now.seconds)
        stop = watch(report, lambda: point.weights, settled=flattened(now.trail.curve, PERIOD, SETTLED))
        last = {**_trail_state(now.trail), **watch.state()}
        if checkpoint is not None:
            checkpoint.offer(lambda: last or {})
        return stop

    start: Doubles | Trail = problem.start
    if stored is not None and checkpoint is not None:
        start = _restore_trail(stored, checkpoint, watch, len(problem.start), METHODS_MEMORY[solver])
    options: dict[str, Any] = {"max_iterations": limits.max_iterations, "tolerance": limits.tolerance, "watch": tell}
    if solver == "owlqn":
        return minimise_owlqn(smooth, start, c1=problem.c1, vectors=vectors, **options), lambda: last
    if solver == "cg":
        return minimise_cg(smooth, start, **options), lambda: last
    # Weights of frequent features have much curvature: D = 1 / √(1 + n) (docs/solvers.md)
    diagonal = 1 / np.sqrt(1 + np.abs(objective.count_features()))
    return minimise_lbfgs(smooth, start, diagonal=diagonal, vectors=vectors, **options), lambda: last


def _trail_state(trail: Trail) -> State:
    return {
        "weights": trail.point.weights,
        "gradient": trail.point.gradient,
        "value": np.array([trail.point.value, trail.point.step]),
        "reference": np.array([trail.point.reference]),
        "curve": np.array(trail.curve),
        **{f"memory.{k}": vector for k, vector in enumerate(trail.memory)},
    }


MEMORY = "memory."
PAIRS = ("float32", "float32", "float64")
METHODS_MEMORY = {"lbfgs": PAIRS, "owlqn": PAIRS, "cg": ("float64", "float64")}
"""The types of the vectors that each method remembers, again and again (optim/)."""


def _restore_trail(state: State, checkpoint: Checkpoint, watch: Watch[Doubles], n: int, kinds: Sequence[str]) -> Trail:
    """Where a descent with n weights stood; the watch goes on from there, too."""
    n_memory = sum(name.startswith(MEMORY) for name in state)
    forms = {
        **{name: Form((n,)) for name in ("weights", "gradient")},
        "value": Form((2,)),
        "reference": Form((1,)),
        "curve": Form((None,)),
        **{f"{MEMORY}{k}": Form((1 if k % 3 == 2 else n,), kinds[k % len(kinds)]) for k in range(n_memory)},
    }
    _restore_watch(state, checkpoint, watch, forms, n)
    memory = tuple(state[f"{MEMORY}{k}"] for k in range(n_memory))
    most = 3 * MOST_PAIRS if kinds is PAIRS else len(kinds)
    fits = n_memory % len(kinds) == 0 and n_memory <= most and len(state["curve"]) > 0
    fits = fits and all(inner(vector, vector) > 0 for vector in memory)
    if kinds is PAIRS:
        fits = fits and all(inner(s, y) > 0 for s, y in zip(memory[::3], memory[1::3], strict=True))
    if not fits:
        raise checkpoint.refusal()
    value, step = state["value"].tolist()
    point = Point(state["weights"], value, state["gradient"], step, float(state["reference"][0]))
    return Trail(point, memory, tuple(state["curve"].tolist()))


def _restore_watch(
    state: State, checkpoint: Checkpoint, watch: Watch[Doubles], forms: Mapping[str, Form], n: int
) -> None:
    """Check the forms of a state, the watch's own among them, and let the watch go on from it."""
    best = state.get("watch.weights", np.empty(0))
    of_watch = {"watch.curve": Form((None,)), "watch.best": Form((2,)), "watch.weights": Form((n if best.size else 0,))}
    checkpoint.check(state, {**forms, **of_watch})
    if not watch.could_be(state):
        raise checkpoint.refusal()
    watch.restore(state)


def _solve_stochastic(
    problem: TrainingProblem,
    limits: Limits,
    watch: Watch[Doubles],
    checkpoint: Checkpoint | None,
    stored: State | None,
    seed: int | None,
) -> tuple[Minimum, Callable[[], State | None]]:
    """Averaged AdaGrad, a few sentences at a time, on one thread."""
    scores, data = problem.scores, problem.data
    weights = np.ones(data.n_tokens) if problem.weights is None else problem.weights
    tokens = TokenData.build(scores.encoder, data, scores.pattern, scores.n_labels)
    start = problem.start.astype(scores.dtype)
    training = AveragedAdaGrad(
        start, tokens, weights, problem.loss, free=problem.free, c2=problem.c2, seed=seed,
        candidates=problem.candidates_of(data),
    )  # fmt: skip
    if stored is not None and checkpoint is not None:
        forms = {name: Form.of(array) for name, array in training.state._asdict().items()}
        _restore_watch(stored, checkpoint, watch, {**forms, "curve": Form((None,))}, len(problem.start))
        training.curve = tuple(stored["curve"].tolist())
        training.state = AdaGradState(*(stored[name] for name in AdaGradState._fields))
        if not training.is_possible():
            raise checkpoint.refusal()

    def everything() -> State:
        return {**training.state._asdict(), "curve": np.array(training.curve), **watch.state()}

    def tell(now: Epoch) -> bool:
        report = Progress(now.number, limits.max_iterations, now.objective, None, RATE, now.seconds, unit="epoch")
        return watch(report, training.average)

    found = minimise_stochastic(
        training,
        max_epochs=limits.max_iterations,
        tolerance=limits.tolerance,
        watch=tell,
        pause=None if checkpoint is None else lambda: checkpoint.offer(everything),
    )
    return found, everything
