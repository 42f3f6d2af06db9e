"""Proofs and refutations that an expression is nonnegative."""
