"""The statements of SimFBO against a second reading of the paper, their scaling, and what they claim to follow from."""

from __future__ import annotations

import dataclasses
import math
import re

import mpmath
import numpy as np
import pytest
import sympy as sp
from each_key import each_key
from second_reading import simfbo as reading

from bounds.errors import InputError
from bounds.papers.simfbo import formulas, symbols
from bounds.papers.simfbo import statements as simfbo
from bounds.statement import Over, Relation, compiled
from bounds.symbols import Domain, Role

STATEMENTS = {statement.key: statement for statement in simfbo.STATEMENTS}
VALUED = tuple(key for key, statement in STATEMENTS.items() if not statement.order_only)
every_key = each_key(STATEMENTS)
every_value = each_key(VALUED)

# Names of the second reading, where they differ.
NAMES = {
    "gap_y": "y_error_w2", "gap_v": "v_error_w2", "gradient": "grad_Phi_w2", "mean_x": "mean_x2",
    "aggregate_x": "sampled_x2", "aggregate_y": "sampled_y2", "aggregate_v": "sampled_v2",
    "drift_R": "drift_f", "drift_R_sq": "drift_f_sq",
}  # fmt: skip
# Claims of the second reading by (key, claim), where they stand elsewhere; None: a part, or no statement here.
ELSEWHERE = {
    ("simfbo/constants", "delta"): ("simfbo/young-parameters", "delta"),
    ("simfbo/constants", "delta_prime"): ("simfbo/young-parameters", "delta_prime"),
    ("simfbo/lemma-4", "gradient"): ("simfbo/lemma-4", "Phi"),
    ("simfbo/lemma-4", "y_jacobian"): ("simfbo/lemma-4", "y jacobian"),
    ("simfbo/lemma-4", "v_jacobian"): ("simfbo/lemma-4", "v jacobian"),
    ("simfbo/lemma-4-repaired", "v_jacobian"): ("simfbo/lemma-4-repaired", "v jacobian"),
    ("simfbo/lemma-8", "y_simplified"): ("simfbo/lemma-8-simplified", "y"),
    ("simfbo/lemma-8", "f"): ("simfbo/lemma-8-simplified", "f"),
    ("simfbo/lemma-8", "g"): ("simfbo/lemma-8-simplified", "g"),
    ("simfbo/lemma-8-repaired", "y_simplified"): ("simfbo/lemma-8-repaired", "y"),
    ("simfbo/lemma-8-repaired", "y"): None,  # before the denominator is simplified
    ("simfbo/lemma-9", "identity"): None,  # eq. (24), a step of a proof
    ("simfbo/lyapunov", "value"): None,  # eq. (37), the definition of Psi
    ("simfbo/theorem-1", "initial"): None,  # parts of "main": see the test of the parts
    ("simfbo/theorem-1", "part"): None,
    ("simfbo/theorem-1", "sync"): None,
    ("simfbo/theorem-1", "drift"): None,
    ("simfbo/theorem-1", "order"): ("simfbo/theorem-1-order", "main"),
    ("simfbo/theorem-1", "order_part"): None,
    ("simfbo/theorem-1", "order_sync"): None,
    ("simfbo/theorem-1", "order_drift"): None,
    ("simfbo/theorem-1", "order_partial"): ("simfbo/theorem-1-order-partial", "main"),
    ("simfbo/theorem-2", "main"): ("simfbo/theorem-2-appendix", "main"),
    ("simfbo/theorem-2", "factor"): None,
    ("simfbo/theorem-2", "distance"): None,  # eq. (59), a step of a proof
}
# Claims that the second reading has under another key, or whose right side it has elsewhere.
AGAIN = {
    ("simfbo/theorem-2", "main"): ("simfbo/theorem-1", "main"),
    ("simfbo/theorem-2-order", "main"): ("simfbo/theorem-1", "order"),
    **{
        ("simfbo/lemma-4-repaired", own): ("simfbo/lemma-4", other)
        for own, other in (
            ("surrogate", "surrogate"), ("Phi", "gradient"), ("y", "y"), ("y jacobian", "y_jacobian"), ("v", "v")
        )
    },
}  # fmt: skip
NOT_READ = {("simfbo/theorem-1-order-full", "main")}
READ = [
    (key, name, *found)
    for key, claims in reading.RIGHT_SIDES.items()
    for name in claims
    if (found := ELSEWHERE.get((key, name), (key, name))) is not None
]
READ += [(*other, *own) for own, other in AGAIN.items()]


# What only `Vocabulary.derived` speaks of: no claim, condition or rule has it.
APART = {s.name for expr in symbols.VOCABULARY.derived.values() for s in expr.free_symbols}
APART -= {s.name for each in simfbo.STATEMENTS for c in each.claims for s in c.bound.free_symbols | {*c.metric.weights}}
APART -= {name for each in simfbo.STATEMENTS for name in each.parameters}


def drawn(rng):
    """A value for every symbol: P < n, n >= 2, mu_g <= L_1, alpha_min <= alpha_max, consistent server step sizes."""
    values = {}
    for q in (q for q in symbols.VOCABULARY if q.name not in APART):
        if q.domain is Domain.POSITIVE_INTEGER:
            values[q.name] = float(rng.integers(1, 61))
        elif q.domain is Domain.REAL:
            values[q.name] = float(rng.normal())
        else:
            values[q.name] = float(10 ** rng.uniform(-1, 1))
    values["n"] += 1
    values["P"] = float(rng.integers(1, int(values["n"])))
    values["L_1"] += values["mu_g"]
    values["alpha_max"] += values["alpha_min"]
    values["beta_max"] += 1
    values["beta_gh"] += 1
    # The denominator of Lemma 8.
    values["eta_y"] *= 0.1 / (values["L_1"] * math.sqrt(values["c_a"] * values["tau_bar"] * values["alpha_max"]))
    for block in "yv":
        values[f"gamma_{block}"] = values[f"c_gamma_{block}"] * values["gamma_x"]
    return values


def points(seed, count):
    """Random points."""
    rng = np.random.default_rng([seed, 4])
    return [drawn(rng) for _ in range(count)]


def as_read(values):
    """The same point in the words of the second reading; its dy2 is ||y - y*||^2 in Lemma 4 only."""
    return {**values, **{other: values[own] for other, own in NAMES.items()}}


def pick(expr, values):
    """The values of an expression's symbols."""
    return {symbol.name: values[symbol.name] for symbol in expr.free_symbols}


def value_of(expr, values):
    """An expression at a point."""
    expr = sp.sympify(expr)
    return float(compiled(expr)(**pick(expr, values)))


def terms_of(claim, values):
    """The parts of a right side."""
    return np.array([value_of(term, values) for term in claim.terms.values()])


def close(found, expected, scale=0.0):
    """Relative 1e-12 of the larger, or of the largest part where parts cancel."""
    return abs(found - expected) <= 1e-12 * max(abs(found), abs(expected), scale)


def claim_of(key, name):
    """A claim by its name."""
    return next(claim for claim in STATEMENTS[key].claims if claim.name == name)


# --- (a) The second reading ---


def test_every_claim_is_read_twice():
    """Each claim of the catalogue has a right side in the second reading, and no key or claim occurs twice."""
    own = [(key, claim.name) for key, statement in STATEMENTS.items() for claim in statement.claims]
    assert len(set(own)) == len(own)
    assert len(STATEMENTS) == len(simfbo.STATEMENTS)
    assert set(own) == {(key, name) for _, _, key, name in READ} | NOT_READ


@pytest.mark.parametrize(("read_key", "read_name", "key", "name"), READ)
def test_right_sides_equal_the_second_reading(read_key, read_name, key, name):
    """At 20 random points, to twelve digits."""
    claim = claim_of(key, name)
    for values in points(1, 20):
        read = as_read(values)
        if "lemma-4" in key:
            read["dy2"] = values["y_distance2"]
        if "lemma-5" in key:
            read["gap_y"] = values["y_distance2"]
        parts = terms_of(claim, values)
        expected = reading.RIGHT_SIDES[read_key][read_name](**read)
        scale = np.abs(parts).max()
        if read_key == "simfbo/lemma-7-repaired":  # read as the printed form plus a difference
            scale = max(scale, np.abs(terms_of(claim_of("simfbo/lemma-7", "main"), values)).max())
        assert close(parts.sum(), expected, scale)


def test_terms_of_theorem_1_equal_the_second_reading():
    """The four parts of the rate are twice (53), (48), (50) and (52); the terms of the order are those of (9)."""
    rate, order = claim_of("simfbo/theorem-1", "main"), claim_of("simfbo/theorem-1-order", "main")
    readers = reading.RIGHT_SIDES["simfbo/theorem-1"]
    for values in points(2, 50):
        found = terms_of(rate, values)
        expected = [2 * readers[name](**as_read(values)) for name in ("initial", "part", "sync", "drift")]
        assert all(map(close, found, expected))
        found = terms_of(order, values)
        expected = [readers[name](**as_read(values)) for name in ("order_part", "order_sync", "order_drift")]
        assert all(map(close, found, expected))


def test_orders_for_full_and_partial_participation_are_those_of_the_printed_order():
    """(55) is (54) at P = n; (57) is (56) at tau_bar = n/(n - P), up to the last term, which it enlarges."""
    order = claim_of("simfbo/theorem-1-order", "main")
    full, partial = (claim_of(f"simfbo/theorem-1-order-{name}", "main") for name in ("full", "partial"))
    for values in points(3, 20):
        at_n = {**values, "P": values["n"]}
        assert close(value_of(full.bound, at_n), value_of(order.bound, at_n))
        at_best = {**values, "tau_bar": values["n"] / (values["n"] - values["P"])}
        found = terms_of(order, at_best)
        read = terms_of(partial, at_best)
        assert close(found[0] + found[1], read[0])
        assert found[2] <= read[1]


# Conditions that the second reading lists elsewhere or in no table.
UNREAD = {"clients", "heterogeneity", "slack", "weights"}


def own_pairs(statement, values):
    """Every hypothesis as (smaller, larger), but for the unread ones."""
    kept = [condition for condition in statement.hypotheses if condition.name not in UNREAD]
    return [(value_of(condition.left, values), value_of(condition.right, values)) for condition in kept]


@pytest.mark.parametrize("key", ["simfbo/stepsizes", "simfbo/theorem-1", "simfbo/theorem-2", "simfbo/lyapunov"])
@pytest.mark.parametrize("suffix", ["", "-repaired"])
def test_step_size_conditions_equal_the_second_reading(key, suffix):
    """Ratio of the sides, term by term, at rho = 3*rho_bar/2: (39), and the ratio of the c_gamma to their least values.

    The second reading leaves 256*K_1*L_y/mu_g <= c_gamma_y with K_1 on the left; solved, the ratio is squared. Its two
    bounds on eta_y^2*tau_bar are one minimum here, under a root.
    """
    if (key + suffix) not in STATEMENTS:
        pytest.skip("no repaired form")
    statement = STATEMENTS[key + suffix]
    repaired = bool(suffix)
    for values in points(4, 50):
        read = {**as_read(values), "rho": 1.5 * values["rho_bar"]}
        ratios = [left / right for left, right in reading.CONDITIONS[f"simfbo/stepsizes{suffix}"](**read)]
        *terms, y_ratio, v_ratio = ratios
        if repaired:
            expected = terms
        else:
            *terms, eta_x, eta_y, eta_y_other = terms
            expected = [*terms, math.sqrt(eta_x), math.sqrt(max(eta_y, eta_y_other))]
        expected += [math.sqrt(y_ratio), math.sqrt(v_ratio)]
        found = []
        for condition in statement.hypotheses:
            if condition.name not in UNREAD:
                left, right = value_of(condition.left, values), value_of(condition.right, values)
                found.append(right / left if condition.operator == ">=" else left / right)
        assert len(found) == len(expected)
        assert all(map(close, found, expected))


@pytest.mark.parametrize(
    "key",
    [
        "simfbo/proposition-1-repaired",
        "simfbo/lemma-2-repaired",
        "simfbo/lemma-8-simplified",
        "simfbo/lemma-8-repaired",
    ],
)
def test_conditions_of_the_lemmas_equal_the_second_reading(key):
    """Both sides; those printed above (21) are read under Lemma 8."""
    read = reading.CONDITIONS["simfbo/lemma-8" if key.endswith("simplified") else key]
    for values in points(5, 50):
        found = own_pairs(STATEMENTS[key], values)
        expected = read(**as_read(values))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert close(one[0], other[0])
            assert close(one[1], other[1])


def test_the_room_of_lemma_8_is_what_its_denominator_needs():
    """Without it the right side is negative, or there is none."""
    statement = STATEMENTS["simfbo/lemma-8"]
    values = {**points(6, 1)[0], "eta_y": 1.0, "c_a": 1.0, "tau_bar": 4.0, "alpha_min": 1.0, "alpha_max": 1.0}
    for L_1, sign in ((0.3, 1), (0.4, -1)):
        evaluation = statement.evaluate(**pick_required(statement, {**values, "L_1": L_1}), L_1=L_1)
        assert evaluation.applicable is (sign > 0)
        assert np.sign(evaluation.claims["y"]) == sign
    evaluation = statement.evaluate(**pick_required(statement, values), L_1=1 / math.sqrt(8))
    assert not evaluation.applicable


def pick_required(statement, values):
    """The required parameters but L_1."""
    return {name: values[name] for name in statement.required if name != "L_1"}


@pytest.mark.parametrize("suffix", ["", "-repaired"])
def test_prescribed_step_sizes_equal_the_second_reading(suffix):
    """Without any step size: the least ratios, and the orders of (38) with the constant 1, lowered to what is admitted.

    The completed point meets every condition, also where derivatives of second or third order vanish.
    """
    statement = STATEMENTS[f"simfbo/theorem-1{suffix}"]
    read_steps = reading.PRESCRIBED[f"simfbo/stepsizes{suffix}"]
    orders = reading.PRESCRIBED["simfbo/theorem-1"]
    limits = reading.RIGHT_SIDES[f"simfbo/stepsizes{suffix}"]
    steps = {q.name for q in symbols.VOCABULARY if q.role is Role.STEP_SIZE}
    lowered = {"gamma_x": set(), "eta_x": set(), "eta_y": set()}
    for index, values in enumerate(points(7, 60)):
        given = {name: values[name] for name in statement.required}
        given["T"] = float(10 ** (5 * (index % 12)))
        quadratic = index % 3 == 2
        if quadratic:
            given |= {"L_2": 0.0, "L_3": 0.0}
        completed, defaulted = statement.complete(given)
        assert set(defaulted) == steps
        assert statement.evaluate(**given).applicable
        for name in ("c_gamma_y", "c_gamma_v"):
            assert close(completed[name], read_steps[name](**given))
        if quadratic:  # the second reading divides by L_yx = 0
            continue
        for name in ("gamma_y", "gamma_v"):
            assert close(completed[name], read_steps[name](**completed))
        limit = {"gamma_x": read_steps["gamma_x_largest"](**completed)}
        limit |= {name: limits[name](**completed) for name in limits if name.startswith("eta")}
        for name in ("gamma_x", "eta_x", "eta_y", "eta_v"):
            order = orders[name](**completed)
            assert close(completed[name], min(order, limit.get(name, math.inf)))
            lowered.setdefault(name, set()).add(order > limit.get(name, math.inf))
    assert lowered["gamma_x"] == {True, False}
    assert lowered["eta_y"] == {True, False}


def test_the_second_reading_notices_a_wrong_constant():
    """Planted error: 384 read as 383 in K_1 is found."""
    claim = claim_of("simfbo/constants", "K_1")
    values = points(8, 1)[0]
    expected = reading.RIGHT_SIDES["simfbo/constants"]["K_1"](**values)
    wrong = 383 * formulas.L_R**2 * symbols.L_1**2 / symbols.mu_g**3 + 40 * formulas.SLOPE / symbols.mu_g
    assert close(value_of(claim.bound, values), expected)
    assert not close(value_of(wrong / symbols.c_gamma_y, values), expected)


@every_key
def test_left_sides_and_relations(key):
    """Definitions are equalities about no run; rates are means over rounds; everything else is at most, each round."""
    statement = STATEMENTS[key]
    for claim in statement.claims:
        if "constants" in key or "young" in key:
            assert claim.relation is Relation.EQUAL
            assert [symbol.name for symbol in claim.metric.weights] == [claim.name]
        elif claim.name in {"sync", "part", "drift"} and "lyapunov" in key:
            assert claim.relation is Relation.EQUAL
        else:
            assert claim.relation is (Relation.ORDER if "order" in key else Relation.AT_MOST)
        assert (claim.metric.over is Over.MEAN_OF_ROUNDS) is ("theorem" in key)
        if "theorem" in key:
            expected = "grad_Phi_w2" if "theorem-1" in key else "grad_Phi2"
            assert {symbol.name: weight for symbol, weight in claim.metric.weights.items()} == {expected: 1}
            assert statement.algorithm == ("simfbo" if "theorem-1" in key else "shrofbo")
    assert set(statement.follows_from) <= set(STATEMENTS) - {key}


@every_key
def test_no_statement_follows_from_itself(key):
    """Not by way of others either."""
    followed = list(STATEMENTS[key].follows_from)
    while followed:
        name = followed.pop()
        assert name != key
        followed += STATEMENTS[name].follows_from


@every_key
def test_every_symbol_of_a_statement_is_of_its_vocabulary(key):
    """By name and domain."""
    statement = STATEMENTS[key]
    exprs = [side for claim in statement.claims for side in (claim.metric.expr, claim.bound)]
    exprs += [claim.metric.trivial for claim in statement.claims if claim.metric.trivial is not None]
    exprs += [side for condition in statement.hypotheses for side in (condition.left, condition.right)]
    found = set().union(*(sp.sympify(expr).free_symbols for expr in exprs))
    assert found == {symbols.VOCABULARY[symbol.name].symbol for symbol in found}
    assert {
        name for assumption in statement.assumptions for name in assumption.constants
    } <= symbols.VOCABULARY.order.keys()


# --- (b) Scaling ---

DEGREES = {q.name: (q.f_degree, q.x_degree) for q in symbols.VOCABULARY}


def has_degrees(expr, degrees):
    """Whether (f, g) -> (a*f, a*g), (x, y) -> (c*x, c*y) multiplies every branch by a**degrees[0]*c**degrees[1]."""
    expr = sp.sympify(expr)
    choices = sorted(expr.atoms(sp.Max, sp.Min), key=sp.count_ops)
    if choices:
        return all(has_degrees(expr.xreplace({choices[0]: argument}), degrees) for argument in choices[0].args)
    free = sorted(expr.free_symbols, key=str)
    function = sp.lambdify(free, expr, modules="mpmath")
    with mpmath.workdps(50):
        a, c = mpmath.mpf("1.37"), mpmath.mpf("0.61")
        for values in points(9, 2):
            precise = [mpmath.mpf(values[x.name]) for x in free]
            scaled = [
                value * a ** DEGREES[x.name][0] * c ** DEGREES[x.name][1]
                for x, value in zip(free, precise, strict=True)
            ]
            wanted = mpmath.mpf(function(*precise)) * a ** degrees[0] * c ** degrees[1]
            if abs(function(*scaled) - wanted) > mpmath.mpf(10) ** -30 * abs(wanted):
                return False
    return True


def degrees_of_left(claim):
    """Degrees of what stands on the left of a claim."""
    (symbol, weight), *_ = claim.metric.weights.items()
    f_degree, x_degree = DEGREES[symbol.name]
    for factor in sp.sympify(weight).free_symbols:
        f_degree, x_degree = f_degree + DEGREES[factor.name][0], x_degree + DEGREES[factor.name][1]
    return f_degree, x_degree


# Terms that scale differently from their left side: defects of the paper, and the Young weight 1 that repairs keep.
RATE = {"partial participation", "full synchronisation", "local updates"}
NOT_HOMOGENEOUS = {
    "simfbo/proposition-2": {
        ("main", name) for name in ("contraction", "direction", "drift", "error of y", "direction of x")
    },
    "simfbo/lemma-7": {("main", "direction")},
    "simfbo/lemma-9": {("y", "error of y")},
    "simfbo/constants": {("M_1", "formula"), ("M_2", "formula"), ("M_3", "formula")},
    "simfbo/constants-repaired": {("M_1", "formula"), ("M_2", "formula")},
    "simfbo/stepsizes": {("rho_gamma_x", "largest")},
    "simfbo/stepsizes-repaired": {("rho_gamma_x", "largest")},
    "simfbo/theorem-1": {("main", name) for name in RATE},
    "simfbo/theorem-1-repaired": {("main", name) for name in RATE - {"local updates"}},
    "simfbo/lyapunov": {
        ("descent", "partial participation"), ("descent", "full synchronisation"), ("descent", "client drifts"),
        ("sync", "upper level"), ("part", "upper level"), ("drift", "slopes"), ("drift", "step of y"),
    },
    "simfbo/lyapunov-repaired": {("descent", "partial participation"), ("descent", "full synchronisation")},
}  # fmt: skip
NOT_HOMOGENEOUS["simfbo/proposition-2-repaired"] = NOT_HOMOGENEOUS["simfbo/proposition-2"]
for _suffix in ("", "-repaired"):
    NOT_HOMOGENEOUS[f"simfbo/lemma-10{_suffix}"] = {
        (claim, name)
        for claim, names in (
            ("y", ("contraction", "direction", "drift", "direction of x")),
            ("v", ("contraction", "direction", "drift", "error of y", "direction of x")),
        )
        for name in names
    }
    NOT_HOMOGENEOUS[f"simfbo/theorem-2{_suffix}"] = NOT_HOMOGENEOUS[f"simfbo/theorem-1{_suffix}"]
NOT_HOMOGENEOUS["simfbo/theorem-2-appendix"] = NOT_HOMOGENEOUS["simfbo/theorem-1"]


@every_value
def test_claims_are_homogeneous_but_for_the_known_defects(key):
    """Every term of a right side has the degrees of the left one, or is listed; a listed one does fail."""
    found = set()
    for claim in STATEMENTS[key].claims:
        degrees = degrees_of_left(claim)
        found |= {(claim.name, name) for name, term in claim.terms.items() if not has_degrees(term, degrees)}
        if claim.metric.trivial is not None:
            assert has_degrees(claim.metric.trivial, degrees)
    assert found == NOT_HOMOGENEOUS.get(key, set())


CAPS_NOT_HOMOGENEOUS = {
    "simfbo/stepsizes": {
        "v curvature", "Phi", "Phi curvature", "y ratio", "v ratio", "y step", "y curvature", "y remainder",
        "v remainder", "curvature",
    },
    "simfbo/stepsizes-repaired": {"y remainder", "v remainder", "curvature"},
}  # fmt: skip


@every_key
def test_conditions_are_homogeneous_but_for_the_known_defects(key):
    """The conditions on gamma_x inherit the defects of (39); everything else scales."""
    statement = STATEMENTS[key]
    kind = "simfbo/stepsizes" + ("-repaired" if key.endswith("-repaired") else "")
    expected = CAPS_NOT_HOMOGENEOUS[kind] if any(c.name == "Phi" for c in statement.hypotheses) else set()
    found = set()
    for condition in statement.hypotheses:
        degrees = DEGREES[condition.left.name] if condition.left.is_Symbol else (0, 0)
        if not (has_degrees(condition.left, degrees) and has_degrees(condition.right, degrees)):
            found.add(condition.name)
    assert found == expected


@pytest.mark.parametrize("repaired", [False, True])
def test_only_the_repaired_drifts_do_not_depend_on_the_unit_of_the_coefficients(repaired):
    """a_i -> 2*a_i with eta -> eta/2 is the same run; the printed Lemma 8 gives another bound, the repaired one not."""
    statement = STATEMENTS["simfbo/lemma-8-repaired" if repaired else "simfbo/lemma-8-simplified"]
    doubled = {"alpha_min": 2.0, "alpha_max": 2.0, "eta_x": 0.5, "eta_y": 0.5, "eta_v": 0.5}
    values = points(10, 1)[0]
    other = {**values, **{name: values[name] * factor for name, factor in doubled.items()}}
    claims = ["y"] + (["x", "v"] if repaired else ["f", "g"])
    for name in claims:
        right = claim_of(statement.key, name).bound
        assert close(value_of(right, values), value_of(right, other)) is repaired


# --- (c) What follows from what ---


MEASURED = ("grad_Phi_w2", "y_error_w2", "v_error_w2", "mean_x2", "noise_weight", "noise_weight_r")


def coefficients(expr):
    """The coefficients of an expression that is linear in the measured quantities, and the rest under 1."""
    measured = {name: symbols.VOCABULARY[name].symbol for name in MEASURED}
    found = {name: sp.diff(expr, symbol) for name, symbol in measured.items()}
    return {**found, "1": expr.xreplace(dict.fromkeys(measured.values(), sp.Integer(0)))}


def combined(suffix):
    """(41) from Lemmas 7 to 10: Lemma 7 plus K_1 and K_2 times Lemma 10, with Lemmas 6, 8 and 9 put in.

    A sum with w_i^2 is at most beta_max/n times the one with w_i. The Young parameters are what the remainder leaves
    of delta_t = rho*gamma_y*mu_g/4.
    """

    def right(key, name):
        return claim_of(f"simfbo/{key}{suffix}", name).bound

    drift_x, drift_v = right("lemma-8", "x"), right("lemma-8", "v")
    drift_y = right("lemma-8" if suffix else "lemma-8-simplified", "y")
    f = 3 * formulas.SLOPE * (symbols.drift_x + symbols.drift_y) + 3 * symbols.L_1**2 * symbols.drift_v
    g = symbols.L_1**2 * (symbols.drift_x + symbols.drift_y)
    share = symbols.beta_max / symbols.n
    own, other = (formulas.D_Y_REPAIRED, formulas.D_V_REPAIRED) if suffix else (formulas.D_Y, formulas.D_V)
    total = right("lemma-7", "main") + formulas.K_1 * right("lemma-10", "y") + formulas.K_2 * right("lemma-10", "v")
    for step in (
        {getattr(symbols, f"sampled_{b}2"): right("lemma-9", b) for b in "xyv"},
        {symbols.drift_f: f, symbols.drift_g: g, symbols.drift_f_sq: share * f, symbols.drift_g_sq: share * g},
        {symbols.drift_x: drift_x, symbols.drift_v: drift_v, symbols.drift_y: drift_y},
        {
            symbols.delta_t1: symbols.delta_t1 + formulas.DELTA - own,
            symbols.delta_t1_prime: symbols.delta_t1_prime + formulas.DELTA_PRIME - other,
        },
    ):
        total = total.xreplace(step)
    return coefficients(total)


def admissible(rng, suffix, a, c):
    """A point of stepsizes that meets every condition, gamma_x and the eta anywhere up to their limits.

    Constants are in units of a for f and g, of c for x and y: the paper's conditions are not homogeneous.
    """
    statement = STATEMENTS[f"simfbo/stepsizes{suffix}"]
    values = {name: value * a ** DEGREES[name][0] * c ** DEGREES[name][1] for name, value in drawn(rng).items()}
    given = {name: values[name] for name in statement.parameters if symbols.VOCABULARY[name].role is not Role.STEP_SIZE}
    given["T"] = 1.0
    if rng.random() < 0.3:
        given |= {"L_2": 0.0, "L_3": 0.0}
    completed, _ = statement.complete(given)
    for name in ("c_gamma_y", "c_gamma_v"):
        completed[name] *= float(rng.choice([1, 3]))
    for block in "yv":
        completed.pop(f"gamma_{block}")
    limits = statement.evaluate(**{k: v for k, v in completed.items() if k != "gamma_x"}).claims
    completed["rho"] = completed["rho_bar"] * rng.choice([0.5, 1.5])
    completed["gamma_x"] = limits["rho_gamma_x"] / (1.5 * completed["rho_bar"]) * rng.choice([1, 0.1])
    for block in "xyv":
        completed[f"eta_{block}"] = limits.get(f"eta_{block}", completed[f"eta_{block}"]) * rng.choice([1, 0.1])
    result = {**values, **completed}
    for block in "yv":
        result[f"gamma_{block}"] = result[f"c_gamma_{block}"] * result["gamma_x"]
    return result


def sides(seed, suffix, count, **units):
    """How much (45) from the lemmas exceeds the claimed one: the largest excess of each coefficient.

    Those of the gradient, the errors and the mean direction in units of rho*gamma_x, L_1^2*rho*gamma_x and
    mu_g*c_gamma_y*K_1*rho*gamma_x; noise and the rest relative to what is claimed.
    """
    rng = np.random.default_rng(seed)
    derived, wanted = combined(suffix), coefficients(claim_of(f"simfbo/lyapunov{suffix}", "descent").bound)
    excess = []
    for _ in range(count):
        a, c = (10 ** rng.uniform(*units.get(name, (0, 0))) for name in "ac")
        values = admissible(rng, suffix, a, c)
        found = {name: value_of(expr, values) for name, expr in derived.items()}
        claimed = {name: value_of(expr, values) for name, expr in wanted.items()}
        # The repaired form has r_max for the local ||v_i^k||.
        for side in (found, claimed):
            side["noise_weight"] += side.pop("noise_weight_r") * value_of(formulas.R_MAX, values) ** 2
        step = values["rho"] * values["gamma_x"]
        scales = {
            "grad_Phi_w2": step,
            "mean_x2": step,
            "v_error_w2": step * values["L_1"] ** 2,
            "y_error_w2": step * value_of(formulas.K_1_NUMERATOR, values) * values["mu_g"],
            "noise_weight": claimed["noise_weight"],
            "1": claimed["1"],
        }
        excess.append({name: (found[name] - claimed[name]) / scale for name, scale in scales.items()})
    return {name: max(each[name] for each in excess) for name in excess[0]}


def test_the_repaired_descent_follows_from_the_repaired_lemmas():
    """(45) repaired, at 300 admissible points in many units: no coefficient from the lemmas exceeds the claimed one.

    To spare, at least: the gradient nothing, the mean direction 0.25 of its 1/2, the error of v 2.5 of 9/2 (units of
    L_1^2), the error of y 0.43 of 3/4 (units of mu_g*c_gamma_y*K_1), the noise 2e-4 and the constant part 0.5 of 1. So
    the noise is the sharpest part.
    """
    largest = sides(11, "-repaired", 300, a=(-6, 6), c=(-6, 6))
    assert all(value <= 1e-9 for value in largest.values())
    assert largest["noise_weight"] > -0.01


def test_the_printed_descent_does_not_follow_from_the_printed_lemmas():
    """Nor does it with the printed conditions: two coefficients exceed the claimed ones, the other four do not.

    The noise by up to 1/288, the lost 1 + delta_t. The mean direction by up to 1.56 where L_1 is large, since its
    condition has 4/L_Phi^2; where L_1 is about 1 other conditions cover for it.
    """
    usual, large = sides(12, "", 100), sides(12, "", 200, a=(6, 8))
    assert 0.002 < usual.pop("noise_weight") <= 1 / 288
    assert all(value <= 1e-9 for value in usual.values())
    assert large["mean_x2"] > 1


@pytest.mark.parametrize("suffix", ["", "-repaired"])
def test_the_theorem_follows_from_the_descent(suffix):
    """Summing (45) at 200 points gives at most Theorem 1, for constant and for alternating rho^(t).

    Sharpest: 5/6 of the sampling and noise parts, at rho^(t) that alternate between rho_bar/2 and 3*rho_bar/2, for
    which the mean of the squares is 5/4 of the squared mean and the proof takes 3/2; the initial gap is met.
    """
    rng = np.random.default_rng(13)
    descent, rate = (STATEMENTS[f"simfbo/{name}{suffix}"].claims[0] for name in ("lyapunov", "theorem-1"))
    shares = []
    for _ in range(200):
        values = drawn(rng)
        spread = values["alpha_max"] * values["beta_max"] / (values["c_a_prime"] * values["alpha_min"])
        values["noise_weight"] = spread / (values["n"] * values["tau_bar"])
        values["noise_weight_r"] = values["noise_weight"] * value_of(formulas.R_MAX, values) ** 2
        names = ("partial participation", "full synchronisation", "client drifts")
        for factors in ((1, 1), (0.5, 1.5)):
            rounds = [{**values, "rho": values["rho_bar"] * factor} for factor in factors]
            errors = [np.mean([value_of(descent.terms[name], at) for at in rounds]) for name in names]
            summed = 4 / (values["rho_bar"] * values["gamma_x"]) * np.array([values["psi_gap"] / values["T"], *errors])
            shares.append(summed / terms_of(rate, values))
    assert np.max(shares) <= 1 + 1e-12
    assert np.max(shares, axis=0)[:3] == pytest.approx([1, 5 / 6, 5 / 6])
    assert 0.3 < np.max(shares, axis=0)[3] <= 2 / 3 * (1 + 1e-12)


def test_statements_that_restate_others():
    """Proposition 2 repaired and Proposition 3 are parts of Lemmas 10 and 8, Theorem 2 is Theorem 1 at w = p."""
    same = [
        ("proposition-2-repaired", "main", "lemma-10-repaired", "v"),
        ("proposition-3", "main", "lemma-8", "v"),
        ("proposition-3-repaired", "main", "lemma-8-repaired", "v"),
        ("theorem-2", "main", "theorem-1", "main"),
        ("theorem-2-repaired", "main", "theorem-1-repaired", "main"),
        ("lemma-2", "main", "constants", "r_max"),
        ("lemma-2-repaired", "main", "constants-repaired", "r_max"),
    ]
    for key, name, other, others in same:
        assert claim_of(f"simfbo/{key}", name).bound == claim_of(f"simfbo/{other}", others).bound


def test_main_text_and_appendix_disagree_about_v():
    """Proposition 2 is the stronger of the two: half of L_vx and half of L_v."""
    main, appendix = claim_of("simfbo/proposition-2", "main").bound, claim_of("simfbo/lemma-10", "v").bound
    for values in points(14, 20):
        assert value_of(main, values) < value_of(appendix, values)


def test_the_printed_constants_against_the_repaired_ones():
    """L_vx grows always, sigma_M1 and sigma_M2 wherever c_a, tau_bar and alpha_max are at least 1; r_max falls."""
    for values in points(15, 50):
        for name in ("c_a", "alpha_max", "tau_bar"):
            values[name] = max(values[name], 1.0)
        for name in ("L_vx", "sigma_M1", "sigma_M2", "r_max"):
            printed, repaired = (
                value_of(claim_of(f"simfbo/constants{x}", name).bound, values) for x in ("", "-repaired")
            )
            assert (printed > repaired) if name == "r_max" else (printed < repaired)


def test_the_counterexample_to_the_printed_constant_of_v():
    """F = L_f*y and g = G(y) - a*x*y, second derivative of G: mu + eps*(1 - cos(y*sqrt(L_3/eps))).

    v* = L_f/G_2(y*) and G_1(y*) = a*x with the derivatives G_1, G_2, ... of G. The largest second derivative of v* in x
    on a grid, by the chain rule, is above the printed L_vx by more than 2 and below the repaired one.
    """
    mu, L_f, L_3, eps, a = 1.0, 1.0, 1.0, 1e-10, 5.0
    root = math.sqrt(L_3 / eps)
    y = np.linspace(0, 2 * math.pi / root, 10001)
    G_2, G_3, G_4 = mu + eps * (1 - np.cos(y * root)), eps * root * np.sin(y * root), L_3 * np.cos(y * root)
    largest = (L_f * a**2 * np.abs(3 * G_3**2 / G_2**5 - G_4 / G_2**4)).max()
    L_1 = (mu + 2 * eps + math.sqrt((mu + 2 * eps) ** 2 + 4 * a**2)) / 2
    values = {"mu_g": mu, "L_f": L_f, "L_1": L_1, "L_2": eps * root, "L_3": L_3}
    assert 2 * value_of(formulas.L_VX, values) < largest < value_of(formulas.L_VX_REPAIRED, values)


def test_the_counterexample_to_the_printed_drift():
    """20 steps along a constant gradient of size L_f: the drift is above the printed bound, below the repaired one."""
    steps = 20
    drift = np.mean(np.arange(steps) ** 2.0)  # in units of eta_x^2*L_f^2
    values = dict.fromkeys(("L_f", "L_1", "mu_g", "alpha_min", "alpha_max", "c_a", "eta_x"), 1.0)
    values |= {"sigma_f": 0.0, "sigma_gg": 0.0, "tau_bar": float(steps)}
    printed, repaired = (value_of(claim_of(f"simfbo/lemma-8{x}", "x").bound, values) for x in ("", "-repaired"))
    assert (drift, printed) == pytest.approx((123.5, 100))
    assert drift < repaired


# --- (d) Input ---

GOOD = {
    "n": 10, "P": 5, "T": 1000, "tau_bar": 4, "rho_bar": 4, "psi_gap": 3.0,
    "mu_g": 1.0, "L_f": 1.0, "L_1": 2.0, "L_2": 0.5, "L_3": 0.5,
    "sigma_f": 0.1, "sigma_g": 0.1, "sigma_gg": 0.1, "beta_gh": 1.0, "sigma_gh": 0.2,
    "alpha_min": 1.0, "alpha_max": 1.0, "beta_max": 1.5, "c_a": 2.0, "c_a_prime": 0.5,
}  # fmt: skip
CONTRACT = ("constants", "stepsizes", "theorem-1", "theorem-2")


def refusal(key, **given):
    """The message with which a statement refuses its input; one line."""
    with pytest.raises(InputError) as caught:
        STATEMENTS[key].evaluate(**given)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", [f"{name}{suffix}" for name in CONTRACT for suffix in ("", "-repaired")])
@pytest.mark.parametrize("quadratic", [False, True])
def test_the_named_parameters_suffice(name, quadratic):
    """Nothing else has to be given, with or without gamma_x; every number is finite, every condition holds."""
    given = {**GOOD, "L_2": 0.0, "L_3": 0.0} if quadratic else GOOD
    for steps in ({}, {"gamma_x": 1e-12}):
        evaluation = STATEMENTS[f"simfbo/{name}"].evaluate(**given, **steps)
        assert evaluation.applicable
        assert all(check.holds for check in evaluation.conditions)
        assert all(math.isfinite(value) and value >= 0 for value in evaluation.claims.values())


@every_value
def test_required_is_exactly_what_an_evaluation_needs(key):
    """With the required parameters there is a value; without any one of them there is none, and it is named."""
    statement = STATEMENTS[key]
    values = points(16, 1)[0]
    given = {name: values[name] for name in statement.required}
    assert math.isfinite(statement.evaluate(**given).value)
    for name in given:
        rest = {other: value for other, value in given.items() if other != name}
        assert f"{name} ({symbols.VOCABULARY[name].meaning})" in refusal(key, **rest)


@every_value
def test_every_symbol_is_refused_outside_its_domain(key):
    """Zero, negative, fractional or infinite, whatever the domain excludes."""
    statement = STATEMENTS[key]
    outside = {
        Domain.POSITIVE_INTEGER: (0, 1.5, math.inf),
        Domain.POSITIVE: (0, -1, math.nan),
        Domain.NONNEGATIVE: (-1e-300, math.inf),
        Domain.REAL: (math.nan,),
    }
    values = points(17, 1)[0]
    given = {name: values[name] for name in statement.required}
    for name in given:
        for value in outside[symbols.VOCABULARY[name].domain]:
            assert refusal(key, **{**given, name: value}).startswith((f"{name}={value:g} ", f"{name}={value:g}: "))


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ({"P": 11}, ["P=11", "P <= n", "Largest admissible P: 10"]),
        ({"alpha_min": 2.0}, ["alpha_min=2", "alpha_min <= alpha_max", "Largest admissible alpha_min: 1"]),
        ({"gamma_x": 1e-9, "gamma_y": 1e-3, "c_gamma_y": 5.0}, ["gamma_x", "gamma_y"]),
        ({"sigma_ff": 1.0}, ["'sigma_ff'", "did you mean 'sigma_f'"]),
        ({"L_1": 0.0}, ["L_1=0", "positive"]),
    ],
)
def test_bad_values_are_named_in_one_line(changed, parts):
    """The message has the value, what it breaks and what would do."""
    message = refusal("simfbo/theorem-1", **{**GOOD, **changed})
    for part in parts:
        assert part in message


def test_a_single_client_breaks_the_division():
    """N = 1 makes (n - P)/(n - 1) 0/0: no value, and the condition says why."""
    evaluation = STATEMENTS["simfbo/theorem-1"].evaluate(**{**GOOD, "n": 1, "P": 1})
    assert evaluation.value == math.inf
    assert [check.condition.name for check in evaluation.broken] == ["clients"]


def test_a_step_size_above_its_cap_is_told_the_largest_admissible():
    """The cap on gamma_x of one term of (39), those on the local step sizes, and the least ratio."""
    evaluation = STATEMENTS["simfbo/theorem-1"].evaluate(**GOOD, gamma_x=1.0, eta_x=1.0, eta_y=1.0, c_gamma_y=1.0)
    broken = {check.condition.name: check.broken for check in evaluation.broken}
    assert {"v", "Phi", "eta_x", "eta_y", "c_gamma_y"} <= broken.keys()
    assert re.search(r"Largest admissible gamma_x: \S+\.$", broken["Phi"])
    assert re.search(r"Smallest admissible c_gamma_y: \S+\.$", broken["c_gamma_y"])
    assert all("\n" not in message for message in broken.values())


def test_any_two_of_the_server_step_sizes_give_the_ratio():
    """gamma_y = c_gamma_y*gamma_x, whichever two are given."""
    ratios = STATEMENTS["simfbo/theorem-1"].evaluate(**GOOD).values
    given = {"gamma_x": 1e-9, "gamma_y": 2e-9 * ratios["c_gamma_y"]}
    values = STATEMENTS["simfbo/theorem-1"].evaluate(**GOOD, **given).values
    assert values["c_gamma_y"] == pytest.approx(2 * ratios["c_gamma_y"])
    assert values["gamma_v"] == pytest.approx(1e-9 * ratios["c_gamma_v"])


def test_an_order_has_no_value():
    """The printed theorems."""
    assert "O(...)" in refusal("simfbo/theorem-1-order", **GOOD)


def test_vacuity_compares_with_what_smoothness_gives():
    """min(2*L_Phi*psi_gap, (L_f*(1 + L_1/mu_g))^2) is 9 here, below the bound; above it for T = 1e40 without noise."""
    evaluation = STATEMENTS["simfbo/theorem-1"].evaluate(**GOOD)
    assert evaluation.trivial == pytest.approx(9)
    assert evaluation.vacuous
    quiet = {"P": 10, "sigma_f": 0, "sigma_g": 0, "sigma_gg": 0, "sigma_gh": 0, "T": 10**40}
    assert not STATEMENTS["simfbo/theorem-1"].evaluate(**{**GOOD, **quiet}).vacuous


def test_what_is_left_out_has_a_reason():
    """Numbers and reasons, none empty; the statements all have a location."""
    assert all(number and reason for number, reason in simfbo.LEFT_OUT)
    assert all(statement.source.location and statement.source.number for statement in simfbo.STATEMENTS)


def test_a_statement_cannot_drop_a_part():
    """A right side without any one of its terms is another one: what the comparisons above would notice."""
    claim = claim_of("simfbo/theorem-1", "main")
    values = points(18, 1)[0]
    expected = reading.RIGHT_SIDES["simfbo/theorem-1"]["main"](**as_read(values))
    for name in claim.terms:
        wrong = dataclasses.replace(claim, terms={other: t for other, t in claim.terms.items() if other != name})
        assert not close(terms_of(wrong, values).sum(), expected)
