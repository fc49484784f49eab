"""F2: Σ_i 1/p(y_i | x_i), minimised as N · log of the mean 1/p. LOSS equations 2 and 4.

    term       −log p(y_i | x_i) = log Z(x_i) − F(x_i, y_i)
    gradient   D_i · (expected − gold counts),   D_i = a_i · exp(term_i − reference) · factor of the whole

1/p of a sentence with T tokens and Y labels is Y^T at w = 0: it is never formed (losses/run.py). The objective is
convex, being the log of a sum of exponentials of convex functions. Its gradient is an average over sentences in which
the least likely ones have nearly all of the weight: at first the longest.
"""

from __future__ import annotations

from tagwright.arrays import Floats
from tagwright.chain.label_chain import LabelChain
from tagwright.losses.run import RunLoss, SentenceRun
from tagwright.losses.sequence_log import sequence_loss


def sequence_exp(run: SentenceRun, chain: LabelChain, reference: float = 0.0, out: Floats | None = None) -> RunLoss:
    """Terms and gradient of one run, relative to the reference."""
    return sequence_loss(run, chain, 1.0, reference, out)
