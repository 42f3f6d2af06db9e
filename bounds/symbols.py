"""Symbols: ASCII name, meaning, domain, scaling degrees; and the vocabulary of the pfl paper, which others share.

Papers use the same letter for different things. A `Vocabulary` holds the symbols of one paper; what it does not define
itself it takes from the one it is based on.

Scaling degrees. Multiplying every objective by ``a`` (f -> a*f) and measuring the variables in other units
(x -> c*x, so that the new objective at c*x has the value of the old one at x) multiplies a quantity by
``a**f_degree * c**x_degree``. A gradient has degrees (1, -1), a smoothness constant (1, -2), a step size (-1, 2).
A correct bound is homogeneous: both of its sides have the same degrees, whatever the numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import sympy as sp

from bounds.errors import InputError


class Domain(Enum):
    """Where a symbol may lie. The value is the condition in words, as error messages and tables use it."""

    POSITIVE_INTEGER = "a whole number, at least 1"
    POSITIVE = "a positive number"
    NONNEGATIVE = "a number, at least 0"
    REAL = "a real number"

    def condition(self, name: str) -> str:
        """The condition as a formula, such as ``K >= 1``."""
        formulas = {Domain.POSITIVE_INTEGER: "{} >= 1", Domain.POSITIVE: "{} > 0", Domain.NONNEGATIVE: "{} >= 0"}
        return formulas.get(self, "-inf < {} < inf").format(name)

    def admits(self, value: float) -> bool:
        """Whether the value lies in the domain; never for NaN or infinity."""
        if not math.isfinite(value):
            return False
        if self is Domain.POSITIVE_INTEGER:
            return value >= 1 and float(value).is_integer()
        if self is Domain.POSITIVE:
            return value > 0
        return self is Domain.REAL or value >= 0


_SYMPY_ASSUMPTIONS: dict[Domain, dict[str, bool]] = {
    Domain.POSITIVE_INTEGER: {"integer": True, "positive": True},
    Domain.POSITIVE: {"positive": True},
    Domain.NONNEGATIVE: {"nonnegative": True},
    Domain.REAL: {"real": True},
}


class Role(Enum):
    """Who supplies a symbol's value.

    A free parameter is a choice of the analysis: the statement holds for every value that its conditions admit, so none
    needs a certificate. What a run or a problem decides is no such choice.
    """

    SETTING = "setting of the run"
    FREE = "free parameter of the analysis"
    CONSTANT = "constant of the problem"
    STEP_SIZE = "step size"
    MEASURED = "quantity of the run"


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One symbol of the field.

    ``latex`` is how papers print it; ``f_degree`` and ``x_degree`` are its scaling degrees (module docstring).
    ``default`` is its value where the caller names none; None for a symbol that has to be given.
    """

    name: str
    latex: str
    meaning: str
    domain: Domain
    role: Role
    f_degree: int
    x_degree: int
    default: float | None

    @property
    def symbol(self) -> sp.Symbol:
        """The SymPy symbol, which carries the domain as SymPy assumptions."""
        return sp.Symbol(self.name, **_SYMPY_ASSUMPTIONS[self.domain])

    def check(self, value: float) -> None:
        """Raise `InputError` unless the value lies in the domain."""
        if self.domain.admits(value):
            return
        what = f"{self.name} ({self.meaning}) is {self.domain.value}"
        if not math.isfinite(value):
            raise InputError(f"{self.name}={value}: needed a finite number; {what}")
        if self.domain is Domain.POSITIVE_INTEGER and value > 0:
            raise InputError(f"{self.name}={value:g}: needed a whole number; {what}")
        raise InputError(f'{self.name}={value:g} breaks "{self.domain.condition(self.name)}": {what}')


@dataclass(frozen=True, kw_only=True)
class Alias:
    """Another way to give symbols: each of ``targets`` gets its function of the given numbers.

    A single number counts as a list of one; only with ``many`` may there be more.
    """

    name: str
    meaning: str
    many: bool
    targets: Mapping[str, Callable[[Sequence[float]], float]]


class Vocabulary:
    """Symbols by name, in the order of definition: those of the ``bases`` first, of which a later one overrides.

    ``aliases`` are names that the caller may use for symbols; ``ordered`` lists pairs (smaller, larger) of symbols.
    ``run`` names the symbols that say how long and how wide a run is: "clients", "participants" (per round),
    "local_steps" (of a participant, or their mean), "coefficients" (of the local steps) and "rounds", as far as the
    paper has them. ``facts`` maps a symbol to the name
    under which problems certify it or runs measure it; what has none can be evaluated but not verified, unless
    ``derived`` gives it as an expression in other symbols. ``equal`` names those of them that stand for their
    expression wherever they occur, so that no other value can be given. ``words`` maps names of the basic setting to
    what these symbols are called here, where that is something else, ``usual`` other names that papers have for them;
    ``implied`` names the symbols whose value follows from the name of a method, so that an answer need not repeat it.
    """

    def __init__(self, *bases: Vocabulary) -> None:
        self._quantities = {quantity.name: quantity for base in bases for quantity in base}
        self.aliases: dict[str, Alias] = {name: alias for base in bases for name, alias in base.aliases.items()}
        self.ordered: list[tuple[str, str]] = [pair for base in bases for pair in base.ordered]
        self.run: dict[str, str] = {role: name for base in bases for role, name in base.run.items()}
        self.facts: dict[str, str] = {name: fact for base in bases for name, fact in base.facts.items()}
        self.derived: dict[str, sp.Expr] = {name: expr for base in bases for name, expr in base.derived.items()}
        self.equal: set[str] = {name for base in bases for name in base.equal}
        self.words: dict[str, str] = {name: word for base in bases for name, word in base.words.items()}
        self.usual: dict[str, str] = {name: word for base in bases for name, word in base.usual.items()}
        self.implied: set[str] = {name for base in bases for name in base.implied}
        self.maxima: dict[str, tuple[sp.Expr, Callable[[sp.Expr], sp.Expr]]] = {}
        for base in bases:
            self.maxima |= base.maxima

    def define(
        self,
        name: str,
        latex: str,
        meaning: str,
        domain: Domain,
        role: Role,
        f_degree: int,
        x_degree: int,
        default: float | None = None,
    ) -> sp.Symbol:
        """Add a symbol, in place of one of the base's by the same name; returns the SymPy symbol."""
        quantity = Quantity(
            name=name,
            latex=latex,
            meaning=meaning,
            domain=domain,
            role=role,
            f_degree=f_degree,
            x_degree=x_degree,
            default=default,
        )
        self._quantities[name] = quantity
        # A formula of an own symbol may have computed it already.
        self.__dict__.pop("order", None)
        # A symbol in place of the base's means something else.
        self.facts.pop(name, None)
        return quantity.symbol

    def alias(self, name: str, meaning: str, *, many: bool, **targets: Callable[[Sequence[float]], float]) -> None:
        """Let callers give ``name`` in place of the symbols ``targets``."""
        self.aliases[name] = Alias(name=name, meaning=meaning, many=many, targets=targets)

    def maximum(self, name: str, ends: sp.Expr, one: Callable[[sp.Expr], sp.Expr]) -> None:
        """Say that ``ends``, a maximum at the smallest and the largest number of an alias, is one over all of them.

        ``one`` is what it is the maximum of. Where more than two numbers are given, `Statement.at` has all of them.
        """
        self.maxima[name] = (ends, one)

    def unequal_steps(self) -> Vocabulary:
        """Vocabulary for clients with local steps K_i of their own, K being the symbol of the local steps here.

        K_bar is their mean, K_min the least and K_max the largest of them; K may be given, one number or one per
        client, and is no symbol any more. Where the paper has such a name already, nothing changes. Raises `InputError`
        where it counts no local steps.
        """
        K = self.run.get("local_steps")
        if K is None:
            raise InputError("unequal_steps: the symbols have no number of local steps")
        if any(K in alias.targets for alias in self.aliases.values()):
            return self
        found = Vocabulary(self)
        del found._quantities[K]  # an object of this class
        for name, latex, meaning in (
            (f"{K}_bar", rf"\bar {K}", "local steps per round, averaged over the clients"),
            (f"{K}_min", rf"{K}_{{\min}}", "least number of local steps of a client"),
            (f"{K}_max", rf"{K}_{{\max}}", "largest number of local steps of a client"),
        ):
            found.define(name, latex, meaning, Domain.POSITIVE, Role.SETTING, 0, 0)
        found.facts |= {f"{K}_min": "least_steps", f"{K}_max": "most_steps"}
        targets: dict[str, Callable[[Sequence[float]], float]]
        targets = {f"{K}_bar": lambda steps: sum(steps) / len(steps), f"{K}_min": min, f"{K}_max": max}
        found.alias(K, f"local steps {K}_i: one number, or one per client", many=True, **targets)
        found.run["local_steps"] = f"{K}_bar"
        found.order_pair(f"{K}_min", f"{K}_max")
        return found

    def admit_zero(self, name: str) -> None:
        """Let a positive symbol be 0 as well; in formulas it stays the symbol that it is."""
        self._quantities[name] = replace(self._quantities[name], domain=Domain.NONNEGATIVE)

    def order_pair(self, smaller: str, larger: str) -> None:
        """Refuse values with ``smaller > larger``, whatever the statement."""
        self.ordered.append((smaller, larger))

    def reach(self, name: str) -> tuple[str, ...]:
        """The symbols that a value given for ``name`` decides: itself, or the targets of an alias."""
        return tuple(self.aliases[name].targets) if name in self.aliases else (name,)

    @property
    def counters(self) -> tuple[str, ...]:
        """Names of the symbols that stand for the number of a round."""
        return tuple(name for name, fact in self.facts.items() if fact == ROUND)

    def called(self, name: str) -> str:
        """What a symbol of the basic setting is called here."""
        return self.words.get(name, name)

    def __getitem__(self, name: str) -> Quantity:
        return self._quantities[name]

    def __contains__(self, name: object) -> bool:
        return name in self._quantities or name in self.aliases

    def __iter__(self) -> Iterator[Quantity]:
        return iter(self._quantities.values())

    @cached_property
    def order(self) -> dict[str, int]:
        """Position of each name."""
        return {name: position for position, name in enumerate(self._quantities)}


# What a symbol for the number of the round has in place of a fact: no run has to record it.
ROUND = "round"
# What follows the symbol of a quantity in the round before.
PREVIOUS = "_prev"


def measured_in(expr: sp.Expr, vocabulary: Vocabulary) -> frozenset[str]:
    """Symbols of an expression whose values a run measures, without the suffix for the round before."""
    names = {symbol.name for symbol in written_out(expr, vocabulary).free_symbols}
    return frozenset(
        name.removesuffix(PREVIOUS)
        for name in names
        if vocabulary[name].role is Role.MEASURED and not is_round(name, vocabulary)
    )


def is_round(name: str, vocabulary: Vocabulary) -> bool:
    """Whether a symbol is the number of the round, which nobody needs to record."""
    return vocabulary.facts.get(name) == ROUND


@functools.cache
def written_out(expr: sp.Expr, vocabulary: Vocabulary) -> sp.Expr:
    """The expression, in which what its paper derives from other quantities of the run is substituted."""
    derived = {s: vocabulary.derived[s.name] for s in expr.free_symbols if s.name in vocabulary.derived}
    return expr.xreplace({s: value for s, value in derived.items() if vocabulary[s.name].role is Role.MEASURED})


# The symbols of the basic setting, with shared and personal variables, which problems certify and runs measure. They
# are those of the pfl paper; the textbook and users' own statements build on them.
COMMON = Vocabulary()
_define = COMMON.define


_INTEGER, _POSITIVE, _NONNEGATIVE, _REAL = Domain.POSITIVE_INTEGER, Domain.POSITIVE, Domain.NONNEGATIVE, Domain.REAL
_SETTING, _CONSTANT, _STEP, _MEASURED = Role.SETTING, Role.CONSTANT, Role.STEP_SIZE, Role.MEASURED

# Settings of a run.
n = _define("n", "n", "clients", _INTEGER, _SETTING, 0, 0)
m = _define("m", "m", "clients sampled per round", _INTEGER, _SETTING, 0, 0)
K = _define("K", "K", "local steps per round", _INTEGER, _SETTING, 0, 0)
T = _define("T", "T", "rounds", _INTEGER, _SETTING, 0, 0)
COMMON.order_pair("m", "n")
COMMON.run = {"clients": "n", "participants": "m", "local_steps": "K", "rounds": "T"}

# Constants of a problem.
L = _define("L", "L", "smoothness: largest Lipschitz constant of the partial gradients", _POSITIVE, _CONSTANT, 1, -2)
sigma_u = _define(
    "sigma_u", r"\sigma_u", "root of the bound on the shared gradient's noise variance", _NONNEGATIVE, _CONSTANT, 1, -1
)
sigma_v = _define(
    "sigma_v", r"\sigma_v", "root of the bound on the personal gradient's noise variance", _NONNEGATIVE, _CONSTANT, 1,
    -1,
)  # fmt: skip
b = _define("b", "b", "gradient dissimilarity of the shared part (its root)", _NONNEGATIVE, _CONSTANT, 1, -1)
F_0 = _define("F_0", "F_0", "initial gap f(u^0, v^0) - inf f", _POSITIVE, _CONSTANT, 1, 0)
B_0 = _define(
    "B_0", r"\mathcal{B}^0", "sum over clients of ||grad_u f_i||^2 at the start", _NONNEGATIVE, _CONSTANT, 2, -2
)

# Step sizes.
gamma = _define("gamma", r"\gamma", "effective step size gamma_u*eta_u = gamma_v*eta_v", _POSITIVE, _STEP, -1, 2)
gamma_u = _define("gamma_u", r"\gamma_u", "local step size of the shared variable", _POSITIVE, _STEP, -1, 2)
gamma_v = _define("gamma_v", r"\gamma_v", "local step size of the personal variables", _POSITIVE, _STEP, -1, 2)
eta_u = _define("eta_u", r"\eta_u", "outer step size of the shared variable", _POSITIVE, _STEP, 0, 0)
eta_v = _define("eta_v", r"\eta_v", "outer step size of the personal variables", _POSITIVE, _STEP, 0, 0)

# Quantities of a run in round t; the suffix _prev is the same quantity in round t-1.
G_u = _define("G_u", r"\mathcal{G}_u^t", "E||grad_u f(u^t, v^t)||^2", _NONNEGATIVE, _MEASURED, 2, -2)
G_v = _define("G_v", r"\mathcal{G}_v^t", "(1/n) sum_i E||grad_v f_i(u^t, v_i^t)||^2", _NONNEGATIVE, _MEASURED, 2, -2)
E = _define(
    "E", r"\mathcal{E}^t", "drift: sum over i, k of E||u_ik - u^t||^2 + E||v_ik - v_i^t||^2", _NONNEGATIVE, _MEASURED,
    0, 2,
)  # fmt: skip
B = _define("B", r"\mathcal{B}^t", "sum_i E||grad_u f_i(u^t, v_i^t)||^2", _NONNEGATIVE, _MEASURED, 2, -2)
C = _define(
    "C", r"\mathcal{C}^t",
    "staleness: sum over i, k of E||alpha_ik - u^t||^2 + E||beta_ik - v_i^t||^2 with the last local iterates",
    _NONNEGATIVE, _MEASURED, 0, 2,
)  # fmt: skip
# Of the lemmas of the pfl paper.
T_1u = _define(
    "T_1u", "T_{1,u}", "-(gamma/n) sum_ik E<grad_u f(u^t, v^t), grad_u f_i(u_ik, v_ik)>", _REAL, _MEASURED, 1, 0
)
T_1v = _define(
    "T_1v", r"T_{1,\mathbf{v}}", "-(gamma m/n^2) sum_ik E<grad_v f_i(u^t, v_i^t), grad_v f_i(u_ik, v_ik)>", _REAL,
    _MEASURED, 1, 0,
)  # fmt: skip
T_2u = _define("T_2u", "T_{2,u}", "(gamma/n)^2 E||sum_ik grad_u f_i(u_ik, v_ik)||^2", _NONNEGATIVE, _MEASURED, 0, 2)
T_2v = _define(
    "T_2v", r"T_{2,\mathbf{v}}", "(gamma^2 m/n^2) sum_i E||sum_k grad_v f_i(u_ik, v_ik)||^2", _NONNEGATIVE, _MEASURED,
    0, 2,
)  # fmt: skip
T_3u = _define(
    "T_3u", "T_{3,u}", "sum_i E||sum_k (grad_u f_i(u_ik, v_ik) - mean over j)||^2", _NONNEGATIVE, _MEASURED, 2, -2
)
S_3u = _define("S_3u", "S_{3,u}", "T_{3,u} with the control variates d_i, d subtracted", _NONNEGATIVE, _MEASURED, 2, -2)
descent = _define(
    "descent", r"\mathbb{E}f(u^{t+1},\mathbf{v}^{t+1})-\mathbb{E}f(u^t,\mathbf{v}^t)",
    "expected change of f in a round", _REAL, _MEASURED, 1, 0,
)  # fmt: skip
G_u_prev = _define("G_u_prev", r"\mathcal{G}_u^{t-1}", "G_u one round earlier", _NONNEGATIVE, _MEASURED, 2, -2)
G_v_prev = _define("G_v_prev", r"\mathcal{G}_v^{t-1}", "G_v one round earlier", _NONNEGATIVE, _MEASURED, 2, -2)
B_prev = _define("B_prev", r"\mathcal{B}^{t-1}", "B one round earlier", _NONNEGATIVE, _MEASURED, 2, -2)
C_prev = _define("C_prev", r"\mathcal{C}^{t-1}", "C one round earlier", _NONNEGATIVE, _MEASURED, 0, 2)
inner_u = _define(
    "inner_u", r"\mathbb{E}\langle\nabla_u f,\Delta u^t\rangle", "E<grad_u f(u^t, v^t), Delta u>", _REAL, _MEASURED,
    1, 0,
)  # fmt: skip
inner_v = _define(
    "inner_v", r"\frac1n\sum_i\mathbb{E}\langle\nabla_v f_i,\Delta v_i^t\rangle",
    "(1/n) sum_i E<grad_v f_i(u^t, v_i^t), Delta v_i>", _REAL, _MEASURED, 1, 0,
)  # fmt: skip
du2 = _define("du2", r"\mathbb{E}\|\Delta u^t\|^2", "E||u^{t+1} - u^t||^2", _NONNEGATIVE, _MEASURED, 0, 2)
dv2 = _define(
    "dv2", r"\frac1n\sum_i\mathbb{E}\|\Delta v_i^t\|^2", "(1/n) sum_i E||v_i^{t+1} - v_i^t||^2", _NONNEGATIVE,
    _MEASURED, 0, 2,
)  # fmt: skip
# Of random vectors, which need not come from a run.
sum2 = _define("sum2", r"\mathbb{E}\|X_1+\dots+X_n\|^2", "E||sum of the n vectors||^2", _NONNEGATIVE, _MEASURED, 0, 2)
squares = _define("squares", r"\sum_i\mathbb{E}\|X_i\|^2", "sum_i E||X_i||^2", _NONNEGATIVE, _MEASURED, 0, 2)
xbar2 = _define("xbar2", r"\mathbb{E}\|\bar X\|^2", "E||mean of the n vectors||^2", _NONNEGATIVE, _MEASURED, 0, 2)
spread = _define(
    "spread", r"\sum_i\mathbb{E}\|X_i-\bar X\|^2", "sum_i E||X_i - mean||^2", _NONNEGATIVE, _MEASURED, 0, 2
)
sampled2 = _define(
    "sampled2", r"\mathbb{E}\|\frac1m\sum_{i\in\mathcal{S}}X_i\|^2", "E||mean of the m sampled vectors||^2",
    _NONNEGATIVE, _MEASURED, 0, 2,
)  # fmt: skip
# Problems and runs use the names of the basic setting.
COMMON.facts = {quantity.name: quantity.name for quantity in COMMON if quantity.role in (_CONSTANT, _MEASURED)}
