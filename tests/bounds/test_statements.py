"""The catalogue against a second reading of the paper, its own scaling laws, and its own reductions."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy as sp
from each_key import each_key
from second_reading import pfl as reading

import bounds
from bounds import symbols as s
from bounds.errors import InputError
from bounds.statement import Claim, Condition, Over, Relation, Statement, compiled
from bounds.symbols import COMMON, Domain, Role, Vocabulary

# The tests against the second reading, and those that draw values for the symbols, are about the first paper; the
# others have theirs in test_<paper>_statements.py.
KEYS = tuple(statement.key for statement in bounds.statements("pfl"))
VALUED = tuple(key for key in KEYS if not bounds.get(key).order_only)
ORDER_ONLY = ("pfl/scaffold", "pfl/scaffold-prior")
every_key = each_key(KEYS)
every_key_of_every_paper = each_key(bounds.keys())
every_paper = pytest.mark.parametrize("paper", bounds.PAPERS)

# The second reading has both parts of Lemma 3.6 under one key.
READ_AS = {
    "pfl/lemma-3.6": ("pfl/lemma-3.6", "dissimilarity"),
    "pfl/lemma-3.6-recursion": ("pfl/lemma-3.6", "recursion"),
}
# Not printed, hence not in the second reading.
DERIVED = {
    "pfl/scaffold-explicit": "Corollary 4.6 at sigma_v = 0; the paper prints its order only",
    "pfl/parallel-sgd-scaffold": "Corollary 4.6 at K = 1, m = n, sigma_u = 0; the paper prints nothing",
    "pfl/lemma-a.2-repaired": "Lemma A.2 with the relation that its proof gives",
}
# Step rules of displays that do not repeat those of their corollary: checked by `ratecheck implications`.
INHERITED_RULES = ("pfl/fedavg-partial", "pfl/parallel-sgd", "pfl/fedavg-full")
# Hypotheses of the catalogue that the paper does not print, by their name.
UNPRINTED = {"pfl/lemma-3.6-recursion": {"rounds"}}

# The statements that the papers number.
NUMBERED = {
    "pfl": {
        "Lemma": "3.1 3.2 3.3 3.4 3.5 3.6 4.1 4.2 4.3 4.4 A.1 A.2 A.3",
        "Theorem": "3.7 3.11 4.5",
        "Corollary": "3.8 4.6",
    },
    "fedsum": {
        "Theorem": "4.1 C.1 D.1 E.1 G.1",
        "Corollary": "4.1 C.3 D.3 E.3 G.1",
        "Lemma": "B.1 B.2 C.1 C.2 C.4 C.5 C.6 D.1 D.2 D.4 D.5 D.6 E.1 E.2 E.4 E.5 E.6 F.1 F.2 F.3 F.4",
    },
    "flame": {"Theorem": "1 2", "Lemma": "1 2 3", "Proposition": "1 2 3"},
    "simfbo": {"Theorem": "1 2", "Lemma": "1 2 3 4 5 6 7 8 9 10", "Proposition": "1 2 3"},
}
# Left sides as printed: weights at m/n = rate, and over which rounds.
SAMPLED, ALL = {"G_u": 1.0, "G_v": "rate"}, {"G_u": 1.0, "G_v": 1.0}
MEAN, EACH, LATER = Over.MEAN_OF_ROUNDS, Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST
LEFT_SIDES = {
    "pfl/lemma-3.1": [({"descent": 1.0}, EACH)],
    "pfl/lemma-3.2": [({"T_1u": 1.0}, EACH), ({"T_1v": 1.0}, EACH)],
    "pfl/lemma-3.3": [({"T_2u": 1.0}, EACH), ({"T_2v": 1.0}, EACH)],
    "pfl/lemma-3.4": [({"T_3u": 1.0}, EACH)],
    "pfl/lemma-3.5": [({"E": 1.0}, EACH)],
    "pfl/lemma-3.6": [({"B": 1.0}, EACH)],
    "pfl/lemma-3.6-recursion": [({"B": 1.0}, LATER)],
    "pfl/theorem-3.7": [(SAMPLED, MEAN)],
    "pfl/corollary-3.8": [(SAMPLED, MEAN)],
    "pfl/fedavg-partial": [({"G_u": 1.0}, MEAN)],
    "pfl/parallel-sgd": [({"G_v": 1.0}, MEAN)],
    "pfl/theorem-3.11": [(ALL, MEAN)],
    "pfl/theorem-3.11-tuned": [(ALL, MEAN)],
    "pfl/fedavg-full": [({"G_u": 1.0}, MEAN)],
    "pfl/lemma-4.1": [({"descent": 1.0}, EACH)],
    "pfl/lemma-4.2": [({"S_3u": 1.0}, EACH)],
    "pfl/lemma-4.3": [({"E": 1.0}, EACH)],
    "pfl/lemma-4.4": [({"C": 1.0}, LATER)],
    "pfl/theorem-4.5": [(SAMPLED, MEAN)],
    "pfl/corollary-4.6": [(SAMPLED, MEAN)],
    "pfl/scaffold": [({"G_u": 1.0}, MEAN)],
    "pfl/scaffold-explicit": [({"G_u": 1.0}, MEAN)],
    "pfl/scaffold-prior": [({"G_u": 1.0}, MEAN)],
    "pfl/parallel-sgd-scaffold": [({"G_v": 1.0}, MEAN)],
    "pfl/lemma-a.1": [({"sum2": 1.0}, Over.NO_RUN)],
    "pfl/lemma-a.2": [({"sampled2": 1.0}, Over.NO_RUN)],
    "pfl/lemma-a.2-repaired": [({"sampled2": 1.0}, Over.NO_RUN)],
    "pfl/lemma-a.3": [({"descent": 1.0}, EACH)],
}


def drawn(rng, vocabulary):
    """A value for every symbol of a paper: integers up to 60, m <= n, T >= 2, consistent step sizes."""
    values = {}
    for q in vocabulary:
        if q.domain is Domain.POSITIVE_INTEGER:
            values[q.name] = float(rng.integers(1, 61))
        elif q.domain is Domain.REAL:
            values[q.name] = float(rng.normal())
        else:
            values[q.name] = float(10 ** rng.uniform(-2, 2))
    values["m"] = float(rng.integers(1, int(values["n"]) + 1))
    values["T"] += 1
    for block in "uv":
        values[f"gamma_{block}"] = values["gamma"] / values[f"eta_{block}"]
    return values


def points(vocabulary, seed, count):
    """Random points, the same for every key of a paper."""
    rng = np.random.default_rng([seed, 2])
    return [drawn(rng, vocabulary) for _ in range(count)]


def with_settings(statement, values):
    """The point moved to where the statement lives, such as m = n."""
    fixed = {name: float(compiled(expr)(**pick(expr, values))) for name, expr in statement.settings.items()}
    return {**values, **fixed}


def pick(expr, values):
    """The values of an expression's symbols."""
    return {symbol.name: values[symbol.name] for symbol in expr.free_symbols}


def terms_of(claim, values):
    """The parts of a right side."""
    return np.array([float(compiled(sp.sympify(term))(**pick(term, values))) for term in claim.terms.values()])


def close(found, expected, scale=0.0):
    """Relative 1e-12 of the larger, or of the largest part where parts cancel."""
    return abs(found - expected) <= 1e-12 * max(abs(found), abs(expected), scale)


# --- (a) The second reading ---


def test_every_key_is_read_twice_or_derived():
    """The second reading covers the catalogue but for the derived forms, and nothing of it is missing there."""
    read = {key for key in reading.RIGHT_SIDES if key != "pfl/lemma-3.6"} | set(READ_AS)
    assert len(set(KEYS)) == len(KEYS)
    assert read | set(DERIVED) == set(KEYS)
    assert not read & set(DERIVED)
    assert set(reading.CONDITIONS) | set(reading.PRESCRIBED) <= set(reading.RIGHT_SIDES)
    for key, readers in reading.RIGHT_SIDES.items():
        names = [claim.name for k in KEYS if READ_AS.get(k, (k,))[0] == key for claim in bounds.get(k).claims]
        assert sorted(names) == sorted(readers)


@each_key([key for key in KEYS if key not in DERIVED])
def test_right_sides_equal_the_second_reading(key):
    """At 200 random points, to twelve digits; through `evaluate` wherever the statement has a value."""
    statement = bounds.get(key)
    source = READ_AS.get(key, (key,))[0]
    for values in (with_settings(statement, p) for p in points(statement.vocabulary, 1, 200)):
        for claim in statement.claims:
            parts = terms_of(claim, values)
            expected = reading.RIGHT_SIDES[source][claim.name](**values)
            assert close(parts.sum(), expected, np.abs(parts).max())
            if not statement.order_only:
                evaluation = statement.evaluate(**values)
                assert close(evaluation.claims[claim.name], expected, np.abs(parts).max())
                assert list(evaluation.terms[claim.name]) == list(claim.terms)


def pairs_of(statement, values):
    """Every hypothesis as (smaller, larger), an equality both ways; prescribed step sizes apart."""
    pairs = []
    for condition in statement.hypotheses:
        if condition.name in UNPRINTED.get(statement.key, ()) or condition.operator == "==":
            continue
        sides = [float(compiled(side)(**pick(side, values))) for side in (condition.left, condition.right)]
        pairs.append(tuple(sides if condition.operator == "<=" else sides[::-1]))
    for name, expr in statement.settings.items():
        fixed = float(compiled(expr)(**pick(expr, values)))
        pairs += [(values[name], fixed), (fixed, values[name])]
    return ordered(pairs)


def ordered(pairs):
    """Sorted by what is left of the numbers without rounding, which may part what is equal."""
    return sorted(pairs, key=lambda pair: [float(f"{side:.9e}") for side in pair])


@each_key([key for key in KEYS if key not in DERIVED and key not in INHERITED_RULES])
def test_conditions_equal_the_second_reading(key):
    """The same pairs of sides at 200 random points, neither more nor fewer; a point may break them."""
    statement = bounds.get(key)
    # The conditions printed in Lemma 3.6 belong to its second part.
    read = None if key == "pfl/lemma-3.6" else reading.CONDITIONS.get(READ_AS.get(key, (key,))[0])
    for values in points(statement.vocabulary, 2, 200):
        expected = ordered(read(**values)) if read else []
        found = pairs_of(statement, values)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert close(one[0], other[0])
            assert close(one[1], other[1])


@each_key(reading.CONDITIONS)
def test_a_condition_holds_exactly_when_the_second_reading_says_so(key):
    """`evaluate` finds a point applicable if and only if left <= right for every pair; both happen."""
    key = "pfl/lemma-3.6-recursion" if key == "pfl/lemma-3.6" else key
    statement, outcomes = bounds.get(key), set()
    prescribed = {rule.symbol.name for rule in statement.step_rules if not rule.at_least}
    for index, values in enumerate(with_settings(statement, p) for p in points(statement.vocabulary, 3, 400)):
        if index % 2:  # Nearly admissible points are rare among random ones.
            values["gamma"] = 10.0 ** -(index % 9) / (values["L"] * values["K"])
            for block in "uv":
                values[f"eta_{block}"] *= 100
                values[f"gamma_{block}"] = values["gamma"] / values[f"eta_{block}"]
        pairs = reading.CONDITIONS[READ_AS.get(key, (key,))[0]](**values)
        given = {name: value for name, value in values.items() if name not in {*prescribed, "gamma_u", "gamma_v"}}
        if not prescribed:
            given = values
        evaluation = statement.evaluate(**given)
        assert evaluation.applicable == all(left <= right for left, right in pairs)
        assert evaluation.applicable == (not evaluation.broken)
        outcomes.add(evaluation.applicable)
    assert outcomes == {True, False}


@each_key(reading.PRESCRIBED)
def test_prescribed_step_sizes_equal_the_second_reading(key):
    """What `complete` fills in where no step size is given, at 200 random points, and it meets every condition."""
    statement = bounds.get(key)
    steps = {q.name for q in statement.vocabulary if q.role is Role.STEP_SIZE}
    for values in (with_settings(statement, p) for p in points(statement.vocabulary, 4, 200)):
        given = {name: value for name, value in values.items() if name not in steps}
        completed, defaulted = statement.complete(given)
        for name, read in reading.PRESCRIBED[key].items():
            assert close(completed[name], read(**given))
        assert set(defaulted) == steps
        for block in "uv":
            assert close(completed[f"gamma_{block}"] * completed[f"eta_{block}"], completed["gamma"])
        assert statement.evaluate(**given).applicable


@every_key
def test_left_sides_are_those_of_the_paper(key):
    """Weights of the per-round quantities and the rounds, against a list made from the paper."""
    statement = bounds.get(key)
    values = {s.n: 10, s.m: 4}
    expected = LEFT_SIDES[key]
    assert len(statement.claims) == len(expected)
    for claim, (weights, over) in zip(statement.claims, expected, strict=True):
        found = {symbol.name: float(weight.subs(values)) for symbol, weight in claim.metric.weights.items()}
        assert found == {name: 0.4 if weight == "rate" else weight for name, weight in weights.items()}
        assert claim.metric.over is over
        relation = (
            Relation.ORDER
            if key in ORDER_ONLY
            else Relation.EQUAL
            if key in {"pfl/lemma-a.1", "pfl/lemma-a.2"}
            else Relation.AT_MOST
        )
        assert claim.relation is relation


def test_the_second_reading_notices_a_wrong_constant():
    """Planted error: 129 read as 128 in Corollary 3.8 is found."""
    claim = bounds.get("pfl/corollary-3.8").claims[0]
    wrong = dataclasses.replace(claim, terms={**claim.terms, "1/T": 128 * s.L * s.F_0 / s.T})
    values = points(COMMON, 1, 1)[0]
    expected = reading.RIGHT_SIDES["pfl/corollary-3.8"]["main"](**values)
    assert close(terms_of(claim, values).sum(), expected)
    assert not close(terms_of(wrong, values).sum(), expected)


@every_key_of_every_paper
def test_statements_that_a_statement_follows_from_exist(key):
    """``follows_from`` names keys of the catalogue, and no statement follows from itself."""
    followed, reached = list(bounds.get(key).follows_from), set()
    while followed:
        name = followed.pop()
        assert name != key
        if name not in reached:
            reached.add(name)
            followed += bounds.get(name).follows_from


# --- Every paper ---


@every_paper
def test_every_statement_says_where_it_is_printed(paper):
    """Keys are unique and begin with the paper's name; number and location are there, and the title of a paper.

    What the papers quote is orders only, each with the quoting paper's title and symbols, and with its own symbols.
    """
    statements = bounds.statements(paper)
    assert statements
    assert len({statement.key for statement in statements}) == len(statements)
    titles = {bounds.title(other): other for other in bounds.PAPERS}
    quoting = {titles[statement.source.paper] for statement in statements}
    assert quoting == {paper} or (paper not in quoting and all(statement.order_only for statement in statements))
    for statement in statements:
        assert statement.key.startswith(f"{paper}/")
        assert statement.title
        assert statement.source.number
        assert statement.source.location
        source = titles[statement.source.paper]
        if source == paper:
            assert statement.vocabulary is bounds.vocabulary(paper)
        else:
            known = [*bounds.vocabulary(source), *bounds.vocabulary(paper)]
            assert all(quantity in known for quantity in statement.vocabulary)
        assert bounds.get(statement.key) is statement


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_statement_is_there_or_left_out(paper):
    """Collected from the papers' texts, not from the catalogue, which has no number besides."""
    covered = [s.source.number for s in bounds.statements(paper)] + [number for number, _ in bounds.left_out(paper)]
    for kind, numbers in NUMBERED[paper].items():
        for number in numbers.split():
            assert any(re.search(rf"\b{kind} {re.escape(number)}(?![.\d])", text) for text in covered), (kind, number)
    for text in covered:
        for kind, number in re.findall(r"\b(Lemma|Theorem|Corollary|Proposition) ((?:[A-G]\.)?\d+(?:\.\d+)?)", text):
            assert number in NUMBERED[paper][kind].split(), text


@every_paper
def test_what_is_left_out_has_a_reason(paper):
    """Number and reason, neither empty, and no number twice."""
    left_out = bounds.left_out(paper)
    assert all(number and reason for number, reason in left_out)
    assert len(dict(left_out)) == len(left_out)


@every_key_of_every_paper
def test_an_evaluation_needs_what_is_required(key):
    """Without any parameter, the message names the first one, or says why there never is a value."""
    statement = bounds.get(key)
    if statement.order_only:
        assert "O(...)" in refusal(key)
    elif statement.required:
        first = statement.required[0]
        assert f"{key} needs a value for {first} ({statement.vocabulary[first].meaning})" in refusal(key)


# --- (b) Symbols ---


@pytest.fixture
def own():
    """A vocabulary in which b is something else, and that has a symbol more."""
    vocabulary = Vocabulary(COMMON)
    vocabulary.define("b", "b", "size of a batch", Domain.POSITIVE_INTEGER, Role.SETTING, 0, 0)
    vocabulary.define("rho", r"\rho", "mixing rate", Domain.POSITIVE, Role.CONSTANT, 0, 0)
    return vocabulary


def test_a_vocabulary_defines_anew_without_touching_its_base(own):
    """A redefined symbol keeps its place, a new one comes last, and the base stays as it was."""
    assert (own["b"].meaning, COMMON["b"].domain) == ("size of a batch", Domain.NONNEGATIVE)
    assert own["L"] is COMMON["L"]
    assert "rho" in own
    assert "rho" not in COMMON
    assert [*own.order] == [q.name for q in own] == [*COMMON.order, "rho"]


def test_a_later_base_overrides_an_earlier_one(own):
    """Symbols, aliases and ordered pairs of both; b is the second one's, in the first one's place."""
    both = Vocabulary(COMMON, own)
    assert (both["b"], both["rho"], both["L"]) == (own["b"], own["rho"], COMMON["L"])
    assert [*both.order] == [*own.order]
    assert Vocabulary(own, COMMON)["b"] is COMMON["b"]
    flame = bounds.vocabulary("flame")
    joined = Vocabulary(COMMON, flame)
    assert {*COMMON.ordered, *flame.ordered} == {*joined.ordered}
    assert flame.aliases
    assert joined.aliases == flame.aliases


@every_key_of_every_paper
def test_every_symbol_of_a_statement_is_of_its_vocabulary(key):
    """Name and domain; a symbol taken from another paper by the same name may differ in both."""
    statement = bounds.get(key)
    exprs = [side for claim in statement.claims for side in (claim.metric.expr, claim.bound)]
    exprs += [claim.metric.trivial for claim in statement.claims if claim.metric.trivial is not None]
    exprs += [side for condition in statement.hypotheses for side in (condition.left, condition.right)]
    exprs += [side for p in statement.step_products for side in (p.product, p.local, p.outer)]
    symbols = set().union(*(sp.sympify(expr).free_symbols for expr in [*exprs, *statement.settings.values()]))
    assert symbols
    assert symbols == {statement.vocabulary[symbol.name].symbol for symbol in symbols}
    assert {statement.vocabulary[name].name for name in statement.settings} == statement.settings.keys()
    positions = [statement.vocabulary.order[name] for name in statement.parameters]
    assert positions == sorted(positions)


def test_a_statement_checks_names_and_values_in_its_own_vocabulary(own):
    """What a name means, where its value may lie and which names there are: three messages of two papers."""
    given = {name: value for name, value in GOOD.items() if name != "b"}
    first = bounds.get("pfl/corollary-3.8")
    second = dataclasses.replace(first, vocabulary=own)
    for statement, meaning in ((first, COMMON["b"].meaning), (second, "size of a batch")):
        with pytest.raises(InputError, match=re.escape(f"b ({meaning})")):
            statement.evaluate(**given)
    assert first.evaluate(**given, b=0.4).value > 0
    with pytest.raises(InputError, match="whole number"):
        second.evaluate(**given, b=0.4)
    assert second.evaluate(**given, b=1, rho=0.5).value == first.evaluate(**given, b=1).value
    with pytest.raises(InputError, match="no parameter 'rho'"):
        first.evaluate(**given, b=1, rho=0.5)


# --- (c) Scaling ---


def degrees_of(vocabulary):
    """Scaling degrees by name."""
    return {q.name: (q.f_degree, q.x_degree) for q in vocabulary}


def exact_value(expr, values):
    """The expression in 50-digit arithmetic."""
    symbols = sorted(expr.free_symbols, key=str)
    with mpmath.workdps(50):
        value = sp.lambdify(symbols, expr, modules="mpmath")(*(values[x.name] for x in symbols))
        return mpmath.mpf(value)


def branches(expr):
    """The expression with every Max and Min replaced by each of its arguments: a point sees only the active one."""
    choices = sorted(expr.atoms(sp.Max, sp.Min), key=str)
    if not choices:
        return [expr]
    return [branch for argument in choices[0].args for branch in branches(expr.xreplace({choices[0]: argument}))]


def is_homogeneous(expr, degrees, vocabulary):
    """Whether f -> a*f, x -> c*x multiplies the expression by a**degrees[0] * c**degrees[1], in all its branches."""
    return all(has_degrees(branch, degrees, vocabulary) for branch in branches(sp.sympify(expr)))


def has_degrees(expr, degrees, vocabulary):
    """The same for an expression without branches, at random points and scales."""
    known = degrees_of(vocabulary)
    for seed, values in enumerate(points(vocabulary, 5, 4)):
        with mpmath.workdps(50):
            rng = np.random.default_rng(seed)
            a, c = (mpmath.mpf(float(x)) for x in rng.uniform(0.2, 5, 2))
            precise = {name: mpmath.mpf(value) for name, value in values.items()}
            precise["K"] += 1  # K - 1 = 0 would hide a term
            scaled = {name: value * a ** known[name][0] * c ** known[name][1] for name, value in precise.items()}
            before, after = exact_value(expr, precise), exact_value(expr, scaled)
            wanted = before * a ** degrees[0] * c ** degrees[1]
            if abs(after - wanted) > mpmath.mpf(10) ** -30 * abs(wanted):
                return False
    return True


def claim_scales(claim, vocabulary):
    """Whether both sides have the degrees of the first quantity on the left."""
    degrees = degrees_of(vocabulary)[next(iter(claim.metric.weights)).name]
    parts = [claim.metric.expr, *claim.terms.values()]
    parts += [claim.metric.trivial] if claim.metric.trivial is not None else []
    return all(is_homogeneous(part, degrees, vocabulary) for part in parts)


def condition_scales(condition, vocabulary):
    """Whether both sides have the same degrees, whichever these are."""
    return any(
        is_homogeneous(condition.left, degrees, vocabulary) and is_homogeneous(condition.right, degrees, vocabulary)
        for degrees in [(0, 0), *sorted(set(degrees_of(vocabulary).values()))]
    )


@each_key(VALUED)
def test_claims_are_homogeneous(key):
    """Left side, every term of the right side and the trivial value change alike when f or x are rescaled."""
    statement = bounds.get(key)
    for claim in statement.claims:
        assert claim_scales(claim, statement.vocabulary)


@every_key
def test_conditions_step_rules_and_settings_are_homogeneous(key):
    """Both sides of every hypothesis change alike; what a setting fixes has the degrees of its symbol."""
    statement = bounds.get(key)
    vocabulary, degrees = statement.vocabulary, degrees_of(statement.vocabulary)
    for condition in statement.hypotheses:
        assert condition_scales(condition, vocabulary)
    for name, expr in statement.settings.items():
        assert is_homogeneous(expr, degrees[name], vocabulary)
    for product in statement.step_products:
        assert is_homogeneous(product.local * product.outer, degrees[product.product.name], vocabulary)


def test_only_orders_are_exempt_from_scaling():
    """The statements with dropped constants are those known only up to a constant, and they do fail the check."""
    assert tuple(key for key in KEYS if bounds.get(key).order_only) == ORDER_ONLY
    for key in ORDER_ONLY:
        assert not claim_scales(bounds.get(key).claims[0], bounds.get(key).vocabulary)


@each_key(VALUED)
def test_scaling_notices_a_dropped_factor(key):
    """Planted errors: in every term of every statement that has L, setting L = 1 breaks the homogeneity."""
    statement = bounds.get(key)
    for claim in statement.claims:
        for name, term in claim.terms.items():
            if s.L in term.free_symbols:
                wrong = dataclasses.replace(claim, terms={**claim.terms, name: term.subs(s.L, 1)})
                assert not claim_scales(wrong, statement.vocabulary)
    for condition in statement.hypotheses:
        if s.L in condition.right.free_symbols:
            wrong = dataclasses.replace(condition, right=condition.right.subs(s.L, 1))
            assert not condition_scales(wrong, statement.vocabulary)


def test_scaling_notices_a_wrong_left_side():
    """Planted errors: a metric that adds a gradient norm to its square root, and a trivial value without F_0."""
    claim = bounds.get("pfl/theorem-3.7").claims[0]
    metric = dataclasses.replace(claim.metric, weights={s.G_u: sp.Integer(1), s.G_v: s.L})
    assert not claim_scales(dataclasses.replace(claim, metric=metric), COMMON)
    metric = dataclasses.replace(claim.metric, trivial=2 * s.L)
    assert not claim_scales(dataclasses.replace(claim, metric=metric), COMMON)


def test_degrees_of_the_basic_symbols():
    """Spot values by hand: f -> a*f, x -> c*x makes L a/c^2, F_0 a, a gradient a/c, a local step size c^2/a."""
    expected = {"L": (1, -2), "F_0": (1, 0), "b": (1, -1), "sigma_u": (1, -1), "gamma_u": (-1, 2), "eta_u": (0, 0)}
    expected |= {"G_u": (2, -2), "B_0": (2, -2), "E": (0, 2), "T_1u": (1, 0), "du2": (0, 2), "n": (0, 0)}
    found = degrees_of(COMMON)
    assert {name: found[name] for name in expected} == expected


# --- (d) Reductions ---


def bound(key):
    """Right side of a rate."""
    (claim,) = bounds.get(key).claims
    return claim.bound


def test_theorem_3_7_without_sampling_and_dissimilarity():
    """At m = n and b = 0: 4F_0/(TK*gamma) + 12L(sigma_u^2/n + sigma_v^2)*gamma; at K = 1 the drift goes."""
    full = bound("pfl/theorem-3.7").subs({s.m: s.n, s.b: 0})
    noise = s.sigma_u**2 / s.n + s.sigma_v**2
    assert sp.simplify(full - 4 * s.F_0 / (s.T * s.K * s.gamma) - 12 * s.L * noise * s.gamma) == 0
    one_step = bound("pfl/theorem-3.7").subs({s.m: s.n, s.K: 1})
    assert sp.simplify(one_step - full.subs(s.K, 1)) == 0


def test_lemmas_without_sampling_lose_the_sampling_term():
    """At m = n, T_3u and S_3u have no weight in the descent lemmas, and Lemma A.2 says nothing."""
    for key, symbol in (("pfl/lemma-3.1", s.T_3u), ("pfl/lemma-4.1", s.S_3u), ("pfl/lemma-a.2", s.spread)):
        right = bound(key)
        assert sp.simplify(sp.diff(right, symbol)) != 0
        assert sp.simplify(sp.diff(right.subs(s.m, s.n), symbol)) == 0


def test_the_printed_order_is_that_of_the_explicit_bound():
    """Eq. (4.6): each term of the explicit bound is the printed one times a factor free of n, m, K and T."""
    (printed,), (explicit,) = bounds.get("pfl/scaffold").claims, bounds.get("pfl/scaffold-explicit").claims
    assert list(printed.terms) == list(explicit.terms)
    for name, term in printed.terms.items():
        ratio = sp.simplify(explicit.terms[name] / term)
        assert not ratio.free_symbols & {s.n, s.m, s.K, s.T}
        assert ratio.free_symbols == {s.L, s.F_0}


# --- (e) Input ---

GOOD = {"n": 10, "m": 5, "K": 5, "T": 100, "L": 1.0, "sigma_u": 0.3, "sigma_v": 0.2, "b": 0.4, "F_0": 1.0}
BAD = {
    "m above n": ({"m": 11}, ["m=11", "m <= n", "11 <= 10", "Largest admissible m: 10"]),
    "m zero": ({"m": 0}, ["m=0", "whole number, at least 1"]),
    "K zero": ({"K": 0}, ["K=0", "local steps", "at least 1"]),
    "K fractional": ({"K": 1.5}, ["K=1.5", "whole number"]),
    "T negative": ({"T": -3}, ["T=-3"]),
    "T infinite": ({"T": math.inf}, ["T=inf"]),
    "sigma negative": ({"sigma_u": -0.3}, ["sigma_u=-0.3", "at least 0"]),
    "L zero": ({"L": 0.0}, ["L=0", "positive"]),
    "L NaN": ({"L": math.nan}, ["L=nan"]),
    "F_0 infinite": ({"F_0": math.inf}, ["F_0=inf"]),
    "b negative infinite": ({"b": -math.inf}, ["b=-inf"]),
    "gamma negative": ({"gamma": -0.1}, ["gamma=-0.1", "positive"]),
    "unknown name": ({"sigmau": 0.3}, ["'sigmau'", "did you mean 'sigma_u'"]),
    "unknown and unlike any": ({"zzz": 0.3}, ["'zzz'", "known: ", "sigma_u"]),
    "inconsistent products": (
        {"gamma": 0.1, "gamma_u": 0.1, "eta_u": 4.0}, ["gamma_u=0.1", "gamma_u*eta_u == gamma", "0.4 == 0.1", "0.025"],
    ),
    "inconsistent blocks": (
        {"gamma_u": 0.1, "eta_u": 4.0, "gamma_v": 0.2, "eta_v": 4.0}, ["gamma_v=0.2", "0.8 == 0.4", "0.1"],
    ),
}  # fmt: skip


def refusal(key, **given):
    """The message with which a statement refuses its input; one line."""
    with pytest.raises(InputError) as caught:
        bounds.get(key).evaluate(**given)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("case", BAD)
def test_bad_values_are_named_in_one_line(case):
    """The message has the value, what it breaks and what would do."""
    changed, parts = BAD[case]
    message = refusal("pfl/corollary-3.8", **{**GOOD, **changed})
    for part in parts:
        assert part in message


@pytest.mark.parametrize("name", GOOD)
def test_a_missing_constant_is_named_with_its_meaning(name):
    """Every parameter of Corollary 3.8 is required, and the message says how to give it."""
    message = refusal("pfl/corollary-3.8", **{key: value for key, value in GOOD.items() if key != name})
    for part in ("pfl/corollary-3.8", COMMON[name].meaning, f"{name}=..."):
        assert part in message


@every_key
def test_required_is_exactly_what_an_evaluation_needs(key):
    """With the required parameters there is a value; without any one of them there is none, nor for an order."""
    statement = bounds.get(key)
    values = with_settings(statement, points(statement.vocabulary, 7, 1)[0])
    given = {name: values[name] for name in statement.required}
    if statement.order_only:
        assert "O(...)" in refusal(key, **given)
        return
    evaluation = statement.evaluate(**given)
    assert math.isfinite(evaluation.value)
    for name in given:
        rest = {other: value for other, value in given.items() if other != name}
        assert f"{name} ({statement.vocabulary[name].meaning})" in refusal(key, **rest)


@each_key(VALUED)
def test_every_symbol_is_refused_outside_its_domain(key):
    """Zero, negative, fractional, NaN or infinite: whatever the symbol's domain excludes, at every statement."""
    statement = bounds.get(key)
    outside = {
        Domain.POSITIVE_INTEGER: (0, -1, 1.5, math.nan, math.inf),
        Domain.POSITIVE: (0, -1, math.nan, math.inf),
        Domain.NONNEGATIVE: (-1e-300, math.nan, math.inf),
        Domain.REAL: (math.nan, -math.inf),
    }
    values = with_settings(statement, points(statement.vocabulary, 7, 1)[0])
    given = {name: values[name] for name in statement.required}
    for name in given:
        for value in outside[statement.vocabulary[name].domain]:
            assert refusal(key, **{**given, name: value}).startswith((f"{name}={value:g} ", f"{name}={value:g}: "))


@pytest.mark.parametrize(
    ("key", "changed", "parts"),
    [
        ("pfl/parallel-sgd", {"K": 2}, ["K=2", "K = 1"]),
        ("pfl/parallel-sgd", {"m": 4}, ["m=4", "m = n"]),
        ("pfl/theorem-3.11", {"m": 4}, ["m=4", "m = n", "10"]),
        ("pfl/scaffold", {}, ["pfl/scaffold", "constant"]),
    ],
)
def test_what_a_statement_fixes_cannot_be_changed(key, changed, parts):
    """A contradiction with m = n or K = 1 is an error, as is the value of an order."""
    message = refusal(key, **{**GOOD, "K": 1, "m": 10, "gamma": 1e-3, **changed})
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("pfl/theorem-37", "pfl/theorem-3.7"),
        ("pfl/corolary-3.8", "pfl/corollary-3.8"),
        ("plf/theorem-3.7", "pfl/theorem"),
    ],
)
def test_an_unknown_key_gets_a_hint(key, hint):
    """`get` proposes the key that is close."""
    with pytest.raises(InputError) as caught:
        bounds.get(key)
    assert repr(key) in str(caught.value)
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", ["gamma_u eta_u", "gamma eta_u", "gamma gamma_u"])
def test_two_of_three_step_sizes_give_the_third(given):
    """The product gamma = gamma_u*eta_u, whichever two are given; the other block takes its smallest eta."""
    values = {"gamma": 1e-3, "gamma_u": 2e-4, "eta_u": 5.0}
    evaluation = bounds.get("pfl/theorem-3.7").evaluate(**GOOD, **{name: values[name] for name in given.split()})
    for name, value in values.items():
        assert evaluation.values[name] == pytest.approx(value, rel=1e-12)
    assert evaluation.values["eta_v"] == pytest.approx(math.sqrt(2))
    assert evaluation.values["gamma_v"] == pytest.approx(1e-3 / math.sqrt(2))


def test_a_broken_condition_shows_both_sides_and_what_would_do():
    """A gamma above the cap and an outer step size below its least value, in one evaluation that still has a value."""
    evaluation = bounds.get("pfl/theorem-3.7").evaluate(**GOOD, gamma=0.01, eta_u=2.0)
    assert not evaluation.applicable
    gamma, eta_u = evaluation.broken
    assert gamma.broken == (
        'gamma=0.01 breaks "gamma <= 1/(32*K*L)" of pfl/theorem-3.7: 1/(32*5*1) = 0.00625. '
        "Largest admissible gamma: 0.00625."
    )
    for part in ("eta_u=2", "eta_u >= sqrt(m)", "2.23607", "Smallest admissible eta_u: 2.236067978"):
        assert part in eta_u.broken


def test_vacuity_compares_with_what_smoothness_gives():
    """Corollary 3.8 without noise: 129*L*F_0/T against 2*L*F_0*(1 + m/n) = 3*L*F_0, so informative from T = 44 on."""
    quiet = {**GOOD, "sigma_u": 0, "sigma_v": 0, "b": 0}
    at = {T: bounds.get("pfl/corollary-3.8").evaluate(**{**quiet, "T": T}) for T in (42, 43, 44)}
    assert at[43].trivial == pytest.approx(3.0)
    assert [at[T].vacuous for T in (42, 43, 44)] == [True, True, False]
    # A tie is one however a processor rounds it.
    ties = [replace(at[44], trivial=at[44].value * factor).vacuous for factor in (1 - 1e-15, 1, 1 + 1e-15, 1 + 1e-9)]
    assert ties == [True, True, True, False]


@pytest.mark.parametrize(
    ("key", "changed"),
    [("pfl/lemma-3.6-recursion", {"m": 10, "T": 1, "B_prev": 1, "G_u_prev": 1, "G_v_prev": 1})],
)
def test_a_division_by_zero_is_no_traceback(key, changed):
    """T = 1 makes 2/(T-1) infinite: the statement does not apply there, and says why."""
    evaluation = bounds.get(key).evaluate(**{**GOOD, **changed})
    assert evaluation.value == math.inf
    assert [check.condition.name for check in evaluation.broken] == ["rounds"]


def test_a_side_that_overflows_breaks_its_condition():
    """4*L^2*K*(K-1)*(gamma_u^2 + gamma_v^2) <= 1 is false for gamma_u = 1e200."""
    given = {"n": 2, "K": 3, "L": 1, "gamma_u": 1e200, "gamma_v": 1, "sigma_u": 0, "sigma_v": 0, "B": 1, "G_v": 1}
    assert not bounds.get("pfl/lemma-3.5").evaluate(**given).applicable


def test_a_local_step_size_alone_gives_the_outer_one():
    """With gamma prescribed, a smaller gamma_u asks for a larger eta_u, which is admissible."""
    prescribed = bounds.get("pfl/corollary-3.8").evaluate(**GOOD).values
    evaluation = bounds.get("pfl/corollary-3.8").evaluate(**GOOD, gamma_u=prescribed["gamma_u"] / 2)
    assert evaluation.values["eta_u"] == pytest.approx(2 * prescribed["eta_u"])


@pytest.mark.parametrize("value", ["x", None, [1]])
def test_a_value_that_is_no_number_is_an_input_error(value):
    """A word, nothing or a list instead of a number."""
    message = refusal("pfl/corollary-3.8", **{**GOOD, "L": value})
    assert message.startswith(f"L={value!r}")
    assert "number" in message


# --- An incomplete statement cannot be built ---


def test_a_repaired_form_names_the_printed_one():
    """A key that ends in -repaired, and no other, repairs an existing printed statement of its paper."""
    for key in bounds.keys():
        statement = bounds.get(key)
        assert bool(statement.repairs) == key.endswith("-repaired")
        if statement.repairs:
            assert not bounds.get(statement.repairs).repairs
            assert statement.repairs in {each.key for each in bounds.siblings(statement.key)}
            assert key.startswith(statement.repairs)


@pytest.mark.parametrize("kind", [Statement, Claim, Condition])
def test_every_part_is_required(kind):
    """Each field is keyword-only and has no default, so leaving out any one is an error, but for rare ones."""
    examples = {Statement: bounds.get("pfl/theorem-3.7")}
    examples |= {Claim: examples[Statement].claims[0], Condition: examples[Statement].conditions[0]}
    example = examples[kind]
    parts = {field.name: getattr(example, field.name) for field in dataclasses.fields(kind)}
    assert kind(**parts) == example
    for name in parts.keys() - {"repairs", "probability", "instance"}:
        with pytest.raises(TypeError, match=name):
            kind(**{other: value for other, value in parts.items() if other != name})


# --- (f) What an import costs ---

LOOK = """
import sys, bounds
for key in bounds.keys():
    bounds.get(key).parameters
values = bounds.get("pfl/corollary-3.8").evaluate(n=10, m=5, K=5, T=100, L=1, sigma_u=0, sigma_v=0, b=0, F_0=1)
names = ("ratecheck", "numba", "scipy", "matplotlib")
print(values.applicable, [name for name in sys.modules if name.split(".")[0] in names])
"""


def test_bounds_imports_sympy_alone(tmp_path):
    """A copy of the package with no ratecheck beside it evaluates, and loads neither Numba, SciPy nor matplotlib."""
    shutil.copytree(Path(bounds.__file__).parent, tmp_path / "bounds", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LOOK], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True []"


def test_no_file_of_bounds_names_ratecheck_in_an_import():
    """Nor in a branch that no test enters."""
    for source in Path(bounds.__file__).parent.rglob("*.py"):
        for line in source.read_text().splitlines():
            assert not line.strip().startswith(("import ratecheck", "from ratecheck")), source
