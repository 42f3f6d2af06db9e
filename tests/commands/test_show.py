"""``show``: what is printed is the statement, in every notation; abbreviations, neighbours, width, encodings."""

import dataclasses
import functools
import json
import math
import os
import random
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import printed
import pytest
import sympy as sp
from click.testing import CliRunner
from each_key import each_key

import bounds
from bounds.printing import markup
from bounds.printing.abbreviations import definitions
from bounds.printing.box import Drawing, width
from bounds.printing.formula import FormulaReader, Order
from bounds.printing.nodes import Display
from bounds.printing.plain import plain
from bounds.printing.statement_page import Page, page
from bounds.printing.text import drawing, statement_text
from bounds.statement import Claim, Metric, Over, Relation, number
from bounds.symbols import Domain, Role, Vocabulary
from ratecheck.commands.theory.show import command
from ratecheck.views.theory.page import latex_lines

every_key = each_key(bounds.keys())
ENDLESS = 10**6


@functools.cache
def page_of(key):
    """The page of a statement of the catalogue, which several tests look at."""
    return page(bounds.get(key))


@pytest.fixture(scope="module", autouse=True)
def pages_are_kept():
    """The command takes the pages of the catalogue from there as well: an abbreviated formula takes a second."""
    module = sys.modules["ratecheck.api.theory.show"]

    def kept(statement):
        known = statement.key in bounds.keys() and bounds.get(statement.key) is statement
        return page_of(statement.key) if known else page(statement)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "page", kept)
        yield


def show(*arguments):
    """What the command prints."""
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def points(statement, count=2):
    """Values of every symbol of the paper; no two are equal, and a set of clients is larger than the part of it."""
    draw = random.Random(statement.key)  # noqa: S311  # no secret
    for _ in range(count):
        values = {}
        for quantity in statement.vocabulary:
            whole = quantity.domain is Domain.POSITIVE_INTEGER
            values[quantity.name] = float(draw.randint(2, 40)) if whole else draw.uniform(0.3, 2.9)
        for smaller, larger in statement.vocabulary.ordered:
            values[larger] = values[smaller] + values[larger]
        yield values


def formulas(shown):
    """Every formula on a page beside the expression that it stands for, abbreviations and their definitions too."""
    statement = shown.statement
    for claim, inequality in zip(statement.claims, shown.claims, strict=True):
        yield from ((term, claim.terms[label]) for label, term in inequality.terms)
        if inequality.metric is not None:
            yield inequality.metric, claim.metric.expr
    for line, condition in zip(shown.conditions, statement.conditions, strict=True):
        yield from ((line.left, condition.left), (line.right, condition.right))
    yield from ((line.right, rule.value) for (_, line), rule in zip(shown.rules, statement.step_rules, strict=True))
    yield from ((line.right, statement.settings[line.name]) for line in shown.settings)
    yield from ((each.formula, each.expr) for each in shown.abbreviations)


def completed(shown, values):
    """The values with those of the abbreviations, each computed from the formula that its statement is given as."""
    own = {name: number(expr, values) for name, expr in definitions(shown.statement).items()}
    return {**values, **own, **{each.name: number(each.expr, values) for each in shown.abbreviations}}


def assert_same(readers, shown):
    """Every formula, read back by every reader, has the value of its expression at random points."""
    compared = 0
    reads = {name: reader(shown) for name, reader in readers.items()}
    for values in points(shown.statement):
        full = completed(shown, values)
        for formula, expr in formulas(shown):
            try:
                wanted = pytest.approx(number(sp.sympify(expr), values), rel=1e-9, abs=1e-12)
            except ValueError:
                # A negative number under a root: the point is outside of what the formula is about.
                continue
            for name, read in reads.items():
                assert read(formula, full) == wanted, (name, shown.statement.key, expr)
            compared += 1
    assert compared


def as_code(shown):
    """Reads the one-line form that JSON has, as Python."""
    line = functools.cache(drawing(shown, unicode=False, code=True).line_of)
    functions = {"sqrt": math.sqrt, "log": math.log, "exp": math.exp, "Max": max, "Min": min, "Abs": abs}

    def read(formula, values):
        return eval(line(formula), {"__builtins__": {}}, functions | values)  # noqa: S307  # printed by the package

    return read


def as_sympy(shown):
    """Reads the one-line form by SymPy."""
    draw = drawing(shown, unicode=False, code=True)

    @functools.cache
    def parsed(formula):
        return sp.sympify(draw.line_of(formula), locals={name: sp.Symbol(name) for name in formula.symbols})

    def read(formula, values):
        return number(parsed(formula), {**values})

    return read


def as_unicode(shown):
    """Reads the two-dimensional form."""
    vocabulary, draw = shown.statement.vocabulary, drawing(shown, unicode=True)
    names = {plain(quantity.latex, unicode=True): quantity.name for quantity in vocabulary}

    def read(formula, values):
        return printed.value(printed.linear(draw.product(formula, ENDLESS).lines), names, values)

    return read


def as_latex(shown):
    """Reads the LaTeX form."""
    tex = markup.MarkupBlocks(shown).tex
    names = {quantity.latex: quantity.name for quantity in shown.statement.vocabulary}

    def read(formula, values):
        return printed.value(*printed.from_latex(tex.product(formula), names), values)

    return read


READERS = {"code": as_code, "unicode": as_unicode, "latex": as_latex}


@every_key
def test_what_is_printed_is_the_statement(key):
    """Printed formulas, read back, have the values of the expressions that are evaluated."""
    assert_same(READERS, page_of(key))


@each_key(bounds.keys(), every=9)
def test_what_is_printed_can_be_read_by_sympy(key):
    """SymPy reads the one-line form as Python does."""
    assert_same({"sympy": as_sympy}, page_of(key))


@pytest.mark.parametrize("reader", [*READERS.values(), as_sympy])
@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "simfbo/theorem-1", "flame/theorem-2-unbiased"])
def test_a_wrong_print_is_noticed(key, reader):
    """A number, a sign or a power that differs fails the comparison."""
    shown = page_of(key)
    read = reader(shown)
    values = completed(shown, next(points(shown.statement)))
    ((_, term),) = [*shown.claims[0].terms][:1]
    exact = number(next(iter(shown.statement.claims[0].terms.values())), values)
    assert read(term, values) == pytest.approx(exact, rel=1e-9)
    for wrong in (
        dataclasses.replace(term, number=term.number * Fraction(3, 2)),
        dataclasses.replace(term, number=-term.number),
        dataclasses.replace(term, factors=frozenset((base, 2 * power) for base, power in term.factors)),
    ):
        assert read(wrong, values) != pytest.approx(exact, rel=1e-3)


@every_key
def test_no_two_symbols_are_printed_alike(key):
    """On a page every print has one meaning, in Unicode and in LaTeX."""
    symbols = page_of(key).symbols
    for prints in ([plain(q.latex, unicode=True) for q in symbols], [q.latex for q in symbols]):
        assert len(set(prints)) == len(prints), Counter(prints).most_common(2)


@each_key(bounds.keys(), every=3)
def test_every_format_has_every_part(key):
    """Title, number, place, paper, assumptions, neighbours, remark and the names of terms, in all formats."""
    statement = bounds.get(key)
    words = [statement.title, statement.source.number, statement.source.paper, statement.remark]
    words += [assumption.value for assumption in statement.assumptions]
    words += [*statement.follows_from, *page_of(key).used_in]
    if statement.claims[0].relation is not Relation.EQUAL:
        words += [label for claim in statement.claims for label in claim.terms if len(claim.terms) > 1]
    undone = {
        (): lambda text: text,
        ("--ascii",): lambda text: text,
        ("--markdown",): lambda text: re.sub(r"\\([^a-zA-Z])", r"\1", text),
        ("--latex",): lambda text: re.sub(r"\\text\w+\{\}", "", re.sub(r"\\([&%$#_{}])", r"\1", text)),
    }
    for flags, undo in undone.items():
        text = "".join(undo(show(key, *flags)).split())
        for part in words:
            wanted = "".join(part.split())
            wanted = re.sub(r"[\^~\\]", "", wanted) if flags == ("--latex",) else wanted
            assert wanted in text, (flags, part)


@each_key(bounds.keys(), every=2)
def test_json_keeps_its_fields_and_has_the_new_ones(key):
    """The fields that scripts rely on, and the abbreviated formulas."""
    fields = json.loads(show(key, "--json"))
    statement = bounds.get(key)
    assert {"key", "title", "paper", "number", "location", "algorithm", "order_only", "assumptions"} <= fields.keys()
    assert {"conditions", "step_sizes", "settings", "parameters", "follows_from", "remark", "latex"} <= fields.keys()
    assert {"used_in", "partner", "abbreviations"} <= fields.keys()
    assert [claim["right"] for claim in fields["claims"]] == [str(claim.bound) for claim in statement.claims]
    assert len(fields["latex"]) == len(statement.claims) + len(statement.hypotheses)


@every_key
def test_latex_is_balanced(key):
    """Braces, environments and brackets: in the whole, and in every row of every formula."""
    shown = page_of(key)
    text = markup.latex(shown)
    assert _unbalanced(text) == []
    assert Counter(re.findall(r"\\begin\{(\w+)\}", text)) == Counter(re.findall(r"\\end\{(\w+)\}", text))
    assert text.count("\\[") == text.count("\\]")
    for block in markup.MarkupBlocks(shown).body:
        for row in block.latex.splitlines() if isinstance(block, Display) else ():
            assert _unbalanced(row) == [], row
    assert all(_unbalanced(line) == [] for line in latex_lines(shown))


def _unbalanced(latex):
    """What is opened and not closed, or closed and not opened."""
    waiting = []
    for token in re.findall(r"\\left|\\right(?!a)|\\.|[{}]", latex):
        if token in {"{", "\\left"}:
            waiting.append(token)
        if token in {"}", "\\right"}:
            opened = waiting.pop() if waiting else None
            if opened != {"}": "{", "\\right": "\\left"}[token]:
                return [token]
    return waiting


@pytest.mark.parametrize("broken", [r"\frac{a}{b", r"a}", r"\left(a", r"\left({a\right)}"])
def test_imbalance_is_noticed(broken):
    """The check above can fail."""
    assert _unbalanced(broken)


@every_key
def test_used_in_is_the_inverse_of_follows_from(key):
    """A statement is used in those that are said to follow from it."""
    paper = key.partition("/")[0]
    others = [other.key for other in bounds.statements(paper) if key in other.follows_from]
    assert list(page_of(key).used_in) == others
    for source in bounds.get(key).follows_from:
        assert key in page_of(source).used_in


@every_key
def test_partners_are_mutual_and_differ(key):
    """A printed form and its first repair name each other and say in what they differ; a second one names it, too."""
    statement = bounds.get(key)
    shown = page_of(key)
    repairs = [each for each in bounds.siblings(statement.key) if each.repairs == key]
    twin = bounds.get(statement.repairs) if statement.repairs else repairs[0] if repairs else None
    assert shown.partner is twin
    if twin is not None:
        first = bounds.repaired_form(twin) if statement.repairs else statement
        assert page_of(twin.key).partner is first
        assert shown.differences
        assert twin.key in show(key)


def test_differences_name_what_differs():
    """Planted: a term, a condition, a step rule, the left side, the relation, an assumption; and nothing."""
    one = bounds.get("pfl/theorem-3.7")

    def against(**changes):
        other = dataclasses.replace(one, key=f"{one.key}-repaired", repairs=one.key, **changes)
        return Page(one, (one, other)).differences

    (claim,) = one.claims
    noise = {**claim.terms, "noise": 2 * claim.terms["noise"]}
    assert against() == ()
    assert against(claims=(dataclasses.replace(claim, terms=noise),)) == ("noise of the claim",)
    assert against(claims=(dataclasses.replace(claim, relation=Relation.ORDER),)) == ("the relation of the claim",)
    each = dataclasses.replace(claim.metric, over=Over.EVERY_ROUND)
    assert against(claims=(dataclasses.replace(claim, metric=each),)) == ("the left side of the claim",)
    assert against(conditions=()) == ("condition gamma",)
    assert against(step_rules=one.step_rules[:1]) == ("step size eta_v",)
    assert against(assumptions=one.assumptions[:1]) == ("the assumptions",)


@every_key
def test_abbreviations_are_explained_once_and_needed(key):
    """Every defined symbol in a formula is under "where" or is defined by the statement; none is there for nothing."""
    shown = page_of(key)
    names = [each.name for each in shown.abbreviations]
    assert len(set(names)) == len(names)
    expressions = {symbol.name for _, expr in formulas(shown) for symbol in sp.sympify(expr).free_symbols}
    occurring = set().union(*(formula.symbols for formula, _ in formulas(shown)))
    assert occurring - expressions <= {*names, *definitions(shown.statement)}
    assert {*names} <= occurring
    # No definition is given through itself.
    known = {each.name: each.formula.symbols & {*names} for each in shown.abbreviations}
    while known:
        leaves = [name for name, inside in known.items() if not inside & known.keys()]
        assert leaves, known
        known = {name: inside for name, inside in known.items() if name not in leaves}


def test_constants_of_a_paper_stand_for_their_formulas():
    """M_1, M_2, M_3 stand in the bound that is stated with them, and their formulas below."""
    shown = page_of("simfbo/theorem-1")
    terms = dict(shown.claims[0].terms)
    assert "M_1" in terms["partial participation"].symbols
    assert "M_2" in terms["full synchronisation"].symbols
    assert {"M_3", "sigma_M1", "sigma_M2"} <= terms["local updates"].symbols
    assert {"K_1", "K_2", "L_v", "L_Phi", "r"} <= {each.name for each in shown.abbreviations}
    repaired = {each.name: each.expr for each in page_of("simfbo/theorem-1-repaired").abbreviations}
    assert repaired["M_1"] == definitions(bounds.get("simfbo/constants-repaired"))["M_1"]


def test_an_abbreviation_brings_no_symbol_that_was_not_there():
    """A lower bound on c_gamma_y is not given through a constant that contains c_gamma_y."""
    for key in ("simfbo/stepsizes", "simfbo/constants-repaired"):
        for kind, line in page_of(key).rules:
            assert kind == "default" or line.name not in line.right.symbols


@pytest.mark.parametrize("columns", [70, 100])
@each_key(bounds.keys(), every=2)
def test_text_keeps_to_the_width_and_to_its_signs(key, columns):
    """Broken lines hold what the unbroken ones hold; at 100 columns all but four lemmas' lines fit."""
    shown = page_of(key)
    draw = drawing(shown, unicode=True)
    for formula, _ in formulas(shown):
        wide, narrow = ("".join(draw.product(formula, room).lines) for room in (ENDLESS, columns))
        # Fractions may be set on a line where there is little room, and brackets are drawn in parts.
        letters = [Counter(re.sub(r"[\s─⎛⎜⎝⎞⎟⎠()/]", "", text)) for text in (wide, narrow)]
        assert letters[0] == letters[1]
    lines = statement_text(shown, columns).splitlines()
    if columns == 100 and not re.search(r"lemma-10|proposition-2", key):
        assert max(map(width, lines)) <= 100


def test_ascii_is_ascii():
    """With --ascii, or where stdout has no Unicode, nothing else is printed; the formulas are the same."""
    for key in bounds.keys():
        show(key, "--ascii").encode("ascii")
    result = subprocess.run(
        [sys.executable, "-m", "ratecheck", "show", "pfl/theorem-3.7"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert result.stdout.decode("ascii").splitlines()[0] == show("pfl/theorem-3.7", "--ascii").splitlines()[0]
    assert b"sigma_u^2" in result.stdout


def test_show_imports_sympy_only():
    """A statement is shown without SciPy, Numba, matplotlib and NumPy."""
    code = (
        "import sys; from ratecheck.cli import _run; _run(sys.argv[1:]);"
        "print(*sorted({'numba', 'scipy', 'matplotlib', 'numpy'} & set(sys.modules)), file=sys.stderr)"
    )
    command_line = [sys.executable, "-c", code, "show", "simfbo/theorem-1"]
    assert subprocess.run(command_line, capture_output=True, text=True, check=True).stderr.split() == []


def test_formats_exclude_each_other():
    """Two formats at once are a usage error that names the choice."""
    command_line = [sys.executable, "-m", "ratecheck", "show", "pfl/theorem-3.7", "--latex", "--json"]
    result = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "give one of them" in result.stderr


def test_notebook_forms_are_what_show_prints():
    """The rich forms of a statement, without anything of ratecheck imported."""
    code = (
        "import sys, bounds; s = bounds.get('simfbo/theorem-1');"
        "forms = [s._repr_markdown_(), s._repr_latex_(), s._repr_html_()];"
        "assert not [m for m in sys.modules if m.startswith('ratecheck')]; print('\\0'.join(forms))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    markdown, latex, html = found.split("\0")
    assert markdown.split() == show("simfbo/theorem-1", "--markdown").split()
    assert latex.split() == show("simfbo/theorem-1", "--latex").split()
    assert "<h3>" in html
    assert "&lt;" in html or "<" not in re.sub(r"</?\w+>", "", html)


def test_a_statement_of_ones_own():
    """A key, a vocabulary and sources that the catalogue does not know; symbols print by their own LaTeX."""
    vocabulary = Vocabulary()
    step = vocabulary.define("step", r"\tau_s", "step size", Domain.POSITIVE, Role.STEP_SIZE, 0, 0)
    gap = vocabulary.define("gap", r"\Delta^0-\inf\Delta", "gap", Domain.POSITIVE, Role.CONSTANT, 0, 0)
    left = vocabulary.define("left", r"\|x\|^2", "left side", Domain.NONNEGATIVE, Role.MEASURED, 0, 0)
    metric = Metric(latex=r"\|x\|^2", weights={left: sp.Integer(1)}, over=Over.WHOLE_RUN, trivial=None)
    claim = Claim(name="main", metric=metric, relation=Relation.AT_MOST, terms={"all": 3 * gap / step})
    for key in ("mine/first", "no-slash", "pfl/of-my-own", "simfbo/mine-repaired"):
        own = dataclasses.replace(
            bounds.get("pfl/theorem-3.7"),
            key=key, vocabulary=vocabulary, claims=(claim,), conditions=(), step_rules=(), step_products=(),
            follows_from=("nowhere/known", "pfl/unknown"),
        )  # fmt: skip
        shown = page(own)
        assert (shown.used_in, shown.partner, shown.abbreviations) == ((), None, ())
        text = statement_text(shown)
        assert "3 (Δ⁰ − inf Δ)" in text
        assert "nowhere/known" in text
        assert r"\frac{3 (\Delta^0-\inf\Delta)}{\tau_s}" in own._repr_latex_()
        assert own._repr_markdown_()
        assert own._repr_html_()


n, m, a, b = (sp.Symbol(name, positive=True) for name in "nmab")
x = sp.Symbol("x", real=True)
FORMS = {
    4 * (n - m): "4*(n - m)",
    m - n: "m - n",
    (m - n) / (1 - n): "(n - m)/(n - 1)",
    1 - a: "1 - a",
    sp.sqrt(n) / sp.sqrt(m): "sqrt(n/m)",
    sp.sqrt((n - m) / m): "sqrt((n - m)/m)",
    sp.sqrt(3) / 3: "1/sqrt(3)",
    a * (b / 2 + 1): "a*(1 + b/2)",
    a / 2 - b: "a/2 - b",
    n ** sp.Rational(2, 3): "n**(2/3)",
    n**-b: "1/n**(b)",
    sp.Max(a, b + 1) / 7: "Max(a, 1 + b)/7",
    sp.sqrt(x**2 * a): "Abs(x)*sqrt(a)",
    sp.Integer(0): "0",
}


@pytest.mark.parametrize("expr", FORMS, ids=str)
def test_usual_forms(expr):
    """The form in which a formula is usually written."""
    order = Order({"n": 0, "m": 1, "a": 2, "b": 3, "x": 4}, frozenset({"n", "m"}), frozenset())
    draw = Drawing(order, lambda name: name, unicode=False, line=True, code=True)
    assert draw.line_of(FormulaReader().read(expr)) == FORMS[expr]


def test_plain_text_of_notation():
    """LaTeX of a paper as a line of text, in both alphabets."""
    latex = r"\frac1T\sum_{t=0}^{T-1}\mathbb{E}\|\nabla f(x^t)\|^2"
    assert plain(latex, unicode=True) == "(1/T) Σ_{t=0}^{T-1} E‖∇f(xᵗ)‖²"
    assert plain(latex, unicode=False) == "(1/T) sum_{t=0}^{T-1} E||grad f(x^t)||^2"
    assert plain(r"\bar\tau", unicode=True) == "τ\u0304"
    for paper in bounds.PAPERS:
        for quantity in bounds.vocabulary(paper):
            plain(quantity.latex, unicode=False).encode("ascii")
            assert "\\" not in plain(quantity.latex, unicode=True)


def test_the_reader_of_prints_computes_as_a_reader_would():
    """Values known by hand."""
    assert printed.value("2 √m − 1", {"m": "m"}, {"m": 4.0}) == 3.0
    assert printed.value(printed.linear([" 1 ", "───", " 4 "]), {}, {}) == 0.25
    assert printed.value(printed.linear([" ⎛ 1 ⎞²", "2⎜───⎟ ", " ⎝ 4 ⎠ "]), {}, {}) == 0.125
    assert printed.value(*printed.from_latex(r"\frac{1}{2} n^{2}", {"n": "n"}), {"n": 3.0}) == 4.5
