"""Who takes part in which round: patterns and given traces."""

from ratecheck.participation.trace import FixedTrace, Trace, UniformTrace

__all__ = ["FixedTrace", "Trace", "UniformTrace"]
