"""Laws of the noise of gradients: what engines may use of one, its moments, and how it is drawn."""

from ratecheck.noise.gaussian import Gaussian
from ratecheck.noise.law import IndependentNoise, NoiseLaw
from ratecheck.noise.nothing import NoNoise
from ratecheck.noise.signs import Signs

__all__ = ["Gaussian", "IndependentNoise", "NoNoise", "NoiseLaw", "Signs"]
