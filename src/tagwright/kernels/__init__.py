"""Kernels between observations, and the dual perceptron (HMSVM section 4). In reading order:

dual_perceptron   algorithm 1: the perceptron with any kernel
functions         the kernels: linear, polynomial, radial basis function, or a user's own
gram              k(x, z) of all pairs of training contexts, within a memory limit
learner           what KernelPerceptron and HMSVM share: parameters, fit, storing
perceptron        the learner KernelPerceptron
scores            emission rows of a trained model, as sums over its support contexts
chain_weights     the weights of neighbouring labels, while the dual perceptron and the HM-SVM train them
vectors           contexts (the distinct attribute vectors of tokens) and their inner products
"""
