"""Problem instances with certified constants."""

from ratecheck.problems.constants import Certificate, Constant, Constants
from ratecheck.problems.functions.formulas import from_sympy
from ratecheck.problems.functions.symbolic import Symbolic
from ratecheck.problems.linear.relative import RelativeQuadratic
from ratecheck.problems.linear.weighted import WeightedQuadratic
from ratecheck.problems.logistic import Logistic
from ratecheck.problems.minmax import MinMax
from ratecheck.problems.moreau import Moreau
from ratecheck.problems.piecewise_quadratic.piecewise import Piecewise
from ratecheck.problems.piecewise_quadratic.piecewise_samples import PiecewiseSamples
from ratecheck.problems.population import Population
from ratecheck.problems.problem import Problem, SingleLevel
from ratecheck.problems.quadratic import Quadratic
from ratecheck.problems.two_level.bilevel import Bilevel
from ratecheck.problems.two_level.bilevel_samples import BilevelSamples

__all__ = [
    "Bilevel",
    "BilevelSamples",
    "Certificate",
    "Constant",
    "Constants",
    "Logistic",
    "MinMax",
    "Moreau",
    "Piecewise",
    "PiecewiseSamples",
    "Population",
    "Problem",
    "Quadratic",
    "RelativeQuadratic",
    "SingleLevel",
    "Symbolic",
    "WeightedQuadratic",
    "from_sympy",
]
