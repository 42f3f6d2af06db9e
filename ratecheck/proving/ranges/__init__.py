"""Proofs on a whole range of a parameter, and their certificates."""
