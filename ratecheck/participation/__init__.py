"""Who takes part in which round: patterns and given traces."""

from ratecheck.participation.trace import Participation, Trace, Uniform

__all__ = ["Participation", "Trace", "Uniform"]
