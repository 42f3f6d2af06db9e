"""Expectations over finitely many outcomes."""
