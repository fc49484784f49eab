"""The losses over label sequences, by name: sequence or pointwise, log or exp (LOSS section 3.3; losses/run.py)."""

from tagwright.losses.pointwise import pointwise_exp, pointwise_log
from tagwright.losses.run import Loss, log_of_mean, sum_of_terms
from tagwright.losses.sequence import sequence_exp, sequence_log

LOSSES = {
    "sequence_log": Loss(sequence_log, sum_of_terms, rate=0.0),
    "sequence_exp": Loss(sequence_exp, log_of_mean, rate=1.0),
    "pointwise_log": Loss(pointwise_log, sum_of_terms),
    "pointwise_exp": Loss(pointwise_exp, log_of_mean),
}
