"""The papers' tables: every row against numbers, planted errors, the command, and the rates of other work."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner
from second_reading import baselines as reading

import bounds
from bounds.errors import InputError
from bounds.ledger.rate_table import OwnRow, QuotedRow, get, tables
from bounds.papers.baselines import statements as baselines
from bounds.papers.pfl.tables import PFL_TABLE_2
from bounds.papers.simfbo import symbols as simfbo
from bounds.papers.simfbo.tables import SIMFBO_TABLE_1
from bounds.statement import Relation
from bounds.statement import number as value_at
from bounds.symbols import Domain, Role
from ratecheck.api.result import SCHEMA
from ratecheck.commands.theory.tables import command
from ratecheck.complexity.closed_form import closed_bound
from ratecheck.complexity.orders import compare
from ratecheck.complexity.tables import check_table
from ratecheck.outcome import Outcome

TABLES = tables()
every_table = pytest.mark.parametrize("name", TABLES)
ROWS = [(name, k) for name, table in TABLES.items() for k in range(len(table.rows))]
OWN = [(name, k) for name, k in ROWS if isinstance(TABLES[name].rows[k], OwnRow)]
QUOTED = [(name, k) for name, k in ROWS if isinstance(TABLES[name].rows[k], QuotedRow)]

# By hand: what holds for all values of sigma_u, sigma_v and b, and what only for each of them fixed and positive.
UNIFORM = {
    "baselines/fedsim",
    "baselines/fedalt",
    "baselines/fedavg-karimireddy-partial",
    "baselines/fedavg-karimireddy-full",
    "baselines/fednest",
    "baselines/fbo-aggitd",
    "baselines/fedbio",
    "baselines/fedmbo",
}
# The latter with a curve on which own/other grows like x at least: what it lacks is 1.
FIXED = {
    "baselines/fedavg-yang-partial": lambda x: {"sigma_u": x**-1, "T": x**4},
    "baselines/fedavg-yang-full": lambda x: {"sigma_u": x**-1, "T": x**4},
    "baselines/fedavg-yu": lambda x: {"b": x**-1, "sigma_u": x**-1},
}
REFUTED = {"simfbo/theorem-1-order", "simfbo/theorem-2-order"}


@pytest.fixture(scope="module")
def reports():
    """Every table, checked."""
    return {name: check_table(table) for name, table in TABLES.items()}


# --- The verdicts ---


def test_verdicts_are_those_found_by_hand(reports):
    """Every own row has its theorem's order but for SimFBO's; what is said about other work holds, as sorted above."""
    outcomes = {row.row.key: row for report in reports.values() for row in report.rows}
    assert {key for key, row in outcomes.items() if row.outcome is Outcome.VIOLATED} == REFUTED
    quoted = {key: row for key, row in outcomes.items() if isinstance(row.row, QuotedRow)}
    assert quoted.keys() == UNIFORM | FIXED.keys()
    for key, row in quoted.items():
        assert {bool(finding.fixed) for finding in row.findings} == {key in FIXED}
    missing = {key for key, row in outcomes.items() if row.outcome is Outcome.NOT_CHECKED}
    assert missing == {"fedsum/corollary-g.1-case-1", "fedsum/corollary-g.1-case-2"}
    assert all(finding.outcome is Outcome.HOLDS for report in reports.values() for finding in report.reductions)
    assert sum(len(report.reductions) for report in reports.values()) == 5


def test_every_rate_of_other_work_is_in_a_table():
    """Each statement is a row, or is said to be matched without a rate; each row's order is the statement's."""
    rows = [row for table in TABLES.values() for row in table.rows]
    unprinted = {claim.key for table in TABLES.values() for claim in table.unprinted}
    keys = {row.key for row in rows}
    for statement in baselines.STATEMENTS:
        assert (statement.key in keys) != (statement.key in unprinted)
    for row in rows:
        if isinstance(row, QuotedRow):
            for claim in bounds.get(row.key).claims:
                assert claim.relation is Relation.ORDER
                assert row.order(claim.name) == claim.bound


def test_what_is_said_to_match_without_a_rate_is_not_checked(reports):
    """SCALLION and FedAWE: their statements are the own rows' rates, so that a comparison would say nothing."""
    table, report = TABLES["fedsum/table-1"], reports["fedsum/table-1"]
    assert [(claim.own.label, claim.key) for claim in table.unprinted] == [
        ("Case 1", "baselines/scallion"),
        ("Case 2", "baselines/fedawe"),
    ]
    for claim in table.unprinted:
        assert sp.simplify(claim.own.order("main") - bounds.get(claim.key).claims[0].bound) == 0
        (row,) = (row for row in report.rows if row.row is claim.own)
        rate, match = row.findings
        assert (rate.outcome, match.outcome, match.ordering) == (Outcome.HOLDS, Outcome.NOT_CHECKED, None)
        assert "not checked: no rate printed" in match.evidence
        assert row.headline == "NOT_CHECKED in part (1 of 2 HOLDS)"
        assert row.row.columns["Related Works"] == match.says
    assert report.headline == "HOLDS where checked; 2 claims not checked"


@every_table
def test_no_claim_about_other_work_is_an_identity_by_construction(name):
    """What is compared are two printed rates; what has none of its own is among the claims that are not checked."""
    table = TABLES[name]
    for row in table.rows:
        for versus in getattr(row, "versus", ()):
            assert "prints no rate" not in bounds.get(row.key).remark
            assert versus.own.key != row.key
    for claim in table.unprinted:
        assert "prints no rate" in bounds.get(claim.key).remark


def test_a_row_for_fixed_constants_says_so(reports):
    """In the row's verdict, in the table's, and as data."""
    for report in reports.values():
        for row in report.rows:
            assert ("for fixed sigma_u, b only" in row.headline) == (row.row.key in FIXED)
    assert reports["pfl/table-3"].headline == "HOLDS; 3 rows for fixed sigma_u, b only"
    assert reports["pfl/table-2"].headline == "HOLDS"


def test_what_rests_on_a_refuted_row_says_where_it_does_not(reports):
    """SimFBO's rounds are refuted for P < n, its samples are not: fewer rounds than others at P = n only."""
    report = reports["simfbo/table-1"]
    assert report.headline == "VIOLATED; 4 rows at P = n only"
    for row in report.rows:
        for finding in row.findings if isinstance(row.row, QuotedRow) else ():
            assert finding.outcome is Outcome.HOLDS
            assert finding.only == (("P = n",) if "Communication" in finding.says else ())


def test_no_number_of_local_steps_reaches_the_accuracy(reports):
    """The evidence is about every tau_bar >= 1, and numbers bear it out: the least bound/eps over tau_bar grows."""
    for row in reports["simfbo/table-1"].rows[-2:]:
        full, partial = row.findings
        assert "no tau_bar >= 1 reaches it" in partial.evidence
        assert "tau_bar" not in full.evidence
        bound = closed_bound(bounds.get(row.row.key))
        hidden = {symbol: sp.Integer(1) for symbol in bound.free_symbols if symbol.name in SIMFBO_TABLE_1.hidden}
        rate = sp.lambdify((simfbo.n, simfbo.P, simfbo.T, simfbo.tau_bar), bound.xreplace(hidden))
        steps = np.geomspace(1, 1e12, 400)
        least = [np.min(rate(10, 5, 1 / eps, steps)) / eps for eps in (1e-4, 1e-6, 1e-8)]
        assert least[1] > 9 * least[0]
        assert least[2] > 9 * least[1]


def test_a_number_of_local_steps_that_works_is_found():
    """With T = 1/(P*eps^2) rounds one local step reaches eps and 1/eps do not: the row that has 1/eps of them holds."""
    row = SIMFBO_TABLE_1.rows[-2]
    assert isinstance(row, OwnRow)
    rounds, steps = baselines.eps**-2 / simfbo.P, 1 / baselines.eps
    planted = dataclasses.replace(row, substituted={simfbo.T: rounds, simfbo.tau_bar: steps}, cases=({},))
    (finding,) = check_table(dataclasses.replace(SIMFBO_TABLE_1, rows=(planted,), reductions=())).rows[0].findings
    assert finding.outcome is Outcome.HOLDS
    assert "tau_bar = 1" in finding.says
    closed = dataclasses.replace(planted, free={})
    (finding,) = check_table(dataclasses.replace(SIMFBO_TABLE_1, rows=(closed,), reductions=())).rows[0].findings
    assert finding.outcome is Outcome.VIOLATED


# --- Numbers as an oracle ---


def far_out(rng, table, size, fixed=()):
    """A point of the table's domain about 10^size away; hidden constants and those in ``fixed`` are 1."""
    values = {}
    for q in table.vocabulary:
        whole = q.domain is Domain.POSITIVE_INTEGER
        values[q.name] = Fraction(10) ** int(rng.integers(0 if whole else -size, size + 1))
        if q.name in table.hidden or q.name in fixed:
            values[q.name] = Fraction(1)
    for small, large in (("m", "n"), ("S", "N"), ("P", "n")):
        if {small, large} <= values.keys():
            values[large] = values[small] + rng.integers(0, 2) * Fraction(10) ** int(rng.integers(0, size + 1))
    if "K" in values:
        values["K"] += int(rng.integers(0, 2))
    if "delta" in values:
        values["delta"] = Fraction(1, 10 ** int(rng.integers(0, size + 1)))
    if "eps" in values:
        values["eps"] = Fraction(1, 10 ** int(rng.integers(0, size + 1))) / values["P"]
    return values


def function(expr):
    """The expression as a function of values by name, in 40 digits."""
    symbols = sorted(expr.free_symbols, key=str)
    compiled = sp.lambdify(symbols, expr, modules="mpmath")

    def evaluate(values):
        with mpmath.workdps(40):
            return compiled(*(mpmath.mpf(v.numerator) / v.denominator for v in (values[s.name] for s in symbols)))

    return evaluate


def number(expr, values):
    """The expression at a point."""
    return float(function(expr)(values))


def ratios(table, left, right, size, fixed=()):
    """The smallest and the largest left/right over random points."""
    rng = np.random.default_rng(11)
    one, other = function(left), function(right)
    points = [far_out(rng, table, size, fixed) for _ in range(120)]
    found = [float(one(values) / other(values)) for values in points]
    return min(found), max(found)


@pytest.mark.parametrize(("name", "k"), [pair for pair in OWN if TABLES[pair[0]].rows[pair[1]].reaches is None])
def test_own_rates_follow_their_theorems_at_any_distance(name, k):
    """Theorem over row stays between two constants, 1 and 2000, or such times the logarithms that are hidden."""
    table, row = TABLES[name], TABLES[name].rows[k]
    left, right = closed_bound(bounds.get(row.key)), row.order("main")
    for size in (2, 6, 12):
        low, high = ratios(table, left, right, size)
        # log(N*T) with N <= 2*10^size, T <= 10^size; the largest of the logarithms stands outside the root.
        hidden = 2.5 * (2 * size + 1) if row.hides_logarithms else 1.0
        assert high <= 2000 * hidden
        assert low >= 1 or row.hides_logarithms


@pytest.mark.parametrize(("name", "k"), QUOTED)
def test_claims_about_other_work_hold_at_any_distance(name, k):
    """Own over other stays below a constant; where it is said to for fixed constants only, it does not without."""
    table, row = TABLES[name], TABLES[name].rows[k]
    constants = [q.name for q in table.vocabulary if q.role is Role.CONSTANT]
    for versus in row.versus:
        own, other = versus.own.order(versus.column), versus.factor * row.order(versus.column)
        fixed = constants if row.key in FIXED else ()
        assert ratios(table, own, other, 12, fixed)[1] <= 5
        if fixed:
            curve = [{**dict.fromkeys(table.vocabulary.order, 1), **FIXED[row.key](Fraction(x))} for x in (100, 10000)]
            near, far = (number(own, point) / number(other, point) for point in curve)
            assert far > 50 * near
        assert not versus.same or ratios(table, own, other, 12)[0] >= 1 / 5


def test_simfbo_rounds_with_numbers():
    """At T = 1/eps and tau_bar = 1/(P*eps), bound/eps is constant for P = n and grows like 1/eps for P < n."""
    bound = closed_bound(bounds.get("simfbo/theorem-1-order"))
    hidden = {symbol: sp.Integer(1) for symbol in bound.free_symbols if symbol.name in SIMFBO_TABLE_1.hidden}
    rate = sp.lambdify((simfbo.n, simfbo.P, simfbo.T, simfbo.tau_bar), bound.xreplace(hidden))
    full, partial, own = [], [], []
    for eps in (1e-3, 1e-4, 1e-5):
        full.append(rate(10, 10, 1 / eps, 1 / (10 * eps)) / eps)
        partial.append(rate(10, 5, 1 / eps, 1 / (5 * eps)) / eps)
        own.append(rate(10, 5, 1 / (5 * eps**2), 1) / eps)
    assert max(full) <= 1.01 * min(full)
    assert partial[1] / partial[0] == pytest.approx(10, rel=0.01)
    assert partial[2] / partial[1] == pytest.approx(10, rel=0.01)
    assert max(own) <= 1.01 * min(own)


def test_simfbo_rounds_of_the_explicit_bound_for_full_participation():
    """The repaired Theorem 1 at its default step sizes, rho_bar = tau_bar, T = 1/eps and P = n is of the order eps."""
    n, eps = simfbo.n, baselines.eps
    steps = 1 / (n * eps)
    put_in = {simfbo.P: n, simfbo.T: 1 / eps, simfbo.tau_bar: steps, simfbo.rho_bar: steps}
    at = closed_bound(bounds.get("simfbo/theorem-1-repaired")).xreplace(put_in)
    conditions = [dataclasses.replace(c, left=c.left.subs(simfbo.P, n)) for c in SIMFBO_TABLE_1.conditions]
    constants = {symbol.name for symbol in at.free_symbols} - {"n", "eps"}
    assert compare(at, eps, SIMFBO_TABLE_1.vocabulary, conditions, fixed=constants).same


def test_simfbo_own_complexities_for_partial_participation():
    """T = O(1/(P*eps^2)) of Theorem 1 with one local step reaches eps: at most FedMBO's rounds, but not FedBiO's."""
    rounds = baselines.eps**-2 / simfbo.P
    bound = closed_bound(bounds.get("simfbo/theorem-1-order"))
    table = SIMFBO_TABLE_1
    at = bound.xreplace({simfbo.T: rounds, simfbo.tau_bar: sp.Integer(1)})
    assert compare(at, baselines.eps, table.vocabulary, table.conditions, fixed=table.hidden).forward.holds
    quoted = {row.key: row.order("rounds") for row in table.rows}
    for key, smaller in (("baselines/fedmbo", True), ("baselines/fedbio", False)):
        found = compare(rounds, quoted[key], table.vocabulary, table.conditions)
        assert found.forward.holds == smaller


# --- Planted errors ---

K, T = sp.symbols("K T", integer=True, positive=True)
WRONG = {
    "a factor T^(1/10)": lambda order: order * T ** sp.Rational(1, 10),
    "without its speedup in K": lambda order: order.subs(K, 1),
    "without its last term": lambda order: sp.Add(*[term for term in order.args if term.has(K)]),
    "another term": lambda order: order + K / T**2,
}


@pytest.mark.parametrize("error", WRONG)
@pytest.mark.parametrize(("name", "k"), [pair for pair in OWN if TABLES[pair[0]].rows[pair[1]].reaches is None])
def test_a_wrong_own_row_is_noticed(name, k, error):
    """A planted error makes the row, and with it the table, VIOLATED, with a direction as evidence."""
    table = TABLES[name]
    row = table.rows[k]
    assert {K, T} <= row.order("main").free_symbols
    wrong = dataclasses.replace(row, orders={"main": (WRONG[error](row.order("main")),)})
    report = check_table(dataclasses.replace(table, rows=(wrong,), reductions=()))
    assert report.outcome is Outcome.VIOLATED
    assert "along" in report.rows[0].findings[0].evidence


@pytest.mark.parametrize(("name", "k"), QUOTED)
def test_a_wrong_claim_is_noticed(name, k):
    """Another paper's row made better by a power of what varies: the own row is not faster then, and the check says so.

    That is so for fixed constants as well.
    """
    table = TABLES[name]
    row = table.rows[k]
    better = 1 / T if "main" in row.orders else baselines.eps**2
    wrong = dataclasses.replace(row, orders={c: (better * row.order(c),) for c in row.orders})
    (checked,) = check_table(dataclasses.replace(table, rows=(wrong,), reductions=())).rows
    assert {finding.outcome for finding in checked.findings} == {Outcome.VIOLATED}


def test_a_row_without_a_claim_is_not_counted_as_holding(monkeypatch):
    """Nothing to check is NOT_APPLICABLE, for the table as well, and exit code 3."""
    row = dataclasses.replace(PFL_TABLE_2.rows[0], versus=())
    table = dataclasses.replace(PFL_TABLE_2, rows=(row, PFL_TABLE_2.rows[-1]))
    report = check_table(table)
    assert [checked.outcome for checked in report.rows] == [Outcome.NOT_APPLICABLE, Outcome.HOLDS]
    assert report.outcome is Outcome.NOT_APPLICABLE
    monkeypatch.setattr("bounds.ledger.rate_table.tables", lambda: {table.name: table})
    assert invoke(table.name)[0] == 3


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if table.reductions])
def test_a_wrong_special_case_is_noticed(name):
    """The general row with another setting put in, or compared with a row that it does not give."""
    table = TABLES[name]
    for reduction in table.reductions:
        wrong = dataclasses.replace(reduction, settings={**reduction.settings, K: sp.Integer(1)})
        (finding,) = check_table(dataclasses.replace(table, rows=(), reductions=(wrong,))).reductions
        assert finding.outcome is Outcome.VIOLATED


# --- The rates of other work ---


def test_orders_at_numbers_computed_by_hand():
    """One point per row: n=4, m=2, K=3, T=8, b=2, sigma_u=1, sigma_v=2, or eps=1/4, P=2, n=4."""
    sizes = {"n": 4, "m": 2, "K": 3, "T": 8, "b": 2, "sigma_u": 1, "sigma_v": 2}
    # 1 + 2*4/4 + (1/2)*4 = 5; 9*2/(3*64); 7*2/(3*64); 1 + 3*(1/2)*4 = 7.
    expected = {
        "fedsim": math.sqrt(5 / 8) + (9 * 2 / 192) ** (1 / 3) + 1 / 8,
        "fedalt": math.sqrt(5 / 8) + (7 * 2 / 192) ** (1 / 3) + 1 / 8,
        "fedavg-karimireddy-partial": math.sqrt(7 / 48) + (4 / 64) ** (1 / 3) + 1 / 8,
        "fedavg-yang-partial": 7 / math.sqrt(48) + (12 + 1 + 1) / 8,
        "fedavg-yu": math.sqrt(1 / 96) + 4 * 4 * 3 / 8,
        "fedavg-karimireddy-full": math.sqrt(1 / 96) + (4 / 64) ** (1 / 3) + 1 / 8,
        "fedavg-yang-full": 1 / math.sqrt(96) + (12 + 1 + 1) / 8,
    }
    for name, wanted in expected.items():
        assert number(bounds.get(f"baselines/{name}").claims[0].bound, sizes) == pytest.approx(wanted, rel=1e-12)
    counted = {"fednest": (16, 16), "fbo-aggitd": (16, 16), "fedbio": (8, 8), "fedmbo": (8, 16)}
    for name, wanted in counted.items():
        claims = bounds.get(f"baselines/{name}").claims
        at = {"eps": Fraction(1, 4), "P": 2, "n": 4}
        assert [claim.name for claim in claims] == ["samples", "rounds"]
        assert tuple(number(claim.bound, at) for claim in claims) == pytest.approx(wanted)
    fedsum = {"N": 8, "S": 2, "K": 2, "T": 4, "L": 2, "sigma": 3, "Delta_f": 2, "F_0": 5, "delta": Fraction(1, 4)}
    for name in ("scallion", "fedawe"):
        found = number(bounds.get(f"baselines/{name}").claims[0].bound, fedsum)
        assert found == pytest.approx(math.sqrt(36 / 16) + 4 * 9 / 4)


def scales(statement):
    """Whether every claim changes like its left side under f -> a*f, x -> c*x, at random numbers."""
    degrees = {q.name: (q.f_degree, q.x_degree) for q in statement.vocabulary}
    rng = np.random.default_rng(13)
    for claim in statement.claims:
        (measured,) = claim.metric.weights if len(claim.metric.weights) == 1 else [next(iter(claim.metric.weights))]
        for term in claim.terms.values():
            values = {s.name: rng.uniform(1, 3) for s in term.free_symbols}
            a, c = rng.uniform(2, 3, 2)
            moved = {name: value * a ** degrees[name][0] * c ** degrees[name][1] for name, value in values.items()}
            wanted = a ** degrees[measured.name][0] * c ** degrees[measured.name][1]
            pick = lambda point: {s: sp.Float(point[s.name], 30) for s in term.free_symbols}  # noqa: B023, E731
            ratio = float(term.xreplace(pick(moved)) / term.xreplace(pick(values)))
            if abs(ratio / wanted - 1) > 1e-9:
                return False
    return True


@pytest.mark.parametrize("key", [statement.key for statement in baselines.STATEMENTS])
def test_an_order_scales_or_says_what_it_hides(key):
    """Homogeneous with all constants there, as in FedSUM's table; else the remark says which are hidden."""
    statement = bounds.get(key)
    assert scales(statement) != ("hides" in statement.remark)


def test_scaling_notices_a_dropped_constant():
    """Planted errors: each constant of a homogeneous row set to 1."""
    statement = bounds.get("baselines/scallion")
    for name in ("L", "sigma", "Delta_f", "F_0"):
        (claim,) = statement.claims
        dropped = {label: term.subs(statement.vocabulary[name].symbol, 1) for label, term in claim.terms.items()}
        assert not scales(dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=dropped),)))


# --- The second reading ---

# Its keys where they are not <table>/<end of the statement's key>.
READ_AS = {
    "pfl/table-2/corollary-3.8": "fedavg-p",
    "pfl/table-3/fedavg-partial": "fedavg-ours-partial",
    "pfl/table-3/fedavg-full": "fedavg-ours-full",
    "pfl/table-3/fedavg-yu": "fedavg-yu-full",
    "fedsum/table-1/corollary-g.1-case-1": "fedsum-uniform",
    "fedsum/table-1/corollary-g.1-case-2": "fedsum-independent",
    "fedsum/table-1/corollary-g.1-case-3": "fedsum-cyclic",
    "fedsum/table-1/corollary-g.1-case-4": "fedsum-reshuffled",
    "simfbo/table-1/theorem-1-order": "simfbo",
    "simfbo/table-1/theorem-2-order": "shrofbo",
}


def read(name, row):
    """The row of the second reading."""
    end = row.key.partition("/")[2]
    return reading.ROWS[f"{name.replace('/', '-')}/{READ_AS.get(f'{name}/{end}', end)}"]


def test_every_row_is_read_twice():
    """Neither reading has a row that the other lacks."""
    mine = [read(name, row) for name, table in TABLES.items() for row in table.rows]
    assert len({id(row) for row in mine}) == len(mine) == len(reading.ROWS)


@pytest.mark.parametrize(("name", "k"), ROWS)
def test_printed_orders_equal_the_second_reading(name, k):
    """At 100 random points, to twelve digits, with every hidden constant 1 and without hidden logarithms."""
    row = TABLES[name].rows[k]
    other = read(name, row)
    assert row.hides_logarithms == other.logarithms_hidden
    rng = np.random.default_rng(5)
    symbols = {s for terms in row.orders.values() for term in terms for s in sp.sympify(term).free_symbols}
    for _ in range(100):
        point = {s.name: float(rng.integers(2, 30)) if s.is_integer else 10 ** rng.uniform(-2, 0) for s in symbols}
        for small, large in (("m", "n"), ("S", "N"), ("P", "n")):
            if {small, large} <= point.keys():
                point[small] = min(point[small], point[large])
        everything = dict.fromkeys(("n", "m", "K", "T", "N", "S", "P"), 1.0) | point
        missing = dict.fromkeys(("sigma_u", "sigma_v", "b", "L", "F_0", "sigma", "Delta_f", "delta", "eps"), 0.5)
        for column in row.orders:
            function = other.orders["rate" if column == "main" else column]
            assert value_at(row.order(column), point) == pytest.approx(function(**missing | everything), rel=1e-12)


# --- The command ---


def invoke(*words):
    """Exit code and output of ``ratecheck tables``."""
    result = CliRunner().invoke(command, list(words), standalone_mode=False)
    if isinstance(result.exception, InputError):
        raise result.exception
    return result.return_value, result.stdout


@every_table
def test_the_command_prints_every_row(name, reports):
    """Label, order, statement, verdict and evidence of every row; the exit code is 1 where one is refuted, else 3."""
    code, shown = invoke(name)
    assert code == {"simfbo/table-1": 1, "fedsum/table-1": 3}.get(name, 0)
    assert shown.splitlines()[0].endswith(reports[name].headline)
    for row in reports[name].rows:
        (line,) = (line for line in shown.splitlines() if line.startswith(row.row.label) and f" {row.row.key} " in line)
        assert line.endswith(row.headline)
        assert "O~(" in line if row.row.hides_logarithms else "O(" in line
        assert all(finding.says in shown and finding.evidence in shown for finding in row.findings)


def test_the_command_as_json():
    """All tables, with both directions of every comparison."""
    code, shown = invoke("--json")
    assert code == 1
    found = json.loads(shown)["tables"]
    assert [table["name"] for table in found] == list(TABLES)
    simfbo_row = found[-1]["rows"][-1]
    assert simfbo_row["verdict"] == "VIOLATED"
    full, partial = simfbo_row["checks"]
    assert full["verdict"] == "HOLDS"
    assert (partial["forward"]["holds"], partial["forward"]["direction"]) == (False, {"eps": -1})
    assert partial["forward"]["ratios"][-1] > partial["forward"]["ratios"][0]
    assert full["forward"]["certificates"] >= 1
    (one,) = (table for table in found if table["name"] == "pfl/table-2")
    assert json.loads(invoke("pfl/table-2", "--json")[1]) == {"schema": SCHEMA, **one}


def test_an_unknown_table_gets_a_hint():
    """The name that is close."""
    with pytest.raises(InputError, match="did you mean 'pfl/table-3' or 'pfl/table-2'"):
        get("pfl/table-1")
