"""The tables in which the papers compare their rates with other work, as data.

A row of the paper's own names the theorem whose order it prints; a row about other work names its statement in
`bounds.baselines` and what the paper says about the two. `TABLES` has all of them by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

import bounds
from bounds import baselines, fedsum, pfl, simfbo
from bounds.errors import InputError, did_you_mean
from bounds.statement import Condition, Source
from bounds.symbols import Vocabulary

ONE = sp.Integer(1)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: ``orders`` has the terms of each printed order by column, ``columns`` what the others say in words.

    ``key`` is the statement in the catalogue whose order it is. Logarithms are hidden with ``hides_logarithms``.
    """

    label: str
    key: str
    orders: Mapping[str, tuple[sp.Expr, ...]]
    columns: Mapping[str, str]
    hides_logarithms: bool

    def order(self, column: str) -> sp.Expr:
        """The printed order."""
        return sp.Add(*self.orders[column])


@dataclass(frozen=True, kw_only=True)
class OwnRow(Row):
    """A row about the paper's own theorem.

    Where the columns are complexities, ``put_in`` says which parameters of the theorem they are, and its bound then has
    to be at most of the order ``reaches``; else (None) the bound has the printed order. ``free`` has by column the
    parameter, at least 1, that this column alone does not fix: where the bound does not reach the accuracy with what
    was put in, it is asked whether it does with another value. ``cases`` are what the row is checked for, such as
    {P: n}; {} is the row as it stands. ``remark`` is what the paper says elsewhere.
    """

    put_in: Mapping[sp.Symbol, sp.Expr]
    reaches: sp.Expr | None
    free: Mapping[str, sp.Symbol]
    cases: tuple[Mapping[sp.Symbol, sp.Expr], ...]
    remark: str


@dataclass(frozen=True, kw_only=True)
class Versus:
    """What the paper says, in ``said``, of two rows: ``own`` is at most of the order ``factor`` times the other one.

    With ``same`` it is of the same order.
    """

    own: OwnRow
    column: str
    factor: sp.Expr
    same: bool
    said: str


@dataclass(frozen=True, kw_only=True)
class QuotedRow(Row):
    """A row about other work."""

    versus: tuple[Versus, ...]


@dataclass(frozen=True, kw_only=True)
class Unprinted:
    """Other work that row ``own`` is said to match, in the words ``said``, and whose rate the table does not print.

    Nothing can be compared. ``key`` is the statement under which the catalogue has what is said.
    """

    own: OwnRow
    key: str
    said: str


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """``general`` with ``settings`` put in is of the order of ``special``."""

    general: Row
    settings: Mapping[sp.Symbol, sp.Expr]
    special: Row
    column: str


@dataclass(frozen=True, kw_only=True)
class RateTable:
    """A table: ``headers`` are the printed heads of the columns with orders; ``hidden`` constants count as 1 in these.

    ``conditions`` hold beside the domains of the vocabulary, such as delta <= 1. ``unprinted`` are the claims about
    rates that the table does not print.
    """

    name: str
    title: str
    source: Source
    vocabulary: Vocabulary
    headers: Mapping[str, str]
    hidden: tuple[str, ...]
    conditions: tuple[Condition, ...]
    rows: tuple[OwnRow | QuotedRow, ...]
    reductions: tuple[Reduction, ...]
    unprinted: tuple[Unprinted, ...] = ()


def get(name: str) -> RateTable:
    """The table of that name; raises `InputError` for an unknown one."""
    if name not in TABLES:
        raise InputError(f"no table {name!r}; {did_you_mean(name, TABLES)}")
    return TABLES[name]


def _own(
    label: str,
    key: str,
    *terms: sp.Expr,
    columns: Mapping[str, str] | None = None,
    hides_logarithms: bool = False,
) -> OwnRow:
    """A row with a rate of the paper's own."""
    return OwnRow(
        label=label,
        key=key,
        orders={"main": terms},
        columns=columns or {},
        hides_logarithms=hides_logarithms,
        put_in={},
        reaches=None,
        free={},
        cases=({},),
        remark="",
    )


def _quoted(label: str, key: str, *versus: Versus, columns: Mapping[str, str] | None = None) -> QuotedRow:
    statement = bounds.get(key)
    orders = {claim.name: tuple(claim.terms.values()) for claim in statement.claims}
    return QuotedRow(label=label, key=key, orders=orders, columns=columns or {}, hides_logarithms=False, versus=versus)


def _better(own: OwnRow, said: str) -> Versus:
    return Versus(own=own, column="main", factor=ONE, same=False, said=said)


def _at_most(name: str, left: sp.Expr, right: sp.Expr) -> Condition:
    return Condition(name=name, left=left, operator="<=", right=right)


# --- Partial model personalisation ---

n, m, K, T, b, sigma_u, sigma_v = pfl.n, pfl.m, pfl.K, pfl.T, pfl.b, pfl.sigma_u, pfl.sigma_v
_RATE = {"main": "Convergence Rate"}
_HIDDEN = ("L", "F_0")

_FEDAVG_P = _own(
    "FedAvg-P (Ours)",
    "pfl/corollary-3.8",
    sp.sqrt(sigma_u**2 / m + m * sigma_v**2 / n + (1 / m - 1 / n) * K * b**2) / sp.sqrt(K * T),
    1 / T,
)
PFL_TABLE_2 = RateTable(
    name="pfl/table-2",
    title="Algorithms for partial model personalisation",
    source=baselines.PFL_TABLE_2,
    vocabulary=pfl.VOCABULARY,
    headers=_RATE,
    hidden=_HIDDEN,
    conditions=(),
    rows=(
        _quoted("FedSim [18]", "baselines/fedsim", _better(_FEDAVG_P, "Remark 3.10: faster")),
        _quoted("FedAlt [18]", "baselines/fedalt", _better(_FEDAVG_P, "Remark 3.10: faster")),
        _FEDAVG_P,
    ),
    reductions=(),
)


def _assumes(assumption: str, *, sampling: bool) -> dict[str, str]:
    return {"Assumption": assumption, "Sampling": "Yes" if sampling else "No"}


_PARTIAL = _own(
    "Ours",
    "pfl/fedavg-partial",
    sp.sqrt(sigma_u**2 + K * (1 - m / n) * b**2) / sp.sqrt(m * K * T),
    1 / T,
    columns=_assumes("BGD", sampling=True),
)
_FULL = _own("Ours", "pfl/fedavg-full", sp.sqrt(sigma_u**2 / (n * K * T)), 1 / T, columns=_assumes("-", sampling=False))


def _fedavg(label: str, key: str, *, assumption: str = "BGD", sampling: bool) -> QuotedRow:
    said = "Section 3.2.3: superior" if sampling else "Section 3.3.2: outperforms all baselines"
    versus = _better(_PARTIAL if sampling else _FULL, said)
    return _quoted(label, f"baselines/fedavg-{key}", versus, columns=_assumes(assumption, sampling=sampling))


_KARIMIREDDY = _fedavg("[12]", "karimireddy-partial", sampling=True)
_KARIMIREDDY_FULL = _fedavg("[12]", "karimireddy-full", sampling=False)
_YANG = _fedavg("[24]", "yang-partial", sampling=True)
_YANG_FULL = _fedavg("[24]", "yang-full", sampling=False)


def _special(general: Row, special: Row, **settings: sp.Expr) -> Reduction:
    put_in = {symbol: settings[symbol.name] for symbol in general.order("main").free_symbols if symbol.name in settings}
    return Reduction(general=general, settings=put_in, special=special, column="main")


PFL_TABLE_3 = RateTable(
    name="pfl/table-3",
    title="FedAvg without personal variables",
    source=baselines.PFL_TABLE_3,
    vocabulary=pfl.VOCABULARY,
    headers=_RATE,
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
        _special(_FEDAVG_P, _PARTIAL, sigma_v=sp.Integer(0)),
        _special(_PARTIAL, _FULL, m=n),
        _special(_KARIMIREDDY, _KARIMIREDDY_FULL, m=n),
        _special(_YANG, _YANG_FULL, m=n),
    ),
)

# --- FedSUM ---

N, S, delta = fedsum.N, fedsum.S, fedsum.delta


def _case(case: int, clients: sp.Expr, delay: sp.Expr, related: str, *, hides_logarithms: bool = False) -> OwnRow:
    return _own(
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
    headers=_RATE,
    hidden=(),
    conditions=(_at_most("probability", delta, ONE),),
    rows=(_UNIFORM, _INDEPENDENT, _RESHUFFLED, _CYCLIC),
    reductions=(_special(_INDEPENDENT, _UNIFORM, delta=S / N),),
    unprinted=(
        Unprinted(own=_UNIFORM, key="baselines/scallion", said=_SCALLION),
        Unprinted(own=_INDEPENDENT, key="baselines/fedawe", said=_FEDAWE),
    ),
)

# --- SimFBO ---
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
        put_in={simfbo.T: rounds, simfbo.tau_bar: samples / rounds},
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
    conditions=(_at_most("accuracy", eps, ONE), _at_most("local steps", P * eps, ONE)),
    rows=(
        _quoted("FedNest [65]", "baselines/fednest", _FEWER_ROUNDS),
        _quoted("FBO-AggITD [69]", "baselines/fbo-aggitd", _FEWER_ROUNDS),
        _quoted("FedBiO [36]", "baselines/fedbio", _FEWER_ROUNDS),
        _quoted("FedMBO [24]", "baselines/fedmbo", _SAME_SAMPLES, _FEWER_ROUNDS),
        _SIMFBO,
        _SHROFBO,
    ),
    reductions=(),
)

_ALL: Sequence[RateTable] = (PFL_TABLE_2, PFL_TABLE_3, FEDSUM_TABLE_1, SIMFBO_TABLE_1)
TABLES: dict[str, RateTable] = {table.name: table for table in _ALL}
