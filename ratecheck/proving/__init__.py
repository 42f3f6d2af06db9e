"""Proofs from the method alone: potentials that are found, certified in exact arithmetic."""
