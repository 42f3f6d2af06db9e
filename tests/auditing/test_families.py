"""Vectors of n clients and K local steps: sums against enumeration, and the claims that are written with them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bounds import symbols as s
from bounds.ledger import families
from bounds.ledger.step import Check, Enumerated, Gram, Scalar, Step, together
from bounds.ledger.vectors import dot, factors, square, vectors
from bounds.papers.fedsum.proofs import STEPS as FEDSUM
from bounds.papers.flame.proofs import STEPS as FLAME
from bounds.papers.pfl.proofs import STEPS as PFL
from bounds.papers.pfl.proofs import forms
from bounds.papers.simfbo.proofs import STEPS as SIMFBO
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import QUICK
from ratecheck.auditing.dispatch import decide
from ratecheck.auditing.export.certificates import certificate
from ratecheck.auditing.finding import StepVerdict, examine_step

n, m, K, q = s.n, s.m, s.K, families.q
Vectors = dict[str, list[list[Fraction]]]


def _drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers as fractions, so that sums are exact."""
    return np.vectorize(Fraction)(rng.integers(-4, 5, shape)).astype(object)


class _Numbers:
    """Values of named families: X (n, d) for every client, a (n, K, d) for every step, g (d,) for a plain vector."""

    def __init__(self, seed: int, clients: int, steps: int) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.K = clients, steps
        self.client = {name: _drawn(rng, (clients, 2)) for name in "XY"}
        self.step = {name: _drawn(rng, (clients, steps, 2)) for name in "ab"}
        self.plain = {name: _drawn(rng, (2,)) for name in "gh"}

    def _named(self, name: str) -> np.ndarray:
        """What stands behind a vector of a product's symbol, of all clients and steps in one."""
        clients, steps = Fraction(self.n), Fraction(self.K)
        if name in self.plain:
            return self.plain[name]
        if name.startswith("sum "):
            return self._of_client(name[4:]).sum(axis=0)
        if name.endswith(" from the mean of clients"):
            X = self._of_client(name.partition(" ")[0])
            return (X - X.sum(axis=0) / clients).ravel()
        a = self.step[name.partition(" ")[0]]
        return (a - a.sum(axis=1, keepdims=True) / steps).ravel()

    def _of_client(self, name: str) -> np.ndarray:
        return self.step[name[:-2]].sum(axis=1) if name.endswith("_i") else self.client[name]

    def value(self, expr: sp.Expr, **sizes: int) -> Fraction:
        """An expression in products, with everything put in."""
        put: dict[sp.Symbol, sp.Expr] = {n: sp.Integer(self.n), K: sp.Integer(self.K)}
        put |= {getattr(s, name): sp.Integer(size) for name, size in sizes.items()}
        if self.n > 1 and "m" in sizes:
            put[q] = sp.Rational(sizes["m"] * (self.n - sizes["m"]), self.n * (self.n - 1))
        put.setdefault(q, sp.Integer(0))
        for symbol in expr.free_symbols - put.keys():
            one, other = factors(symbol) or ("", "")
            product = Fraction((self._named(one) * self._named(other)).sum())
            put[symbol] = sp.Rational(product.numerator, product.denominator)
        found = sp.Rational(expr.xreplace(put))
        return Fraction(int(found.p), int(found.q))


SIZES = [(1, 1), (1, 3), (2, 1), (3, 2), (4, 3)]
X, Y = families.per_client("X Y")
a, b = families.per_step("a b")
g, h = vectors("g h")


@pytest.mark.parametrize(("clients", "steps"), SIZES)
def test_sums_over_clients_and_steps_are_those_of_the_vectors(clients: int, steps: int) -> None:
    """Every sum is the same as that of the vectors themselves, in fractions."""
    v = _Numbers(clients + 10 * steps, clients, steps)
    one, other = 2 * X - Y + g, X + 3 * h
    V = 2 * v.client["X"] - v.client["Y"] + v.plain["g"]
    W = v.client["X"] + 3 * v.plain["h"]
    assert v.value(families.each(one, other)) == (V * W).sum()
    assert v.value(dot(families.total(one), h)) == (V.sum(axis=0) * v.plain["h"]).sum()
    around = (V - V.sum(axis=0) / Fraction(clients)) * (W - W.sum(axis=0) / Fraction(clients))
    assert v.value(families.deviation(one, other)) == around.sum()
    mixed = a - 2 * b + X + g
    M = v.step["a"] - 2 * v.step["b"] + v.client["X"][:, None] + v.plain["g"]
    assert v.value(families.squares(mixed)) == (M * M).sum()
    assert v.value(families.each(Y, mixed)) == (v.client["Y"][:, None] * M).sum()
    A = M.sum(axis=1)
    assert v.value(families.squares(families.over_steps(mixed))) == (A * A).sum()


@pytest.mark.parametrize(("clients", "steps"), SIZES)
def test_samples_are_those_that_enumeration_gives(clients: int, steps: int) -> None:
    """Expectations over a sample are means over all subsets of that size."""
    v = _Numbers(clients + 10 * steps, clients, steps)
    one, other = X - Y + g, families.over_steps(a) + 2 * h
    V, W = v.client["X"] - v.client["Y"] + v.plain["g"], v.step["a"].sum(axis=1) + 2 * v.plain["h"]
    for size in range(1, clients + 1):
        samples = [list(each) for each in itertools.combinations(range(clients), size)]
        count = Fraction(len(samples))
        both = sum((V[S].sum(axis=0) * W[S].sum(axis=0)).sum() for S in samples) / count
        assert v.value(families.sampled(one, other), m=size) == both
        alone = sum((V[S].sum(axis=0) * v.plain["h"]).sum() for S in samples) / count
        assert v.value(families.sampled_with(one, h), m=size) == alone


@pytest.mark.parametrize(("clients", "steps"), SIZES)
def test_families_of_any_size_have_the_same_sums(clients: int, steps: int) -> None:
    """As many clients and steps as a symbol or a number says."""
    v = _Numbers(clients + 10 * steps, clients, steps)
    N, w = sp.symbols("N w", positive=True)
    sizes = {N: clients, w: steps}
    (V,), (c,) = families.per_client("X", N), families.per_step("a", N, w)
    mixed = 2 * c - V + g
    M = 2 * v.step["a"] - v.client["X"][:, None] + v.plain["g"]
    A = M.sum(axis=1)
    assert v.value(families.squares(mixed).subs(sizes)) == (M * M).sum()
    assert v.value(families.squares(families.over_steps(mixed)).subs(sizes)) == (A * A).sum()
    assert v.value(dot(families.total(mixed), h).subs(sizes)) == (A.sum(axis=0) * v.plain["h"]).sum()
    assert v.value(square(families.mean(V)).subs(sizes)) == (v.client["X"].sum(axis=0) ** 2).sum() / Fraction(
        clients**2
    )


def test_families_of_different_sizes_are_not_added() -> None:
    """One member of each would be left over."""
    (V,) = families.per_client("V", sp.Symbol("N"))
    for both in (lambda: V + X, lambda: families.each(V, X), lambda: families.per_step("c", steps=n)[0] + a):
        with pytest.raises(ValueError, match="families of"):
            both()


def test_claims_together_hold_just_if_each_of_them_does() -> None:
    """One of two that is false is seen."""
    x_, y_ = sp.symbols("x y", nonnegative=True)
    true = Scalar(left=x_, operator="<=", right=x_ + y_)
    other = Scalar(left=y_, operator=">=", right=x_, hypotheses=(families.below(x_, y_),))
    assert decide(together(true, other)).true
    assert decide(together(true, dataclasses.replace(other, hypotheses=()))).false


def test_q_is_at_most_what_its_condition_says() -> None:
    """The two conditions on q, for one client too."""
    for clients in range(1, 40):
        for size in range(1, clients + 1):
            exact = Fraction(size * (clients - size), clients * (clients - 1)) if clients > 1 else Fraction(0)
            assert exact <= Fraction(2 * size * (clients - size), clients**2)
            assert exact * clients * (clients - 1) == size * (clients - size)


@pytest.mark.parametrize("clients", [1, 2, 3])
@pytest.mark.parametrize("steps", [1, 2])
def test_uncorrelated_errors_have_the_moments_of_fair_signs(clients: int, steps: int) -> None:
    """xi_ik = +-c_ik e with independent signs, enumerated."""
    scale = np.vectorize(Fraction)(np.arange(1, clients * steps + 1)).astype(object).reshape(clients, steps)
    squared = Fraction((scale * scale).sum())
    (xi,) = families.per_step("xi")
    N = sp.Symbol("N")
    inside = clients_apart = whole = Fraction(0)
    for signs in itertools.product((-1, 1), repeat=clients * steps):
        error = np.array(signs, dtype=object).reshape(clients, steps) * scale
        sums = error.sum(axis=1)
        inside += ((error - sums[:, None] / Fraction(steps)) ** 2).sum()
        clients_apart += ((sums - sums.sum() / Fraction(clients)) ** 2).sum()
        whole += sums.sum() ** 2
    count = Fraction(2 ** (clients * steps))
    for condition, found in zip(families.uncorrelated(xi, N), (inside, clients_apart, whole), strict=True):
        right = condition.right.subs({n: clients, K: steps, N: sp.Rational(squared.numerator, squared.denominator)})
        assert Fraction(int(right.p), int(right.q)) == found / count


# --- The claims of the ledgers ---


def _with_form(steps: tuple[Step, ...]) -> Iterator[tuple[str, Step, Enumerated]]:
    for step in steps:
        for name in ("check", "repaired"):
            check: Check | None = getattr(step, name)
            if isinstance(check, Enumerated) and check.form is not None:
                yield f"{step.id} {name}", step, check


# Their certificates take ten seconds and more.
_LONG = ("simfbo/lemma-9-1 repaired",)
FORMS = {name: (step, check) for name, step, check in _with_form((*PFL, *FEDSUM, *FLAME, *SIMFBO))}


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.long) if each in _LONG else each for each in FORMS]
)
def test_every_form_has_a_certificate_that_the_other_program_accepts(name: str) -> None:
    """The certificate is re-checked by recheck.py before it is returned."""
    step, check = FORMS[name]
    assert certificate(step, check)["proofs"] is not None


def _sharper(check: Enumerated) -> Iterator[Mapping[str, Fraction]]:
    for name, value in check.constants.items():
        exact = Fraction(str(sp.sympify(value)))
        for share in (Fraction(1, 2), Fraction(2), Fraction(1, 100), Fraction(100)):
            yield {**check.constants, name: exact * share}


@pytest.mark.every(8)
@pytest.mark.parametrize("name", [name for name, (_, check) in FORMS.items() if check.constants])
def test_no_form_proves_what_an_instance_refutes(name: str) -> None:
    """The two forms of one claim: constants that instances refute are not proved."""
    check = FORMS[name][1]
    refuted = 0
    for constants in _sharper(check):
        mutant = dataclasses.replace(check, constants=constants)
        if decide(dataclasses.replace(mutant, form=None)).false:
            refuted += 1
            form = mutant.algebraic
            assert form is not None
            assert not _proves(form), constants
    assert refuted


def _proves(form: Check) -> bool:
    """Whether a claim is proved; one that is not decided in some seconds of computing is not, as in an audit."""
    try:
        with limit(5):
            return decide(form, QUICK).true
    except OutOfTime:
        return False


def test_a_step_is_proved_by_its_form_and_refuted_by_its_instances() -> None:
    """PROVED by the form, CHECKED without it, FALSE where an instance says so."""
    step = next(each for each in PFL if each.id == "pfl/lemma-3.1-12")
    assert examine_step(step).verdict is StepVerdict.PROVED
    assert isinstance(step.check, Enumerated)
    wrong = dataclasses.replace(step, check=dataclasses.replace(step.check, constants={"two": Fraction(1, 2)}))
    assert examine_step(wrong).verdict is StepVerdict.FALSE
    without = dataclasses.replace(step, check=dataclasses.replace(step.check, form=None))
    assert examine_step(without).verdict is StepVerdict.CHECKED


def test_a_form_whose_hypotheses_contradict_each_other_proves_nothing() -> None:
    """Anything follows from a contradiction."""
    step = next(each for each in PFL if each.id == "pfl/lemma-3.6-1")
    assert isinstance(step.check, Enumerated)
    square_ = square(g)
    impossible = Gram(
        left=square_,
        operator="<=",
        right=sp.Integer(0),
        hypotheses=(forms.DISSIMILAR,),
        conditions=(families.above(n, 2), families.below(n, 1)),
    )
    faulty = dataclasses.replace(step, check=dataclasses.replace(step.check, form=lambda: impossible))
    assert examine_step(faulty).verdict is not StepVerdict.PROVED
