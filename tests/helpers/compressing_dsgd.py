"""DSGD whose clients compress the points that they mix: a method that is random in two ways."""

from contextlib import contextmanager

from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.gossip import Dsgd


class CompressingDsgd(Dsgd):
    """Every coordinate of x_i is mixed as it is sent: with probability q, divided by it."""

    step_sizes = ("gamma_u", "q")
    compressed = ("x",)

    def sent(self, client, message, p):
        """What was sent of the point."""
        return {"x": message["x"]}


@contextmanager
def registered():
    """The name under which the method is run, as long as the block lasts."""
    METHODS["both"] = Method("both", "DSGD that compresses its points", CompressingDsgd(), personal=False, full=True)
    try:
        yield "both"
    finally:
        del METHODS["both"]
