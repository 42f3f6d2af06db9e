"""Texts of answers that hold a statement against runs."""
