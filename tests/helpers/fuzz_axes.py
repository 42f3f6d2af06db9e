"""Own theorems, functions of SymPy, JSON statements, studies and stores, one by one and by named axes.

A case is a function of its number: what kind it is, and a value on each axis of that kind, so that a failure names what
it takes. As a script, ``python tests/helpers/fuzz_axes.py FIRST LAST SECONDS``, like `fuzz`, whose judge it shares.
"""

from __future__ import annotations

import copy
import io
import json
import random
import sys
from collections.abc import Callable, Mapping
from functools import cache

import fuzz
import numpy as np
from fuzz import STUDY, Case

from ratecheck.studies.storage.cell_file import pack

# Functions that a right side may have, and some that it may not; f stands in a theorem about gradient descent.
FUNCTIONS = {
    "exp(LT)": "sp.exp(L*T)", "exp(-gLT)": "sp.exp(-g*L*T)", "exp tower": "sp.exp(sp.exp(sp.exp(T)))",
    "log": "sp.log(T)", "log 2": "sp.log(T, 2)", "log log": "1 + sp.log(sp.log(T))", "log(T-3)": "sp.log(T - 3)",
    "log(1-gL)": "sp.log(1 - g*L)", "1/log": "1/sp.log(T)", "-log": "-sp.log(L*g)", "sqrt log": "sp.sqrt(sp.log(T))",
    "sqrt(2gL-1)": "sp.sqrt(2*g*L - 1)", "sqrt(1-gL)": "sp.sqrt(1 - g*L)", "sqrt(T-5)": "sp.sqrt(T - 5)",
    "cube root": "(g*L - 1)**sp.Rational(1, 3)", "(1-2gL)^T": "(1 - 2*g*L)**T", "(1-1/T)^T": "(1 - 1/T)**T",
    "2^-T": "sp.Rational(1, 2)**T", "2^(-T/2)": "2**(-T/2)", "T^(-gL)": "T**(-g*L)", "T^T": "T**T", "T^300": "T**300",
    "T^-300": "T**(-300)", "(gL)^(gL)": "(L*g)**(L*g)", "1/(T-1)": "1/(T - 1)", "1/(1-gL)": "1/(1 - g*L)",
    "1/(2-gL)^2": "1/(2 - g*L)**2", "Max": "sp.Max(1, L*g)", "Max(T,2n)": "sp.Max(T, 2*n)", "Min": "sp.Min(1, L*g)",
    "Max(0,1-gL)": "sp.Max(0, 1 - g*L)", "-T": "-T", "0": "sp.Integer(0)", "e": "sp.E", "pi": "sp.pi",
    "t": "1/(t + 1)", "log t": "sp.log(t)", "(1-gL)^t": "(1 - g*L)**t", "t/T": "t/T", "1/t": "1/t",
    "1e-200": "1e-200", "1e-320": "1e-320", "1e200": "1e200", "1+1e-200L": "1 + 1e-200*L",
    "10^400": "sp.Integer(10)**400", "10^-400": "sp.Rational(1, 10**400)", "(1e-200)^2": "sp.Rational('1e-200')**2*L",
    "0.1": "0.1",
    "'exp(L*T)'": "'exp(L*T)'", "'log(log(T))'": "'log(log(T))'", "'1e-200'": "'1e-200'", "'1e-400*L'": "'1e-400*L'",
    "'1e400'": "'1e400'", "'sqrt(2*gamma_u*L - 1)'": "'sqrt(2*gamma_u*L - 1)'", "'max(T, exp(T))'": "'max(T, exp(T))'",
    "abs": "sp.Abs(L*g - 1)", "floor": "sp.floor(T/2)", "ceiling": "sp.ceiling(T/2)", "sin": "sp.sin(T)",
    "tan": "sp.tan(L*g)", "atan": "sp.atan(T)", "sinh": "sp.sinh(L*g*T)", "sign": "sp.sign(L*g - 1)",
    "Heaviside": "sp.Heaviside(L*g - 1)", "factorial": "sp.factorial(T)", "gamma": "sp.gamma(T)",
    "binomial": "sp.binomial(n, 2)", "LambertW": "sp.LambertW(T)", "erf": "sp.erf(L*g)", "zeta": "sp.zeta(1 + g*L)",
    "Piecewise": "sp.Piecewise((1, g*L < 1), (2, True))", "Sum": "sp.Sum(1/k, (k, 1, T))", "harmonic": "sp.harmonic(T)",
    "Integral": "sp.Integral(1/k, (k, 1, T))", "Derivative": "sp.Derivative(T**2, T)", "Mod": "sp.Mod(T, 3)",
    "re": "sp.re(sp.Symbol('z'))", "conjugate": "sp.conjugate(sp.Symbol('z'))", "bessel": "sp.besselj(0, T)",
    "i": "sp.I*L", "oo": "sp.oo", "nan": "sp.nan", "zoo": "sp.zoo", "f(T)": "sp.Function('f')(T)",
    "wild": "sp.Wild('a')", "dummy": "sp.Dummy('q')", "float nan": "float('nan')", "float inf": "float('inf')",
    "complex": "1j", "bool": "True", "relational": "T < 3", "tuple": "(1, 2)", "matrix": "sp.Matrix([1])",
    "interval": "sp.Interval(0, 1)", "order": "sp.O(T)", "T - T": "sp.Add(T, -T, evaluate=False)",
    "0^-1": "sp.Pow(0, -1, evaluate=False)", "limit": "sp.Limit(1/T, T, 0)", "indexed": "sp.IndexedBase('a')[1]",
    "root": "sp.CRootOf(k**5 - k - 1, 0)", "fraction": "__import__('fractions').Fraction(1, 3)",
    "numpy": "__import__('numpy').float64(3.5)", "decimal": "__import__('decimal').Decimal('0.1')",
}  # fmt: skip
# Where it stands: the right side, the conditions, and whatever else.
PLACES = {
    "times": ("f*base", "", ""), "sole": ("f*L*F_0", "", ""), "plus": ("base + f*L*F_0", "", ""),
    "by name": ("dict(a=base, b=f*L*F_0)", "", ""), "under": ("base/f", "", ""), "bare": ("f", "", ""),
    "condition": ("base", "f*g <= 1/L", ""), "cap": ("base", "g <= f/L", ""),
    "rule": ("base", "", "step_rules={'gamma_u': f/L}"), "trivial": ("base", "", "trivial=f*L*F_0"),
    "setting": ("base", "", "settings={**common['settings'], 'T': f}"),
    "symbol": ("base*(1 + sp.Symbol('share'))", "", "symbols=symbol('share', 'x', equals=f)"),
    "free symbol": (
        "base*(1 + sp.Symbol('share'))", "", "symbols=symbol('share', 'x', role='free', default=f, latex=LATEX)"
    ),
}  # fmt: skip
LATEX = (
    r"\star", r"\boldsymbol{x}", r"\tfrac12", r"\vec x", r"f\circ g", r"\nonsense{x}", "x_{", "$x$", "", "x^", r"\\",
    "§",
    r"\mathbf{\theta}", r"\sqrt[3]{x}", r"\begin{cases} 1 & x \end{cases}", "<b>", "%", "x" * 500,
)  # fmt: skip
OVER = (
    "mean_of_rounds", "mean_of_rounds", "every_round", "every_round_but_first", "last_round", "best_round",
    "averaged_iterate", "whole_run", "no_run",
)  # fmt: skip
_AT = ["L=1", "F_0=1", "n=2"]
COMMANDS = {
    "show": ["show", "K"], "latex": ["show", "K", "--latex"], "markdown": ["show", "K", "--markdown"],
    "bound": ["bound", "K", *_AT, "T=10", "gamma_u=0.1"], "bound at 1": ["bound", "K", *_AT, "T=1", "gamma_u=0.5"],
    "verify": ["verify", "K", "n=3", "T=4", "d=2"], "verify at 1": ["verify", "K", "n=1", "T=1", "d=1"],
    "verify pieces": ["verify", "K", "n=2", "T=3", "--problem", "piecewise"],
    "stepsize": ["stepsize", "K", *_AT, "T=10"], "stepsize, any T": ["stepsize", "K", *_AT],
    "rounds": ["rounds", "K", *_AT, "eps=0.01"], "rounds at": ["rounds", "K", *_AT, "eps=0.01", "gamma_u=0.1"],
    "compare": ["compare", "K", "mine.py:other", *_AT, "T=10"],
    "compare over": ["compare", "K", "mine.py:other", *_AT, "--over", "T=1:1000:5"],
    "scaling": ["scaling", "K", "n=2", "T=8"], "lint": ["lint", "K"], "falsify": ["falsify", "K", "--evaluations", "4"],
    "rates": ["rates", "K", "--over", "T"], "plot": ["plot", "K", "n=2", "T=6", "--out", "a.png"],
    "region": ["plot", "region", "K", *_AT, "T=10"], "review": ["review", "K", "--evaluations", "2", "--out", "a.html"],
    "diff": ["diff", "K", "mine.py:other", "--no-audit"], "diff back": ["diff", "mine.py:other", "K", "--no-audit"],
    "list": ["list", "mine.py"],
}  # fmt: skip
_MINE = """
import sympy as sp
from bounds.theorem import symbol, theorem
from bounds import vocabulary
V = vocabulary("textbook")
L, F_0, T, g, n, t, k = *(V[name].symbol for name in ("L", "F_0", "T", "gamma_u", "n", "t")), sp.Symbol("k")
LATEX = {latex!r}
f = {function}
base = 2*F_0/(g*T)
common = dict(
    title="GD", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"], left="G_u",
    settings={{"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}}, vocabulary="textbook",
)
other = theorem(right=base, over="mean_of_rounds", conditions=["gamma_u <= 1/L"], **common)
own = theorem(**{{**common, **dict(right={right}, over={over!r}, conditions=[{condition}], {extra})}})
"""


def _theorem(rng: random.Random) -> Case:
    function, place = rng.choice([*FUNCTIONS]), rng.choice([*PLACES])
    over, command = rng.choice(OVER), rng.choice([*COMMANDS])
    right, condition, extra = PLACES[place]
    text = _MINE.format(
        function=FUNCTIONS[function], right=right, over=over, extra=extra, latex=rng.choice(LATEX),
        condition=condition or '"gamma_u <= 1/L"',
    )  # fmt: skip
    words = ["mine.py:own" if word == "K" else word for word in COMMANDS[command]]
    return Case(f"theorem {command}", (*words, *_json(rng, words)), {"mine.py": text.encode()})


def _json(rng: random.Random, words: list[str]) -> list[str]:
    return ["--json"] if rng.random() < 0.3 and not {"--latex", "--markdown"} & {*words} else []


VALUES = (
    10**400, -(10**400), 10**4000, 1e308, float("nan"), float("inf"), 1e-320, 0, -0.0, 1, -1, 1.5, True, None, [], {},
    [[1]], {"a": 1}, "", "x", "T", "1e400", "10**400", "1e-400", "exp(exp(T))", "sqrt(-1)", "log(0)", "9" * 3000, "n",
    "t",
)  # fmt: skip
_FIELDS = (
    "title", "algorithm", "assumptions", "left", "over", "right", "right of two", "relation", "conditions", "settings",
    "condition", "setting K", "setting T", "trivial", "step_rules", "rule", "step_products", "symbols", "name",
    "meaning",
    "domain", "role", "degrees", "degree", "fact", "equals", "default", "latex", "vocabulary", "key", "source",
    "remark",
)  # fmt: skip


def _statement(rng: random.Random) -> Case:
    data, field, value = copy.deepcopy(fuzz.DATA), rng.choice(_FIELDS), rng.choice(VALUES)
    put: Mapping[str, Callable[[], object]] = {
        "right of two": lambda: data.update(right={"a": value, "b": "2*F_0/(gamma_u*T)"}),
        "condition": lambda: data.update(conditions=[f"gamma_u <= {value}/L"]),
        "setting K": lambda: data["settings"].update(K=value),
        "setting T": lambda: data["settings"].update(T=value),
        "rule": lambda: data.update(step_rules={"gamma_u": value}),
    }
    own = {"name": "share", "meaning": "x", "role": "free", "default": 0.5}
    if field in put:
        put[field]()
    elif field in ("name", "meaning", "domain", "role", "degrees", "degree", "fact", "equals", "default", "latex"):
        own |= {"degrees": [value, value]} if field == "degree" else {field: value}
        data |= {"symbols": [own], "right": "(1 + share)*2*F_0/(gamma_u*T)"}
    else:
        data[field] = value
    words = ["lint", "mine.json"]
    return Case("statement", (*words, *_json(rng, words)), {"mine.json": json.dumps(data).encode()})


# Studies: a field of the file, and what stands there.
_TOML = (
    "nan", "inf", "-inf", "-1", "0", "1", "1.5", '""', '"x"', "[]", "{}", "[1, 2]", "[0]", "true", "9" * 18, "9" * 40,
    "1e400",
    "-0.0", "1979-05-27", "[[]]", '["a"]', "1e-320", "1e308", '"../x"', '"\\u0000"', '"\\u001b[31m"', "[1e308, 1]",
    "{ G_u = nan }", "{ x = 1 }", "[nan]", '["pfl/theorem-3.7"]', '["mine.py:x"]', "[1, 1]", "[3, 2, 1]", "[100]",
)  # fmt: skip
_RUNS = (
    ["run"], ["run", "--only", "own"], ["run", "--only", "x"], ["run", "--shard", "1/2"], ["run", "--replicates", "2"],
    ["report"], ["report", "--out", "a.html"], ["report", "--out", "a.md"],
)  # fmt: skip


def _study(rng: random.Random) -> Case:
    lines = STUDY.splitlines()
    fields = [place for place, line in enumerate(lines) if " = " in line]
    place = rng.choice(fields)
    name = lines[place].partition(" = ")[0]
    action = rng.random()
    if action < 0.75:
        lines[place] = f"{name} = {rng.choice(_TOML)}"
    elif action < 0.85:
        del lines[place]
    else:
        lines.insert(place, f"{rng.choice(('x', 'extends', 'window', 'T', 'n', name))} = {rng.choice(_TOML)}")
    command, *options = rng.choice(_RUNS)
    words = [command, "study.toml", "--quick", *options]
    return Case("study", (*words, *_json(rng, words)), {"study.toml": "\n".join(lines).encode()})


# Stores: what a folder of results has beside, or in the place of, a cell.
_CELL = "0123456789abcdef0123456789abcdef"
_NAMES = (
    f"01/{_CELL}-0-2.npz", f"01/{_CELL}-2-0.npz", f"01/{_CELL}-0-999999999.npz", f"{_CELL}.npz", "foreign.npz",
    "01/foreign.npz", f"02/{_CELL}-0-2.npz", f"01/{_CELL}-1-2.npz", "index", "01", f"01/{_CELL}-0-2.NPZ",
)  # fmt: skip
_ONES = np.ones((2, 5))
_WORDS = {
    "T": 5, "study": "s", "figure": "f", "algorithm": "fedavg-p", "problem": "quadratic", "name": "c", "code": "c",
    "weights": {"G_u": 1.0}, "window": 0.4, "tolerance": 0.1, "m": 2, "steps": {"gamma": 0.1}, "replicates": 2,
}  # fmt: skip
_ABOUT = (
    None, [], {}, "x", "\x1b[31m", 1e308, float("nan"), -1, 0, True, {"G_u": "x"}, {"zz": 1}, {"G_u": 1e308}, [1],
    {"a": {"b": 1}},
)  # fmt: skip
_ARRAYS = (
    _ONES, _ONES * np.nan, _ONES * 1e308, _ONES * 1j, _ONES > 0, _ONES.astype("datetime64[s]"),
    np.array([["x"] * 5] * 2),
    np.ones((2, 0)), np.ones((0, 5)), np.ones((2, 5, 1)), np.array(1.0), np.ones((2, 4)), _ONES.astype(np.int8),
    _ONES.astype(np.float16), np.ones((3, 5)),
)  # fmt: skip
_READS = (
    ["results"], ["results", "results/s"], ["results", "results/s/cells"], ["results", "--where", "m=2"],
    ["results", "--where", "x=1"], ["results", "--columns", "m,steady"], ["results", "--columns", "x"],
    ["results", "--out", "a.csv"], ["results", "--out", "a.parquet"], ["results", "nowhere"],
)  # fmt: skip


def _store(rng: random.Random) -> Case:
    name = rng.choice(_NAMES)
    about = copy.deepcopy(_WORDS)
    records = {"G_u": _ONES}
    action = rng.random()
    if action < 0.4:
        about[rng.choice([*about, "x"])] = rng.choice(_ABOUT)
    elif action < 0.6:
        records["G_u"] = rng.choice(_ARRAYS)
    elif action < 0.7:
        records = {
            each: rng.choice(_ARRAYS) for each in rng.sample(("G_u", "G_v", "", "a/b", "\x1b"), rng.randrange(3))
        }
    elif action < 0.8:
        del about[rng.choice([*about])]
    content: bytes | None = _packed(name.rpartition("/")[2], records, about)
    if rng.random() < 0.3:
        content = fuzz._damaged(rng, content or b"")
    elif rng.random() < 0.2:
        content = _saved(records, about)
    files = {f"results/s/cells/{name}": content, **({} if rng.random() < 0.5 else _sound())}
    words = list(rng.choice(_READS))
    return Case("store", (*words, *_json(rng, words)), files)


def _packed(name: str, records: dict[str, np.ndarray], about: object) -> bytes:
    return pack(name, records, about)


def _saved(records: dict[str, np.ndarray], about: object) -> bytes:
    """An archive of NumPy's own, without a checksum."""
    buffer = io.BytesIO()
    np.savez(buffer, **{"about": np.array(json.dumps(about)), **{k or "x": v for k, v in records.items()}})
    return buffer.getvalue()


@cache
def _sound() -> dict[str, bytes]:
    other = _CELL.replace("0", "f")
    name = f"{other}-0-2.npz"
    return {f"results/s/cells/{other[:2]}/{name}": _packed(name, {"G_u": _ONES}, _WORDS)}


KINDS = {"theorem": (_theorem, 50), "statement": (_statement, 15), "study": (_study, 15), "store": (_store, 20)}


def case(number: int) -> Case:
    """The case of that number."""
    rng = random.Random(number)  # noqa: S311  # no secret
    kinds, weights = zip(*KINDS.items(), strict=True)
    return KINDS[rng.choices(kinds, [weight for _, weight in weights])[0]][0](rng)


if __name__ == "__main__":
    sys.exit(min(fuzz.main(*map(int, sys.argv[1:4]), case), 1))
