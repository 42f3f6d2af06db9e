"""Laws of the noise of gradients: what engines may use of one, its moments, and how it is drawn."""

from ratecheck.noise.bounded import Sphere, UniformNoise
from ratecheck.noise.gaussian import Gaussian
from ratecheck.noise.heavy import Pareto, Student
from ratecheck.noise.law import CompiledNoise, IndependentNoise, NoiseLaw
from ratecheck.noise.nothing import NoNoise
from ratecheck.noise.relative import Relative
from ratecheck.noise.signs import Signs

__all__ = [
    "CompiledNoise",
    "Gaussian",
    "IndependentNoise",
    "NoNoise",
    "NoiseLaw",
    "Pareto",
    "Relative",
    "Signs",
    "Sphere",
    "Student",
    "UniformNoise",
]
