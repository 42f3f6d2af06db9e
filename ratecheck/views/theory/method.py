"""A method as it runs: what its functions compute, as formulas of their own variables.

The formulas are what the functions return for SymPy symbols, so that they are those of the engines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from ratecheck.algorithms import Method
from ratecheck.algorithms.model.algorithm import Group, U, V, Variables

# What functions read beside step sizes, as the formulas call it and what that is.
_READ = {
    "weight": ("a_ik", "weight of local step k at client i, 1 by default"),
    "norm": ("a_i", "sum of the weights of client i's local steps, K by default"),
    "mean_norm": ("a_mean", "mean of the clients' a_i"),
    "p": ("p_i", "weight of client i in the objective, 1/n by default"),
    "mixes": ("p_W", "probability with which a round mixes clients on a graph, 1 by default"),
    "delay": ("delay_i", "rounds since client i's last one, t + 1 before its first"),
}
# By the oracle of a local step, how an answer of client i is called and what it is.
_ANSWERS = {
    "gradient": ("g_ik", "gradient of f_i at the first local variable, stochastic where there is noise"),
    "prox": ("prox_ik", "the minimiser of f_i + lambda_/2 ||. - x||^2 for the first local variable x"),
}
_BILEVEL = {
    "x": "estimate of the hypergradient",
    "y": "gradient of g_i in y",
    "v": "residual of the system that v solves",
}
_COMPRESSION = "every coordinate with probability q, divided by it, and else 0"
_FIRST = ("g_i0", "mean of K gradients of f_i at the start")
# What is added to the names of variables of the server, of a client and of a local step.
_SERVER, _CLIENT, _LOCAL = "", "_i", "_ik"

_NAME = re.compile(r"[A-Za-z_]\w*")

Parts = dict[str, dict[str, str]]


class _SymbolicParameters(dict[str, Any]):
    """Parameters of a function: what the method fixes, and a symbol for everything else."""

    def __missing__(self, name: str) -> sp.Symbol:
        return sp.Symbol(_READ[name][0] if name in _READ else name, positive=True)


class _FormulaPrinter(StrPrinter):
    """Formulas whose sums begin with what is added."""

    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> list[sp.Expr]:
        terms: list[sp.Expr] = super()._as_ordered_terms(expr, order=order)
        return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))


def parts(method: Method, implied: Mapping[str, float] | None = None) -> Parts:
    """What the method's functions compute in each part of a run, by variable; nothing where they take no symbols.

    ``implied`` are numbers beside those that the method fixes.
    """
    sizes = {name: sp.Symbol(name, positive=True) for name in method.algorithm.step_sizes}
    fixed = {name: sp.nsimplify(value) for name, value in {**method.fixed, **(implied or {})}.items()}
    try:
        return _parts(method, _SymbolicParameters({**sizes, **fixed}))
    except Exception:  # noqa: BLE001  # whatever functions raise that compute with arrays alone
        return {}


def _parts(method: Method, p: _SymbolicParameters) -> Parts:
    algorithm = method.algorithm
    absent = {block for block, has in ((U, method.shared), (V, method.personal)) if not has}

    def named(values: Variables, group: Group, ending: str, marked: tuple[str, ...] = ()) -> dict[str, str]:
        texts = {name: _FormulaPrinter().doprint(sp.sympify(value)) for name, value in values.items()}
        return {
            _called(name, ending): f"C({text})" if name in marked else text
            for name, text in texts.items()
            # What has no such variables, and what stays as it is, is left out.
            if group[name] not in absent and text != _called(name, ending)
        }

    server, client = _symbols(algorithm.server, _SERVER), _symbols(algorithm.client, _CLIENT)
    local = _symbols(algorithm.local, _LOCAL)
    point = {block: sp.Symbol(f"{'x' if block == U else block}0") for block in algorithm.blocks}
    first = {block: sp.Symbol(_answered(_FIRST[0], block)) for block in algorithm.blocks}
    answers = {name: sp.Symbol(_answered(_ANSWERS[algorithm.oracle][0], name)) for name in algorithm.answers}
    mean = {name: sp.Symbol(f"mean({symbol})") for name, symbol in client.items()}
    total = {name: sp.Symbol(f"sum({symbol})") for name, symbol in _symbols(algorithm.message, _CLIENT).items()}
    started = named(algorithm.start_client(point, first, p), algorithm.client, _CLIENT)
    state, message = algorithm.finish(server, client, local, p)
    if algorithm.compressed:
        state = algorithm.sent(state, {name: sp.Symbol(_called(name, _CLIENT)) for name in message}, p)
    found = {
        "at the start": {**named(algorithm.start_server(point, mean, p), algorithm.server, _SERVER), **started},
        "a round": named(algorithm.begin(server, client, p), algorithm.local, _LOCAL),
        "each step": named(algorithm.step(local, answers, p), algorithm.local, _LOCAL),
        "sends": named(message, algorithm.message, _CLIENT, algorithm.compressed),
        "after them": named(state, algorithm.client, _CLIENT),
        "on a graph": {_called(name, _CLIENT): f"sum_j W_ij {name}_j" for name in algorithm.mixed},
        "server": named(algorithm.aggregate(server, total, p), algorithm.server, _SERVER),
        "then": {algorithm.projects: f"projection of {algorithm.projects} on the ball of radius r"}
        if algorithm.projects
        else {},
    }
    return {part: formulas for part, formulas in found.items() if formulas}


def meanings(method: Method, found: Parts) -> dict[str, str]:
    """What the names in the formulas mean that are neither variables nor step sizes."""
    names = set(_NAME.findall(" ".join(formula for part in found.values() for formula in part.values())))
    answer, said = _ANSWERS[method.algorithm.oracle], _BILEVEL if method.algorithm.bilevel else {}
    each = {
        _answered(answer[0], name): said.get(name, f"the same, for {name}")
        for name in method.algorithm.answers if name != U
    }  # fmt: skip
    changing = dict.fromkeys(method.algorithm.varying, "changes from round to round")
    known = {**dict([answer, _FIRST, *_READ.values()]), **each, **changing, "C": _COMPRESSION}
    return {name: meaning for name, meaning in known.items() if name in names}


def _symbols(group: Group, ending: str) -> dict[str, sp.Symbol]:
    return {name: sp.Symbol(_called(name, ending)) for name in group}


def _called(name: str, ending: str) -> str:
    return name if ending and name.endswith(ending) else name.removesuffix(_CLIENT) + ending


def _answered(called: str, name: str) -> str:
    return called if name == U else f"{called}_{name}"
