"""Maximum-entropy Markov models: a chain of classifiers, each of which knows the label before.

    p(y | x) = Π_t p(y_t | y_{t−1}, x)        p(c | p, x at t) = softmax over c of emission[t, c] + transition[p, c]
    minimise   −Σ_i log p(y_i | x_i; w) + c1 ‖w‖₁ + c2 ‖w‖²

McCallum, Freitag and Pereira 2000; the locally normalised baseline that Lafferty et al. 2001 compare the CRF with.
Training is quick, since every position is a classification by itself (losses/local_log.py). The price is label bias: a
label with few successors pays little heed to the words there (docs/label-bias.md). For decoding, the chain is turned
into an ordinary lattice (chain/local_normalisation.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import ClassVar

from tagwright.arrays import Floats
from tagwright.chain.local_normalisation import normalise_locally
from tagwright.encode.dataset import Dataset
from tagwright.learners._decoder import Decoder
from tagwright.learners.crf import CRF
from tagwright.losses.local_log import local_log
from tagwright.losses.run import Loss, sum_of_terms
from tagwright.optim.progress import Callback


class LocalDecoder(Decoder):
    """A decoder whose lattices are locally normalised. Forbidden transitions have the probability 0.

    `allowed` labels are put in afterwards, as knowledge about the whole labelling: p(y | x, y is allowed).
    """

    def _emission(self, data: Dataset, first: int, last: int, out: Floats) -> None:
        super()._emission(data, first, last, out)
        offsets = data.offsets[first : last + 1]
        transition, start, _ = self.chain_scores
        normalise_locally(out, offsets - offsets[0], transition, start)


class MEMM(CRF):
    """A maximum-entropy Markov model, trained as a CRF is, on a loss of its own.

    features, label_weights, solver, c1, c2, min_count, min_conjunction, all_possible_states, all_possible_transitions,
        max_iterations, tolerance, patience, well_formed, dtype, warm_start, checkpoint: as for the CRF
    boundaries: give weights to first labels; last labels have none in this model
    """

    learner = "memm"
    decoder_type = LocalDecoder
    order = 1
    tag_dictionary = 0
    ranges: ClassVar = {n: test for n, test in CRF.ranges.items() if n not in ("loss", "order", "tag_dictionary")}

    def __init__(
        self,
        features: object = "auto",
        *,
        label_weights: Mapping[str, float] | None = None,
        solver: str = "auto",
        c1: float = 0.0,
        c2: float = 0.6,
        min_count: int = 1,
        min_conjunction: int = 1,
        all_possible_states: bool = False,
        all_possible_transitions: bool = True,
        boundaries: bool = True,
        max_iterations: int = 1000,
        tolerance: float | None = None,
        patience: int = 10,
        well_formed: bool = False,
        dtype: str = "float32",
        warm_start: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.features = features
        self.label_weights = label_weights
        self.solver = solver
        self.c1 = c1
        self.c2 = c2
        self.min_count = min_count
        self.min_conjunction = min_conjunction
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.boundaries = boundaries
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.patience = patience
        self.well_formed = well_formed
        self.dtype = dtype
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

    def _choose_loss(self) -> Loss:
        return Loss(local_log, sum_of_terms)

    def _takes_partial_labels(self) -> bool:
        return False
