"""Families of one-dimensional instances, and of bilevel ones, that make the terms of a bound needed."""
