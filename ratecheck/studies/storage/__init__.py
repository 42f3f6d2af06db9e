"""Stored results of studies."""
