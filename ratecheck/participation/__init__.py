"""Participation of clients in rounds: patterns, given traces, and the delays that they cause."""

from ratecheck.participation import delays
from ratecheck.participation.bernoulli import Bernoulli
from ratecheck.participation.biased import Biased
from ratecheck.participation.cyclic import Cyclic
from ratecheck.participation.graph import Graph
from ratecheck.participation.independent import Independent
from ratecheck.participation.largest import Largest
from ratecheck.participation.markov import Markov
from ratecheck.participation.model.pattern import Participation
from ratecheck.participation.periodic import Periodic
from ratecheck.participation.renewal import Renewal
from ratecheck.participation.reshuffled import Reshuffled
from ratecheck.participation.sine import Sine
from ratecheck.participation.trace import Trace
from ratecheck.participation.uniform import Uniform
from ratecheck.participation.weighted import WeightedDraws, WeightedSubsets

__all__ = [
    "Bernoulli",
    "Biased",
    "Cyclic",
    "Graph",
    "Independent",
    "Largest",
    "Markov",
    "Participation",
    "Periodic",
    "Renewal",
    "Reshuffled",
    "Sine",
    "Trace",
    "Uniform",
    "WeightedDraws",
    "WeightedSubsets",
    "delays",
]
