"""What of a formula is read is what is meant: any real variable, the numbers that stand there, and no others."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import ratecheck as rc
from bounds.formula import unreal
from bounds.numbers import exact
from ratecheck.errors import InputError
from ratecheck.problems import from_sympy
from ratecheck.stepsizes.coverage import _number

x, y = sp.symbols("x y")
P, N = sp.Symbol("x", positive=True), sp.Symbol("x", integer=True)


@pytest.mark.parametrize(
    ("of", "function"),
    [
        # A kink at 0 is gone.
        ("positive", sp.Abs(P) + (P + 1) ** 2 / 2),
        ("positive", P**2 + sp.sqrt(P**2)),
        # So are waves.
        ("integer", sp.cos(2 * sp.pi * N) + N**2),
        ("negative", sp.Symbol("x", negative=True) ** 2),
        ("nonnegative", sp.Symbol("x", nonnegative=True) ** 2),
        ("nonzero", sp.Symbol("x", nonzero=True) ** 2),
        ("rational", sp.Symbol("x", rational=True) ** 2),
        ("irrational", sp.Symbol("x", irrational=True) ** 2),
        ("even", sp.Symbol("x", even=True) ** 2),
        ("imaginary", sp.Symbol("x", imaginary=True) ** 2),
        ("zero", sp.Symbol("x", zero=True) + y**2),
        ("no usual number", sp.Symbol("x", commutative=False) ** 2),
    ],
)
def test_variables_are_any_real_numbers(of, function):
    """What SymPy simplified by knowing more is another function."""
    with pytest.raises(InputError) as caught:
        from_sympy(function)
    assert f"x is assumed to be {of}, by which SymPy may have simplified" in str(caught.value)
    assert "write sympy.symbols('x', real=True)" in str(caught.value)


def test_variables_that_are_given_are_too():
    """Also one that is in no function."""
    with pytest.raises(InputError, match="y is assumed to be positive"):
        from_sympy(x**2, [x, sp.Symbol("y", positive=True)])


@pytest.mark.parametrize("facts", [{}, {"real": True}, {"extended_real": True}, {"finite": True}, {"complex": True}])
def test_real_variables_do(facts):
    """Whether or not SymPy knows that they are."""
    assert from_sympy(3 * sp.Symbol("x", **facts) ** 2).H.tolist() == [[[6.0]]]


def test_a_positive_variable_is_no_verdict(tmp_path, cli):
    """|x| + (x + 1)^2/2 has a kink, on which nothing may be said to hold; one line, exit code 2."""
    (tmp_path / "mine.py").write_text(
        "import sympy as sp\nimport ratecheck as rc\nx = sp.Symbol('x', positive=True)\n"
        "bowl = rc.problems.from_sympy(abs(x) + (x + 1)**2 / 2)\n"
    )
    done = cli("verify", "pfl/corollary-3.8", "--problem", str(tmp_path / "mine.py:bowl"), "K=2", "T=5")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "x is assumed to be positive" in done.stderr


NUMBERS = [0.6666666667, 1.73205080757, 1.4142135624, 3.14159265359, 2 / 3, 0.1 + 0.2, 3**0.5, 1e-9, 1234567.891]


@pytest.mark.parametrize("c", NUMBERS)
def test_a_certified_bound_is_none_of_a_nearby_number(c):
    """The dissimilarity of x^2/2 + cos(x)/4 +- c x is c: the bound is not below it, nor far above."""
    f = x**2 / 2 + sp.cos(x) / 4
    found = from_sympy([f + c * x, f - c * x]).constants()["b"]
    assert Fraction(c) <= Fraction(found.value) <= Fraction(c) * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize("c", NUMBERS)
def test_a_float_is_read_as_it_is(c):
    """To the last bit, by SymPy or not, in quadratics, other functions, statements and prints."""
    assert float(exact(c)) == float(exact(sp.Float(c))) == c
    assert from_sympy(c * x**2 / 2).H.tolist() == [[[c]]]
    (read,) = (each for each in from_sympy(sp.cos(x) + c * x).functions[0].atoms(sp.Rational) if not each.is_Integer)
    assert float(read) == c


def test_more_digits_than_a_float_has_are_kept():
    """A third with forty digits is not that with seventeen."""
    third = sp.Rational(1, 3).evalf(40)
    assert abs(exact(third) - sp.Rational(1, 3)) < sp.Rational(1, 10**40)
    assert exact(sp.Float(0.25)) == sp.Rational(1, 4)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (sp.Float(0.6666666667), "about 0.666667"),
        (sp.Float(1.73205080757), "about 1.73205"),
        (sp.Float(3.14159265359), "about 3.14159"),
        (sp.Float(0.25), "0.25"),
        (sp.Rational(2, 3), "2/3 (about 0.666667)"),
        (sp.sqrt(3), "about 1.73205"),
    ],
)
def test_only_what_is_exact_is_printed_as_exact(value, said):
    """No fraction or root that happens to be near."""
    assert _number(value).endswith(said)
    assert "sqrt" not in _number(value)


@pytest.mark.parametrize(
    "function",
    [
        sp.nan + x,
        sp.oo * x,
        x**2 - sp.oo,
        sp.zoo * x**2,
        sp.Piecewise((x**2, x > 0), (sp.nan, True)),
        sp.AccumBounds(0, 1) * x**2,
        float("nan"),
        float("inf"),
        np.float64("nan"),
        sp.Float("inf") * x,
        sp.I * x**2,
        x**2 + sp.I,
        x**2 + sp.sqrt(-2) * x,
        x**2 / 2 + sp.I * sp.cos(x),
        sp.exp(sp.I * x) + x**2,
        x**2 + sp.log(-1) * x,
        x**2 * sp.asin(2),
        sp.cbrt(-8) * x**2,
        sp.I * sp.Abs(x) * x,
        x**sp.I,
        2j,
        sp.exp(1000) * x**2,
        sp.exp(-1000) * x**2,
        x**2 * sp.Float("1e-400"),
        x**2 * sp.Float("1e400"),
        x**2 / 10**301,
    ],
)
def test_what_is_no_real_number_is_refused_on_reading(function):
    """Infinite, undefined, complex, or beyond what a run computes with: one line."""
    with pytest.raises(InputError) as caught:
        from_sympy(function)
    assert "\n" not in str(caught.value)


L, T, F_0, g = sp.symbols("L T F_0 gamma_u", positive=True)
GOOD = 2 * F_0 / (g * T)
WRONG = {
    "sp.oo": sp.oo,
    "sp.nan": sp.nan,
    "F_0*sp.zoo": F_0 * sp.zoo,
    "sp.I*F_0": sp.I * F_0,
    "F_0 + sp.Float('nan')": F_0 + sp.Float("nan"),
    "sp.log(-L)": sp.log(-L),
    "sp.cbrt(-8)*F_0": sp.cbrt(-8) * F_0,
    "sp.sqrt(-1 - L)*F_0": sp.sqrt(-1 - L) * F_0,
    "sp.exp(sp.log(-L)/3)": sp.exp(sp.log(-L) / 3),
    "sp.Max(F_0, sp.log(-L)**2)": F_0 + sp.log(-L) ** 2,
}
THEOREM = """
import sympy as sp
from bounds.theorem import theorem
L, T, F_0, gamma_u = sp.symbols("L T F_0 gamma_u", positive=True)
descent = theorem(
    title="Descent", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"], left="G_u",
    over="mean_of_rounds", settings={{"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1}}, {fields},
)
"""


@pytest.mark.parametrize("wrong", WRONG)
def test_a_statement_of_no_real_numbers_is_refused_on_reading(wrong, tmp_path, cli):
    """In its right side, a condition, a step rule: exit code 2 and the line, in every command."""
    assert unreal(WRONG[wrong])
    right, rest = "2*F_0/(gamma_u*T)", "conditions=['gamma_u <= 1/L']"
    fields = {
        "right": f"right={{'gap': {right} + {wrong}}}, {rest}",
        "step": f"right={{'gap': {right}}}, step_rules={{'gamma_u': 1/L + {wrong}}}",
    }
    (tmp_path / "written.py").write_text(
        THEOREM.format(fields=f"right={{'gap': {right}}}, {rest}")
        + "import dataclasses\n(claim,) = descent.claims\n"
        + f"claim = dataclasses.replace(claim, terms={{'gap': {wrong}}})\n"
        + "descent = dataclasses.replace(descent, claims=(claim,))\n"
    )
    done = cli("lint", str(tmp_path / "written.py:descent"))
    assert (done.returncode, "no real number whatever" in done.stdout + done.stderr) in ((2, True), (1, True))
    for kind, text in fields.items():
        (tmp_path / f"{kind}.py").write_text(THEOREM.format(fields=text))
        done = cli("bound", str(tmp_path / f"{kind}.py:descent"), "L=2", "F_0=3", "T=100", "gamma_u=0.5")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "no real number whatever the symbols are" in done.stderr


def test_a_statement_s_floats_are_read_as_they_are():
    """In text, as floats and in SymPy alike."""
    from short_theorem import DESCENT

    from bounds.theorem import theorem

    shown = {
        str(theorem(**{**DESCENT, "right": {"gap": each}}).claims[0].bound)
        for each in ("0.6666666667*F_0/(gamma_u*T)", 0.6666666667 * F_0 / (g * T), sp.Float(0.6666666667) * F_0 / g / T)
    }
    assert shown == {"6666666667*F_0/(10000000000*T*gamma_u)"}
    assert json.dumps(rc.show(theorem(**DESCENT)).to_dict())


@pytest.mark.parametrize(
    ("symbol", "told"),
    [
        (sp.Symbol("L", integer=True, positive=True), "L is a positive number, but is assumed to be integer"),
        (sp.Symbol("L", negative=True), "L is a positive number, but is assumed to be negative"),
        (sp.Symbol("T_1u", positive=True), "T_1u is a real number, but is assumed to be positive"),
        (sp.Symbol("sigma_u", even=True), "sigma_u is a number, at least 0, but is assumed to be even"),
        (sp.Symbol("K", even=True), "K is a whole number, at least 1, but is assumed to be even"),
    ],
)
def test_a_statement_s_symbols_are_those_of_the_vocabulary(symbol, told):
    """What is known of the vocabulary's alone is known of them: |x| is not x for a number of either sign."""
    from short_theorem import DESCENT

    from bounds.theorem import theorem

    with pytest.raises(InputError) as caught:
        theorem(**{**DESCENT, "vocabulary": "pfl", "right": {"gap": sp.Abs(symbol) * F_0}})
    assert told in str(caught.value)


def test_symbols_of_which_less_is_known_do():
    """Positive ones for what is whole or may be 0, and such of which nothing is known."""
    from short_theorem import DESCENT

    from bounds.theorem import theorem

    for facts in ({}, {"positive": True}, {"real": True}):
        T, sigma = sp.Symbol("T", **facts), sp.Symbol("sigma_u", **facts)
        made = theorem(**{**DESCENT, "settings": {"K": 1, "m": "n", "eta_u": 1}, "right": {"gap": F_0 / T + sigma}})
        assert {each.name for each in made.claims[0].bound.free_symbols} == {"F_0", "T", "sigma_u"}
