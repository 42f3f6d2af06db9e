"""Texts of answers about proofs."""
