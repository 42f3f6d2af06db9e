"""Texts about studies and their stored results."""
