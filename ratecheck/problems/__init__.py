"""Problem instances with certified constants."""

from ratecheck.problems.bilevel import Bilevel
from ratecheck.problems.bilevel_samples import BilevelSamples
from ratecheck.problems.constants import Certificate, Constant, Constants
from ratecheck.problems.formulas import from_sympy
from ratecheck.problems.logistic import Logistic
from ratecheck.problems.minmax import MinMax
from ratecheck.problems.moreau import Moreau
from ratecheck.problems.piecewise import Piecewise
from ratecheck.problems.piecewise_samples import PiecewiseSamples
from ratecheck.problems.population import Population
from ratecheck.problems.problem import Problem, SingleLevel
from ratecheck.problems.quadratic import Quadratic
from ratecheck.problems.symbolic import Symbolic

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
    "SingleLevel",
    "Symbolic",
    "from_sympy",
]
