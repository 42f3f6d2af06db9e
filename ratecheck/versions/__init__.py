"""Two versions of statements and of their proofs compared as mathematics, not as text."""
