"""Random command lines and damaged files, each a function of its number, and a process of its own to try one in.

As a script, ``python tests/helpers/fuzz.py FIRST LAST SECONDS``: tries them, prints what is wrong and what was counted,
and ends with 1 where anything is wrong.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import textwrap
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import bounds
from bounds.statement import Statement
from bounds.symbols import Domain
from ratecheck.cli import COMMANDS, INTERRUPTED, _run
from ratecheck.commands import load
from ratecheck.selftesting.mutants import sound
from ratecheck.views.theory.template import template

NUMBERS = (
    "0", "1", "2", "3", "-1", "-0", "0.0", "1.5", "nan", "inf", "-inf", "1e400", "-1e400", "1e-400", "5e-324", "1e-320",
    "1e308", "1e154", "1e-155", "9" * 30, "9" * 5000, "9007199254740993", "2147483648", "1e9", "1e18", "", " ", "x",
    "1,2", "0.1,0.2,0.3", ",", "1,,2", "1e", "0x10", "1_000", "１２", "½", "π", "None", "[]", "{}", "=", "1=2", "a b",
    "\u202e1", "𝟙", "true", "--json", "1j", "../..", "$HOME", "%s%n", "\udcff", "\x1b[31m", "\n", "1\n2",
)  # fmt: skip
SMALL = ("1", "2", "3", "0.5", "0.1", "1e-3", "0.3")
KEYS = tuple(bounds.keys())
SOUND = frozenset(statement.key for paper in bounds.PAPERS for statement in sound(bounds.statements(paper)))
DIALS = ("d", "coupling", "condition", "heterogeneity", "spread", "rho", "shared", "how", "alpha", "seed", "d_x", "d_y")
PATTERNS = (
    "full", "uniform", "cyclic", "reshuffled", "largest", "sine", "bernoulli:0.5", "bernoulli:", "bernoulli:nan",
    "bernoulli:2", "markov:0.5,0.5", "markov:1", "markov:0,0", "renewal:2,1", "uniform:3", "", ":", "x",
    "nowhere.csv", "nowhere.npz",
)  # fmt: skip
# The code of a command that did not end, and how many times longer than the time of its own it may take.
_UNENDED = 99
_PATIENCE = 20
TINY = ["n=3", "m=2", "K=2", "T=4", "d=3"]
STUDY = """
name = "tiny"
title = "Two points"
level = 0.05
metric = { G_u = 1, G_v = 1 }
theorems = ["pfl/theorem-3.7"]

[local_steps]
uneven = [1, 2, 3]
drawn = { least = 1, most = 3, seed = 0 }

[problem]
name = "quadratic"
n = 3
d = 4
condition = 2
heterogeneity = 0.1

[run]
algorithm = "fedavg-p"
m = 2
K = 2
T = 20
gamma = 0.02
sigma_u = 0.5
sigma_v = 0.5
eta_u = 2
eta_v = 1.5
replicates = 4

[[figure]]
name = "steps"
vary = "gamma"
values = [0.02, 0.16]
admissible = { replicates = 2 }

[[figure]]
name = "own"
vary = "m"
values = [1, 2]
metric = { G_u = 1 }
metric_name = "shared"
theorems = ["pfl/corollary-3.8"]

[[claim]]
name = "rounds"
figures = ["own"]
says = "more clients need fewer rounds"
kind = "rounds"
effect = "falls"
targets = [1e-2]

[[claim]]
name = "error"
figure = "steps"
says = "a larger gamma leads to a larger error"
kind = "steady-state"
effect = "rises"
"""
LIBSVM = "".join(f"{1 - 2 * (k % 2)} 1:{k}.5 2:{k * k} 4:-1e-3\n" for k in range(12))
CSV = "1,0,1\n0,1,0\n1,1,1\n1,0,0\n"
OWN = (Path(__file__).parents[2] / "docs" / "own.md").read_text().partition("cat > whole.py <<'END'\n")[2]
OWN = OWN.partition("\nEND\n")[0] + "\n"
PROOF = (Path(__file__).parents[2] / "docs" / "own.md").read_text().partition("cat >> whole.py <<'END'\n")[2]
# A theorem with the steps of its proof.
PROOF = OWN + PROOF.partition("\nEND\n")[0] + "\n"
# The short way, and a neighbour of what is damaged.
SHORT = template(
    "mine.py", "descent", "mean grad2 <= 2*F_0/(gamma*T)", method="gd", given="smooth", when="gamma <= 1/L"
)
SHORT += SHORT[SHORT.index("\ndescent = ") :].replace("descent = ", "x = ", 1)
Words = tuple[list[str], dict[str, bytes | None]]
NASTY = (
    b"", b"\0", b"[]", b"{}", b"null", b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe\x00", b"\xef\xbb\xbf", b"1",
    b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x1f\x8b\x08", b"9" * 100_000, b"\n" * 1000, b"," * 1000,
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A command line with the files that it speaks of, by name; None is a folder of that name."""

    kind: str
    words: tuple[str, ...]
    files: dict[str, bytes | None]


@dataclass(frozen=True)
class Seen:
    """How a case ended; ``wrong`` says what is not as it has to be, "" where nothing is."""

    code: int
    out: str
    err: str
    seconds: float
    wrong: str


def case(number: int) -> Case:
    """The case of that number."""
    rng = random.Random(number)  # noqa: S311  # no secret
    kinds, weights = zip(*KINDS.items(), strict=True)
    kind = rng.choices(kinds, [weight for _, weight in weights])[0]
    words, files = KINDS[kind][0](rng)
    if rng.random() < 0.15:
        words = _damaged_words(rng, words)
    if words[0] in _ALL and not words[1:2]:
        # Minutes of work on the whole catalogue.
        words = [words[0], "--help"]
    elif rng.random() < 0.3 and kind not in ("page", "selftest"):
        words = [*words, "--json"]
    return Case(kind, tuple(words), files)


# --- what is tried ---


def _numbers(rng: random.Random) -> str:
    if rng.random() < 0.6:
        return rng.choice(NUMBERS)
    return f"{rng.choice(('', '-'))}{rng.uniform(1, 10)}e{rng.randint(-330, 320)}"


def _settings(rng: random.Random, *statements: Statement) -> list[str]:
    """What statements need, mostly small numbers, and half of the time with some that are not."""
    symbols = {name: each.vocabulary[name] for each in statements for name in each.required}
    whole = {name for name, symbol in symbols.items() if symbol.domain is Domain.POSITIVE_INTEGER}
    values = {name: rng.choice(("1", "2", "3", "50") if name in whole else SMALL) for name in symbols}
    if {"m", "n"} <= values.keys() and rng.random() < 0.8:
        values |= {"n": "3", "m": "2"}
    words = [f"{name}={value}" for name, value in values.items()]
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        pool = [*values, *values, "eps", "gamma", "T", "n", "x", "", "é", *statements[0].vocabulary.order]
        name = rng.choice(pool)
        kept = [word for word in words if not word.startswith(f"{name}=") or rng.random() < 0.1]
        words = [*kept, f"{name}={_numbers(rng)}"]
    rng.shuffle(words)
    return words


def _key(rng: random.Random) -> str:
    key = rng.choice(KEYS)
    if rng.random() < 0.05:
        return rng.choice(
            (key[:-1], key.upper(), key + "\n", "", "/", ":", ".py", "x.py:", f" {key}", "pfl/", "é" * 300)
        )
    return key


def _formula(rng: random.Random) -> Words:
    """Commands about formulas alone."""
    key = _key(rng)
    statement = bounds.get(key if key in KEYS else rng.choice(KEYS))
    command = rng.choice(("bound", "bound", "stepsize", "rounds"))
    words = [command, key, *_settings(rng, statement)]
    if command == "stepsize" and rng.random() < 0.2:
        words += ["--region", rng.choice(("gamma,eta_u", "gamma", "x,y", "gamma,gamma", ",", "L,F_0", ""))]
    if command == "rounds":
        words += [f"eps={_numbers(rng) if rng.random() < 0.5 else '0.01'}"] if rng.random() < 0.7 else []
    return words, {}


def _compare(rng: random.Random) -> Words:
    paper = rng.choice(bounds.PAPERS)
    alike = [each for each in bounds.statements(paper) if not each.order_only and each.source.number[:1] in "TC"]
    alike = alike or [bounds.get("pfl/corollary-3.8")]
    chosen = [rng.choice(alike) for _ in range(rng.randrange(1, 4))]
    keys = [statement.key if rng.random() < 0.9 else _key(rng) for statement in chosen]
    words = _settings(rng, *chosen)
    for _ in range(rng.randrange(3)):
        ends = [_numbers(rng) if rng.random() < 0.2 else end for end in rng.choice((("1", "10"), ("0.5", "1000")))]
        points = rng.choice(("", "", ":3", ":3", ":3", ":0", ":-1", ":1e9", ":x", ":2.5", "::", ":99999999999"))
        words += ["--over", f"{rng.choice(('K', 'T', 'm', 'L', 'x', 'm,S', '', 'K,K'))}={':'.join(ends)}{points}"]
    if rng.random() < 0.1:
        words += ["--out", rng.choice(("a.png", "a.txt", "folder", "a/b/c.svg", "", "\0.png", "x" * 300 + ".png"))]
    return ["compare", *keys, *words], {"folder": None}


def _page(rng: random.Random) -> Words:
    """Commands that print."""
    words = rng.choice((
        ["list"], ["list", rng.choice(("pfl", "fedsum", "x", "", "mine.py", "nowhere.py", "folder.py"))],
        ["list", "--summary"], ["show", _key(rng)], ["show", _key(rng), "--latex"], ["show", _key(rng), "--json"],
        ["show", _key(rng), "--markdown", "--ascii"], ["tables", rng.choice(("pfl/table-1", "x", "", "flame/table-9"))],
        ["implications", rng.choice(("x", "", "pfl/", "pfl/theorem-99", "\n"))],
        ["audit", rng.choice(("x", "", "baselines", "--step")), *rng.choice(([], ["--step", "x/y"], ["--step", ""]))],
        ["new", "theorem", rng.choice(("a.py", "mine.py", "folder.py", "a.txt", "", ".py", "a/b.py", "\0.py", "é.py"))],
        ["new", rng.choice(("theorem", "x", "")), "a.py", "--name", rng.choice(("x", "", "a b", "é", "def", "{x}"))],
        [rng.choice((*COMMANDS, "x", "", "--version", "-h", "é"))], [rng.choice([*COMMANDS]), "--help"],
        [rng.choice([*COMMANDS]), rng.choice(("--x", "-", "--", "--json=1", "\x00", "a=b=c", "=", "=1"))],
    ))  # fmt: skip
    return words, {
        "mine.py": OWN.encode(),
        "folder.py": None,
    }


def _options(rng: random.Random) -> list[str]:
    words = []
    for name, values in {
        "--engine": ("exact", "step", "leap", "auto", "", "warp"),
        "--seed": ("0", "-1", "1e3", "9" * 40, "x", "1.5"),
        "--replicates": ("2", "1", "0", "-5", "x", "40", "9" * 30),
        "--level": ("0.05", "0", "1", "nan", "-1", "1e-300", "x"),
        "--traces": ("1", "2", "0", "-1", "x"),
        "--threads": ("1", "2", "0", "x"),
        "--participation": PATTERNS,
        "--problem": ("quadratic", "logistic", "bilevel", "x", "", "libsvm:", "libsvm:nowhere", ".npz", "digits"),
    }.items():
        if rng.random() < 0.12:
            words += [name, rng.choice(values)]
    return [*words, *(["--ignore-conditions"] if rng.random() < 0.05 else [])]


def _small(key: str) -> list[str]:
    """A small setting in the names of the statement's paper."""
    vocabulary = bounds.get(key).vocabulary if key in KEYS else None
    run = {"clients": "3", "participants": "2", "rounds": "4"}
    words = [] if vocabulary is None else [f"{vocabulary.run[r]}={v}" for r, v in run.items() if r in vocabulary.run]
    return [*words, *(["K=2"] if vocabulary is not None and "K" in vocabulary else [])]


def _verify(rng: random.Random) -> Words:
    key = _key(rng)
    words = [word for word in _small(key) if rng.random() < 0.97]
    for _ in range(rng.randrange(3)):
        pool = [*DIALS, *(bounds.get(key).vocabulary.order if key in KEYS else ())]
        name = rng.choice(pool)
        words = [word for word in words if not word.startswith(f"{name}=")] + [f"{name}={_numbers(rng)}"]
    return ["verify", key, *words, *_options(rng)], {}


def _participation(rng: random.Random) -> Words:
    if rng.random() < 0.6:
        return ["verify", "fedsum/theorem-d.1", "K=2", "--participation", "who.csv"], {
            "who.csv": _damaged(rng, CSV.encode())
        }
    buffer = io.BytesIO()
    np.savez(buffer, matrix=_array(rng))
    return ["verify", "fedsum/theorem-d.1", "K=2", "--participation", "who.npz"], {
        "who.npz": _damaged(rng, buffer.getvalue())
    }


def _array(rng: random.Random) -> np.ndarray:
    return rng.choice((
        np.eye(3, dtype=bool), np.ones((4, 3)), np.ones((2, 2, 2)), np.array(1), np.array([["0", "1"]]), np.zeros((3,
        0)),
        np.full((3, 3), np.nan), np.array([[1j, 0]]), np.full((2, 2), 2), np.zeros((3, 3)), np.array([[0.5, 1]]),
        np.eye(3, dtype=np.float16), np.eye(3, dtype=np.uint64), np.array([1, 0, 1]), np.eye(3, dtype="datetime64[s]"),
    ))  # fmt: skip


def _instance(rng: random.Random) -> Words:
    data = _mutated(rng, json.loads(rng.choice(_instances())))
    text = json.dumps(data, ensure_ascii=rng.random() < 0.5).encode(errors="replace")
    if rng.random() < 0.3:
        text = _damaged(rng, text)
    key = [] if rng.random() < 0.8 else [_key(rng)]
    return ["verify", *key, "--instance", "worst.json", *_options(rng)[:2]], {"worst.json": text}


_KEPT: list[str] = []


def _instances() -> list[str]:
    """Sound instance files of several kinds, made by a short search."""
    if not _KEPT:
        from ratecheck.falsification.falsify import Budget, falsify

        for key in ("pfl/theorem-3.7", "fedsum/theorem-4.1", "flame/theorem-2-unbiased-repaired", "simfbo/theorem-1"):
            found = falsify(bounds.get(key), Budget(1, by_term=False, functions=False)).instance
            if found is not None:
                _KEPT.append(json.dumps(found.fields()))
    return _KEPT


def _mutated(rng: random.Random, data: object) -> object:
    """The data with some of their nodes replaced, dropped or doubled."""
    weird = (
        None, True, False, 0, -1, 1.5, 10**400, float("nan"), float("inf"), 1e308, 5e-324, "", "x", "1", [], {}, [[]],
        [1, 2], {"a": 1}, "é\u202e", -0.0, [[1, "x"]], [None], "9" * 5000, [[[[[1]]]]], 2**63,
    )  # fmt: skip
    for _ in range(rng.randrange(3)):
        node, path = data, []
        while isinstance(node, (dict, list)) and node and rng.random() < 0.8:
            key = rng.choice([*node]) if isinstance(node, dict) else rng.randrange(len(node))
            path.append((node, key))
            node = node[key]
        if not path:
            continue
        parent, key = path[-1]
        action = rng.random()
        if action < 0.7:
            parent[key] = rng.choice(weird)
        elif action < 0.85:
            del parent[key]
        elif isinstance(parent, list):
            parent.append(parent[key])
    if rng.random() < 0.03:
        for _ in range(rng.choice((10, 900, 5000))):
            data = [data]
            if rng.random() < 0.01:
                break
    return data


def _data(rng: random.Random) -> Words:
    """Problem files."""
    words = ["verify", "pfl/theorem-3.7", "n=2", "m=1", "K=2", "T=4", "--replicates", "4", "--problem"]
    if rng.random() < 0.5:
        return [*words, "libsvm:data"], {"data": _damaged(rng, LIBSVM.encode())}
    arrays = {
        "H": np.stack([np.eye(2)] * 2), "g": np.ones((2, 2)), "shared": np.array(1),
    }  # fmt: skip
    for name in [*arrays]:
        if rng.random() < 0.3:
            array = _array(rng) if rng.random() < 0.5 else arrays[name] * rng.choice((np.nan, 1e308, -1, 0, 1e-320))
            arrays[name] = array
        if rng.random() < 0.05:
            del arrays[name]
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    data = buffer.getvalue() if rng.random() < 0.6 else _damaged(rng, buffer.getvalue())
    return [*words, "mine.npz"], {"mine.npz": data}


def _edited(rng: random.Random, text: str) -> bytes:
    """A user's file with a few slips, or worse."""
    for _ in range(rng.randrange(1, 3)):
        lines = text.splitlines() or [""]
        place = rng.randrange(len(lines))
        action = rng.random()
        if action < 0.3:
            tokens = re.findall(r"\w+|\W", lines[place]) or [""]
            tokens[rng.randrange(len(tokens))] = rng.choice((
                "", "0", "None", "x", "1/0", "sp.oo", "sp.nan", "sp.zoo", "'x'", "sp.I", "-1", "T", "[]", "sp.pi",
                "(", ")",
                "raise SystemExit(0)", "1e400", "10**400", "sp.Symbol('z')", "sp.true", "lambda: 0", "exit()",
                "^", "**", "9**9**9", "<", "sqrt", "theorem", "{}", "1e999999", "lambda",
            ))  # fmt: skip
            lines[place] = "".join(tokens)
        elif action < 0.5:
            del lines[place]
        elif action < 0.6:
            lines.insert(place, rng.choice((
                "raise KeyboardInterrupt", "import sys; sys.exit(0)", "raise EOFError", "1/0", "def f(): f()\nf()",
                "raise MemoryError", "import nowhere", "print('hello')", "x = [[]] * 10", "assert False",
                "raise OSError(28, 'x')",
                "import os; os.close(1)", "raise BaseException('x')", "descent = None", "raise StopIteration",
                "\x00", "\t x",
                "raise ImportError('x', name='ratecheck')", "raise BrokenPipeError(32, 'x')",
                "import warnings; warnings.warn('x')",
            )))  # fmt: skip
        else:
            damaged = _damaged(rng, "\n".join(lines).encode()) if rng.random() < 0.3 else text.encode(errors="replace")
            lines = (damaged or b"").decode(errors="replace").splitlines()
        text = "\n".join(lines) + "\n"
    return text.encode(errors="replace")


def _own(rng: random.Random) -> Words:
    command = rng.choice((["show"], ["bound"], ["verify"], ["stepsize"], ["list"], ["rounds"], ["falsify"]))
    key = "mine.py" if command == ["list"] else rng.choice(("mine.py:descent", "mine.py", "mine.py:x"))
    settings = {
        "bound": ["L=1", "F_0=1", "T=10", "gamma_u=0.1"], "stepsize": ["L=1", "F_0=1", "T=10"], "rounds": ["L=1",
        "F_0=1"],
        "verify": ["n=3", "T=4"], "falsify": ["--evaluations", "3"],
    }.get(command[0], [])  # fmt: skip
    return [*command, key, *settings], {"mine.py": _edited(rng, rng.choice((OWN, SHORT)))}


def _proof(rng: random.Random) -> Words:
    """Ledgers of one's own, and graphs."""
    if rng.random() < 0.2:
        file = rng.choice(("a.svg", "a.txt", "folder", "a/b.svg", "", "\0.svg", "x" * 300 + ".png"))
        return ["audit", _key(rng), "--graph", file], {"folder": None}
    text = _edited(rng, PROOF) if rng.random() < 0.7 else PROOF.encode()
    step = rng.choice(("mine/descent-1", "mine/descent-3", "mine/descent-9", "pfl/lemma-4.1-1", "", "é"))
    words = rng.choice((
        [], [], [], ["--step", step], ["--mutate"], ["--step", step, "--mutate"], ["--workers", rng.choice(("1", "0"))],
        ["--certificates", rng.choice(("a.json", "folder", "a/b.json", "", "mine.py"))],
        ["--graph", rng.choice(("a.svg", "a.txt", "folder", "mine.py"))],
    ))  # fmt: skip
    return ["audit", rng.choice(("mine.py", "mine.py", "mine.py:descent", "mine.py:x")), *words], {
        "mine.py": text, "folder": None
    }  # fmt: skip


DATA = {
    "title": "Gradient descent", "source": "My paper, Theorem 1", "algorithm": "fedavg-p",
    "assumptions": ["smoothness", "full_participation", "no_personal"], "left": "G_u", "over": "mean_of_rounds",
    "right": {"gap": "2*F_0/(gamma_u*T)"}, "conditions": ["gamma_u <= 1/L"],
    "settings": {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
}  # fmt: skip


def _paper(rng: random.Random) -> Words:
    """What is said of a statement as a whole: lint, review, sharpen."""
    files: dict[str, bytes | None] = {"mine.py": _edited(rng, rng.choice((OWN, SHORT, PROOF))), "folder": None}
    kind = rng.random()
    if kind < 0.35:
        names = ("mine.py", "mine.py:descent", "mine.py:x", "nowhere.py", "folder", "folder.py", _key(rng), "pfl")
        return ["lint", *rng.choices(names, k=rng.choice((1, 1, 1, 2, 0))), *rng.choice(([], [], ["--schema"]))], files
    if kind < 0.65:
        data = _mutated(rng, json.loads(json.dumps(rng.choice((DATA, [DATA], [DATA, DATA], {"statements": [DATA]})))))
        text = json.dumps(data, ensure_ascii=rng.random() < 0.5).encode(errors="replace")
        return ["lint", rng.choice(("mine.json", "mine.json", "mine.json:descent"))], {
            "mine.json": text if rng.random() < 0.7 else _damaged(rng, text)
        }
    if kind < 0.85:
        out = rng.choice(("a.html", "a.md", "a.txt", "folder", "a/b.html", "", "mine.py", "x" * 300 + ".html"))
        words = rng.choice(([], ["--out", out], ["--out", out], ["--evaluations", rng.choice(("2", "-1", "x"))]))
        return ["review", rng.choice(("mine.py", "mine.py:descent", "mine.py:x", "x", "", "folder")), *words], files
    words = rng.choice(([], ["--caps"], ["--certificates", "folder"], ["--evaluations", rng.choice(("2", "-1", "x"))]))
    key = rng.choice(
        ("pfl/lemma-3.6-recursion", "pfl/lemma-3.2", "pfl/scaffold", "mine.py:descent", "x", "", _key(rng))
    )
    return ["sharpen", key, *words], files


def _study(rng: random.Random) -> Words:
    if rng.random() < 0.3:
        words = rng.choice((["run"], ["report"], ["report", "--out", rng.choice(("a.html", "b.md", "c", "folder"))]))
        return [*words, "study.toml", "--quick"], {"study.toml": _damaged(rng, STUDY.encode()), "folder": None}
    lines = STUDY.splitlines()
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(lines))
        name, equals, _ = lines[place].partition(" = ")
        values = (
            "nan", "inf", "-1", "0", "1.5", '""', '"x"', "[]", "{}", "[1, 2]", "true", "9" * 40, "1e400", "-0.0",
            "1979-05-27",
            "[[]]", '["a"]', "1e-320", "2", '"../x"', '"\\u0000"', "[1e308, 1]", "{ G_u = nan }", "1e308",
        )  # fmt: skip
        if equals and rng.random() < 0.7:
            lines[place] = f"{name} = {rng.choice(values)}"
        elif rng.random() < 0.5:
            del lines[place]
        else:
            lines.insert(
                place, rng.choice(("x = 1", "[x]", "[[figure]]", "[[claim]]", "= 1", "[run]", "[steady]", "\x01"))
            )
        if not lines:
            break
    extra = rng.choice(
        (
            [], [], ["--only", "x"], ["--replicates", "2"], ["--out", "folder"], ["--threads", "0"], ["--shard", "1/2"],
            ["--shard", "0/2"], ["--shard", "x"], ["--shard", "2/1"], ["--shard", "1/1e9"],
        )
    )  # fmt: skip
    return ["run", "study.toml", "--quick", *extra], {"study.toml": "\n".join(lines).encode(), "folder": None}


def _search(rng: random.Random) -> Words:
    kind = rng.random()
    key = _key(rng)
    if kind < 0.6:
        words = ["falsify", key, "--evaluations", rng.choice(("3", "5", "0", "-1", "x", "1.5"))]
        words += rng.choice(([], ["--out", "folder"], ["--out", "a/b.json"], ["--out", ""], ["--seconds", "nan"]))
        words += rng.choice(([], ["n=3"], ["--seed", "-1"], ["--seed", "x"]))
    elif kind < 0.8:
        words = ["plot", "region", key, *_settings(rng, bounds.get(key if key in KEYS else rng.choice(KEYS)))]
        words += rng.choice(([], ["--axes", "x,y"], ["--axes", ""], ["--out", "a.txt"], ["--out", "folder"]))
    elif kind < 0.85:
        words = ["rates", key, "--over", rng.choice(("K", "T", "m", "n", "x", "", "K,K", "tau"))]
        words += rng.choice(([], ["--seed", "-1"], ["--seed", "9" * 30], ["--out", "folder"], ["--out", "a/b.json"]))
    else:
        words = [rng.choice(("plot", "scaling")), key, *_small(key), "--replicates", "2"]
        words += rng.choice((["--out", "a.txt"], ["--out", "folder"], ["--vary", "x"], ["--over", "x"], ["--over", ""]))
    return words, {"folder": None}


def _selftest(rng: random.Random) -> Words:
    words = ["selftest", _key(rng), "--workers", "1", "--evaluations", "2", "--planted", "0", "--mutants", "1"]
    words += ["--instances", rng.choice(("1", "0", "-1", "x", "nan"))]
    return [*words, *rng.choice(([], ["--mutants", "x"], ["--seed", "-1"], ["--workers", "0"]))], {}


_ALL = ("audit", "implications", "selftest", "tables", "review", "lint")
KINDS = {
    "formula": (_formula, 24), "compare": (_compare, 8), "page": (_page, 10), "verify": (_verify, 14),
    "participation": (_participation, 9), "instance": (_instance, 12), "data": (_data, 8), "own": (_own, 8),
    "proof": (_proof, 4), "paper": (_paper, 4), "study": (_study, 6), "search": (_search, 3),
    "selftest": (_selftest, 0.5),
}  # fmt: skip


def _damaged_words(rng: random.Random, words: list[str]) -> list[str]:
    words = [*words]
    for _ in range(rng.randrange(1, 3)):
        place = rng.randrange(len(words))
        action = rng.random()
        if action < 0.25:
            words.insert(place, rng.choice(NUMBERS))
        elif action < 0.5 and len(words) > 1 and place:
            del words[place]
        elif action < 0.75 and place:
            words[place] = words[place][: rng.randrange(len(words[place]) + 1)]
        elif place:
            words.append(words[place])
    return words


def _damaged(rng: random.Random, data: bytes) -> bytes | None:
    action = rng.random()
    if action < 0.05:
        return None
    if action < 0.2:
        return rng.choice(NASTY)
    if action < 0.35:
        return data[: rng.randrange(len(data) + 1)]
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(changed) + 1)
        if rng.random() < 0.3:
            changed[place:place] = rng.choice(
                (b"nan", b"1e400", b"-", b"\0", b"\xff", b"\n", b",", b" ", b'"', b"[", b"9" * 400)
            )
        elif rng.random() < 0.5 and place < len(changed):
            changed[place] = rng.randrange(256)
        else:
            del changed[place : place + rng.randrange(1, 9)]
    return bytes(changed)


# --- trying one ---


def attempt(tried: Case, seconds: int = 20) -> Seen:
    """Run the case in a fork of this process, which has everything imported.

    An interrupt ends it after that many seconds of its own, which do not pass while other processes have the cores.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work = folder / "work"
        work.mkdir()
        for file, content in tried.files.items():
            place = work / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.mkdir() if content is None else place.write_bytes(content)
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            _inside(tried, folder, work, seconds)
        code = _waited(child, _PATIENCE * seconds + 60)
        out, err = ((folder / each).read_text(errors="replace") for each in ("out", "err"))
    return Seen(code, out, err, time.monotonic() - begun, _wrong(tried, code, out, err))


def _inside(tried: Case, folder: Path, work: Path, seconds: int) -> None:
    code = _UNENDED
    try:
        os.setsid()
        os.chdir(work)
        for stream, file in ((1, "out"), (2, "err")):
            number = os.open(folder / file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(number, stream)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "wb", closefd=False), errors="backslashreplace", write_through=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "wb", closefd=False), errors="backslashreplace", write_through=True)
        # As they would be shown to a user.
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        for shown in (RuntimeWarning, UserWarning, SyntaxWarning):
            warnings.simplefilter("default", shown)
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        for ends in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(ends, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        # Waiting for another process takes no time of its own.
        signal.alarm(_PATIENCE * seconds)
        code = _run([word.replace("\0", "") for word in tried.words])
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    except BaseException as error:  # noqa: BLE001  # whatever comes through is what is looked for
        # An interrupt that comes when the command has ended is nobody's.
        if code == _UNENDED or not isinstance(error, KeyboardInterrupt):
            with contextlib.suppress(BaseException):
                sys.stderr.write(f"Traceback: {type(error).__name__}: {error}\n")
    os._exit(code)


def _waited(child: int, seconds: float) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.003)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -99


def _wrong(tried: Case, code: int, out: str, err: str) -> str:
    """What is wrong with the end of a case."""
    own = b"".join(data or b"" for data in tried.files.values())
    if b"warnings.warn" in own or b"print(" in own:
        # What the user's own file says is not ours.
        err, out = "".join(re.findall(r"^ratecheck: .*\n", err, re.MULTILINE)), out.partition("hello\n")[2] or out
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    faults = {
        "traceback": "Traceback" in out + err,
        "warning": "Warning" in err,
        "exit code": code not in (0, 1, 2, 3, INTERRUPTED),
        "not interrupted": code == -99,
        "an error is one line": code == 2 and len(lines) > 1 and "Usage:" not in err,
        "an error without a line": code == 2 and not lines,
        "lines beside the result": code in (0, 1, 3) and bool(lines),
        "no JSON": code in (0, 1, 3) and tried.words[-1:] == ("--json",) and not _is_json(out),
        "an accusation": code == 1 and tried.words[0] in ("verify", "falsify") and len(SOUND & {*tried.words}) == 1
        and not {"--instance", "--problem"} & {*tried.words},
    }  # fmt: skip
    return ", ".join(name for name, found in faults.items() if found)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def report(tried: Case, seen: Seen) -> str:
    """A case and its end, for people."""
    files = {name: None if data is None else data[:600] for name, data in tried.files.items()}
    return textwrap.shorten(f"{seen.wrong}: code {seen.code}, {tried.words} {files}", 1500) + f"\n{seen.err[-1500:]}"


def warm_up() -> None:
    """Import and compile once, here, what every fork inherits."""
    for command in COMMANDS:
        load(command)
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    # Kernels too.
    small = ("n=3", "m=2", "K=2", "T=4", "--replicates", "2", "--threads", "1")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for problem in ("logistic", "quadratic"):
            _run(["verify", "pfl/theorem-3.7", "--problem", problem, "--engine", "step", *small])


def main(first: int, last: int, seconds: int, choose: Callable[[int], Case] | None = None) -> int:
    """Try the cases from the first to before the last; how many are wrong. ``choose`` is `case` by default."""
    warm_up()
    if choose is None:
        _instances()
    codes: Counter[tuple[str, int]] = Counter()
    wrong = 0
    for number in range(first, last):
        tried = (choose or case)(number)
        seen = attempt(tried, seconds)
        codes[tried.kind, seen.code] += 1
        if seen.wrong:
            wrong += 1
            print(f"case {number}: {report(tried, seen)}", flush=True)  # noqa: T201
        elif seen.code == INTERRUPTED:
            print(f"case {number}: ended after {seconds} s: {tried.words}", flush=True)  # noqa: T201
    print(json.dumps({"cases": last - first, "wrong": wrong, "ends": {f"{k} {c}": v for (k, c), v in codes.items()}}))  # noqa: T201
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:4])), 1))
