"""The FedSUM paper's statements against a second reading, their scaling laws, and what they claim to follow from.

Constants found to be the sharpest that follow from the last lemma of each appendix, beside the printed 30 of the
theorems' noise term: 12 for Theorem C.1 and 24 for Theorems D.1 and E.1, where the paper's own proofs end with 12 and
26 (`test_theorems_follow_from_their_last_lemmas`).
"""

from __future__ import annotations

import dataclasses
import itertools
import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from each_key import each_key
from second_reading import fedsum as reading

from bounds.errors import InputError
from bounds.papers.fedsum import statements as fedsum
from bounds.papers.fedsum import symbols
from bounds.papers.fedsum.symbols import VOCABULARY
from bounds.statement import Assumption, Over, Relation, compiled
from bounds.symbols import Domain, Role

STATEMENTS = {statement.key.removeprefix("fedsum/"): statement for statement in fedsum.STATEMENTS}
every_key = each_key(STATEMENTS)
STEPS = ("eta_g", "eta_l", "eta")

# Forms of the second reading that are no statements of the catalogue.
READ_ONLY = {
    "lemma-e.4-equation-98": "the last line of a proof, see fedsum.LEFT_OUT",
    "lemma-e.6-literal-chain": "what Lemma E.4 as printed would give; used below",
    "corollary-g.1-case-1-repaired": "weaker than the printed form, which follows from Theorem G.1",
    "corollary-g.1-case-3-repaired": "weaker than the printed form, which follows from Theorem G.1",
}

# Left sides by the number of the lemma, and those of all other statements.
LEFT = {
    "lemma-b.1": ("noise_square", Over.EVERY_ROUND),
    **{f"lemma-{x}.1": ("moved_sum", Over.WHOLE_RUN) for x in "cde"},
    **{f"lemma-f.{i}": ("E_tau_max", Over.WHOLE_RUN) for i in range(1, 5)},
    "lemma-c.4": ("stale_sum_T", Over.WHOLE_RUN),
}
for _x, _local in (("c", ""), ("d", "local_"), ("e", "local_")):
    LEFT |= {
        f"lemma-{_x}.2": (f"{_local}window_sum", Over.WHOLE_RUN),
        f"corollary-{_x}.3": (f"{_local}delayed_window_sum", Over.WHOLE_RUN),
        f"lemma-{_x}.4-repaired": (f"{_local}stale_sum", Over.WHOLE_RUN),
        f"lemma-{_x}.5": (f"{_local}noise_inner_sum", Over.WHOLE_RUN),
        f"lemma-{_x}.5-repaired": (f"{_local}noise_inner_sum", Over.WHOLE_RUN),
    }
LEFT |= {f"lemma-{_x}.4": ("local_stale_sum", Over.WHOLE_RUN) for _x in "de"}

PRINTED_CAPS = [key for key in STATEMENTS if any(c.name == "somebody is away" for c in STATEMENTS[key].conditions)]


def drawn(rng, *, away=True):
    """A value for every symbol: consistent steps, S <= N, tau_avg <= tau_max; tau_max >= 1 where somebody is away."""
    values = {}
    for q in VOCABULARY:
        if q.domain is Domain.POSITIVE_INTEGER:
            values[q.name] = float(rng.integers(1, 61))
        elif q.domain is Domain.REAL:
            values[q.name] = float(rng.normal())
        else:
            values[q.name] = float(10 ** rng.uniform(-2, 2))
    values["S"] = float(rng.integers(1, values["N"] + 1))
    values["tau_max"] = float(rng.integers(1, 30)) if away else float(rng.integers(0, 3))
    values["tau_avg"] = float(values["tau_max"] * rng.uniform(0, 1))
    values["delta"] = float(1 - rng.uniform(0, 0.99))
    values["eta"] = values["eta_g"] * values["eta_l"]
    return values


def points(key, seed, count):
    """Random points; with full participation among them where the statement allows it."""
    rng = np.random.default_rng([seed, 11])
    return [drawn(rng, away=key in PRINTED_CAPS or bool(i % 3)) for i in range(count)]


def pick(expr, values):
    """The values of an expression's symbols."""
    return {symbol.name: values[symbol.name] for symbol in sp.sympify(expr).free_symbols}


def value(expr, values):
    """The expression as a float."""
    return float(compiled(sp.sympify(expr))(**pick(expr, values)))


def given(key, values, *, steps=True):
    """What a statement needs of a point, with or without step sizes; not both eta and its factors."""
    kept = STATEMENTS[key].parameters
    return {name: v for name, v in values.items() if name in kept and name != "eta" and (steps or name not in STEPS)}


def close(found, expected):
    """Twelve digits."""
    return math.isclose(found, expected, rel_tol=1e-12)


# --- (a) The second reading ---


def test_every_key_is_read_twice():
    """The two readings have the same keys but for those that are listed with a reason."""
    read = {key.removeprefix("fedsum/") for key in reading.RIGHT_SIDES}
    assert len(STATEMENTS) == len(fedsum.STATEMENTS)
    assert read - set(READ_ONLY) == set(STATEMENTS)
    assert set(READ_ONLY) <= read
    assert [number for number, _ in fedsum.LEFT_OUT] == ["Lemma B.2", "eq. (98)", "Table 1"]
    assert {key.removeprefix("fedsum/") for key in reading.PRESCRIBED} == {
        k for k, s in STATEMENTS.items() if s.step_rules
    }


@every_key
def test_right_sides_equal_the_second_reading(key):
    """At 200 random points, to twelve digits; by `evaluate` too where no step size is prescribed."""
    (claim,) = STATEMENTS[key].claims
    for values in points(key, 1, 200):
        expected = reading.RIGHT_SIDES[f"fedsum/{key}"]["main"](**values)
        assert close(sum(value(term, values) for term in claim.terms.values()), expected)
        found = STATEMENTS[key].evaluate(**given(key, values, steps=not STATEMENTS[key].step_rules))
        assert close(found.value, expected)
        assert list(found.terms["main"]) == list(claim.terms)


@every_key
def test_conditions_equal_the_second_reading(key):
    """The same hypotheses at 200 random points, as left/right: C.6 is printed times K. tau_max >= 1 is not printed."""
    listed = reading.CONDITIONS.get(f"fedsum/{key}")
    for values in points(key, 2, 200):
        # That delta is positive is its domain; S < N is S <= N - 1 there.
        expected = sorted(small / large for small, large in (listed(**values) if listed else []) if small and large)
        found = []
        for condition in STATEMENTS[key].conditions:
            if condition.name == "somebody is away":
                continue
            small, large = value(condition.left, values), value(condition.right, values)
            if condition.operator == "<":
                large -= 1
            if large:
                found.append(small / large)
        if key.startswith("corollary-g.1"):  # those of Lemmas F.1 and F.2, which the corollary does not repeat
            assert not listed
            expected = [values["delta"]] if "case-2" in key else expected
            found = [] if "case-1" in key else found
        assert len(found) == len(expected)
        assert all(close(one, other) for one, other in zip(sorted(found), expected, strict=True))


@each_key(reading.CONDITIONS)
def test_a_condition_holds_exactly_when_the_second_reading_says_so(key):
    """`evaluate` finds a point applicable if and only if every pair of the second reading does; both happen."""
    short = key.removeprefix("fedsum/")
    if short not in STATEMENTS:
        assert short in READ_ONLY or short == "lemma-b.2"
        return
    outcomes = set()
    for index, values in enumerate(points(short, 3, 300)):
        if index % 2:
            values["eta_l"] = 0.7 * 10.0 ** -(index % 7) / (values["L"] * values["K"])
        expected = all(small <= large for small, large in reading.CONDITIONS[key](**values))
        if short == "lemma-f.2" and index % 5 == 0:
            values["delta"], expected = 1.5, False
        evaluation = STATEMENTS[short].evaluate(**given(short, values))
        assert evaluation.applicable == expected
        outcomes.add(expected)
    assert outcomes == {True, False}


@each_key(reading.PRESCRIBED)
def test_prescribed_step_sizes_equal_the_second_reading(key):
    """What `complete` fills in, sigma = 0 included; it meets every condition."""
    short = key.removeprefix("fedsum/")
    for index, values in enumerate(points(short, 4, 200)):
        values["sigma"] *= index % 4 > 0
        known = given(short, values, steps=False)
        completed, _ = STATEMENTS[short].complete(known)
        for name, read in reading.PRESCRIBED[key].items():
            assert close(completed["eta" if name == "eta_g_eta_l" else name], read(**known))
        if "eta_g" in completed:
            assert close(completed["eta"], completed["eta_g"] * completed["eta_l"])
        assert STATEMENTS[short].evaluate(**known).applicable


@every_key
def test_left_sides_are_those_of_the_paper(key):
    """The measured quantity and the rounds it is about; mean gradients wherever the list says nothing."""
    (claim,) = STATEMENTS[key].claims
    quantity, over = LEFT.get(key, ("G_u", Over.MEAN_OF_ROUNDS))
    assert {symbol.name: weight for symbol, weight in claim.metric.weights.items()} == {quantity: 1}
    assert claim.metric.over is over
    assert claim.relation is Relation.AT_MOST
    assert VOCABULARY[quantity].role is Role.MEASURED
    expected = {"c": "fedsum-b", "e": "fedsum-cr", "f": None}.get(key.partition("-")[2][0], "fedsum")
    assert STATEMENTS[key].algorithm == expected
    assert (claim.metric.trivial == 2 * symbols.L * symbols.Delta_f) == (quantity == "G_u")


def test_the_second_reading_notices_a_wrong_constant():
    """Planted error: 30 read as 29 in Theorem 4.1 is found."""
    claim = STATEMENTS["theorem-4.1"].claims[0]
    (values,) = points("theorem-4.1", 1, 1)
    expected = reading.RIGHT_SIDES["fedsum/theorem-4.1"]["main"](**values)
    assert not close(value(claim.bound - claim.terms["noise"] / 30, values), expected)


# --- (b) The catalogue's own order ---


@every_key
def test_every_symbol_is_of_the_vocabulary(key):
    """Name and domain, on both sides and in conditions and rules; positions as in the vocabulary."""
    statement = STATEMENTS[key]
    exprs = [side for claim in statement.claims for side in (claim.metric.expr, claim.bound)]
    exprs += [side for condition in statement.hypotheses for side in (condition.left, condition.right)]
    found = set().union(*(sp.sympify(expr).free_symbols for expr in exprs))
    assert found == {VOCABULARY[symbol.name].symbol for symbol in found}
    assert bool(statement.step_products) == bool({s.name for s in found} & set(STEPS))


@every_key
def test_what_a_statement_follows_from_exists_without_circles(key):
    """``follows_from`` names keys of this paper, and no statement follows from itself."""
    followed, reached = list(STATEMENTS[key].follows_from), set()
    while followed:
        name = followed.pop().removeprefix("fedsum/")
        assert name != key
        if name not in reached:
            reached.add(name)
            followed += STATEMENTS[name].follows_from


@every_key
def test_a_repaired_form_stands_behind_the_printed_one(key):
    """Each with a remark, and they do differ."""
    if not key.endswith("-repaired"):
        return
    printed, repaired = STATEMENTS[key.removesuffix("-repaired")], STATEMENTS[key]
    order = list(STATEMENTS)
    assert order.index(key) == order.index(key.removesuffix("-repaired")) + 1
    assert printed.remark
    assert repaired.remark
    assert (printed.claims, printed.hypotheses) != (repaired.claims, repaired.hypotheses)


def test_participation_is_assumed_where_it_is_needed():
    """Every rate assumes that participation does not follow the noise; the cases and Lemmas F name their pattern."""
    for statement in STATEMENTS.values():
        if statement.claims[0].metric.over is Over.MEAN_OF_ROUNDS:
            assert Assumption.OBLIVIOUS_PARTICIPATION in statement.assumptions
            assert "sigma" in {name for assumption in statement.assumptions for name in assumption.constants}
    patterns = ["UNIFORM_SUBSETS", "INDEPENDENT_PARTICIPATION", "RESHUFFLED_BLOCKS", "CYCLIC_BLOCKS"]
    for number, pattern in enumerate(patterns, 1):
        for key in (f"lemma-f.{number}", f"corollary-g.1-case-{number}"):
            assert STATEMENTS[key].assumptions[-1] is Assumption[pattern]


# --- (c) Scaling ---


def branches(expr):
    """The expression with every Max replaced by each of its arguments."""
    choices = sorted(expr.atoms(sp.Max, sp.Min), key=str)
    if not choices:
        return [expr]
    return [branch for argument in choices[0].args for branch in branches(expr.xreplace({choices[0]: argument}))]


def has_degrees(expr, degrees):
    """Whether f -> a*f, x -> c*x multiplies the expression by a**degrees[0] * c**degrees[1], in all its branches."""
    for branch in branches(sp.sympify(expr)):
        free = sorted(branch.free_symbols, key=str)
        function = sp.lambdify(free, branch, modules="mpmath")
        for values in points("theorem-4.1", 5, 3):
            with mpmath.workdps(50):
                a, c = mpmath.mpf("2.7"), mpmath.mpf("0.31")
                plain = [mpmath.mpf(values[s.name]) for s in free]
                scaled = [
                    number * a ** VOCABULARY[s.name].f_degree * c ** VOCABULARY[s.name].x_degree
                    for number, s in zip(plain, free, strict=True)
                ]
                wanted = function(*plain) * a ** degrees[0] * c ** degrees[1]
                if abs(function(*scaled) - wanted) > mpmath.mpf(10) ** -30 * abs(wanted):
                    return False
    return True


def degrees_of(symbol):
    """Scaling degrees of a symbol."""
    return VOCABULARY[symbol.name].f_degree, VOCABULARY[symbol.name].x_degree


def scales(claim):
    """Whether all terms and the trivial value have the degrees of the left side."""
    (left,) = claim.metric.weights
    parts = [*claim.terms.values(), *([claim.metric.trivial] if claim.metric.trivial is not None else [])]
    return all(has_degrees(part, degrees_of(left)) for part in parts)


@every_key
def test_claims_and_conditions_are_homogeneous(key):
    """No exception in this paper: F_0 is a mean of squared gradients, as L*Delta_f is."""
    statement = STATEMENTS[key]
    assert scales(statement.claims[0])
    for condition in statement.hypotheses:
        degrees = degrees_of(condition.left)
        assert has_degrees(condition.left, degrees)
        assert has_degrees(condition.right, degrees)


@every_key
def test_scaling_notices_a_dropped_factor(key):
    """Planted errors: L = 1 in any term or condition that has it."""
    statement = STATEMENTS[key]
    (claim,) = statement.claims
    for name, term in claim.terms.items():
        if symbols.L in term.free_symbols:
            assert not scales(dataclasses.replace(claim, terms={**claim.terms, name: term.subs(symbols.L, 1)}))
    for condition in statement.hypotheses:
        if symbols.L in condition.right.free_symbols:
            assert not has_degrees(condition.right.subs(symbols.L, 1), degrees_of(condition.left))


# --- (d) What follows from what ---


def balanced(rng, tau_max):
    """A setting in which the two entries of the step-size minimum are equal, or one is up to ten times the other."""
    values = {name: float(rng.integers(1, 30)) for name in ("N", "K", "T")} | {"tau_max": tau_max}
    values |= {name: float(10 ** rng.uniform(-2, 2)) for name in ("L", "Delta_f")}
    values["F_0"] = float(rng.choice([0.0, 10 ** rng.uniform(-2, 2)]))
    values["tau_avg"] = float(rng.choice([min(1.0, tau_max), tau_max * rng.uniform(0, 1)]))
    ratio = float(rng.choice([0.0, 1.0, 10 ** rng.uniform(-3, 3)]))
    delay, average = max(1.0, tau_max), max(1.0, values["tau_avg"])
    cap = 10 * delay * values["K"] * values["L"]
    slow = average * values["K"] * values["T"] * values["L"] / (values["N"] * values["Delta_f"])
    values["sigma"] = ratio * cap / math.sqrt(slow)
    return values


@pytest.mark.parametrize("form", ["", "-repaired"])
@pytest.mark.parametrize(("letter", "sharpest"), [("c", 12), ("d", 24), ("e", 24)])
def test_theorems_follow_from_their_last_lemmas(letter, sharpest, form):
    """The lemma applies at the prescribed steps and gives at most the theorem; nearly so with the sharp constant."""
    rng = np.random.default_rng(6)
    needed = 0.0
    for _ in range(1500):
        known = balanced(rng, float(rng.integers(0 if form else 1, 6)))
        theorem = STATEMENTS[f"theorem-{letter}.1{form}"].evaluate(**known)
        steps = {name: theorem.values[name] for name in STEPS if name in theorem.values}
        lemma = STATEMENTS[f"lemma-{letter}.6{form}"].evaluate(**known, **steps)
        assert lemma.applicable
        assert lemma.value <= theorem.value * (1 + 1e-12)
        if known["sigma"]:
            unit = theorem.terms["main"]["noise"] / 30
            rest = theorem.value - theorem.terms["main"]["noise"]
            needed = max(needed, (lemma.value - rest) / unit)
    assert 0.99 * sharpest < needed <= sharpest + 1e-6


@pytest.mark.parametrize("form", ["", "-repaired"])
def test_theorem_4_1_follows_from_g_1_and_this_from_the_three(form):
    """G.1 has the sides of C.1, D.1 and E.1, its steps multiply to those of C.1, and max{1, tau_avg} <= 1 + tau_avg."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        known = balanced(rng, float(rng.integers(0 if form else 1, 6)))
        general = STATEMENTS[f"theorem-g.1{form}"].evaluate(**known)
        for letter in "cde":
            special = STATEMENTS[f"theorem-{letter}.1{form}"].evaluate(**known)
            assert close(special.value, general.value)
            assert close(special.values["eta"], general.values["eta"])
        first = STATEMENTS[f"theorem-4.1{form}"].evaluate(**known)
        assert general.value <= first.value <= math.sqrt(2) * general.value * (1 + 1e-12)
        assert {name: first.values[name] for name in STEPS} == {name: general.values[name] for name in STEPS}


@pytest.mark.parametrize("form", ["", "-repaired"])
def test_corollary_4_1_follows_from_theorem_4_1(form):
    """Random delays of two values: the mean of the theorem's bounds is at most the corollary's at the mean delays."""
    rng = np.random.default_rng(8)
    nearest = 0.0
    for _ in range(500):
        known = balanced(rng, 1.0)
        traces = []
        for _ in range(2):
            longest = float(rng.integers(0 if form else 1, 6))
            traces.append({"tau_max": longest, "tau_avg": longest * float(rng.uniform(0, 1))})
        p = float(rng.choice([0.0, rng.uniform(0, 1)]))
        mean = {name: p * traces[0][name] + (1 - p) * traces[1][name] for name in traces[0]}
        values = [STATEMENTS[f"theorem-4.1{form}"].evaluate(**{**known, **trace}).value for trace in traces]
        corollary = STATEMENTS[f"corollary-4.1{form}"].evaluate(**{**known, **mean})
        assert corollary.applicable
        ratio = (p * values[0] + (1 - p) * values[1]) / corollary.value
        assert ratio <= 1 + 1e-12
        nearest = max(nearest, ratio)
    assert nearest > 0.99


def test_the_mean_delay_cannot_stand_inside_the_maximum():
    """tau_max = 0 or 2 with probability 1/2 each: max{1, E[tau_max]} is too small, 1 + E[tau_max] is not."""
    known = {"N": 1, "K": 1, "T": 1, "L": 1, "sigma": 0, "Delta_f": 1, "F_0": 1, "tau_avg": 0}
    theorem = [STATEMENTS["theorem-4.1-repaired"].evaluate(**known, tau_max=tau).value for tau in (0, 2)]
    mean = sum(theorem) / 2
    assert STATEMENTS["theorem-4.1-repaired"].evaluate(**known, tau_max=1).value < mean
    assert mean <= STATEMENTS["corollary-4.1-repaired"].evaluate(**known, tau_max=1).value


@pytest.mark.parametrize("case", [1, 3, 4])
def test_cases_follow_from_g_1_and_their_lemma(case):
    """E sqrt(max{1, tau_avg}) <= sqrt(E max{1, tau_max}), for which Lemma F's bound, at least 1, stands in."""
    rng = np.random.default_rng(9)
    ratios, by_4_1 = [], []
    for _ in range(500):
        known = balanced(rng, 1.0)
        known["N"] += 1
        known["S"] = float(rng.integers(1, known["N"] + (case != 1)))
        delay = STATEMENTS[f"lemma-f.{case}"].evaluate(**{name: known[name] for name in "NST"}).value
        assert delay >= 1
        known |= {"tau_max": delay, "tau_avg": delay}
        bound = STATEMENTS[f"corollary-g.1-case-{case}"].evaluate(**given(f"corollary-g.1-case-{case}", known)).value
        without = {name: v for name, v in known.items() if name != "S"}
        ratios.append(STATEMENTS["theorem-g.1-repaired"].evaluate(**without).value / bound)
        by_4_1.append(STATEMENTS["corollary-4.1"].evaluate(**without).value / bound)
    assert max(ratios) <= 1 + 1e-12
    assert max(ratios) > (0.99 if case != 4 else 0.7)
    # What the remarks say: the 60 of Cases 1 and 3 does not follow from Corollary 4.1, that of Case 4 does.
    assert (max(by_4_1) > 1 + 1e-3) == (case != 4)


def test_the_repaired_case_2_follows_from_the_repaired_corollary_4_1():
    """It is the corollary at Lemma F.2's bound; the printed form is smaller at some points and larger at others."""
    rng = np.random.default_rng(10)
    smaller, larger = 0, 0
    for _ in range(300):
        known = balanced(rng, 1.0) | {"delta": float(rng.choice([1.0, 1 - rng.uniform(0, 0.99)]))}
        if rng.random() < 0.3:
            known |= {"N": 1.0, "T": 1.0}
        delay = STATEMENTS["lemma-f.2"].evaluate(**{name: known[name] for name in ("N", "T", "delta")}).value
        known |= {"tau_max": delay, "tau_avg": delay}
        right = STATEMENTS["corollary-4.1-repaired"].evaluate(**known).value
        repaired = STATEMENTS["corollary-g.1-case-2-repaired"].evaluate(**known).value
        printed = STATEMENTS["corollary-g.1-case-2"].evaluate(**known).value
        assert close(right, repaired)
        smaller += printed < 0.5 * repaired
        larger += printed > repaired
    assert smaller
    assert larger


def chain(letter, middle, known, aggregate):
    """The mean gradient that the descent inequality (eqs. (31), (70), (102)) gives with Lemmas 1, ``middle`` and 5."""
    local = "" if letter == "c" else "local_"
    factor = known["K"] ** 2 if letter == "c" else 1.0  # FedSUM-B's sums leave the K equal gradients out
    values = known | {f"{local}aggregate_sum": aggregate / factor}

    def lemma(key):
        return STATEMENTS[key].evaluate(**given(key, values)).value

    weight = known["eta_g"] * known["eta_l"] / (2 * known["N"] ** 2 * known["K"])
    total = known["Delta_f"] + lemma(f"lemma-{letter}.5-repaired") + known["L"] / 2 * lemma(f"lemma-{letter}.1")
    total += weight * (factor * lemma(middle) - aggregate)
    return 2 * total / (known["eta_g"] * known["eta_l"] * known["K"] * known["T"])


def capped(rng, letter, tau_max):
    """A setting with step sizes up to the caps of the last lemma, which they meet now and then."""
    known = balanced(rng, tau_max)
    known["sigma"] = float(10 ** rng.uniform(-2, 2))
    delay = max(1.0, tau_max)
    known["eta_g"] = float(10 ** rng.uniform(-1, 1))
    caps = {"c": [8 * delay * known["eta_g"]], "d": [10 * math.sqrt(delay), 10 * delay * known["eta_g"]]}
    cap = 1 / (max(caps["c" if letter == "c" else "d"]) * known["K"] * known["L"])
    known["eta_l"] = cap * float(rng.choice([1.0, rng.uniform(0.01, 1)])) * (1 - 1e-12)
    return known


@pytest.mark.parametrize("letter", "cde")
def test_last_lemmas_follow_from_the_repaired_ones_before(letter):
    """Whatever the server's gradients add up to, Lemmas 1, 4 and 5 as repaired give at most Lemma 6 as repaired."""
    rng = np.random.default_rng(12)
    nearest = 0.0
    for _ in range(500):
        known = capped(rng, letter, float(rng.integers(0, 6)))
        last = STATEMENTS[f"lemma-{letter}.6-repaired"].evaluate(**known)
        assert last.applicable
        for aggregate in (0.0, 10 ** rng.uniform(-2, 6)):
            ratio = chain(letter, f"lemma-{letter}.4-repaired", known, aggregate) / last.value
            assert ratio <= 1 + 1e-12
            nearest = max(nearest, ratio)
    assert nearest > 0.9


def test_lemma_e_6_does_not_follow_from_e_4_as_printed():
    """The tau_max of E.4's noise term: the chain exceeds E.6 and stays below the second reading's literal chain."""
    rng = np.random.default_rng(13)
    exceeded = 0
    for _ in range(500):
        known = capped(rng, "e", float(rng.integers(1, 30)))
        found = chain("e", "lemma-e.4", known, 0.0)
        assert found <= reading.RIGHT_SIDES["fedsum/lemma-e.6-literal-chain"]["main"](**known) * (1 + 1e-12)
        exceeded += found > 1.01 * STATEMENTS["lemma-e.6"].evaluate(**known).value
    assert exceeded


@pytest.mark.parametrize("letter", "cd")
def test_corollary_3_is_lemma_2_times_the_largest_delay(letter):
    """Each weight tau_t is at most tau_max."""
    (short,), (long,) = STATEMENTS[f"lemma-{letter}.2"].claims, STATEMENTS[f"corollary-{letter}.3"].claims
    assert sp.simplify(long.bound - symbols.tau_max * short.bound) == 0


# --- (e) Runs: counterexamples to printed forms, and the repaired ones on small noise-free runs ---


def run(taken, h, g, K, eta_g, eta_l, *, variant, x=0.0):
    """FedSUM-B, FedSUM or FedSUM-CR on f_i(x) = h_i x^2/2 + g_i x in one dimension, without noise.

    Gives the sums of the lemmas, tau_max over the rounds played, and the mean of f'(x)^2.
    """
    T, N = taken.shape
    h, g = np.array(h, dtype=float), np.array(g, dtype=float)
    last, memory, kept, y = np.full(N, -1), np.zeros(N), np.full(N, x), 0.0
    delays, gradients, stale, server = [], [], [], []
    for t in range(T):
        old = y
        for i in np.flatnonzero(taken[t]):
            if variant == "b":
                new = h[i] * x + g[i]
            else:
                average = N / (eta_g * eta_l * K) * (kept[i] - x) / (t - last[i])
                correction = (average if variant == "cr" else old) - memory[i]
                point, total = x, 0.0
                for _ in range(K):
                    gradient = h[i] * point + g[i]
                    total += gradient
                    point -= eta_l / N * (gradient + correction)
                new = total / K
            y += new - memory[i]
            memory[i], kept[i], last[i] = new, x, t
        delays.append(t - last.min())
        gradients.append((h.mean() * x + g.mean()) ** 2)
        scale = 1 if variant == "b" else K
        stale.append((scale * ((h * x + g).sum() - y)) ** 2)
        server.append((scale * y) ** 2)
        x -= eta_g * eta_l * K / N * y
    return {
        "tau_max": float(max(delays)),
        "tau_avg": float(np.mean(delays)),
        "gradient": float(np.mean(gradients)),
        "stale": float(sum(stale)),
        "aggregate": float(sum(server)),
        "windows": sum(server[p] for t, tau in enumerate(delays) for p in range(max(0, t - tau), t)),
        "delayed_windows": sum(tau * server[p] for t, tau in enumerate(delays) for p in range(max(0, t - tau), t)),
    }


def test_lemma_c_4_as_printed_is_false():
    """N = K = T = 1, f = x^2/2, x^0 = 0, S_0 = {1}, S_1 empty, noise +-sigma: eta^2*sigma^2 against 0."""
    eta, sigma = 0.05, 0.7
    left = 0.0
    for noise in (sigma, -sigma):
        moved = 0.0 - eta * (0.0 + noise)
        left += 0.5 * (0.0**2 + (moved - 0.0) ** 2)  # rounds 0 and 1: grad f(x^t) - grad f(x^0)
    known = {"N": 1, "K": 1, "T": 1, "L": 1, "sigma": sigma, "F_0": 0, "tau_max": 1, "tau_avg": 0}
    assert left == pytest.approx(eta**2 * sigma**2)
    assert STATEMENTS["lemma-c.4"].evaluate(**known, eta=eta, aggregate_sum_T=0).value == 0
    assert STATEMENTS["lemma-c.4-repaired"].evaluate(**known, eta=eta, aggregate_sum=0).value == 0  # its left side is 0


@pytest.mark.parametrize("letter", "de")
def test_lemmas_d_4_and_e_4_are_false_with_full_participation(letter):
    """N = 1, K = 2, T = 1, f = x^2/2, x^0 = 1: eta_l^2 against 0; the printed forms say that they do not apply."""
    eta_l = 0.05
    variant = {"d": "", "e": "cr"}[letter]
    found = run(np.ones((1, 1), dtype=bool), [1], [0], 2, 1.0, eta_l, variant=variant, x=1.0)
    known = {
        "N": 1,
        "K": 2,
        "T": 1,
        "L": 1,
        "sigma": 0,
        "F_0": 1,
        "tau_max": 0,
        "tau_avg": 0,
        "eta_g": 1,
        "eta_l": eta_l,
    }
    assert found["stale"] == pytest.approx(eta_l**2)
    printed = STATEMENTS[f"lemma-{letter}.4"].evaluate(**known, local_aggregate_sum=found["aggregate"])
    assert printed.value == 0
    assert [check.condition.name for check in printed.broken] == ["somebody is away"]
    repaired = STATEMENTS[f"lemma-{letter}.4-repaired"].evaluate(**known, local_aggregate_sum=found["aggregate"])
    assert repaired.applicable
    assert repaired.value >= found["stale"]


def test_lemma_d_6_needs_a_term_in_f_0_with_full_participation():
    """N = K = T = 2, f_1 = x + x^2/2, f_2 = -x from their common minimum: drift moves the server, Delta_f is 0."""
    found = run(np.ones((2, 2), dtype=bool), [1, 0], [1, -1], 2, 1.0, 0.05, variant="", x=0.0)
    assert found["tau_max"] == 0
    known = {
        "N": 2,
        "K": 2,
        "T": 2,
        "L": 1,
        "sigma": 0,
        "F_0": 1,
        "tau_max": 0,
        "tau_avg": 0,
        "eta_g": 1,
        "eta_l": 0.05,
    }
    assert found["gradient"] == pytest.approx((0.05**2 / 8) ** 2 / 2)
    tiny = STATEMENTS["lemma-d.6"].evaluate(**known, Delta_f=1e-12)
    assert tiny.value < found["gradient"] < STATEMENTS["lemma-d.6-repaired"].evaluate(**known, Delta_f=1e-12).value


def test_lemma_c_6_is_false_without_its_cap():
    """tau_max = 0 and eta = 3/(K*L): gradient descent diverges, the printed cap is 1/0."""
    found = run(np.ones((8, 1), dtype=bool), [1], [0], 1, 1.0, 3.0, variant="b", x=1.0)
    known = {"N": 1, "K": 1, "T": 8, "L": 1, "sigma": 0, "Delta_f": 0.5, "F_0": 1, "tau_max": 0, "tau_avg": 0, "eta": 3}
    printed = STATEMENTS["lemma-c.6"].evaluate(**known)
    assert printed.value < found["gradient"]
    assert [check.condition.name for check in printed.broken] == ["somebody is away"]
    assert [check.condition.name for check in STATEMENTS["lemma-c.6-repaired"].evaluate(**known).broken] == ["eta"]


def test_case_2_as_printed_is_false_for_one_client_and_one_round():
    """At delta = 1 the right side is 0, the left side f'(x^0)^2 for every step size."""
    known = {"N": 1, "K": 3, "T": 1, "L": 1, "sigma": 0.4, "Delta_f": 0.5, "F_0": 1, "delta": 1}
    assert STATEMENTS["corollary-g.1-case-2"].evaluate(**known).value == 0
    assert STATEMENTS["corollary-g.1-case-2-repaired"].evaluate(**known).value > 1


@pytest.mark.parametrize("letter", "cde")
def test_repaired_lemmas_hold_on_small_runs(letter):
    """Random participation, curvatures and gradients, steps at the caps: Lemmas 2, 3, 4 and the last, noise-free."""
    rng = np.random.default_rng(14)
    local = "" if letter == "c" else "local_"
    nearest = 0.0
    for _ in range(400):
        N, K, T = (int(rng.integers(low, 5)) for low in (1, 1 + (letter != "c"), 1))
        taken = rng.random((T + 2, N)) < rng.choice([0.3, 0.7, 1.0])
        h, g, x = rng.uniform(0, 1, N), 10 ** rng.uniform(-2, 1) * rng.normal(size=N), float(rng.normal())
        h[0] = 1.0
        delays = run(taken, h, g, K, 1.0, 1e-9, variant="b")["tau_max"]
        delay = max(1.0, delays)
        eta_g = float(10 ** rng.uniform(-1, 1)) / math.sqrt(delay)
        cap = 8 * delay * eta_g if letter == "c" else max(10 * math.sqrt(delay), 10 * delay * eta_g)
        eta_l = 1 / (cap * K)
        found = run(taken, h, g, K, eta_g, eta_l, variant={"c": "b", "d": "", "e": "cr"}[letter], x=x)
        minimum = -(g.mean() ** 2) / (2 * h.mean())
        known = {"N": N, "K": K, "T": len(taken), "L": 1, "sigma": 0, "eta_g": eta_g, "eta_l": eta_l}
        known |= {"F_0": float(np.mean((h * x + g) ** 2)), f"{local}aggregate_sum": found["aggregate"]}
        known |= {name: found[name] for name in ("tau_max", "tau_avg")}
        known["Delta_f"] = float(h.mean() * x**2 / 2 + g.mean() * x - minimum)
        left = {"lemma-#.2": "windows", "corollary-#.3": "delayed_windows", "lemma-#.4-repaired": "stale"}
        for pattern, quantity in (left | {"lemma-#.6-repaired": "gradient"}).items():
            key = pattern.replace("#", letter)
            evaluation = STATEMENTS[key].evaluate(**given(key, known))
            assert evaluation.applicable
            assert found[quantity] <= evaluation.value * (1 + 1e-9) + 1e-20  # rounding where both sides are 0
            if pattern == "lemma-#.2" and found["aggregate"]:
                nearest = max(nearest, found[quantity] / max(evaluation.value, 1e-300))
    assert nearest > 0.5


@pytest.mark.parametrize(
    ("N", "T", "delta"), list(itertools.product([1, 2, 5], [1, 2, 10], [0.05, 0.5, 0.9, 0.999, 1.0]))
)
def test_lemma_f_2_holds_for_equal_probabilities(N, T, delta):
    """E[tau_max] over 0 <= t <= T from the law of the longest run of misses of one client."""
    longest = STATEMENTS["lemma-f.2"].evaluate(N=N, T=T, delta=delta).value
    expected = 0.0
    for length in range(1, T + 2):
        # P(no run of `length` misses in T + 1 rounds): a chain over the current run of misses.
        chance = np.zeros(length)
        chance[0] = 1.0
        for _ in range(T + 1):
            chance = np.concatenate([[chance.sum() * delta], chance[:-1] * (1 - delta)])
        expected += 1 - chance.sum() ** N
    assert expected <= longest + 1e-12


def test_lemma_f_1_holds_in_the_smallest_cases():
    """E[tau_max] for S of N clients by enumeration of all participation sequences."""
    for N, S, T in [(2, 1, 1), (2, 1, 4), (3, 1, 2), (3, 2, 3), (4, 3, 2)]:
        subsets = list(itertools.combinations(range(N), S))
        total = 0
        for sequence in itertools.product(subsets, repeat=T + 1):
            last, longest = [-1] * N, 0
            for t, taken in enumerate(sequence):
                for i in taken:
                    last[i] = t
                longest = max(longest, t - min(last))
            total += longest
        assert 1 <= total / len(subsets) ** (T + 1) <= STATEMENTS["lemma-f.1"].evaluate(N=N, S=S, T=T).value


# --- (f) Input ---

GOOD = {"N": 10, "K": 5, "T": 100, "L": 1, "sigma": 0.3, "Delta_f": 1, "F_0": 2, "tau_max": 4, "tau_avg": 2}


def refusal(key, **values):
    """The message with which a statement refuses its input; one line."""
    with pytest.raises(InputError) as caught:
        STATEMENTS[key].evaluate(**values)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ({"tau_avg": 5}, ["tau_avg=5", "tau_avg <= tau_max", "5 <= 4"]),
        ({"tau_max": -1}, ["tau_max=-1", "at least 0"]),
        ({"N": 0}, ["N=0", "whole number"]),
        ({"sigma": -1}, ["sigma=-1", "at least 0"]),
        ({"Delta_f": 0}, ["Delta_f=0", "positive"]),
        ({"tau": 1}, ["'tau'", "did you mean"]),
        ({"eta_g": 1, "eta_l": 1, "eta": 2}, ["eta_l=1", "eta_l*eta_g == eta"]),
    ],
)
def test_bad_values_are_named_in_one_line(changed, parts):
    """The message has the value and what it breaks."""
    message = refusal("theorem-4.1", **{**GOOD, **changed})
    for part in parts:
        assert part in message


@each_key([key for key in PRINTED_CAPS if STATEMENTS[key].step_rules])
def test_a_rule_that_divides_by_zero_says_so(key):
    """With full participation the printed rules have no value, the repaired ones have; own steps break tau_max >= 1."""
    everybody = {**GOOD, "tau_max": 0, "tau_avg": 0}
    for sigma in (0, 0.3):
        if key == "theorem-c.1" and sigma:  # its other entry, which has no tau_max, is the smaller one
            continue
        message = refusal(key, **{**everybody, "sigma": sigma})
        assert f"fedsum/{key} sets eta" in message
        assert message.endswith("tau_max=0") or "tau_max=0, " in message or ", tau_max=0" in message
    evaluation = STATEMENTS[key].evaluate(**everybody, eta_g=1, eta_l=0.001)
    assert "somebody is away" in [check.condition.name for check in evaluation.broken]
    repaired = STATEMENTS[f"{key}-repaired"].evaluate(**everybody)
    assert repaired.applicable
    assert math.isfinite(repaired.value)
    assert repaired.value > 0


def test_theorem_c_1_with_noise_and_full_participation_does_not_apply():
    """The rule then has a value, 1/(10*K*tau_max*L) read as infinite, but no cap."""
    evaluation = STATEMENTS["theorem-c.1"].evaluate(**{**GOOD, "tau_max": 0, "tau_avg": 0})
    assert [check.condition.name for check in evaluation.broken] == ["somebody is away"]


@pytest.mark.parametrize(("key", "name"), [("lemma-f.1", "S"), ("corollary-g.1-case-1", "S")])
def test_uniform_sampling_leaves_somebody_out(key, name):
    """S = N breaks S < N; S > N is refused."""
    known = {k: v for k, v in GOOD.items() if not k.startswith("tau")}
    (check,) = STATEMENTS[key].evaluate(**known, S=10).broken
    assert check.condition.name == "participants"
    assert f"{name}=10" in check.broken
    assert STATEMENTS[key].evaluate(**known, S=9).applicable
    assert "S <= N" in refusal(key, **known, S=11)


def test_a_bound_is_vacuous_until_it_is_below_two_l_delta_f():
    """Theorem 4.1 without noise: 20*4*(1 + 2)/T = 240/T against 2, so informative from T = 121 on."""
    at = {T: STATEMENTS["theorem-4.1"].evaluate(**{**GOOD, "sigma": 0, "T": T}).vacuous for T in (119, 120, 121)}
    assert at == {119: True, 120: True, 121: False}


@every_key
def test_required_is_exactly_what_an_evaluation_needs(key):
    """With the required parameters there is a value; without any one of them the message names it."""
    statement = STATEMENTS[key]
    (values,) = points(key, 7, 1)
    known = {name: values[name] for name in statement.required}
    assert math.isfinite(statement.evaluate(**known).value)
    for name in known:
        rest = {other: v for other, v in known.items() if other != name}
        assert f"{name} ({VOCABULARY[name].meaning})" in refusal(key, **rest)
