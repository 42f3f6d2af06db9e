"""Parts of pairs of a true and a wrong statement; the pairs themselves are listed in `pairs`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import sympy as sp

from bounds.papers.textbook import statements as textbook
from bounds.statement import Assumption, Over, Relation, Statement, StepProduct, StepRule
from bounds.symbols import Domain, Role, Vocabulary

VOCABULARY = Vocabulary(textbook.VOCABULARY)


def _run(name: str, latex: str, meaning: str, degrees: tuple[int, int], fact: str) -> sp.Symbol:
    symbol = VOCABULARY.define(name, latex, meaning, Domain.NONNEGATIVE, Role.MEASURED, *degrees)
    VOCABULARY.facts[name] = fact
    return symbol


# Of methods that keep old gradients: A_t are the clients that took part up to round t, a_{i,t} the last round of i.
tau = VOCABULARY.define(
    "tau_max", r"\tau_{\max}", "largest delay of a client in rounds 0 ... T", Domain.NONNEGATIVE, Role.SETTING, 0, 0
)
VOCABULARY.facts["tau_max"] = "tau_max"
delta = VOCABULARY.define(
    "delta", r"\delta", "least probability with which a client takes part", Domain.POSITIVE, Role.SETTING, 0, 0
)
VOCABULARY.facts["delta"] = "delta"
E_tau = _run("E_tau_max", r"\mathbb{E}[\tau_{\max}]", "expected largest delay", (0, 0), "E_tau_max")
moved = _run("moved_sum", r"\sum_t\|x^{t+1}-x^t\|^2", "sum over t < T of E||x^{t+1} - x^t||^2", (0, 2), "total:step:x")
direction = _run(
    "direction_sum",
    r"\sum_t\|\sum_{i\in A_t}\nabla f_i(x^{a_{i,t}})\|^2",
    "sum over t < T of E||sum over i in A_t of grad f_i(x^a_{i,t})||^2",
    (2, -2),
    "total:mean_gradients2",
)
stale = _run(
    "stale_sum",
    r"\sum_t\|\sum_i\nabla f_i(x^t)-\sum_{i\in A_t}\nabla f_i(x^{a_{i,t}})\|^2",
    "sum over t < T of E||sum_i grad f_i(x^t) - sum over i in A_t of grad f_i(x^a_{i,t})||^2",
    (2, -2),
    "total:mean_staleness2",
)
eta_g = VOCABULARY.define("eta_g", r"\eta_g", "global step size", Domain.POSITIVE, Role.STEP_SIZE, 0, 0)
eta_l = VOCABULARY.define("eta_l", r"\eta_l", "local step size", Domain.POSITIVE, Role.STEP_SIZE, -1, 2)
step = VOCABULARY.define("step", r"\eta_g\eta_l", "eta_g*eta_l", Domain.POSITIVE, Role.STEP_SIZE, -1, 2)

DRIFT, T_2u, T_3u, B_0 = (VOCABULARY[name].symbol for name in ("E", "T_2u", "T_3u", "B_0"))
DELAYED_STEP = (StepProduct(product=step, local=eta_l, outer=eta_g),)
OUTER_STEP = (StepProduct(product=textbook.gamma, local=textbook.g, outer=textbook.eta_u),)

Terms = Mapping[str, sp.Expr]
Cap = tuple[sp.Expr, str, sp.Expr]


class PairKind(Enum):
    """Fault of the wrong statement."""

    CONSTANT = "a constant 2 to 4 times too small"
    EXPONENT_N = "a power of n too good"
    EXPONENT_M = "a power of m too good"
    EXPONENT_K = "a power of K too good"
    EXPONENT_T = "a power of T too good"
    EXPONENT_TAU = "a delay that grows too slowly, or is paid for too little"
    MISSING = "a term is missing"
    METRIC = "another left side"
    CAP = "a larger step size"
    CONVEXITY = "holds under more convexity than is assumed"
    LEMMA = "a lemma about one round"


@dataclass(frozen=True)
class StatementPair:
    """A true statement and a wrong one that differs in one thing.

    ``why`` says why the wrong one is wrong, with an instance. ``hard`` names what an instance that shows it needs
    beyond few clients (n <= 3), few local steps (K <= 16), few rounds (T <= 24), convex quadratics and, where
    dissimilarity is bounded, the same curvature at all clients; empty where such instances do.
    """

    kind: PairKind
    true: Statement
    wrong: Statement
    why: str
    hard: str = ""


@dataclass(frozen=True, kw_only=True)
class Form:
    """A statement, in as few words as this set needs."""

    name: str
    title: str
    left: Mapping[sp.Symbol, sp.Expr] | sp.Symbol
    right: Terms
    caps: tuple[Cap, ...] = ()
    over: Over = Over.MEAN_OF_ROUNDS
    settings: Mapping[str, sp.Expr] = dataclasses.field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    algorithm: str | None = "fedavg"
    rules: tuple[StepRule, ...] = ()
    products: tuple[StepProduct, ...] = ()
    relation: Relation = Relation.AT_MOST

    @cached_property
    def statement(self) -> Statement:
        """The statement; all pairs that a form is in have the same one."""
        return textbook.statement(
            self.name, self.title, self.left, self.right, *self.caps, over=self.over, settings=self.settings,
            assumptions=self.assumptions, algorithm=self.algorithm, rules=self.rules, products=self.products,
            relation=self.relation, location="Pairs", vocabulary=VOCABULARY,
        )  # fmt: skip

    def term(self, **changed: sp.Expr | None) -> dict[str, Any]:
        """The right side with a term replaced, or left out where it is None."""
        terms = {label: changed.get(label, term) for label, term in self.right.items()}
        return {"right": {label: term for label, term in terms.items() if term is not None}}

    def pair(self, kind: PairKind, name: str, fault: str, why: str, *, hard: str = "", **wrong: Any) -> StatementPair:
        """The pair in which the wrong statement has other fields; ``name`` and ``fault`` say in what it is wrong."""
        other = dataclasses.replace(self, name=f"{self.name}-{name}", title=f"{self.title}: {fault}", **wrong)
        return StatementPair(kind, self.statement, other.statement, why, hard)
