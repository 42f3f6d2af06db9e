"""How the files of the chapters write a theorem: what most of them have in common, once."""

from __future__ import annotations

from collections.abc import Mapping

from bounds.papers.classics.known import Classic, KnownTight, Standing
from bounds.papers.classics.symbols import VOCABULARY
from bounds.statement import Source
from bounds.theorem import Formula, theorem

# One gradient step a round, of every client and without noise: gradient descent on the mean of the f_i.
EXACT: Mapping[str, Formula] = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}
# The same with stochastic gradients.
NOISY: Mapping[str, Formula] = {"K": 1, "m": "n", "eta_u": 1}
# Methods that are no FedAvg have no outer step size.
PLAIN: Mapping[str, Formula] = {"K": 1, "m": "n", "sigma_u": 0}
# One proximal step a round, of one function.
PROXIMAL: Mapping[str, Formula] = {"n": 1, "m": 1, "K": 1, "sigma_u": 0}

SMOOTH = ("smoothness", "full_participation", "no_personal")
CONVEX = ("smoothness", "convexity", "full_participation", "no_personal")
STRONGLY_CONVEX = ("smoothness", "strong_convexity", "full_participation", "no_personal")
NONSMOOTH = ("convexity", "full_participation", "no_personal")
LIPSCHITZ = ("convexity", "bounded_subgradients", "full_participation", "no_personal")
MONOTONE = ("monotone_operator", "full_participation", "no_personal")
COCOERCIVE = ("cocoercive_operator", "full_participation", "no_personal")
COMPOSITE = ("smoothness", "convexity", "convex_part", "full_participation", "no_personal")


def classic(
    name: str,
    title: str,
    source: Source,
    *,
    left: str,
    over: str,
    right: Formula | Mapping[str, Formula],
    at: Mapping[str, float],
    value: str | None = None,
    standing: Standing = Standing.UNKNOWN,
    known_from: str = "",
    algorithm: str | None = "fedavg",
    assumptions: tuple[str, ...] = CONVEX,
    conditions: tuple[str, ...] = (),
    settings: Mapping[str, Formula] = EXACT,
    step_rules: Mapping[str, Formula] | None = None,
    trivial: Formula | None = None,
    remark: str = "",
) -> Classic:
    """The theorem ``classics/<name>``, and the ``value`` that ``known_from``, or its own source, knows at ``at``.

    Without a value it is the right side, or nothing where nothing is known.
    Raises `InputError` as `theorem` does, and where the value is no formula in the symbols of the classics.
    """
    statement = theorem(
        title,
        algorithm=algorithm,
        assumptions=assumptions,
        left=left,
        over=over,
        right=right,
        conditions=conditions,
        settings=settings,
        step_rules=step_rules or {},
        trivial=trivial,
        vocabulary=VOCABULARY,
        key=f"classics/{name}",
        source=source,
        remark=remark,
    )
    if value is None:
        value = "" if standing is Standing.UNKNOWN else str(right)
    known = KnownTight(at=at, value=value, standing=standing, source=known_from or f"{source.paper}, {source.number}")
    # A value that cannot be read is found when the file is.
    _ = known.expr
    return Classic(statement=statement, known=known)


def printed(authors: str, work: str, number: str) -> Source:
    """Where a theorem is printed: ``authors`` with the year, the title of the work, and its number there."""
    return Source(paper=f"{authors}, {work}", number=number, location="")
