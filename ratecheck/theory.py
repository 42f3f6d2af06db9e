"""The theory's statements, under the names by which ``ratecheck`` offers them."""

from bounds import get
from bounds.statement import Evaluation, Statement

__all__ = ["Evaluation", "Statement", "get"]
