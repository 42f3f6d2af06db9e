"""Formulas as text: what is read has the value that Python gives the same text, and nothing else is read."""

import math
import random

import pytest

from bounds.errors import InputError
from bounds.parsing import UnknownSymbolError, expression, sides
from bounds.statement import number
from bounds.symbols import COMMON, Domain, Role, Vocabulary

NAMES = ("n", "m", "K", "T", "L", "F_0", "b", "sigma_u", "gamma_u", "eta_u")


def written(rng, depth):
    """A random formula of positive numbers."""
    if depth == 0:
        return rng.choice((*NAMES, "2", "0.25", "1e-3", "3"))
    left, right = written(rng, depth - 1), written(rng, depth - 1)
    return rng.choice((
        f"{left} + {right}", f"({left})*({right})", f"({left})/({right})", f"({left})**2", f"sqrt({left})",
        f"max({left}, {right})", f"min({left}, {right})", f"log(1 + {left})", f"exp(-({left})/(1 + {left}))",
        f"-({left}) + 2*({left}) + {right}", f"pi*({left})", f"({left})**-1",
    ))  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_a_formula_has_the_value_that_python_gives_it(seed):
    """Random formulas at random points; Python's own evaluation is the oracle."""
    rng = random.Random(seed)  # noqa: S311
    text = written(rng, 3)
    values = {name: float(rng.randint(1, 9)) for name in ("n", "m", "K", "T")}
    values |= {name: rng.uniform(0.1, 3) for name in NAMES if name not in values}
    scope = {"sqrt": math.sqrt, "log": math.log, "exp": math.exp, "max": max, "min": min, "pi": math.pi}
    wanted = eval(text, scope, dict(values))  # noqa: S307  # the text is made above
    assert number(expression(text, COMMON), values) == pytest.approx(wanted, rel=1e-9), text


def test_decimal_numbers_are_fractions():
    """A tenth is a tenth, however many there are."""
    assert expression("0.1 + 0.2 - 0.3", COMMON) == 0
    assert expression("1.5e-3*2_000", COMMON) == 3


def test_lambda_is_a_symbol_where_the_vocabulary_has_it():
    """Though the word is Python's."""
    own = Vocabulary(COMMON)
    weight = own.define("lambda_", r"\lambda", "weight", Domain.POSITIVE, Role.STEP_SIZE, 1, -2)
    assert expression("2*lambda/L", own) == expression("2*lambda_/L", own) == 2 * weight / own["L"].symbol
    with pytest.raises(UnknownSymbolError, match="no symbol 'lambda_'"):
        expression("2*lambda", COMMON)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("2*F0", "no symbol 'F0'; did you mean 'F_0'?"),
        ("2*F_0/(gamma_u*T", "cannot be read: '(' was never closed"),
        ("", "cannot be read"),
        ("L^2", "write ** for powers, not ^"),
        ("L(K + 1)", "write L*(...) for a product"),
        ("sin(L)", "no function 'sin'; did you mean 'min'"),
        ("sqrt(L, K)", "sqrt takes one argument, not 2"),
        ("max()", "max takes one argument, not 0"),
        ("sqrt(x=L)", "no function 'sqrt'"),
        ("L/0", "divides by zero"),
        ("L/(n - n)", "divides by zero"),
        ("sqrt(-1)*L", "no real number"),
        ("9**9**9", "too many digits"),
        ("(9**1000)**(1000)", "too many digits"),
        ("1e999999*L", "beyond the numbers"),
        ("1e-999999*L", "beyond the numbers"),
        ("'L'", "no number and no symbol"),
        ("True*L", "no number and no symbol"),
        ("2j*L", "no number and no symbol"),
        ("L if K else n", "not admissible"),
        ("L // 2", "not admissible"),
        ("[L]", "not admissible"),
        ("L.name", "not admissible"),
        ("__import__('os').system('true')", "no function"),
        ("(lambda: L)()", "cannot be read"),
        ("x := 1", "cannot be read"),
        ("L\x00", "cannot be read"),
        ("(" * 3000 + "L" + ")" * 3000, "cannot be read"),
        ("-" * 9000 + "L", "cannot be read"),
        ("L" * 20_000, "too long"),
    ],
)
def test_what_is_no_formula_is_refused(text, part):
    """With the part that is wrong, and what would do."""
    with pytest.raises(InputError) as caught:
        expression(text, COMMON)
    assert part in str(caught.value), caught.value
    assert "\n" not in str(caught.value)


def comparison(text):
    """Both sides as expressions, and the operator."""
    left, sign, right = sides(text)
    return expression(left, COMMON), sign, expression(right, COMMON)


def test_a_comparison_keeps_its_sides():
    """What SymPy would decide or turn round stays as it is written."""
    L, gamma, K = (COMMON[name].symbol for name in ("L", "gamma_u", "K"))
    assert comparison("gamma_u <= 1/(L*K)") == (gamma, "<=", 1 / (L * K))
    assert comparison("K >= 1") == (K, ">=", 1)
    assert comparison("1 / L > gamma_u") == (1 / L, ">", gamma)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("gamma_u", "no comparison"),
        ("0 < gamma_u <= 1", "several comparisons"),
        ("gamma_u = 1/L", "write =="),
        ("gamma_u =< 1/L", "write <="),
        ("gamma_u != 1/L", "known: <=, >=, ==, <, >"),
        ("gamma_u <=", "lacks the right side"),
        ("<= 1/L", "lacks the left side"),
        ("gama_u <= 1/L", "no symbol 'gama_u'; did you mean 'gamma_u'"),
    ],
)
def test_what_is_no_comparison_is_refused(text, part):
    """One comparison with one of five operators."""
    with pytest.raises(InputError) as caught:
        comparison(text)
    assert part in str(caught.value)
