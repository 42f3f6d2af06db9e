"""Means of samples without replacement."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import COCHRAN

CLASSICS = (
    classic(
        "sampling-variance",
        "The mean of a sample of clients without replacement",
        COCHRAN("Theorem 2.2"),
        left="sampled2",
        over="no_run",
        right={"mean": "xbar2", "sampling": "spread*(n - m)/(n*m*max(1, n - 1))"},
        algorithm=None,
        assumptions=("independent_sampling",),
        settings={},
        at={"n": 5, "m": 2},
        remark="An equality, printed as a bound: the variance of a mean under simple random sampling.",
    ),
)
