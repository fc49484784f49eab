"""Guided learning for bidirectional sequence classification (Shen, Satta and Joshi 2007; GUIDED).

Read in this order:

    algorithm1_inference    the paper's algorithm 1: spans of labelled tokens grow, the easiest token first
    algorithm2_learning     its algorithm 2: weights and order of labelling are learned together
    local_learning          the baseline without inference: every token between gold labels
    chart                   spans, their states and top hypotheses, the accepted spans P and the candidate queue Q
    label_contexts          features of the labels on both sides of a token: f(h.A), as far as it depends on S_L and S_R
    lexical_parts           the words that such features may be joined with
    perceptron              the weights of the moment and their averages; U by attributes; the update
    well_formed             labels that may not stand beside each other, or leave a gap that nothing can fill
    final_actions           the actions of a finished inference, scored between the final labels
    training                the state of one training; the average of several
    decoder                 the running model: text in, labels out
    steps                   the order of labelling as a table and as a picture
    tagger                  GuidedTagger, the learner
"""
