"""Texts of answers that need a statement only."""
