"""Maximum-entropy Markov models: a chain of classifiers, each of which knows the label before.

    p(y | x) = Π_t p(y_t | y_{t−1}, x)        p(c | p, x at t) = softmax over c of emission[t, c] + transition[p, c]
    minimise   −Σ_i log p(y_i | x_i; w) + c1 ‖w‖₁ + c2 ‖w‖²

McCallum, Freitag and Pereira 2000; the locally normalised baseline that Lafferty et al. 2001 compare the CRF with.
Training is quick, since every position is a classification by itself (losses/local_log.py). The price is label bias: a
label with few successors pays little heed to the words there (docs/label-bias.md). For decoding, the chain is turned
into an ordinary lattice (chain/local_normalisation.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagwright.arrays import Floats
from tagwright.chain.local_normalisation import normalise_locally
from tagwright.encode.batch import Batch
from tagwright.learners._decoder import Decoder, Rows
from tagwright.learners._estimator import FLAG, parameter
from tagwright.learners.crf import LinearChain

if TYPE_CHECKING:
    from tagwright.losses.run import Loss


class LocalDecoder(Decoder):
    """A decoder whose lattices are locally normalised. Forbidden transitions have the probability 0.

    `allowed` labels are put in afterwards, as knowledge about the whole labelling: p(y | x, y is allowed).
    """

    def _emission(self, scored: Rows, data: Batch, first: int, last: int, out: Floats) -> None:
        super()._emission(scored, data, first, last, out)
        offsets = data.offsets[first : last + 1]
        transition, start, _ = self.chain_scores
        normalise_locally(out, offsets - offsets[0], transition, start)


class MEMM(LinearChain):
    """A maximum-entropy Markov model, trained as a CRF is, on a loss of its own."""

    learner = "memm"
    decoder_type = LocalDecoder

    boundaries: bool = parameter(
        FLAG, "give weights to first labels; last labels have none in this model", default=True
    )

    def _choose_loss(self) -> Loss:
        from tagwright.losses.local_log import local_log
        from tagwright.losses.run import Loss, sum_of_terms

        return Loss(local_log, sum_of_terms)
