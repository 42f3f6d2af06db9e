"""Tables 2 and 3 of the PFL paper."""

from __future__ import annotations

import sympy as sp

from bounds.ledger.rate_table import RATE, QuotedRow, RateTable, better, own_row, quoted_row, special_case
from bounds.papers.baselines import statements as baselines
from bounds.symbols import COMMON, K, T, b, m, n, sigma_u, sigma_v

_HIDDEN = ("L", "F_0")

_FEDAVG_P = own_row(
    "FedAvg-P (Ours)",
    "pfl/corollary-3.8",
    sp.sqrt(sigma_u**2 / m + m * sigma_v**2 / n + (1 / m - 1 / n) * K * b**2) / sp.sqrt(K * T),
    1 / T,
)
PFL_TABLE_2 = RateTable(
    name="pfl/table-2",
    title="Algorithms for partial model personalisation",
    source=baselines.PFL_TABLE_2,
    vocabulary=COMMON,
    headers=RATE,
    hidden=_HIDDEN,
    conditions=(),
    rows=(
        quoted_row("FedSim [18]", "baselines/fedsim", better(_FEDAVG_P, "Remark 3.10: faster")),
        quoted_row("FedAlt [18]", "baselines/fedalt", better(_FEDAVG_P, "Remark 3.10: faster")),
        _FEDAVG_P,
    ),
    reductions=(),
)


def _assumes(assumption: str, *, sampling: bool) -> dict[str, str]:
    return {"Assumption": assumption, "Sampling": "Yes" if sampling else "No"}


_PARTIAL = own_row(
    "Ours",
    "pfl/fedavg-partial",
    sp.sqrt(sigma_u**2 + K * (1 - m / n) * b**2) / sp.sqrt(m * K * T),
    1 / T,
    columns=_assumes("BGD", sampling=True),
)
_FULL = own_row(
    "Ours", "pfl/fedavg-full", sp.sqrt(sigma_u**2 / (n * K * T)), 1 / T, columns=_assumes("-", sampling=False)
)


def _fedavg(label: str, key: str, *, assumption: str = "BGD", sampling: bool) -> QuotedRow:
    said = "Section 3.2.3: superior" if sampling else "Section 3.3.2: outperforms all baselines"
    versus = better(_PARTIAL if sampling else _FULL, said)
    return quoted_row(label, f"baselines/fedavg-{key}", versus, columns=_assumes(assumption, sampling=sampling))


_KARIMIREDDY = _fedavg("[12]", "karimireddy-partial", sampling=True)
_KARIMIREDDY_FULL = _fedavg("[12]", "karimireddy-full", sampling=False)
_YANG = _fedavg("[24]", "yang-partial", sampling=True)
_YANG_FULL = _fedavg("[24]", "yang-full", sampling=False)


PFL_TABLE_3 = RateTable(
    name="pfl/table-3",
    title="FedAvg without personal variables",
    source=baselines.PFL_TABLE_3,
    vocabulary=COMMON,
    headers=RATE,
    hidden=_HIDDEN,
    conditions=(),
    rows=(
        _KARIMIREDDY,
        _YANG,
        _PARTIAL,
        _fedavg("[25]", "yu", assumption="BG", sampling=False),
        _KARIMIREDDY_FULL,
        _YANG_FULL,
        _FULL,
    ),
    reductions=(
        special_case(_FEDAVG_P, _PARTIAL, sigma_v=sp.Integer(0)),
        special_case(_PARTIAL, _FULL, m=n),
        special_case(_KARIMIREDDY, _KARIMIREDDY_FULL, m=n),
        special_case(_YANG, _YANG_FULL, m=n),
    ),
)

TABLES = (PFL_TABLE_2, PFL_TABLE_3)
