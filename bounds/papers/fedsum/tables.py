"""Table 1 of the FedSUM paper."""

from __future__ import annotations

import sympy as sp

from bounds.ledger.rate_table import ONE, RATE, OwnRow, RateTable, Unprinted, at_most, own_row, special_case
from bounds.papers.fedsum import symbols as fedsum
from bounds.statement import Source

N, S, delta = fedsum.N, fedsum.S, fedsum.delta


def _case(case: int, clients: sp.Expr, delay: sp.Expr, related: str, *, hides_logarithms: bool = False) -> OwnRow:
    return own_row(
        f"Case {case}",
        f"fedsum/corollary-g.1-case-{case}",
        sp.sqrt(fedsum.L * fedsum.sigma**2 * fedsum.Delta_f) / sp.sqrt(clients * fedsum.K * fedsum.T),
        delay * (fedsum.L * fedsum.Delta_f + fedsum.F_0) / fedsum.T,
        columns={"Related Works": related},
        hides_logarithms=hides_logarithms,
    )


# What the table says of other work for which it prints no rate.
_SCALLION, _FEDAWE = "matches SCALLION without compression, up to logs", "matches FedAWE"
_UNIFORM = _case(1, S, N / S, _SCALLION, hides_logarithms=True)
_INDEPENDENT = _case(2, delta * N, 1 / delta, _FEDAWE, hides_logarithms=True)
_RESHUFFLED = _case(3, S, N / S, "CyCP needs the PL condition: not comparable")
_CYCLIC = _case(4, S, N / S, "none")

FEDSUM_TABLE_1 = RateTable(
    name="fedsum/table-1",
    title="FedSUM under four participation patterns",
    source=Source(paper=fedsum.TITLE, number="Table 1", location="Section 4"),
    vocabulary=fedsum.VOCABULARY,
    headers=RATE,
    hidden=(),
    conditions=(at_most("probability", delta, ONE),),
    rows=(_UNIFORM, _INDEPENDENT, _RESHUFFLED, _CYCLIC),
    reductions=(special_case(_INDEPENDENT, _UNIFORM, delta=S / N),),
    unprinted=(
        Unprinted(own=_UNIFORM, key="baselines/scallion", said=_SCALLION),
        Unprinted(own=_INDEPENDENT, key="baselines/fedawe", said=_FEDAWE),
    ),
)

TABLES = (FEDSUM_TABLE_1,)
