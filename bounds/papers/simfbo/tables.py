"""Table 1 of the SimFBO paper."""

from __future__ import annotations

import sympy as sp

import bounds
from bounds.ledger.rate_table import ONE, OwnRow, RateTable, Versus, at_most, quoted_row
from bounds.papers.baselines import statements as baselines
from bounds.papers.simfbo import symbols as simfbo

# Its columns of marks (heterogeneity, participation, replacement, speedup) are not encoded.

P, eps = simfbo.P, baselines.eps
_COUNTED = ("n", "P", "T", "tau_bar")


def _bilevel(label: str, key: str) -> OwnRow:
    samples, rounds = eps**-2 / P, 1 / eps
    return OwnRow(
        label=label,
        key=key,
        orders={"samples": (samples,), "rounds": (rounds,)},
        columns={},
        hides_logarithms=False,
        substituted={simfbo.T: rounds, simfbo.tau_bar: samples / rounds},
        reaches=eps,
        free={"rounds": simfbo.tau_bar},
        cases=({P: simfbo.n}, {}),
        remark="Theorems 1 and 2 say T = O(1/eps) for P = n, and T = O(1/(P*eps^2)) for partial participation",
    )


_SIMFBO = _bilevel("SimFBO (this paper)", "simfbo/theorem-1-order")
_SHROFBO = _bilevel("ShroFBO (this paper)", "simfbo/theorem-2-order")


def _hidden(*keys: str) -> tuple[str, ...]:
    """Everything in the bounds but what the complexities count."""
    return tuple(dict.fromkeys(p for key in keys for p in bounds.get(key).parameters if p not in _COUNTED))


# Section 1.1: the best number of rounds, better than that of other methods by eps^(-1/2).
_FEWER_ROUNDS = Versus(
    own=_SIMFBO, column="rounds", factor=sp.sqrt(eps), same=False, said="Section 1.1: better by eps^(-1/2)"
)
_SAME_SAMPLES = Versus(own=_SIMFBO, column="samples", factor=ONE, same=True, said="Section 1.1: matches")

SIMFBO_TABLE_1 = RateTable(
    name="simfbo/table-1",
    title="Federated bilevel algorithms",
    source=baselines.SIMFBO_TABLE_1,
    vocabulary=baselines.COMPLEXITY,
    headers={"samples": "Samples complexity", "rounds": "Communication complexity"},
    hidden=_hidden(_SIMFBO.key, _SHROFBO.key),
    # A small eps, and at least one local step: tau_bar = 1/(P*eps) >= 1.
    conditions=(at_most("accuracy", eps, ONE), at_most("local steps", P * eps, ONE)),
    rows=(
        quoted_row("FedNest [65]", "baselines/fednest", _FEWER_ROUNDS),
        quoted_row("FBO-AggITD [69]", "baselines/fbo-aggitd", _FEWER_ROUNDS),
        quoted_row("FedBiO [36]", "baselines/fedbio", _FEWER_ROUNDS),
        quoted_row("FedMBO [24]", "baselines/fedmbo", _SAME_SAMPLES, _FEWER_ROUNDS),
        _SIMFBO,
        _SHROFBO,
    ),
    reductions=(),
)

TABLES = (SIMFBO_TABLE_1,)
