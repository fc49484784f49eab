"""CRFsuite's "lbfgs" by our solvers: minimise −log p(y | x) + c1 ‖w‖₁ + c2 ‖w‖², and report each iteration."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Vectors, Workers, count_jobs
from tagwright.losses import LOSSES
from tagwright.objective.evaluation import ValueAndGradient
from tagwright.objective.problem import TrainingProblem
from tagwright.objective.threads import ThreadedObjective
from tagwright.optim.descent import Iteration, Minimum
from tagwright.optim.lbfgs import minimise_lbfgs
from tagwright.optim.owlqn import minimise_owlqn
from tagwright.pycrfsuite.training import Training
from tagwright.scores.linear import LinearMap
from tagwright.scores.pattern import Pattern

NO_FEATURES, STUCK = -1020, -1001
"""libLBFGS's codes for a problem without variables, and for a search that finds no better point."""
ENDS = {
    "gradient": "L-BFGS resulted in convergence",
    "tolerance": "L-BFGS terminated with the stopping criteria",
    "max_iterations": "L-BFGS terminated with the maximum number of iterations",
    "precision": f"L-BFGS terminated with error code ({STUCK})",
}


def train_lbfgs(training: Training) -> tuple[Pattern, Doubles]:
    """L-BFGS, with an L1 penalty OWL-QN."""
    values, report = training.values, training.report
    report.lines("L-BFGS optimization")
    report.fields({name: values[name] for name in ("c1", "c2", "num_memories", "max_iterations", "epsilon")})
    report.fields({"stop": values["period"], "delta": values["delta"], "linesearch": values["linesearch"]})
    report.lines(f"linesearch.max_iterations: {values['max_linesearch']}", "")
    began = time.perf_counter()
    weights = training.start
    if training.features.n == 0 or training.data.n_sentences == 0:
        report.lines(f"L-BFGS terminated with error code ({NO_FEATURES})")
    else:
        workers = Workers(count_jobs(training.n_jobs))
        try:
            found = descend(training, workers)
        finally:
            workers.close()
        weights = found.weights
        report.lines(ENDS[found.reason])
    report.lines(f"Total seconds required for training: {time.perf_counter() - began:.3f}", "")
    return training.features.pattern, weights


def descend(training: Training, workers: Workers) -> Minimum:
    """Minimise; any number of threads gives the same bits."""
    values = training.values
    encoder, data = training.encoder.with_sets(training.data)
    scores = LinearMap.build(encoder, training.features.pattern, len(training.labels), np.float64)
    problem = TrainingProblem(
        scores, data, None, LOSSES["sequence_log"], training.free, training.start, ThreadedObjective,
        c1=values["c1"], c2=values["c2"],
    )  # fmt: skip
    objective, vectors = problem.objective(workers), Vectors(workers)
    rounds = Rounds(training, vectors)

    def smooth(weights: Doubles, reference: float = 0.0) -> ValueAndGradient:
        rounds.trials += 1
        found = objective(weights, reference)
        square = vectors.add_scaled(found.gradient, 2.0 * problem.c2, weights)
        return found._replace(value=found.value + problem.c2 * square)

    options: dict[str, Any] = {
        "memory": max(1, values["num_memories"]),
        "max_iterations": values["max_iterations"] or math.inf,  # 0 is no limit
        "epsilon": values["epsilon"],
        "tolerance": values["delta"],
        "period": values["period"] or math.inf,
        "watch": rounds.tell,
        "vectors": vectors,
    }
    if problem.c1 > 0:
        found = minimise_owlqn(smooth, problem.start, c1=problem.c1, **options)
    else:
        # Without the diagonal of _solvers.py, which is quicker at first, but needs half as many iterations more to get
        # as near to the minimum as CRFsuite goes
        found = minimise_lbfgs(smooth, problem.start, **options)
    if found.reason == "interrupted":
        raise KeyboardInterrupt
    return found


class Rounds:
    """Reports the iterations of a descent."""

    def __init__(self, training: Training, vectors: Vectors) -> None:
        self.training, self.vectors, self.trials, self.seconds = training, vectors, 0, 0.0

    def tell(self, now: Iteration) -> None:
        """One of them. trials: evaluations since the last one."""
        weights, report = now.point.weights, self.training.report
        report.lines(
            f"***** Iteration #{now.number} *****",
            f"Loss: {now.point.value:f}",
            f"Feature norm: {self.vectors.norm(weights):f}",
            f"Error norm: {now.gradient_norm:f}",
            f"Active features: {np.count_nonzero(weights)}",
            f"Line search trials: {self.trials}",
            f"Line search step: {now.point.step:f}",
            f"Seconds required for this iteration: {now.seconds - self.seconds:.3f}",
        )
        self.training.evaluate(self.training.features.pattern, weights)
        report.lines("")
        self.trials, self.seconds = 0, now.seconds
