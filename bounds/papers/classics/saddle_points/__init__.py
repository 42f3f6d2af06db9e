"""Saddle points of min-max problems, as zeros of operators that are Lipschitz and monotone."""
