"""A problem as the kernels of Monte Carlo take it: the oracle, and the quantities to record."""

from __future__ import annotations

import numpy as np

from ratecheck.aliases import Array
from ratecheck.engines.records import RecordPlan
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.kernels.oracle import Oracle
from ratecheck.kernels.records import VALUES, Records
from ratecheck.problems.problem import CalledOracle


def oracle(setup: Setup, name: str) -> Oracle | CalledOracle:
    """The named oracle of the setup's problem as the kernels take it, without noise that no kernel draws."""
    lambda_ = float(setup.step_sizes["lambda_"]) if name == "prox" else 0.0
    drawn = setup.law.compiled or not setup.problem.compiled
    found = setup.problem.oracle(name, setup.noise if drawn else np.zeros_like(setup.noise), lambda_)
    return found if isinstance(found, CalledOracle) else found._replace(law=setup.law.code, shape=setup.law.shape)


def compiled(setup: Setup, name: str) -> Oracle:
    """The named oracle, compiled; raises `InputError` where it is called in Python."""
    if not setup.law.compiled:
        raise InputError(f"{setup.law.kind} noise is not drawn by compiled rounds: use engine=step")
    found = oracle(setup, name)
    if isinstance(found, CalledOracle):
        raise InputError(f"the oracle of a {setup.problem.kind} problem is no compiled one: use engine=step")
    return found


def record_arrays(plan: RecordPlan) -> Records:
    """The plan as the kernels take it."""
    n, d = plan.anchor.shape
    terms = [(q, column) for q, record in enumerate(plan.records) for column in record.terms]
    width = len(terms[0][1][0].left) if terms else 0

    def coefficients(side: str) -> Array:
        table = np.zeros((n, len(terms), width))
        for j, (_, column) in enumerate(terms):
            table[:, j] = [getattr(term, side) for term in column]
        return table

    left, right = coefficients("left"), coefficients("right")
    over = np.array([int(column[0].over) for _, column in terms], dtype=np.int64)
    return Records(
        rows=np.concatenate([record.rows for record in plan.records] or [np.zeros((0, d))]),
        offset=np.concatenate([record.offset for record in plan.records] or [np.zeros(0)]),
        row_starts=np.cumsum([0, *(len(record.rows) for record in plan.records)]),
        group=plan.groups,
        slot=plan.slots,
        over=over,
        owner=np.array([q for q, _ in terms], dtype=np.int64),
        block=np.array([column[0].block for _, column in terms], dtype=np.int64),
        factor=np.array([[float(term.factor) for term in column] for _, column in terms]).reshape(-1, n).T.copy(),
        left=left,
        right=right,
        anchor=np.ascontiguousarray(plan.anchor),
        constant=np.array([float(record.constant) for record in plan.records]),
        # The last but one column is on the answer.
        answers=bool((over == VALUES).any() or left[..., -2:-1].any() or right[..., -2:-1].any()),
    )
