"""Zeros of operators and fixed points of nonexpansive maps, where the oracle need not be a gradient."""
