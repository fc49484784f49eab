"""The seam for compute: an Objective, weights ─► (value, gradient), is all that a solver knows."""
