"""CRFsuite's models as our own, and ours as CRFsuite's.

    CrfsuiteModel ─► to_crf ─► CRF on attribute dicts ─► from_crf ─► CrfsuiteModel

Attributes, labels, their order, weights and transitions are the same on both sides, to the last bit. A transition that
CRFsuite has no weight for has the weight 0. CRFsuite has no weights for first and last labels; here they are 0.
"""

from __future__ import annotations

import numpy as np

from tagwright.crfsuite.binary import CrfsuiteModel, transition_matrix
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import Vocabulary
from tagwright.errors import ModelFileError
from tagwright.learners._base import SequenceTagger
from tagwright.learners._decoder import Decoder
from tagwright.learners.crf import CRF, make_crf
from tagwright.scores.linear import LinearScores
from tagwright.scores.pattern import LabelWeights, Pattern


def to_crf(model: CrfsuiteModel) -> CRF:
    """A CRF that tags as the model does."""
    encoder = Encoder.build(None, 0, given=Vocabulary(model.attributes))
    pattern = Pattern(model.states.pointers, model.states.labels)
    return make_crf(encoder, pattern, model.states.values, model.labels, transition_matrix(model))


def from_crf(tagger: SequenceTagger) -> CrfsuiteModel:
    """The same model for CRFsuite; one that it cannot express is refused with the reason."""
    _check_expressible(tagger)
    scores = tagger.decoder_.scores
    assert isinstance(scores, LinearScores)
    transition, Y = tagger.decoder_.chain_scores[0], len(tagger.labels_)
    pairs = LabelWeights(np.arange(Y + 1) * Y, np.tile(np.arange(Y, dtype=np.int32), Y), transition.reshape(-1))
    states = scores.weights._replace(values=scores.weights.values.astype(np.float64))
    return CrfsuiteModel(list(tagger.labels_), tagger.encoder_.given.values, pairs, states)


def _check_expressible(tagger: SequenceTagger) -> None:
    decoder, encoder = tagger.decoder_, tagger.encoder_
    reason = ""
    if type(decoder) is not Decoder or not isinstance(decoder.scores, LinearScores):
        reason = f"a model of the learner {tagger.learner} is no CRF; train --learner crf"
    elif encoder.features is not None:
        reason = (
            f"its attributes are made by templates ({encoder.features.name}), CRFsuite's are ready-made; "
            "train on attribute dicts"
        )
    elif decoder.trigrams is not None:
        reason = "it has weights for label trigrams; train with order=1"
    elif not all(np.isfinite(part).all() for part in decoder.chain_scores):
        reason = "it forbids transitions, CRFsuite has weights alone; train with well_formed=False"
    elif any(part.any() for part in decoder.chain_scores[1:]):
        reason = "it has weights for first and last labels, CRFsuite has none; train with boundaries=False"
    if reason:
        raise ModelFileError(f"CRFsuite cannot express this model: {reason}")
