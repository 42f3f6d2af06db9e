"""A theorem in one sentence, in the plain vocabulary: ``mean grad2 <= 2*F_0/(gamma*T)``.

`fields` reads the sentence, what is given and when it holds, into the fields of `bounds.theorem.theorem`: the rounds
and both sides from the sentence, and from the method's usual name what that implies (`bounds.sentences.words.METHODS`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from bounds.assumption import Assumption
from bounds.errors import InputError, did_you_mean
from bounds.parsing import sides
from bounds.sentences import latex, words
from bounds.statement import names_in
from bounds.symbols import Quantity, Role, Vocabulary

# What may stand before the left side, and what it says.
_OVER: Mapping[str, str] = {
    "mean": "mean_of_rounds", "average": "mean_of_rounds", "avg": "mean_of_rounds",
    "last": "after_rounds", "final": "after_rounds",
    "every": "every_round", "each": "every_round", "any": "every_round",
    "best": "best_round", "min": "best_round", "least": "best_round",
}  # fmt: skip
_WHICH = "mean, last, every or best"
_AT_MEAN = re.compile(r"^(?P<left>.*\S)\s+at\s+(?:the\s+)?(?:mean|average|averaged)(?:\s+iterate)?\s*$")
# What may be given, beside the names of assumptions themselves.
_GIVEN: Mapping[str, tuple[Assumption, ...]] = {
    "smooth": (Assumption.SMOOTHNESS,),
    "nonconvex": (),
    "convex": (Assumption.CONVEXITY,),
    "pl": (Assumption.POLYAK_LOJASIEWICZ,),
    "bounded variance": (Assumption.NOISE,),
    "bounded dissimilarity": (Assumption.DISSIMILARITY,),
    "sampling": (Assumption.UNIFORM_SAMPLING,),
    "graph": (),
    "l0 l1 smooth": (Assumption.GENERALIZED_SMOOTHNESS,),
    "weakly convex": (Assumption.WEAK_CONVEXITY,),
    "f strongly convex": (Assumption.STRONG_CONVEXITY,),
    "strongly convex": (Assumption.CLIENTS_STRONG_CONVEXITY,),
}
_SAME = {
    "l smooth": "smooth", "smoothness": "smooth", "non convex": "nonconvex", "convexity": "convex",
    "mu strongly convex": "strongly convex", "strong convexity": "strongly convex",
    "polyak lojasiewicz": "pl", "noise": "bounded variance", "variance": "bounded variance",
    "dissimilarity": "bounded dissimilarity", "heterogeneity": "bounded dissimilarity",
    "bounded heterogeneity": "bounded dissimilarity", "uniform sampling": "sampling", "sampled clients": "sampling",
    "homogeneous clients": "homogeneous", "identical clients": "homogeneous", "identical functions": "homogeneous",
}  # fmt: skip
# What may be given and is a condition.
_ALIKE: Mapping[str, str] = {"homogeneous": "zeta == 0"}
# Assumptions by which a constant of the plain vocabulary comes into the world.
_BY_CONSTANT = {
    "L": Assumption.SMOOTHNESS, "sigma": Assumption.NOISE, "zeta": Assumption.DISSIMILARITY,
    "zeta_star": Assumption.MINIMISER_HETEROGENEITY, "mu_c": Assumption.CLIENTS_STRONG_CONVEXITY,
    "mu_PL": Assumption.POLYAK_LOJASIEWICZ, "G": Assumption.BOUNDED_GRADIENTS, "G_run": Assumption.VISITED_GRADIENTS,
    "mu_QG": Assumption.QUADRATIC_GROWTH, "rho_weak": Assumption.WEAK_CONVEXITY,
    "L_0": Assumption.GENERALIZED_SMOOTHNESS, "L_1": Assumption.GENERALIZED_SMOOTHNESS,
    "D": Assumption.BOUNDED_ITERATES, "M": Assumption.BOUNDED_SUBGRADIENTS, "G_d": Assumption.GB_DISSIMILARITY,
    "B_d": Assumption.GB_DISSIMILARITY, "rho_noise": Assumption.RELATIVE_NOISE, "p_W": Assumption.RANDOM_MIXING,
    "p_noise": Assumption.HEAVY_TAILS, "sigma_p": Assumption.HEAVY_TAILS, "sigma_sg": Assumption.SUB_GAUSSIAN,
    "A_es": Assumption.EXPECTED_SMOOTHNESS, "B_es": Assumption.EXPECTED_SMOOTHNESS,
    "C_es": Assumption.EXPECTED_SMOOTHNESS, "tau": Assumption.OBLIVIOUS_PARTICIPATION,
    "tau_avg": Assumption.OBLIVIOUS_PARTICIPATION,
}  # fmt: skip
# Laws of participation: with one of these nothing is implied about it.
_WHO = {
    Assumption.UNIFORM_SAMPLING, Assumption.FULL_PARTICIPATION, Assumption.UNBIASED_SELECTION,
    Assumption.OBLIVIOUS_PARTICIPATION, Assumption.UNIFORM_SUBSETS, Assumption.INDEPENDENT_PARTICIPATION,
    Assumption.RESHUFFLED_BLOCKS, Assumption.CYCLIC_BLOCKS, Assumption.WEIGHTED_SUBSETS, Assumption.WEIGHTED_DRAWS,
}  # fmt: skip
_NOISY = {
    Assumption.NOISE, Assumption.RELATIVE_NOISE, Assumption.TOTAL_NOISE, Assumption.HEAVY_TAILS,
    Assumption.SUB_GAUSSIAN, Assumption.EXPECTED_SMOOTHNESS,
}  # fmt: skip
# With one of these L is the constant of an operator, which need not be a gradient, and the minimiser is a zero.
_OPERATORS = {Assumption.LIPSCHITZ_OPERATOR, Assumption.COCOERCIVE_OPERATOR}
_OF_OPERATORS: Mapping[str, Assumption | None] = {"L": None, "zeta_star": Assumption.ZERO_HETEROGENEITY}
_ZERO = sp.Integer(0)
_NAME = re.compile(r"[A-Za-z_]\w*")
_ONE_STEP = re.compile(r"\s*K\s*==\s*1\s*")
# A symbol alone, or a step size that changes by the round.
_ALONE = re.compile(r"[A-Za-z_]\w*(\(t\))?")


class SentenceError(InputError):
    """A ``field`` of a theorem in one sentence cannot be used."""

    def __init__(self, field: str, reason: object) -> None:
        super().__init__(f"{field}: {reason}" if field else str(reason))
        self.field = field


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """A sentence in its parts.

    ``text`` is the sentence as it was understood, ``over`` says which rounds it is about, "" where it does not say, and
    the sides are formulas. ``lower``: it bounds from below, which both sides say with the other sign.
    """

    text: str
    over: str
    left: str
    relation: str
    right: str
    lower: bool = False


def claimed(text: str) -> Claimed:
    """The sentence in its parts, LaTeX included; raises `InputError` for one that is none.

    >>> claimed("mean grad2 <= 2*F_0/(gamma*T)").over
    'mean_of_rounds'
    """
    if latex.is_latex(text):
        text = latex.sentence(text)
    left, relation, right = (part.strip() for part in sides(text))
    if relation not in ("<=", "==", ">="):
        raise InputError(f"{text!r}: a theorem says that a left side is at most its right side, with <= (or ==, >=)")
    over, lower = "", False
    if found := re.match(r"([A-Za-z]+)\s*(?=[\s(])(?!\s*[-+*/])", left):
        # Such as "mean grad2" and "mean(grad2)".
        word, rest = found[1].lower(), left[found.end() :].strip()
        if word in _OVER:
            over, left = _OVER[word], re.sub(r"^(of|over|rounds?|the)\s+", "", rest)
        elif re.match(r"[A-Za-z_]", rest) and not rest.startswith("at "):
            raise InputError(f"{text!r}: {word!r} does not say which rounds are meant; {_WHICH} {rest} does")
    if found := _AT_MEAN.match(left):
        if over not in ("", "after_rounds"):
            raise InputError(f"{text!r}: at the mean iterate there is one value, not a {over.replace('_', ' ')}")
        over, left = "averaged_iterate", found["left"]
    if relation == ">=":
        # What is bounded from below is recorded with the other sign.
        left, relation, right = f"-({left})", "<=", f"-({right})"
        lower = True
    return Claimed(text=text, over=over, left=left, relation=relation, right=right, lower=lower)


def fields(
    text: str,
    *,
    method: str,
    given: str | Iterable[str] = (),
    when: str | Iterable[str] = (),
    title: str | None = None,
    settings: Mapping[str, Any] | None = None,
    trivial: Any = None,
    vocabulary: Vocabulary | None = None,
    own: Sequence[Any] = (),
    instance: str = "",
) -> dict[str, Any]:
    """The fields of the long form.

    ``own`` are symbols of one's own, ``instance`` is the problem on which a lower bound is claimed. A vocabulary that
    is given takes the place of the plain one: then the method's name is that of `ratecheck.algorithms`, and nothing is
    implied.
    """
    if not isinstance(text, str):
        raise SentenceError("", f"{text!r} is no sentence such as 'mean grad2 <= 2*F_0/(gamma*T)'")
    if not isinstance(method, str):
        raise SentenceError("method", f"{method!r} is not the name of a method; 'ratecheck list methods' has them")
    said = claimed(text)
    if said.lower and not instance:
        upper = "a theorem says that a left side is at most its right side"
        lower = "a lower bound, with >=, is one on a problem of the file that it names, as in instance='hard'"
        raise SentenceError("", f"{text!r}: {upper}; {lower}")
    if instance and not said.lower:
        raise SentenceError("instance", "a claim with <= is about all problems and names none; with >= it is about one")
    conditions = [_turned(latex.formula(each) if latex.is_latex(each) else each) for each in _parts(when, "when")]
    words_given = [_plain(each) for each in _parts(given, "given")]
    conditions += [_ALIKE[each] for each in words_given if each in _ALIKE]
    spoken = {name for each in (said.left, said.right, *conditions) for name in _NAME.findall(each)}
    # Of a step size that changes by the round.
    spoken |= {name.removesuffix("_t") for name in spoken}
    spoken |= {name for each in own if isinstance(each.equals, str) for name in _NAME.findall(each.equals)}
    assumed = [each for part in words_given if part not in _ALIKE for each in _given(part)]
    fixed: dict[str, Any] = {}
    if vocabulary is None:
        kind = words.method(method)
        _check(kind, spoken, conditions, settings or {})
        brings = {**_BY_CONSTANT, **(_OF_OPERATORS if _OPERATORS & {*assumed} else {})}
        brought = [each for name, each in brings.items() if name in spoken and each is not None]
        relative = Assumption.RELATIVE_NOISE in (*assumed, *brought)
        # Beside noise that grows with the gradient sigma is a part of its bound, and no bound on the noise.
        assumed += [each for each in brought if not (relative and each is Assumption.NOISE)]
        convexity = _convexity(assumed, alone=kind.alone)
        if kind.alone:
            # Of one function both say the same.
            assumed = [
                Assumption.STRONG_CONVEXITY if each is Assumption.CLIENTS_STRONG_CONVEXITY else each for each in assumed
            ]
        if "mu" in spoken and not convexity:
            raise SentenceError("given", "mu stands for strong convexity or for the PL inequality: give "
                                "'strongly convex' or 'PL'")  # fmt: skip
        fixed, more = _implied(kind, spoken, assumed, settings or {})
        assumed += more
        _check_noise(spoken, assumed, settings or {})
        vocabulary = words.vocabulary(convexity or "mu", fixed, late=kind.late)
        algorithm, called = f"{words.PREFIX}{method}", kind.title
    else:
        algorithm, called = method, method
    conditions, formulas, inside = _by_round(conditions, f"{said.left} {said.right}", vocabulary, own)
    vocabulary = _implying(vocabulary, inside)
    over = said.over or _rounds(said, text)
    trivial = _trivial(said, assumed, over) if trivial is None else trivial
    return {
        "title": title or f"{words.varying(called, formulas)}: {_short(said.text)}",
        "algorithm": words.varying(algorithm, _of_points(formulas) if over == "after_rounds" else formulas),
        "by_round": (formulas, inside),
        "assumptions": tuple(dict.fromkeys(assumed)),
        "left": said.left,
        "over": over,
        "right": _terms(said.right),
        "relation": said.relation,
        "vocabulary": vocabulary,
        "trivial": trivial,
        **_conditions(conditions, vocabulary, {**fixed, **(settings or {})}, own),
    }


def _check(kind: words.PlainMethod, spoken: set[str], conditions: Sequence[str], settings: Mapping[str, Any]) -> None:
    """Raise `SentenceError` for a theorem that says too little, or too much, of a method to be about it."""
    for name in kind.needs:
        if name not in spoken and name not in settings:
            raise SentenceError("method", f"{kind.name} has the {words.PLAIN[name].meaning} {name}: say what it is, as "
                                f"in when={f'{name} == 1/2'!r} or when={f'{name} == t/(t + 3)'!r}")  # fmt: skip
    if kind.late and "tau_avg" in spoken:
        raise SentenceError("", f"{kind.name} has one gradient a round, each at most tau rounds late: a theorem about "
                            "it speaks of tau, and not of tau_avg")  # fmt: skip
    single = settings.get("K") in (1, "1") or any(map(_ONE_STEP.fullmatch, conditions))
    if kind.one_step and "K" in {*spoken, *settings} and not single:
        raise SentenceError("", f"{kind.name} takes one step a round, and the theorem speaks of K; local steps are "
                            "those of local-sgd and local-gd, and sigma is the noise of a whole step")  # fmt: skip


def _check_noise(spoken: set[str], assumed: Iterable[Assumption], settings: Mapping[str, Any]) -> None:
    """Raise `SentenceError` where a bound on gradients may be meant as one on stochastic gradients, noise included."""
    bounds = sorted({"G", "M", "G_run"} & spoken)
    if bounds and Assumption.NOISE in assumed and "sigma" not in {*spoken, *settings}:
        name = bounds[0]
        raise SentenceError("", f"{name} bounds the gradients themselves, and the theorem says nothing of their noise: "
                            f"write {name}**2 + sigma**2 for the bound on E||g||^2, or sigma == 0 in when")  # fmt: skip


def _convexity(assumed: Iterable[Assumption], *, alone: bool) -> str:
    """Which constant of the classics mu is; empty where nothing says it."""
    assumed = {*assumed}
    if {Assumption.STRONG_CONVEXITY, Assumption.STRONGLY_MONOTONE_OPERATOR} & assumed:
        return "mu"
    if Assumption.CLIENTS_STRONG_CONVEXITY in assumed:
        return "mu" if alone else "mu_c"
    return "mu_PL" if Assumption.POLYAK_LOJASIEWICZ in assumed else ""


def _implied(
    kind: words.PlainMethod, spoken: set[str], assumed: Sequence[Assumption], settings: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Assumption]]:
    """What a method's name implies where the theorem does not say otherwise: settings, and assumptions."""
    fixed: dict[str, Any] = {}
    more: list[Assumption] = []
    if kind.alone:
        fixed |= {"n": 1, "m": 1}
        more.append(Assumption.FULL_PARTICIPATION)
    elif not {*assumed} & _WHO:
        # A bound that does not speak of how many take part is one on everybody.
        sampled = kind.late or (not kind.everybody and ("m" in spoken or "m" in settings))
        more.append(Assumption.UNIFORM_SAMPLING if sampled else Assumption.FULL_PARTICIPATION)
    if not kind.alone and Assumption.FULL_PARTICIPATION in (*assumed, *more):
        fixed["m"] = "n"
    elif kind.late and "m" not in spoken:
        fixed["m"] = 1
    if (kind.one_step or kind.steps) and "K" not in spoken:
        fixed["K"] = 1
    if kind.averages and not {"lambda_W", "beta_W"} & {*spoken, *settings}:
        fixed["lambda_W"] = 0
    if kind.server and "eta" not in spoken:
        fixed["eta"] = 1
    if not {*assumed} & _NOISY:
        if kind.noise:
            more.append(Assumption.NOISE)
        else:
            fixed["sigma"] = 0
    return {name: value for name, value in fixed.items() if name not in settings}, more


def _plain(text: str) -> str:
    """A word of ``given`` as it is listed."""
    plain = re.sub(r"[\s_-]+", " ", text.strip().lower())
    return _SAME.get(plain, plain)


def _given(text: str) -> tuple[Assumption, ...]:
    """The assumptions that a word stands for."""
    plain = _plain(text)
    if plain in _GIVEN:
        return _GIVEN[plain]
    name = plain.replace(" ", "_").upper()
    if name in Assumption.__members__:
        return (Assumption[name],)
    known = [*_GIVEN, *_ALIKE, *(each.lower().replace("_", " ") for each in Assumption.__members__)]
    words = plain.split()
    several = len(words) > 1 and all(word in known for word in words)
    hint = f"commas separate several: {', '.join(words)}" if several else did_you_mean(plain, known, as_given=True)
    raise SentenceError("given", f"no assumption {text!r}; {hint}")


def word(assumption: Assumption) -> str:
    """The word that stands for an assumption in ``given``: its name where it has no shorter one.

    >>> word(Assumption.SMOOTHNESS)
    'smooth'
    """
    return next((name for name, stands in _GIVEN.items() if stands == (assumption,)), assumption.name.lower())


def _parts(given: str | Iterable[str], field: str) -> list[str]:
    """A list, or a text with commas or "and" between its parts; commas in brackets separate nothing."""
    if not isinstance(given, str):
        if not isinstance(given, Iterable):
            raise SentenceError(field, f"{given!r} is neither text nor a list of texts")
        return [part for each in given for part in _parts(_text(each, field), field)]
    found, depth, start = [], 0, 0
    for place, sign in enumerate(given):
        depth += (sign in "([{") - (sign in ")]}")
        if sign in ",;" and not depth:
            found.append(given[start:place])
            start = place + 1
    parts = [part for each in (*found, given[start:]) for part in re.split(r"\band\b", each)]
    return [part.strip() for part in parts if part.strip()]


def _text(given: object, field: str) -> str:
    if not isinstance(given, str):
        raise SentenceError(field, f"{given!r} is not text")
    return given


def _turned(text: str) -> str:
    """An equation with the symbol on the left that it has alone on the right."""
    left, operator, right = (part.strip() for part in sides(text))
    turned = operator == "==" and _ALONE.fullmatch(right) and not _ALONE.fullmatch(left)
    return f"{right} == {left}" if turned else text


def _rounds(said: Claimed, text: str) -> str:
    """The rounds that a sentence is about which does not say: those that its right side counts."""
    names = {*_NAME.findall(said.right)}
    if "T" in names and "t" not in names:
        raise InputError(f"{text!r} does not say which rounds are meant: write {_WHICH} before the left side, or count "
                         "them by t on the right side")  # fmt: skip
    return "every_round"


def _terms(right: str) -> str | dict[str, str]:
    """The summands of a right side by what they say, where there are several and none is subtracted."""
    try:
        node = ast.parse(right.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        # What is wrong is said where the formula is read.
        return right
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts.append(node.right)
        node = node.left
    written = [ast.get_source_segment(right.strip(), each) or "" for each in (node, *reversed(parts))]
    plain = all(not isinstance(each, ast.BinOp) or not isinstance(each.op, ast.Sub) for each in (node, *parts))
    if not parts or not plain or len({*written}) < len(written):
        return right
    return {each: each for each in written}


def _trivial(said: Claimed, assumed: Iterable[Assumption], over: str) -> str | None:
    """What smoothness alone gives for the squared gradient at the start."""
    about_start = over in ("mean_of_rounds", "best_round")
    return "2*L*F_0" if said.left == "grad2" and about_start and Assumption.SMOOTHNESS in assumed else None


def _conditions(
    given: Iterable[str], vocabulary: Vocabulary, settings: dict[str, Any], own: Sequence[Any]
) -> dict[str, Any]:
    """Conditions, step sizes that an equation sets, and settings that one fixes."""
    # A symbol that stands for its formula is none that a setting fixes.
    given = [*given, *(f"{name} == {settings.pop(name)}" for name in vocabulary.equal & {*settings})]
    conditions, rules = [], {}
    roles = {each.name: each.role for each in vocabulary} | {each.quantity.name: each.quantity.role for each in own}
    for text in given:
        left, operator, right = (part.strip() for part in sides(text))
        role = roles.get(left)
        free = left not in _NAME.findall(right)
        if operator == "==" and free and role is Role.STEP_SIZE and left not in rules:
            rules[left] = right
        elif operator == "==" and left not in {*settings, *vocabulary.equal} and (
            (free and role is Role.SETTING) or (role is Role.CONSTANT and right.replace(".", "", 1).isdecimal())
        ):  # fmt: skip
            settings[left] = right
        else:
            conditions.append(text)
    return {"conditions": conditions, "step_rules": rules, "settings": settings}


def _by_round(
    given: Iterable[str], said: str, vocabulary: Vocabulary, own: Sequence[Any]
) -> tuple[list[str], dict[str, str], dict[str, Quantity]]:
    """The conditions that are left, step sizes that change by the round as formulas, and the constants in these.

    The constants are parameters of the method, each equal to the symbol whose name it has. Raises `SentenceError` where
    the theorem speaks of a step size that is another one in every round.
    """
    known = {each.name: each for each in vocabulary} | {each.quantity.name: each.quantity for each in own}
    rounds = {*vocabulary.counters}
    sizes = {name for name, each in known.items() if each.role is Role.STEP_SIZE}
    rest, formulas = [], {}
    for text in given:
        left, operator, right = (part.strip() for part in sides(text))
        name = re.sub(r"(_t|\(t\))$", "", left)
        names = {*_NAME.findall(right)}
        if operator == "==" and name in sizes and rounds & names and not (name == left and name in names):
            formulas[name] = " ".join(right.split())
            continue
        spoken = {*_NAME.findall(text)}
        varying = {each.removesuffix("_t") for each in spoken if each not in known}
        if sizes & varying or (rounds & spoken and sizes & spoken):
            raise SentenceError("when", f"{text!r}: a step size that changes by the round is an equation with t, with "
                                "what bounds it inside, as in gamma == min(1/L, 2/(mu*(t + 1)))")  # fmt: skip
        rest.append(text)
    constants: dict[str, Quantity] = {}
    for name, text in formulas.items():
        names = {*_NAME.findall(text)}
        if name not in names and name in {*_NAME.findall(" ".join([said, *rest]))}:
            raise SentenceError("when", f"{name}_t == {text} is another one in every round, and the theorem speaks of "
                                f"one {name}")  # fmt: skip
        constants |= {
            each: replace(known[each], name=f"{each}{words.OF_STEPS}", meaning=f"{each} in the step sizes",
                          role=Role.STEP_SIZE, default=None)
            for each in sorted(names - rounds - {"T"}) if each in known and known[each].role is not Role.STEP_SIZE
        }  # fmt: skip
    return rest, formulas, constants


def _of_points(formulas: Mapping[str, str]) -> dict[str, str]:
    """Step sizes in a run that is recorded at x^T as well: its T is one more."""
    return {name: re.sub(r"\bT\b", "(T - 1)", text) for name, text in formulas.items()}


def _implying(vocabulary: Vocabulary, constants: Mapping[str, Quantity]) -> Vocabulary:
    """The vocabulary, where answers need not repeat these constants."""
    if not constants:
        return vocabulary
    found = Vocabulary(vocabulary)
    found.implied.update(each.name for each in constants.values())
    return found


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def valueless(expr: sp.Expr, vocabulary: Vocabulary) -> bool:
    """Whether a formula has no value in the first round, t = 0."""
    start = dict.fromkeys((vocabulary[name].symbol for name in vocabulary.counters), _ZERO)
    try:
        return bool(expr.xreplace(start).has(sp.zoo, sp.nan, sp.oo))
    except ValueError:
        # Such as the smaller of a number and 1/0.
        return True


def later(over: str, formulas: Sequence[sp.Expr], vocabulary: Vocabulary) -> str:
    """The rounds that a claim is about: one on every round whose sides have no value in the first is on the others."""
    if over != "every_round":
        return over
    before = any(name.endswith("_prev") for each in formulas for name in names_in(each))
    first = before or any(valueless(each, vocabulary) for each in formulas)
    return "every_round_but_first" if first else over
