"""The short way to write a theorem makes the statement that the long way makes."""

import inspect
import pickle
import random
from pathlib import Path

import pytest
import sympy as sp
from short_theorem import DESCENT

import bounds
from bounds.errors import InputError
from bounds.parsing import read
from bounds.statement import (
    Assumption,
    Claim,
    Condition,
    Metric,
    Over,
    Relation,
    Source,
    Statement,
    StepProduct,
    StepRule,
    number,
)
from bounds.symbols import COMMON
from bounds.theorem import in_fields, symbol, theorem


def made(**changed):
    """The theorem above with other fields; those that are None are left out."""
    fields = {name: value for name, value in {**DESCENT, **changed}.items() if value is not None}
    return theorem(**fields)


def test_the_short_form_is_the_long_one():
    """Every field of the statement, written out."""
    F_0, T, L, gamma_u, G_u = (COMMON[name].symbol for name in ("F_0", "T", "L", "gamma_u", "G_u"))
    metric = Metric(
        latex=r"\frac1T\sum_{t=0}^{T-1}\mathcal{G}_u^t",
        weights={G_u: sp.Integer(1)},
        over=Over.MEAN_OF_ROUNDS,
        trivial=2 * L * F_0,
    )
    assert made(trivial="2*L*F_0", source="My paper, Theorem 1", repairs="own/other", remark="Why.") == Statement(
        key="own/gradient-descent",
        title="Gradient descent",
        source=Source(paper="My paper", number="Theorem 1", location=""),
        vocabulary=COMMON,
        algorithm="fedavg",
        assumptions=(Assumption.SMOOTHNESS, Assumption.FULL_PARTICIPATION, Assumption.NO_PERSONAL),
        claims=(Claim(name="main", metric=metric, relation=Relation.AT_MOST, terms={"gap": 2 * F_0 / (gamma_u * T)}),),
        conditions=(Condition(name="gamma_u <= 1/L", left=gamma_u, operator="<=", right=1 / L),),
        step_rules=(),
        step_products=(),
        settings={"K": sp.Integer(1), "m": COMMON["n"].symbol, "sigma_u": sp.Integer(0), "eta_u": sp.Integer(1)},
        follows_from=(),
        remark="Why.",
        repairs="own/other",
    )


@pytest.mark.parametrize("paper", [*bounds.PAPERS, bounds.TEXTBOOK])
def test_formulas_of_a_paper_are_read_as_they_are_printed(paper):
    """As SymPy prints them: the same expression, or the same number where numbers were multiplied out."""
    rng = random.Random(paper)  # noqa: S311
    for statement in bounds.statements(paper):
        values = {q.name: float(rng.randint(2, 9)) for q in statement.vocabulary}
        sides = [side for c in statement.hypotheses for side in (c.left, c.right)]
        for formula in (*sides, *(term for claim in statement.claims for term in claim.terms.values())):
            found = read(str(formula), statement.vocabulary)
            if found != formula:
                assert number(found, values) == pytest.approx(number(formula, values), rel=1e-9, nan_ok=True), formula


def test_numbers_by_hand():
    """2 F_0/(gamma_u T), with every part of the statement as it is written."""
    statement = made(trivial="2*L*F_0", source="My paper, Theorem 1")
    assert statement.evaluate(F_0=3, gamma_u=0.5, T=100, L=2).value == 2 * 3 / (0.5 * 100)
    assert statement.evaluate(F_0=3, gamma_u=0.5, T=100, L=2).trivial == 2 * 2 * 3
    assert not statement.evaluate(F_0=3, gamma_u=0.6, T=100, L=2).applicable
    assert statement.source == Source(paper="My paper", number="Theorem 1", location="")
    assert statement.conditions[0].name == statement.conditions[0].text == "gamma_u <= 1/L"
    assert statement.assumptions == (Assumption.SMOOTHNESS, Assumption.FULL_PARTICIPATION, Assumption.NO_PERSONAL)
    assert statement.key == "own/gradient-descent"
    assert (statement.step_rules, statement.step_products, statement.follows_from) == ((), (), ())


def test_formulas_may_be_sympy_s():
    """Symbols by the same name are the vocabulary's; relations are comparisons."""
    L, F_0, T = sp.symbols("L F_0 T")
    gamma = COMMON["gamma_u"].symbol
    statement = made(
        left=COMMON["G_u"].symbol,
        right=2 * F_0 / (gamma * T),
        conditions=sp.Le(gamma, 1 / L),
        over=Over.MEAN_OF_ROUNDS,
        relation=Relation.AT_MOST,
        settings={"K": 1, "m": COMMON["n"].symbol, "sigma_u": 0.0, "eta_u": 1},
    )
    assert statement.claims[0].terms == {"bound": made().claims[0].terms["gap"]}
    assert statement.conditions == made().conditions
    assert statement.settings == made().settings


def test_step_sizes_that_are_set():
    """Prescribed, from below, and as products of others."""
    statement = made(
        step_rules={"gamma": "1/L", "eta_u": ">= 1"},
        step_products="gamma == gamma_u*eta_u",
        conditions=None,
        settings=None,
    )
    gamma, gamma_u, eta_u, L = (COMMON[name].symbol for name in ("gamma", "gamma_u", "eta_u", "L"))
    assert statement.step_rules == (
        StepRule(symbol=gamma, value=1 / L, at_least=False),
        StepRule(symbol=eta_u, value=sp.Integer(1), at_least=True),
    )
    assert statement.step_products == (StepProduct(product=gamma, local=gamma_u, outer=eta_u),)
    assert statement.complete({"L": 4})[0] == {"L": 4, "gamma": 0.25, "eta_u": 1, "gamma_u": 0.25}


@pytest.mark.parametrize(
    ("left", "over", "latex"),
    [
        ("G_u", "mean_of_rounds", r"\frac1T\sum_{t=0}^{T-1}\mathcal{G}_u^t"),
        ("G_u", "every round", r"\mathcal{G}_u^t"),
        ("G_u + m/n*G_v", "MEAN_OF_ROUNDS", r"\frac1T\sum_{t=0}^{T-1}(\mathcal{G}_u^t + \frac{m}{n} \mathcal{G}_v^t)"),
        ("(2 - L*gamma_u)*G_u", "every-round", r"(- L \gamma_u + 2) \mathcal{G}_u^t"),
        ("-descent + inner_u", "every_round", None),
    ],
)
def test_the_left_side_is_printed_as_it_is_written(left, over, latex):
    """A mean over rounds has its sum; a difference that is one quantity is in brackets."""
    metric = made(left=left, over=over).claims[0].metric
    assert latex is None or metric.latex == latex
    assert sp.expand(metric.expr - sp.sympify(left, {q.name: q.symbol for q in COMMON})) == 0
    if latex is None:
        assert metric.latex.startswith(r"-(\mathbb{E}f(u^{t+1},\mathbf{v}^{t+1})-\mathbb{E}f(u^t,\mathbf{v}^t)) + ")


def test_symbols_of_ones_own():
    """Free, certified by a fact, or equal to a formula; those of the vocabulary stay as they are."""
    statement = made(
        right="(1 + theta)*2*F_0/(gamma_u*T)*my_L/L*two",
        symbols=[
            symbol("theta", "any share", role="free", default=0.5),
            symbol("my_L", "smoothness", fact="L", degrees=(1, -2)),
            symbol("two", "a ratio", equals="2*L/L", latex="2", domain="nonnegative"),
        ],
    )
    own = statement.vocabulary
    assert own["theta"].default == 0.5
    assert own.facts["my_L"] == "L"
    assert own.derived == {**COMMON.derived, "two": 2}
    assert (own["my_L"].f_degree, own["my_L"].x_degree) == (1, -2)
    assert "theta" not in COMMON.order
    assert statement.evaluate(F_0=1, gamma_u=1, T=3, my_L=2, L=1, two=2).value == pytest.approx(1.5 * 2 / 3 * 2 * 2)


def test_the_symbols_of_a_paper():
    """By its short name; the textbook has distances to the minimiser."""
    statement = made(
        left="dist2 - dist2_prev", right="gamma_u**2*sigma_u**2/n", over="every_round_but_first", vocabulary="textbook"
    )
    weights = statement.claims[0].metric.weights
    assert {one.name: weight for one, weight in weights.items()} == {"dist2": 1, "dist2_prev": -1}
    of_paper = made(
        algorithm="fedsum", vocabulary="fedsum", right="20*Delta_f*L*tau_max/T", trivial="2*L*Delta_f", settings=None,
        conditions=None,
    )  # fmt: skip
    values = {"Delta_f": 3, "L": 2, "tau_max": 4, "T": 120}
    assert of_paper.evaluate(**values).value == pytest.approx(20 * 3 * 2 * 4 / 120)
    printed = bounds.get("fedsum/theorem-4.1")
    assert of_paper.claims[0].metric.weights == printed.claims[0].metric.weights


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ({"title": 3}, ("title: 3 is not text",)),
        ({"algorithm": 3}, ("algorithm: 3 is not the name of a method",)),
        ({"assumptions": ["smothness"]}, ("assumptions: no Assumption 'smothness'; did you mean 'smoothness'",)),
        ({"assumptions": [3]}, ("assumptions: 3 is not the name",)),
        ({"left": "G_w"}, ("left: no symbol 'G_w'; did you mean",)),
        ({"left": "L"}, ("left: L has no quantity that a run records; known: G_u, G_v",)),
        ({"left": "G_u**2"}, ("left: G_u**2 is not linear in G_u",)),
        ({"left": "G_u*G_v"}, ("not linear in G_u, G_v",)),
        ({"left": "max(G_u, G_v)"}, ("not linear in G_u, G_v",)),
        ({"left": "G_u + L*F_0"}, ("left: F_0*L multiplies no quantity of a run: move it to the right side",)),
        ({"over": "mean"}, ("over: no Over 'mean'", "mean_of_rounds")),
        ({"right": "2*F0"}, ("right: no symbol 'F0'; did you mean 'F_0'",)),
        ({"right": {"gap": "2*F0"}}, ("right['gap']: no symbol 'F0'",)),
        ({"right": {"gap": []}}, ("right['gap']: [] is no formula",)),
        ({"right": {"gap": float("nan")}}, ("right['gap']: nan is no finite number",)),
        ({"right": {"gap": True}}, ("right['gap']: True is no formula",)),
        ({"right": {}}, ("right: it is empty",)),
        ({"right": sp.Symbol("F0")}, ("right: no symbol 'F0'",)),
        ({"relation": "<"}, ("relation: '<' is none; known: '<=', '==', '= O'",)),
        ({"conditions": ["gamma_u <= 1/l"]}, ("conditions[0]: no symbol 'l'",)),
        ({"conditions": {"cap": "gamma_u 1/L"}}, ("conditions['cap']:",)),
        ({"conditions": sp.Le(COMMON["K"].symbol, COMMON["K"].symbol)}, ("conditions[0]: it is True whatever",)),
        ({"conditions": 3}, ("conditions[0]: 3 is no comparison",)),
        ({"settings": {"k": 1}}, ("settings: no symbol 'k'",)),
        ({"settings": ["K"]}, ("settings: ['K'] is no mapping",)),
        ({"settings": {"K": "x"}}, ("settings['K']: no symbol 'x'",)),
        ({"step_rules": {"gama": "1/L"}}, ("step_rules: no symbol 'gama'; did you mean 'gamma'",)),
        ({"step_rules": ["1/L"]}, ("step_rules: '1/L' is no step rule",)),
        ({"step_products": "gamma = gamma_u"}, ("step_products:", "not of the form 'gamma == gamma_u*eta_u'")),
        ({"step_products": "gamma == gamma_u*eta_w"}, ("step_products: no symbol 'eta_w'",)),
        ({"symbols": ["theta"]}, ("symbols: 'theta' is no symbol of one's own",)),
        ({"symbols": symbol("L", "mine")}, ("symbols: 'L' is taken: smoothness",)),
        ({"vocabulary": "pfi"}, ("vocabulary: no paper 'pfi'; did you mean 'pfl'",)),
        ({"vocabulary": 3}, ("vocabulary: 3 is not",)),
        ({"source": 3}, ("source: 3 is not text",)),
        ({"trivial": "2*L*F0"}, ("trivial: no symbol 'F0'",)),
        ({"remark": 3}, ("remark: 3 is not text",)),
    ],
)
def test_what_is_wrong_is_named_with_its_field(changed, parts):
    """One line with the field, what is wrong, and what is admissible."""
    with pytest.raises(InputError) as caught:
        made(**changed)
    assert all(part in str(caught.value) for part in parts), caught.value
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301  # made above


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"name": "my L"}, "name: 'my L' is not a name"),
        ({"meaning": 3}, "meaning: 3 is not text"),
        ({"role": "constnt"}, "role: no Role 'constnt'; did you mean 'constant'"),
        ({"domain": "positiv"}, "domain: no Domain 'positiv'; did you mean 'positive'"),
        ({"degrees": 1}, "degrees: 1 is not a pair"),
        ({"default": -1}, "default: "),
        ({"default": "x"}, "default: "),
        ({"fact": 3}, "fact: 3 is not the name of a fact"),
    ],
)
def test_a_symbol_of_ones_own_is_checked(given, part):
    """Before any theorem uses it."""
    with pytest.raises(InputError) as caught:
        symbol(**{"name": "my_L", "meaning": "smoothness", **given})
    assert part in str(caught.value)


def test_a_condition_may_be_written_out():
    """As in the long way."""
    condition = Condition(name="cap", left=COMMON["gamma_u"].symbol, operator="<=", right=1 / COMMON["L"].symbol)
    assert made(conditions=[condition]).conditions == (condition,)


def test_the_page_names_every_field():
    """In its table; and it names no other."""
    page = (Path(__file__).parents[2] / "docs" / "own.md").read_text()
    table = page.partition("## Field by field")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted(name.strip(" `") for row in rows for name in row.split(",")) == sorted(
        inspect.signature(in_fields).parameters
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"settings": {"K": -1.5}}, r"settings\['K'\]: K=-1.5 breaks"),
        ({"settings": {"K": 0}}, r"settings\['K'\]: K=0 breaks"),
        ({"settings": {"K": 1.5}}, r"settings\['K'\]: K=1.5: needed a whole number"),
        ({"settings": {"sigma_u": "-1/2"}}, r"settings\['sigma_u'\]: sigma_u=-0.5 breaks"),
        ({"step_rules": {"gamma_u": "gamma_u/2"}}, "gamma_u is set by way of itself, gamma_u -> gamma_u"),
        (
            {"step_rules": {"gamma_u": "1/eta_u", "eta_u": "L*gamma_u"}},
            "gamma_u is set by way of itself, gamma_u -> eta_u -> gamma_u",
        ),
        ({"conditions": ["2 <= 1"]}, r"conditions\[0\]: 2 <= 1 is false whatever the numbers are"),
        ({"conditions": {"cap": "1 < 1"}}, r"conditions\['cap'\]: 1 < 1 is false whatever"),
    ],
)
def test_what_no_run_can_have_is_refused(changed, message):
    """A setting outside its domain, a step size in terms of itself, a condition that nothing meets."""
    with pytest.raises(InputError, match=message):
        made(**changed)
