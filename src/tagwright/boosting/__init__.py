"""Sequence AdaBoost (LM-POS section 3, BOOST section 5). To be read in this order:

adaboost             a round: choose a feature, find its step, reweight the sentences (LM-POS algorithm 2)
bounds               the loose and the tight bound on Z: how much a feature can gain, and its best step
exact_step           the step that minimises the risk itself; count_distribution: its dynamic programme
sentence_weights     D(i), and which sentences are active
sums                 the sums A and B from which all bounds are made, kept up to date round by round
training_scores      the weights, the scores of all training tokens and forward-backward; expectations: its kernels
training_set         what never changes: the sentences and their features; occurrences, feature_classes: its parts
sequence_adaboost    the learner: rounds, dev set, warm start, model file; chosen: the record of the features chosen
"""
