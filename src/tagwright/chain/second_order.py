"""Second order: chains with weights for label trigrams, as first order over label pairs.

From the third position on, a labelling's score has one more term; at the first two there are start and transition
alone, as in order 1:

    F(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t≥1} transition[y_{t−1}, y_t] + Σ_{t≥2} trigram[y_{t−2}, y_{t−1}, y_t]
           + stop[y_{T−1}]

Here are the two kinds of chain with the methods of the first-order ones (Chain, Steps); the recursions over pairs are
those of chain/candidates.py. LM-POS section 2.1 (higher-order label features).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.candidate_forward_backward import CandidateBuffers, forward_backward_of_candidates
from tagwright.chain.candidate_viterbi import best_paths_over_candidates, k_best_of_pairs
from tagwright.chain.candidates import Candidates, StepTable
from tagwright.chain.forward_backward import Chain
from tagwright.chain.label_chain import ChainScores, Expectations, TermWeights
from tagwright.chain.log_space import repeat_in_log_space
from tagwright.chain.scaling import RunSums
from tagwright.chain.trigrams import Trigrams, find_trigrams


@dataclass(frozen=True, slots=True)
class SecondOrderChain:
    """What all sentences share, ready for the scaled recursions: the first-order Chain, the trigrams, and
    W[q, p, c] = exp(transition[q, c] + trigram[p, q, c] − shift)."""

    first: Chain
    trigrams: Trigrams
    steps: StepTable
    shift: float

    order = 2

    @classmethod
    def build(cls, first: Chain, trigrams: Trigrams, dtype: type[np.floating[Any]]) -> SecondOrderChain:
        transition, Y = first.scores[0], first.n_labels
        _, q, c = trigrams.labels
        top = max(float(transition.max()), float((transition[q, c] + trigrams.weights).max(initial=-np.inf)))
        shift = top if np.isfinite(top) else 0.0
        table = trigrams.exponentials(transition, shift, dtype)
        table[:Y] = first.matrix[:Y, :Y]
        return cls(first, trigrams, StepTable(2, Y, table, first.start, first.stop), shift)

    @property
    def n_labels(self) -> int:
        return self.first.n_labels

    def expect(
        self,
        emission: Floats,
        offsets: Longs,
        given: TermWeights | None = None,
        *,
        candidates: Candidates | None = None,
        out: Floats | None = None,
    ) -> Expectations:
        """Forward-backward of a run of sentences; see LabelChain."""
        Y, N, lengths = self.n_labels, len(offsets) - 1, offsets[1:] - offsets[:-1]
        candidates = Candidates.everything(len(emission), Y) if candidates is None else candidates
        given = TermWeights.ones(N) if given is None else given
        out = np.empty_like(emission) if out is None else out
        first, found = self.first, RunSums.build(np.zeros(self.steps.table.shape, emission.dtype), N)
        shifts = first.shift * (lengths > 1) + self.shift * np.maximum(lengths - 2, 0) + first.edge_shift
        work = CandidateBuffers.build(lengths, candidates, 2, emission)
        run = emission, offsets, given.relative_to(shifts), found, out
        forward_backward_of_candidates(*run, candidates, self.steps, work)
        found.log_z[:] += shifts
        found.counts[:] *= self.steps.table
        if not found.done.all():
            steps = second_order_steps(first.scores, self.trigrams, emission.dtype.type)
            repeat_in_log_space(found, emission, offsets, candidates, steps, given, out)
        pairs, triples = found.counts[:Y], found.counts[Y:].reshape(Y, Y, Y)  # triples [q, p, c]
        p, q, c = self.trigrams.labels
        transitions = pairs + triples.sum(axis=1, dtype=np.float64)
        return Expectations(found.log_z, found.weights, out, transitions, triples[q, p, c].astype(np.float64))

    def score_labels(self, emission: Floats, offsets: Longs, labels: Ints) -> Doubles:
        """F of one labelling of each sentence [N]."""
        scores = self.first.score_labels(emission, offsets, labels)
        index, sentences = find_trigrams(offsets, labels, self.trigrams)
        return scores + np.bincount(sentences, weights=self.trigrams.weights[index], minlength=len(scores))

    def count_trigrams(self, offsets: Longs, labels: Ints, weights: Doubles) -> Doubles:
        """How often the labelling has each trigram that has a weight [K], sentence i counted weights[i] times."""
        index, sentences = find_trigrams(offsets, labels, self.trigrams)
        return np.asarray(np.bincount(index, weights=weights[sentences], minlength=len(self.trigrams.keys)), np.float64)


def second_order_steps(scores: ChainScores, trigrams: Trigrams, dtype: type[np.floating[Any]]) -> StepTable:
    """The scores of all steps between label pairs."""
    transition, start, stop = scores
    table = trigrams.table(transition, dtype)
    table[: len(start)] = transition
    return StepTable(2, len(start), table, start.astype(dtype), stop.astype(dtype))


@dataclass(frozen=True, slots=True)
class SecondOrderSteps:
    """The chain's scores, ready for Viterbi over pairs."""

    steps: StepTable

    @classmethod
    def build(cls, scores: ChainScores, trigrams: Trigrams, dtype: type[np.floating[Any]]) -> SecondOrderSteps:
        return cls(second_order_steps(scores, trigrams, dtype))

    def best_paths(
        self, emission: Floats, offsets: Longs, candidates: Candidates | None = None
    ) -> tuple[Ints, Doubles]:
        """The best labels [n] and their scores [N]; see LabelSteps."""
        return best_paths_over_candidates(emission, offsets, self._candidates(emission, candidates), self.steps)

    def k_best(self, emission: Doubles, k: int, candidates: Candidates | None = None) -> tuple[Longs, Doubles]:
        """The k best labellings of one sentence; see LabelSteps."""
        return k_best_of_pairs(emission, self._candidates(emission, candidates), self.steps, k)

    def _candidates(self, emission: Floats, given: Candidates | None) -> Candidates:
        return Candidates.everything(len(emission), self.steps.n_labels) if given is None else given
