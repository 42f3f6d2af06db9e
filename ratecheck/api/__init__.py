"""The public face: one function for each command, under its name, and the type of its result.

The names are those of ``ratecheck`` itself, which loads them when they are first used.
"""
