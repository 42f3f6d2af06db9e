"""Resolved inputs of one verification: what was given, what is defaulted, which step sizes, on which trace."""
