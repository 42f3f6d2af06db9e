"""Orders: what is found against numbers far out, against results known by hand, and the refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.errors import InputError
from bounds.statement import Condition
from bounds.symbols import COMMON, Domain, Role, Vocabulary
from ratecheck.complexity.closed_form import closed_bound
from ratecheck.complexity.farkas import Ray, Weights, decide
from ratecheck.complexity.monomials import Monomial
from ratecheck.complexity.orders import compare

n, m, K, T, L, b = (COMMON[name].symbol for name in ("n", "m", "K", "T", "L", "b"))
sigma_u, sigma_v = COMMON["sigma_u"].symbol, COMMON["sigma_v"].symbol
THIRD = sp.Rational(1, 3)

# Left side, right side, left = O(right), right = O(left); each decided by hand.
CASES = {
    "a constant factor": (7 * K, K / 9, True, True),
    "a power": (K, K**2, True, False),
    "one term of two": (K, K + L, True, False),
    "a geometric mean": (sp.sqrt(K * L), K + L, True, False),
    "a weighted mean": (K**THIRD * L ** (2 * THIRD), K + L, True, False),
    "outside the hull": (K**2 / L, K + L, False, False),
    "m is at most n": (m / n, sp.Integer(1), True, False),
    "n is not bounded by m": (n, m, False, True),
    "K is at least 1": (1 / K, sp.Integer(1), True, False),
    "a real quantity may be small": (1 / L, sp.Integer(1), False, False),
    "a root of a sum": (sp.sqrt(K + L), sp.sqrt(K) + sp.sqrt(L), True, True),
    "a square of a sum": ((K + L) ** 2, K**2 + L**2, True, True),
    "a maximum": (sp.Max(K, L), K + L, True, True),
    "a minimum": (sp.Min(K, L), sp.sqrt(K * L), True, False),
    "a minimum below a line": (sp.Min(K, L), L, True, False),
    "one over a sum": (1 / (K + L), sp.Min(1 / K, 1 / L), True, True),
    "n - m": (n - m, n, True, False),
    "n - m and m make n": (sp.Max(n - m, m), n, True, True),
    "1/m - 1/n": (1 / m - 1 / n, 1 / m, True, False),
    "the same, factored": (1 / m - 1 / n, (n - m) / (m * n), True, True),
    "K - 1": ((K - 1) / K, sp.Integer(1), True, False),
    "K - 1 squared": ((K - 1) ** 2, K * (K - 1), True, True),
    "n - m is a whole number": (sp.sqrt(n - m), n - m, True, False),
    "1 - m/n is at least 1/n": ((1 - m / n) * n, (1 - m / n) ** 2 * n**2, True, False),
    "a slow square root": (sp.sqrt(b**2 / T), b / T + b, True, False),
    "noise, not squared": (sigma_u / sp.sqrt(T), sigma_u**2 / sp.sqrt(T) + 1 / T, False, False),
    "two variances": (sp.sqrt(sigma_u**2 + sigma_v**2), sigma_u + sigma_v, True, True),
    "Scaffold's factor": (sp.Max(1, n ** (2 * THIRD) / m), (n / m) ** (2 * THIRD), True, False),
}


def value(expr, values):
    """The expression at numbers by name, in 40 digits."""
    return sp.N(sp.sympify(expr).xreplace({s: sp.Rational(values[s.name]) for s in sp.sympify(expr).free_symbols}), 40)


def far_out(rng, size):
    """A point in the domain, about 10^size away: whole numbers from 1 on with m <= n, corners (n = m, K = 1) too."""
    values = {q.name: Fraction(10) ** int(rng.integers(-size, size + 1)) for q in COMMON if q.domain is not Domain.REAL}
    for name in ("K", "T", "m"):
        values[name] = Fraction(10) ** int(rng.integers(0, size + 1)) + int(rng.integers(0, 2))
    values["K"] = Fraction(1) if rng.random() < 0.2 else values["K"]
    values["n"] = values["m"] + (0 if rng.random() < 0.2 else Fraction(10) ** int(rng.integers(0, size + 1)))
    return values


def largest_ratio(left, right, size, count=150):
    """The largest left/right over random points; where both are 0 there is none."""
    rng = np.random.default_rng(3)
    ratios = [0.0]
    for _ in range(count):
        values = far_out(rng, size)
        above, below = value(left, values), value(right, values)
        if above != 0:
            ratios.append(float(above / below) if below != 0 else math.inf)
    return max(ratios)


@pytest.mark.parametrize("case", CASES)
def test_orders_known_by_hand(case):
    """Both directions, as decided by hand."""
    left, right, forward, backward = CASES[case]
    found = compare(left, right, COMMON)
    assert (found.forward.holds, found.backward.holds) == (forward, backward)
    assert found.same == (forward and backward)


@pytest.mark.parametrize("case", CASES)
def test_orders_against_numbers_far_out(case):
    """What is dominated stays below a constant at any distance; along a direction the ratio grows as announced."""
    left, right, *_ = CASES[case]
    found = compare(left, right, COMMON)
    for domination, one, other in ((found.forward, left, right), (found.backward, right, left)):
        if domination.holds:
            assert largest_ratio(one, other, 4) <= 100
            assert largest_ratio(one, other, 12) <= 100
            continue
        near, far = (ratio_along(domination.direction, one, other, x) for x in (10**6, 10**7))
        assert far == math.inf or far / near > 10 ** (0.9 * float(domination.direction.growth))
        assert domination.direction.ratios[-1] == ratio_along(domination.direction, one, other, 1000)


def ratio_along(direction, left, right, x):
    """left/right at a point of a direction, after checking that the point lies in the domain."""
    values = direction.point(x, ("n", "m", "K", "T", "L", "b", "sigma_u", "sigma_v"))
    for name in ("n", "m", "K", "T"):
        assert values[name] >= 1
        assert values[name].denominator == 1
    assert values["m"] <= values["n"]
    assert min(values.values()) > 0
    below = value(right, values)
    return float(value(left, values) / below) if below else math.inf


def test_certificates_are_identities_of_monomials():
    """Every certificate multiplies out, in logarithms at random numbers, and its weights are as they have to be."""
    rng = np.random.default_rng(5)
    left = sp.sqrt(sigma_u**2 / m + (1 / m - 1 / n) * K * b**2)
    found = compare(left, sigma_u**2 + K * b**2 + 1, COMMON)
    assert len(found.forward.certificates) > 1
    for certificate in found.forward.certificates:
        assert sum(certificate.terms.values()) == 1
        assert all(weight > 0 for weight in (*certificate.terms.values(), *certificate.facts.values()))
        names = {
            name for monomial in (certificate.goal, *certificate.terms, *certificate.facts) for name, _ in monomial
        }
        logs = dict(zip(sorted(names), rng.standard_normal(len(names)), strict=True))
        parts = [*certificate.terms.items(), *certificate.facts.items()]
        total = sum(float(weight) * log_of(monomial, logs) for monomial, weight in parts)
        assert total == pytest.approx(log_of(certificate.goal, logs), abs=1e-9)


def log_of(monomial: Monomial, logs):
    """The logarithm of a monomial."""
    return sum(float(exponent) * logs[name] for name, exponent in monomial)


def test_farkas_alternatives_exclude_each_other():
    """500 random problems: the weights prove what they say, the ray refutes it, and both kinds occur."""
    rng = np.random.default_rng(7)
    kinds = set()
    for _ in range(500):
        names = "xyz"[: int(rng.integers(1, 4))]
        goal, *rest = (drawn_monomial(rng, names) for _ in range(int(rng.integers(2, 7))))
        cut = int(rng.integers(1, len(rest) + 1))
        terms, facts = rest[:cut], rest[cut:]
        found = decide(goal, terms, facts)
        kinds.add(type(found))
        if isinstance(found, Weights):
            total = dict.fromkeys(names, Fraction(0))
            for monomial, weight in (*found.terms.items(), *found.facts.items()):
                assert weight > 0
                for name, exponent in monomial:
                    total[name] += weight * exponent
            assert total == {name: dict(goal).get(name, 0) for name in names}
            assert sum(found.terms.values()) == 1
            assert {*found.terms} <= {*terms}
            assert {*found.facts} <= {*facts}
        else:
            size = {monomial: sum(found.powers.get(x, 0) * e for x, e in monomial) for monomial in (goal, *rest)}
            assert all(size[goal] - size[term] >= found.growth > 0 for term in terms)
            assert all(size[fact] <= 0 for fact in facts)
    assert kinds == {Weights, Ray}


def drawn_monomial(rng, names) -> Monomial:
    """A product of small powers."""
    exponents = {name: Fraction(int(rng.integers(-4, 5)), int(rng.integers(1, 4))) for name in names}
    return tuple((name, exponent) for name, exponent in sorted(exponents.items()) if exponent)


def test_quantities_held_fixed_count_as_one():
    """sigma/sqrt(T) is not of the order sigma^2/sqrt(T), but is for a fixed sigma; the exponents of T still count."""
    left, right = sigma_u / sp.sqrt(T), sigma_u**2 / sp.sqrt(T)
    assert not compare(left, right, COMMON).forward.holds
    assert compare(left, right, COMMON, fixed=("sigma_u",)).same
    assert not compare(left, right / T, COMMON, fixed=("sigma_u",)).forward.holds


def test_conditions_narrow_the_domain():
    """1/L is bounded from L >= 1 on; a condition with a sum on the right is met in either of two ways."""
    at_least = Condition(name="L", left=L, operator=">=", right=sp.Integer(1))
    assert compare(1 / L, sp.Integer(1), COMMON, (at_least,)).forward.holds
    small = Condition(name="b", left=b, operator="<=", right=sigma_u + sigma_v)
    assert compare(b, sp.sqrt(sigma_u**2 + sigma_v**2), COMMON, (small,)).forward.holds
    assert not compare(b, sigma_u, COMMON, (small,)).forward.holds
    unequal = Condition(name="b", left=b, operator="==", right=sigma_u)
    with pytest.raises(InputError, match="b == sigma_u: a condition of an order is an inequality"):
        compare(b, sigma_u, COMMON, (unequal,))


def test_logarithms_are_hidden_or_refused():
    """A tilde over the O: log(n*T)/T is 1/T. Without it the comparison is refused."""
    assert compare(sp.log(n * T) / T, 1 / T, COMMON, hide_logarithms=True).same
    with pytest.raises(InputError, match="a logarithm can only be hidden"):
        compare(sp.log(n * T) / T, 1 / T, COMMON)


def test_prescribed_step_sizes_are_of_the_form():
    """Theorem 4.5 at the step size of Corollary 4.6, one over a sum, has the order of Corollary 4.6."""
    theorem, corollary = (bounds.get(f"pfl/{key}") for key in ("theorem-4.5", "corollary-4.6"))
    gamma = COMMON["gamma"].symbol
    (prescribed,) = (rule.value for rule in corollary.step_rules if rule.symbol == gamma)
    left, right = closed_bound(theorem, ("gamma",)), closed_bound(corollary)
    assert compare(left.xreplace({gamma: prescribed}), right, COMMON).same
    assert not compare(left.xreplace({gamma: prescribed / K}), right, COMMON).forward.holds


def test_the_improvement_over_the_prior_scaffold_rate():
    """Eq. (4.6) is of a smaller order than (4.7), and the ratio of the 1/T terms is at most (n/m)^(2/3)."""
    found = compare(closed_bound(bounds.get("pfl/scaffold")), closed_bound(bounds.get("pfl/scaffold-prior")), COMMON)
    assert (found.forward.holds, found.backward.holds) == (True, False)
    ratio = (n / m) ** (2 * THIRD) / sp.Max(1, n ** (2 * THIRD) / m)
    assert compare(ratio, (n / m) ** (2 * THIRD), COMMON).forward.holds
    # At m = n^(2/3) it is n^(2/9), and m^(1/3) is the most it ever is.
    assert compare(ratio, m**THIRD, COMMON).forward.holds
    assert not compare(ratio, n ** sp.Rational(1, 5), COMMON).forward.holds
    assert compare(ratio, n ** sp.Rational(2, 9), COMMON).forward.holds


REFUSED = {
    "two parts that are not ordered": (n - K, n, "may be negative: a difference has to be of ordered whole numbers"),
    "a difference of reals": (L - b, L, "may be negative"),
    "a negative order": (-K, K, "it is negative"),
    "the smaller minus the larger": (L * (m - n), n, "it is negative"),
    "a quantity in two differences": ((n - m) * (n - 1), n**2, "n occurs in two differences"),
    "a symbol as exponent": (L**K, L, "no sum of products of powers"),
    "a signed quantity": (COMMON["inner_u"].symbol, K, "it may be negative"),
    "a division by zero": (1 / (n - m), sp.Integer(1), "divides by a quantity that is 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_order_is_refused(case):
    """One line that names the expression."""
    left, right, message = REFUSED[case]
    with pytest.raises(InputError, match=message) as caught:
        compare(left, right, COMMON)
    assert "\n" not in str(caught.value)


def test_a_part_of_a_difference_cannot_be_held_fixed():
    """With m fixed, n - m is no quantity of its own."""
    with pytest.raises(InputError, match="m occurs in a difference and cannot be held fixed"):
        compare(n - m, n, COMMON, fixed=("m",))


def test_an_order_against_zero():
    """Nothing but 0 is of the order of 0: at m = n the right side vanishes, and the ratio is infinite."""
    found = compare(sp.Integer(1), n - m, COMMON)
    assert found.forward.direction.zero == {"n-m"}
    assert found.forward.direction.ratios == (math.inf,) * 3
    assert compare(sp.Integer(0), n - m, COMMON).forward.holds


def test_a_pair_of_another_vocabulary():
    """Which pairs are ordered is a fact of the vocabulary, not of the names."""
    own = Vocabulary()
    own.define("a", "a", "blocks", Domain.POSITIVE_INTEGER, Role.SETTING, 0, 0)
    own.define("c", "c", "all blocks", Domain.POSITIVE_INTEGER, Role.SETTING, 0, 0)
    a, c = own["a"].symbol, own["c"].symbol
    with pytest.raises(InputError, match="may be negative"):
        compare(c - a, c, own)
    own.order_pair("a", "c")
    found = compare(c - a, c, own)
    assert (found.forward.holds, found.backward.holds) == (True, False)


def test_directions_are_told_in_words():
    """Powers of x, and which differences vanish."""
    found = compare(n / m, 1 + (n - m) / m**2, COMMON)
    assert found.backward.holds
    assert "= x" in found.forward.direction.text
    assert compare(n, n - m, COMMON).forward.direction.text == "n-m = 0"
