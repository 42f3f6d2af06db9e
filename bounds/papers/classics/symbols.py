"""The symbols of the classics: those of theorems on one objective, subgradients, epochs and momentum."""

from bounds.analysis import CLASSICS as VOCABULARY

__all__ = ["VOCABULARY"]
