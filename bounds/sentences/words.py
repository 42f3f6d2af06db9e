"""The plain vocabulary of theorems in one sentence: symbols and methods by the names that the field gives them.

`PLAIN` has one symbol for what the basic setting tells apart by blocks of variables: ``gamma`` is a local step size,
``eta`` the server's, ``sigma`` the noise, ``zeta`` the dissimilarity, ``grad2`` the squared gradient. What a symbol is
called in the basic setting says `Vocabulary.words`. `METHODS` are the methods that have a usual name of their own, each
with what the name implies; a statement in these words names its method with `PREFIX` before it, and whoever runs it
reads the method's step sizes under these names (`renamed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import sympy as sp

from bounds.analysis import CLASSICS
from bounds.statement import PLAIN_METHOD, Claim, Given, Statement
from bounds.symbols import Domain, Role, Vocabulary

PREFIX = PLAIN_METHOD
# Between a method's name and its step sizes that change by the round, as in "sgd with gamma_t = 1/(t + 1)"; a constant
# in such a formula is a parameter of the method under its name and this ending.
WITH, OF_STEPS = " with ", "_of_steps"

# By the names of the basic setting and of the classics, in the order in which they are listed: what is said instead,
# and what it means where that differs. What has no name there is computed from the others.
_WORDS: tuple[tuple[str, str, str], ...] = (
    ("n", "n", ""),
    ("m", "m", ""),
    ("K", "K", ""),
    ("T", "T", ""),
    ("L", "L", "smoothness: Lipschitz constant of the gradients"),
    ("sigma_u", "sigma", "root of the bound on a stochastic gradient's variance"),
    ("b", "zeta", "dissimilarity of the clients: (1/n) sum_i ||grad f_i - grad f||^2 <= zeta^2"),
    ("F_0", "F_0", "f(x^0) - inf f"),
    ("", "R_0", "||x^0 - x*||, the distance of the start to the minimiser, whose square is dist2_0"),
    ("dist2_0", "dist2_0", "||x^0 - x*||^2, the squared distance of the start to the minimiser"),
    ("mu", "mu", "strong convexity"),
    ("b_star", "zeta_star", "root of the mean of the clients' ||grad f_i(x*)||^2"),
    ("gamma_u", "gamma", "step size; of methods with local steps, of these"),
    ("eta_u", "eta", "the server's step size"),
    ("momentum", "beta", "momentum"),
    ("G_u", "grad2", "E||grad f(x^t)||^2"),
    ("gap", "gap", ""),
    ("dist2", "dist2", ""),
    ("G_u_prev", "grad2_prev", "grad2 one round earlier"),
    ("gap_prev", "gap_prev", ""),
    ("dist2_prev", "dist2_prev", ""),
    ("t", "t", "number of steps before x^t: the round, from 0"),
    ("fall", "fall", ""),
    ("nearer", "nearer", ""),
    ("du2", "step2", "E||x^{t+1} - x^t||^2"),
    ("B", "sum_grad2", "sum_i E||grad f_i(x^t)||^2"),
    ("B_0", "B_0", "sum over clients of ||grad f_i||^2 at the start"),
    ("consensus2", "consensus2", ""),
    ("mu_PL", "mu_PL", ""),
    *((name, name, "") for name in ("mu_QG", "rho_weak", "L_0", "L_1")),
    ("mu_c", "mu_c", ""),
    ("M", "M", ""),
    ("G", "G", ""),
    ("G_run", "G_run", ""),
    ("D", "D", ""),
    ("G_d", "G_d", ""),
    ("B_d", "B_d", ""),
    ("rho_noise", "rho_noise", ""),
    *((name, name, "") for name in ("delta", "p_noise", "sigma_p", "sigma_sg", "sigma_max", "A_es", "B_es", "C_es")),
    ("p_min", "p_min", ""),
    ("p_max", "p_max", ""),
    ("lambda_W", "lambda_W", ""),
    ("beta_W", "beta_W", ""),
    ("p_W", "p_W", ""),
    ("lambda_", "lambda_", ""),
    ("alpha", "alpha", ""),
    ("lookahead", "lookahead", ""),
    ("extrapolation", "extrapolation", ""),
    ("conditioning", "conditioning", ""),
    ("q", "q", ""),
    ("epochs", "epochs", ""),
    ("dim", "dim", ""),
)
_LATEX = {
    "sigma": r"\sigma", "zeta": r"\zeta", "zeta_star": r"\zeta_*", "gamma": r"\gamma", "eta": r"\eta",
    "beta": r"\beta", "grad2": r"\mathbb{E}\|\nabla f(x^t)\|^2", "grad2_prev": r"\mathbb{E}\|\nabla f(x^{t-1})\|^2",
    "step2": r"\mathbb{E}\|x^{t+1}-x^t\|^2", "sum_grad2": r"\sum_i\mathbb{E}\|\nabla f_i(x^t)\|^2",
    "B_0": r"\sum_i\|\nabla f_i(x^0)\|^2", "F_0": "F_0",
}  # fmt: skip

_LARGEST = (
    "largest delay: rounds since a client's last participation, counted up to the round itself, 0 when everybody takes "
    "part"
)
_DELAYS = (
    ("tau", r"\tau", _LARGEST, "tau_max"),
    ("tau_avg", r"\tau_{\mathrm{avg}}", "mean over the rounds of the largest delay in each", "tau_avg"),
)


def _plain() -> Vocabulary:
    found = Vocabulary()
    for known, name, meaning in _WORDS:
        if not known:
            # The distance itself; its square is what problems certify, so that R_0**2 has no rounding.
            found.define(name, name, meaning, Domain.POSITIVE, Role.CONSTANT, 0, 1)
            continue
        of = CLASSICS[known]
        latex = _LATEX.get(name, of.latex)
        # The weight of a proximal term is whatever the user of the method takes.
        role = Role.SETTING if name == "lambda_" else of.role
        found.define(name, latex, meaning or of.meaning, of.domain, role, of.f_degree, of.x_degree, of.default)
        if known in CLASSICS.facts:
            found.facts[name] = CLASSICS.facts[known]
        if known != name:
            found.words[known] = name
    found.define("rho", r"\rho", "weight of the penalty", Domain.POSITIVE, Role.STEP_SIZE, 1, -2)
    for name, latex, meaning, fact in _DELAYS:
        found.define(name, latex, meaning, Domain.NONNEGATIVE, Role.SETTING, 0, 0)
        found.facts[name] = fact
    found.usual = {"tau_max": "tau", "k": "t"}
    found.derived["R_0"] = sp.sqrt(found["dist2_0"].symbol)
    found.equal.add("R_0")
    found.alias("R_0", "distance of the start to the minimiser", many=False, dist2_0=lambda given: given[0] ** 2)
    found.run = {"clients": "n", "participants": "m", "local_steps": "K", "rounds": "T"}
    found.order_pair("m", "n")
    for convexity in ("mu", "mu_PL", "mu_QG", "mu_c", "rho_weak"):
        found.order_pair(convexity, "L")
    return found


PLAIN = _plain()


def _late() -> Vocabulary:
    """Of a method whose clients compute gradients at the model from before their last round."""
    found = Vocabulary(PLAIN)
    missed = "rounds that a client misses in a row, at most"
    away = found.define("away", r"\tau - 1", missed, Domain.NONNEGATIVE, Role.SETTING, 0, 0)
    found.facts["away"] = found.facts["tau"]
    meaning = "how many rounds late a gradient is, at most: 1 when everybody takes part"
    found.define("tau", r"\tau", meaning, Domain.POSITIVE, Role.SETTING, 0, 0)
    found.derived["tau"] = away + 1
    found.equal.add("tau")
    found.alias("tau", meaning, many=False, away=lambda given: given[0] - 1)
    return found


LATE = _late()


def vocabulary(convexity: str, implied: Iterable[str], *, late: bool = False) -> Vocabulary:
    """The plain vocabulary in which ``mu`` is that constant of the classics: "mu", "mu_c" or "mu_PL".

    ``implied`` are the symbols whose values the method's name implies, so that answers need not repeat them. ``late``:
    ``tau`` is how many rounds late gradients are (`LATE`).
    """
    found = Vocabulary(LATE if late else PLAIN)
    found.facts["mu"] = CLASSICS.facts[convexity]
    if convexity != "mu":
        found.words[convexity] = "mu"
    found.implied.update(implied)
    return found


@dataclass(frozen=True, kw_only=True)
class PlainMethod:
    """A method under its usual name: the one of `ratecheck.algorithms` that runs, and what the name implies.

    ``alone``: it is about one function, a single client. ``everybody``: every client takes part in every round;
    otherwise m of n are sampled where the theorem speaks of m or of sampling. ``noise``: gradients are stochastic;
    otherwise they are where the theorem speaks of noise. ``server``: the server has a step size eta, which is 1 where
    the theorem does not speak of it. ``one_step``: a round is one step, and a theorem that has several is about another
    method; ``steps``: it is one where the theorem does not speak of several. ``late``: a round is an arrival, of one
    client where the theorem does not speak of m. ``averages``: clients average over all of them where the theorem does
    not speak of a graph. ``needs`` are step sizes without which the name would say too little.
    """

    name: str
    title: str
    of: str
    alone: bool = False
    everybody: bool = False
    noise: bool = False
    server: bool = False
    one_step: bool = False
    steps: bool = False
    late: bool = False
    averages: bool = False
    needs: tuple[str, ...] = ()

    @property
    def clients(self) -> str:
        """Whom a round has, in words."""
        return "one function" if self.alone else "all clients" if self.everybody else "m of n clients"

    @property
    def implied(self) -> dict[str, float]:
        """The numbers that the name implies, whatever the theorem says."""
        return {**({"n": 1, "m": 1} if self.alone else {}), **({"K": 1} if self.one_step else {})}


def _one(name: str, title: str, of: str, **more: bool | tuple[str, ...]) -> PlainMethod:
    """A method of one function."""
    return PlainMethod(name=name, title=title, of=of, alone=True, **more)  # type: ignore[arg-type]


def _several(name: str, title: str, of: str, **more: bool | tuple[str, ...]) -> PlainMethod:
    """A method of several clients."""
    return PlainMethod(name=name, title=title, of=of, **more)  # type: ignore[arg-type]


METHODS: Mapping[str, PlainMethod] = {
    each.name: each
    for each in (
        _one("gd", "gradient descent", "fedavg", server=True, one_step=True),
        _one("sgd", "SGD", "fedavg", server=True, one_step=True, noise=True),
        _one("heavy-ball", "heavy ball", "polyak-momentum", needs=("beta",)),
        _one("nesterov", "Nesterov's method", "nesterov-momentum", needs=("beta",)),
        _one("fast-gradient", "fast gradient method of Nesterov", "fast-gradient"),
        _one("fast-gradient-simplified", "fast gradient method, momentum t/(t + 3)", "fast-gradient-simplified"),
        _one("optimized-gradient", "optimized gradient method", "optimized-gradient"),
        _one(
            "optimized-for-gradient", "optimized gradient method for the gradient", "optimized-for-gradient"
        ),
        _one("triple-momentum", "triple momentum", "triple-momentum"),
        _one("item", "information-theoretic exact method", "item"),
        _one("silver", "gradient descent with silver step sizes", "silver"),
        _one("linearly-decreasing-steps", "gradient descent with linearly decreasing steps",
             "linearly-decreasing-steps"),
        _one("halpern", "Halpern's iteration of gradient steps", "halpern"),
        _one("halpern-proximal", "Halpern's iteration of reflected proximal steps", "halpern-proximal"),
        _one("line-search", "exact line search, for quadratics", "line-search"),
        _one("conjugate-gradients", "conjugate gradients, for quadratics", "conjugate-gradients"),
        _one("coordinate-descent", "coordinate descent, drawn coordinates", "coordinate-descent", one_step=True),
        _one("greedy-coordinate-descent", "coordinate descent, the Gauss-Southwell rule", "greedy-coordinate-descent"),
        _one("proximal-point", "proximal point", "proximal-point"),
        _one("fast-proximal-point", "accelerated proximal point", "fast-proximal-point"),
        _one("proximal-gradient", "proximal gradient method", "proximal-gradient"),
        _one("fast-proximal-gradient", "fast proximal gradient method (FISTA)", "fast-proximal-gradient"),
        _one("gda", "gradient descent ascent", "gda"),
        _one("extragradient", "extragradient method", "extragradient"),
        _one("optimistic-gradient", "optimistic gradient method", "optimistic-gradient"),
        _several("minibatch-sgd", "minibatch SGD", "fedavg", server=True, one_step=True, everybody=True, noise=True),
        _several("local-gd", "local gradient descent", "fedavg", server=True, everybody=True),
        _several("local-sgd", "local SGD", "fedavg", server=True, everybody=True, noise=True),
        _several("fedavg", "FedAvg", "fedavg", server=True),
        _several("weighted-fedavg", "FedAvg with weights p_i in the objective", "weighted-fedavg", server=True),
        _several("drawn-fedavg", "FedAvg with clients drawn by these weights", "drawn-fedavg", server=True),
        _several("scaffold", "SCAFFOLD, whose c_i start as gradients at x^0", "scaffold", server=True),
        _several("fednova", "FedNova", "fednova", server=True),
        _several("mifa", "MIFA, whose memories start at 0", "mifa", server=True),
        _several("fedvarp", "FedVARP, whose memories start at 0", "fedvarp", server=True),
        _several("fedadmm", "FedADMM", "fedadmm", server=True),
        _several("fedsum", "FedSUM", "fedsum", server=True),
        _several("saga", "SAGA, whose table starts with gradients at x^0", "saga"),
        _several("async-sgd", "asynchronous SGD", "async-sgd", noise=True, late=True),
        _several("local-gda", "local gradient descent ascent", "local-gda", server=True, everybody=True),
        _several("dsgd", "decentralised SGD (clients on a graph)", "dsgd", everybody=True, steps=True),
        _several("gradient-tracking", "gradient tracking", "gradient-tracking", everybody=True),
        _several("proxskip", "ProxSkip", "proxskip", everybody=True, averages=True),
        _several("compressed-sgd", "compressed SGD", "compressed-sgd", one_step=True),
        _several("diana", "DIANA, whose shifts start at 0", "diana", everybody=True, one_step=True),
        _several("ef-sgd", "SGD with error feedback", "ef-sgd", one_step=True),
        _several("ef21", "EF21, whose g_i start as gradients at x^0", "ef21", everybody=True, one_step=True),
    )
}  # fmt: skip
# Step sizes of methods, and what they are called here.
_STEP_SIZES = {"gamma_u": "gamma", "eta_l": "gamma", "eta_u": "eta", "eta_g": "eta", "momentum": "beta"}


def basic(statement: Statement) -> Statement:
    """The statement in the symbols of the basic setting and the classics, but for its step sizes; others stay.

    For whoever reads constants by their names there. `basic_names` has the numbers that go with it.
    """
    if not statement.vocabulary.words:
        return statement
    named, spoken_here = statement.written, statement.vocabulary
    known = _names(spoken_here)
    found = Vocabulary(CLASSICS)
    for each in spoken_here:
        name = known.get(each.name, each.name)
        if each.role is Role.STEP_SIZE or name not in CLASSICS.order:
            found.define(name, each.latex, each.meaning, each.domain, each.role, each.f_degree, each.x_degree,
                         each.default)  # fmt: skip
            found.facts |= {name: spoken_here.facts[each.name]} if each.name in spoken_here.facts else {}
    found.words = {name: word for name, word in spoken_here.words.items() if word not in known}
    put = {spoken_here[word].symbol: found[name].symbol for word, name in known.items() if word in spoken_here.order}

    def written(expr: sp.Expr) -> sp.Expr:
        return sp.sympify(expr).xreplace(put)

    def claimed(claim: Claim) -> Claim:
        metric, terms = claim.metric, {label: written(term) for label, term in claim.terms.items()}
        weights = {written(symbol): written(weight) for symbol, weight in metric.weights.items()}
        trivial = None if metric.trivial is None else written(metric.trivial)
        chance = None if claim.probability is None else written(claim.probability)
        metric = replace(metric, weights=weights, trivial=trivial)
        return replace(claim, terms=terms, metric=metric, probability=chance)

    return replace(
        named,
        vocabulary=found,
        claims=tuple(map(claimed, named.claims)),
        conditions=tuple(
            replace(each, left=written(each.left), right=written(each.right)) for each in named.conditions
        ),
        step_rules=tuple(
            replace(each, symbol=written(each.symbol), value=written(each.value)) for each in named.step_rules
        ),
        settings={known.get(name, name): written(value) for name, value in named.settings.items()},
    )


def _names(vocabulary: Vocabulary) -> dict[str, str]:
    """Names in the basic setting by those that are used here, where they differ and are not those of step sizes."""
    sizes = {each.name for each in CLASSICS if each.role is Role.STEP_SIZE}
    return {word: name for name, word in vocabulary.words.items() if name not in sizes}


def basic_names(statement: Statement, given: Given) -> Given:
    """Numbers of a statement under the names that they have in the basic setting (`basic`)."""
    vocabulary = statement.vocabulary
    if not vocabulary.words:
        return given
    known = _names(vocabulary)
    aliases = {name for name in given if name in vocabulary.aliases}
    values = {**given, **statement.resolve({name: given[name] for name in aliases})}
    return {known.get(name, name): value for name, value in values.items() if name not in aliases}


def method(name: str) -> PlainMethod:
    """The method of that usual name; one without an entry implies nothing."""
    return METHODS.get(name) or PlainMethod(name=name, title=name, of=name)


def varying(algorithm: str, formulas: Mapping[str, str]) -> str:
    """The name of a method some of whose step sizes are formulas of the round t, by their names.

    >>> varying("sgd", {"gamma": "1/(t + 1)"})
    'sgd with gamma_t = 1/(t + 1)'
    """
    return algorithm + (
        WITH + " and ".join(f"{name}_t = {text}" for name, text in formulas.items()) if formulas else ""
    )


def formulas_of(algorithm: str) -> tuple[str, dict[str, str]]:
    """The name and the formulas that `varying` put together."""
    name, _, said = algorithm.partition(WITH)
    return name, dict(each.split("_t = ", 1) for each in said.split(" and ")) if said else {}


def renamed(step_sizes: Iterable[str]) -> dict[str, str]:
    """The plain names of a method's step sizes, by those that it has; the others keep theirs."""
    return {name: _STEP_SIZES[name] for name in step_sizes if name in _STEP_SIZES}


def spoken(algorithm: str) -> str:
    """The name of a method as its user writes it."""
    return algorithm.replace(PREFIX, "", 1)
