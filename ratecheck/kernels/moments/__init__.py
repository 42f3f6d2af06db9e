"""Compiled rounds of exact moments."""
