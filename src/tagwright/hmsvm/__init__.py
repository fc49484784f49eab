"""The hidden Markov support vector machine (HMSVM sections 5 to 7, LM-POS section 4). In reading order:

algorithm        algorithm 2: search for the worst labelling, add it to the working set, optimise; and the passes
objective        the primal and the dual objective for the three kinds of slack
working_sets     the labellings of each sequence with their multipliers α, and the small problem of one sequence
simplex_qp       the solver of that problem
worst_labelling  two-best Viterbi and loss-augmented Viterbi: which labelling violates its margin most
token_weights    w as a sweep reads and changes it: written out, or as multipliers of training contexts
primal_weights   the former, for the linear kernel; dual_weights: the latter, for any kernel
learner          the learner HMSVM
support          support sequences, for people and in the model file
"""
