"""The audit of proofs: every step certified, refuted or inconclusive, and what follows for the statements."""
