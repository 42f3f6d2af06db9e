"""Problem instances with certified constants."""

from ratecheck.problems.constants import Certificate, Constant, Constants
from ratecheck.problems.logistic import Logistic
from ratecheck.problems.quadratic import Quadratic

Problem = Quadratic | Logistic

__all__ = ["Certificate", "Constant", "Constants", "Logistic", "Problem", "Quadratic"]
