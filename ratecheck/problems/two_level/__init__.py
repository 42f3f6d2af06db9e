"""Bilevel problems."""
