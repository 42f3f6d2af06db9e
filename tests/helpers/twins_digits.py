# ruff: noqa: RUF012 - the methods are those of their papers, by the names of `ratecheck.algorithms.model.algorithm`
"""Expected quantities of runs on quadratics in 60 decimal digits, as the truth that float64 claims are held against.

Nothing is shared with the engines: the methods are written here once more from their papers, what K local steps make of
a client is squared as a matrix of `Decimal`, who takes part is enumerated set by set, and rounds are followed one by
one or by squaring the map of all second moments. Slow on purpose, for two or three clients and few coordinates.
"""

from __future__ import annotations

import itertools
import math
from decimal import Context, Decimal, localcontext

import numpy as np

DIGITS = 60
CONTEXT = Context(prec=DIGITS, Emax=10**9, Emin=-(10**9))
ZERO, ONE = Decimal(0), Decimal(1)


def exact(array):
    """Floats as the numbers that they are."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(array, dtype=float))


def zeros(rows, columns):
    """A matrix of zeros."""
    return np.full((rows, columns), ZERO, dtype=object)


def units(size, offset, width):
    """Unit rows, the first with its one at ``offset``."""
    rows = zeros(size, width)
    rows[np.arange(size), offset + np.arange(size)] = ONE
    return rows


def gram(rows):
    """The product of rows with themselves."""
    return rows.T.dot(rows) if len(rows) else zeros(rows.shape[1], rows.shape[1])


def solve(A, B):
    """The solution of A X = B, by elimination with pivots."""
    A, B, n = A.copy(), B.copy(), len(A)
    for k in range(n):
        best = max(range(k, n), key=lambda r: abs(A[r, k]))
        A[[k, best]], B[[k, best]] = A[[best, k]], B[[best, k]]
        for r in range(n):
            if r != k and A[r, k]:
                share = A[r, k] / A[k, k]
                A[r] = A[r] - share * A[k]
                B[r] = B[r] - share * B[k]
    return np.array([B[k] / A[k, k] for k in range(n)], dtype=object)


class FedAvgP:
    """Algorithm 3.1 of the partial-personalisation paper."""

    server, client, local, message = {"u": "u"}, {"v": "v"}, {"u": "u", "v": "v"}, {"u": "u"}
    averages, delayed = True, False

    def start(self, x, g, p):
        return {"v": x["v"]}

    def serve(self, x, mean, p):
        return {"u": x["u"]}

    def begin(self, s, c, p):
        return {"u": s["u"], "v": c["v"]}

    def step(self, a, g, p):
        return {"u": a["u"] - p["gamma_u"] * g["u"], "v": a["v"] - p["gamma_v"] * g["v"]}

    def finish(self, s, c, a, p):
        return {"v": c["v"] + p["eta_v"] * (a["v"] - c["v"])}, {"u": a["u"] - s["u"]}

    def aggregate(self, s, total, p):
        return {"u": s["u"] + p["eta_u"] / p["m"] * total["u"]}


class ScaffoldP(FedAvgP):
    """Algorithm 4.1 of the partial-personalisation paper."""

    server, client, local = {"u": "u", "c": "u"}, {"c_i": "u", "v": "v"}, {"u": "u", "v": "v", "shift": "u"}
    message = {"u": "u", "c": "u"}

    def start(self, x, g, p):
        return {"c_i": g["u"], "v": x["v"]}

    def serve(self, x, mean, p):
        return {"u": x["u"], "c": mean["c_i"]}

    def begin(self, s, c, p):
        return {"u": s["u"], "v": c["v"], "shift": s["c"] - c["c_i"]}

    def step(self, a, g, p):
        return {
            "u": a["u"] - p["gamma_u"] * (g["u"] + a["shift"]),
            "v": a["v"] - p["gamma_v"] * g["v"],
            "shift": a["shift"],
        }

    def finish(self, s, c, a, p):
        new = c["c_i"] - s["c"] + (s["u"] - a["u"]) / (p["K"] * p["gamma_u"])
        return {"c_i": new, "v": c["v"] + p["eta_v"] * (a["v"] - c["v"])}, {"u": a["u"] - s["u"], "c": new - c["c_i"]}

    def aggregate(self, s, total, p):
        return {"u": s["u"] + p["eta_u"] / p["m"] * total["u"], "c": s["c"] + total["c"] / p["n"]}


class FedSumB:
    """Algorithm 1 of the FedSUM paper."""

    server, client, local, message = {"x": "u", "y": "u"}, {"h": "u"}, {"x": "u", "sum": "u"}, {"d": "u"}
    averages, delayed = False, False

    def start(self, x, g, p):
        return {"h": 0 * x["u"]}

    def serve(self, x, mean, p):
        return {"x": x["u"], "y": 0 * x["u"]}

    def begin(self, s, c, p):
        return {"x": s["x"], "sum": 0 * s["x"]}

    def step(self, a, g, p):
        return {"x": a["x"], "sum": a["sum"] + g["u"]}

    def finish(self, s, c, a, p):
        h = a["sum"] / p["K"]
        return {"h": h}, {"d": h - c["h"]}

    def aggregate(self, s, total, p):
        y = s["y"] + total["d"]
        return {"x": s["x"] - p["eta_g"] * p["eta_l"] * p["K"] / p["n"] * y, "y": y}


class FedSum(FedSumB):
    """Algorithm 2 of the FedSUM paper."""

    local = {"x": "u", "shift": "u"}

    def begin(self, s, c, p):
        return {"x": s["x"], "shift": s["y"] - c["h"]}

    def step(self, a, g, p):
        return {"x": a["x"] - p["eta_l"] / p["n"] * (g["u"] + a["shift"]), "shift": a["shift"]}

    def finish(self, s, c, a, p):
        h = p["n"] * (s["x"] - a["x"]) / (p["eta_l"] * p["K"]) - a["shift"]
        return {"h": h}, {"d": h - c["h"]}


class FedSumCr(FedSum):
    """Algorithm 3 of the FedSUM paper."""

    client, delayed = {"h": "u", "z": "u"}, True

    def start(self, x, g, p):
        return {"h": 0 * x["u"], "z": x["u"]}

    def begin(self, s, c, p):
        scale = p["n"] / (p["eta_g"] * p["eta_l"] * p["K"]) / p["delay"]
        return {"x": s["x"], "shift": scale * (c["z"] - s["x"]) - c["h"]}

    def finish(self, s, c, a, p):
        state, sent = super().finish(s, c, a, p)
        return {**state, "z": s["x"]}, sent


class Mifa(FedSumB):
    """The server steps along everybody's last update."""

    def step(self, a, g, p):
        return {"x": a["x"] - p["eta_l"] * g["u"], "sum": a["sum"] + g["u"]}

    def finish(self, s, c, a, p):
        return {"h": a["sum"]}, {"d": a["sum"] - c["h"]}

    def aggregate(self, s, total, p):
        y = s["y"] + total["d"] / p["n"]
        return {"x": s["x"] - p["eta_g"] * p["eta_l"] * y, "y": y}


class FedVarp(Mifa):
    """SAGA's correction of the participants' average."""

    averages = True

    def aggregate(self, s, total, p):
        way = s["y"] + total["d"] / p["m"]
        return {"x": s["x"] - p["eta_g"] * p["eta_l"] * way, "y": s["y"] + total["d"] / p["n"]}


class FedAdmm:
    """Gradient steps on the augmented Lagrangian."""

    server, client, message = {"x": "u"}, {"w": "u", "dual": "u"}, {"d": "u"}
    local = {"w": "u", "x": "u", "dual": "u"}
    averages, delayed = True, False

    def start(self, x, g, p):
        return {"w": x["u"], "dual": 0 * x["u"]}

    def serve(self, x, mean, p):
        return {"x": x["u"]}

    def begin(self, s, c, p):
        return {"w": c["w"], "x": s["x"], "dual": c["dual"]}

    def step(self, a, g, p):
        slope = g["u"] + a["dual"] + p["rho"] * (a["w"] - a["x"])
        return {"w": a["w"] - p["eta_l"] * slope, "x": a["x"], "dual": a["dual"]}

    def finish(self, s, c, a, p):
        dual = c["dual"] + p["rho"] * (a["w"] - s["x"])
        return {"w": a["w"], "dual": dual}, {"d": a["w"] - c["w"] + (dual - c["dual"]) / p["rho"]}

    def aggregate(self, s, total, p):
        return {"x": s["x"] + p["eta_g"] / p["m"] * total["d"]}


class Flame:
    """Algorithm 1 of the FLAME paper with gradient steps on the inner problem."""

    server, client, local = {"w": "u"}, {"theta": "u", "w_i": "u", "pi": "u"}, {"theta": "u", "anchor": "u"}
    message = {"z": "u"}
    averages, delayed = False, False

    def start(self, x, g, p):
        return {"theta": x["u"], "w_i": x["u"], "pi": 0 * x["u"]}

    def serve(self, x, mean, p):
        return {"w": mean["w_i"] + mean["pi"] / p["rho"]}

    def begin(self, s, c, p):
        return {"theta": c["theta"], "anchor": c["w_i"]}

    def step(self, a, g, p):
        slope = g["u"] + p["lambda_"] * (a["theta"] - a["anchor"])
        return {"theta": a["theta"] - p["eta"] * slope, "anchor": a["anchor"]}

    def finish(self, s, c, a, p):
        weight = p["lambda_"] * p["alpha"]
        w_i = (weight * a["theta"] + p["rho"] * s["w"] - c["pi"]) / (weight + p["rho"])
        pi = c["pi"] + p["rho"] * (w_i - s["w"])
        return {"theta": a["theta"], "w_i": w_i, "pi": pi}, {"z": w_i + pi / p["rho"] - c["w_i"] - c["pi"] / p["rho"]}

    def aggregate(self, s, total, p):
        return {"w": s["w"] + total["z"] / p["n"]}


class SimFbo:
    """Algorithm 1 of the SimFBO paper."""

    spaces = ("x", "y", "v")
    server, client = {"x": "x", "y": "y", "v": "v"}, {}
    local = {"x": "x", "y": "y", "v": "v", "q_x": "x", "q_y": "y", "q_v": "v"}
    message = {"q_x": "x", "q_y": "y", "q_v": "v"}
    averages, delayed, normalised = True, False, False

    def start(self, x, g, p):
        return {}

    def serve(self, x, mean, p):
        return dict(x)

    def begin(self, s, c, p):
        return {**s, **{f"q_{b}": 0 * s[b] for b in self.spaces}}

    def step(self, a, g, p):
        moved = {b: a[b] - p[f"eta_{b}"] * g[b] for b in self.spaces}
        return {**moved, **{f"q_{b}": a[f"q_{b}"] + g[b] for b in self.spaces}}

    def finish(self, s, c, a, p):
        # With equal weights the sums of ShroFBO are divided by K and multiplied by it again.
        return {}, {f"q_{b}": a[f"q_{b}"] for b in self.spaces}

    def aggregate(self, s, total, p):
        return {b: s[b] - p[f"gamma_{b}"] / p["m"] * total[f"q_{b}"] for b in self.spaces}


METHODS = {
    "fedavg-p": FedAvgP(), "fedavg": FedAvgP(), "scaffold-p": ScaffoldP(), "scaffold": ScaffoldP(),
    "fedsum-b": FedSumB(), "fedsum": FedSum(), "fedsum-cr": FedSumCr(), "mifa": Mifa(), "fedvarp": FedVarp(),
    "fedadmm": FedAdmm(), "flame": Flame(), "simfbo": SimFbo(), "shrofbo": SimFbo(),
}  # fmt: skip


class Digits:
    """One run; ``members`` is None (everybody), a number (uniform sampling of so many) or a matrix (T, n)."""

    def __init__(self, name, problem, *, K, T, sizes, start, sigmas=None, members=None):
        self.method, self.K, self.T = METHODS[name], K, T
        self.problem, self.members, self.n = problem, members, problem.n
        self.bilevel = problem.kind == "bilevel"
        self.p = {k: Decimal(float(v)) for k, v in sizes.items()}
        if name in {"fedavg", "scaffold"}:
            self.p |= {"gamma_v": ONE, "eta_v": ONE}
        if "flame" in name and "alpha" not in self.p:
            self.p["alpha"] = CONTEXT.divide(ONE, Decimal(self.n))
        self.p |= {"n": Decimal(self.n), "K": Decimal(K), "delay": ONE}
        self.dims = dict(problem.layout)
        sigmas = sigmas or {}
        with localcontext(CONTEXT):
            self._oracle(sigmas)
            self.start = {k: exact(v) for k, v in start.items()}
            self.sizes = {g: self._length(getattr(self.method, g)) for g in ("server", "client", "local", "message")}
            self.size = self.sizes["server"] + self.n * self.sizes["client"] + 1
            self.rounds_of = {}
            self.forms = self._forms()

    def _oracle(self, sigmas):
        problem = self.problem
        if self.bilevel:
            A, B, b, Q, q = (exact(part) for part in (problem.A, problem.B, problem.b, problem.Q, problem.q))
            d_x, d_y = self.dims["x"], self.dims["y"]
            self.M, self.c = [], []
            for i in range(self.n):
                x, y = slice(None, d_x), slice(d_x, None)
                rows = [
                    np.concatenate([Q[i][x, x], Q[i][x, y], B[i].T], axis=1),
                    np.concatenate([-B[i], A[i], zeros(d_y, d_y)], axis=1),
                    np.concatenate([-Q[i][y, x], -Q[i][y, y], A[i]], axis=1),
                ]
                self.M.append(np.concatenate(rows))
                self.c.append(np.concatenate([q[i][x], b[i], -q[i][y]]))
            upper = Decimal(float(sigmas.get("sigma_f", 0))) ** 2 / (d_x + d_y)
            lower = Decimal(float(sigmas.get("sigma_g", 0))) ** 2 / d_y
            self.variances = [upper] * d_x + [lower] * d_y + [upper] * d_y
            return
        self.M, self.c = list(exact(problem.H)), list(exact(problem.g))
        self.variances = []
        for block, d in self.dims.items():
            total = sigmas.get(f"sigma_{block}", sigmas.get("sigma", 0))
            self.variances += [Decimal(float(total)) ** 2 / d] * d if d else []

    def _length(self, group):
        return sum(self.dims[space] for space in group.values())

    def _variables(self, group, offset, width):
        forms = {}
        for name, space in group.items():
            forms[name] = units(self.dims[space], offset, width)
            offset += self.dims[space]
        return forms

    def _rows(self, forms, group, width):
        return np.concatenate([zeros(0, width), *(forms[name] for name in group)])

    def _by_space(self, rows):
        found, at = {}, 0
        for space, d in self.dims.items():
            found[space] = rows[at : at + d]
            at += d
        return found

    def _asked(self, i, point):
        answer = self.M[i].dot(point)
        answer[:, -1] = answer[:, -1] - self.c[i]
        return answer

    def _client(self, i, delay):
        """(client', message) on (server, client, 1) and their covariance."""
        if (i, delay) in self.rounds_of:
            return self.rounds_of[i, delay]
        m, s, c, a = self.method, self.sizes["server"], self.sizes["client"], self.sizes["local"]
        p = {**self.p, "delay": Decimal(delay)}
        width = s + c + 1
        begun = m.begin(self._variables(m.server, 0, width), self._variables(m.client, s, width), p)
        begun = np.concatenate([self._rows(begun, m.local, width), units(1, width - 1, width)])
        d = len(self.variances)
        wide = a + d + 1
        local = self._variables(m.local, 0, wide)
        first = {space: name for name, space in reversed(list(m.local.items()))}
        point = np.concatenate([local[first[space]] for space in self.dims if self.dims[space]])
        answer = self._asked(i, point) + units(d, a, wide)
        after = self._rows(m.step(local, self._by_space(answer), p), m.local, wide)
        after = np.concatenate([after, units(1, wide - 1, wide)])
        load = after[:, a:-1]
        noise = (load * np.array(self.variances, dtype=object)).dot(load.T)
        step = after[:, [*range(a), wide - 1]]
        power, spread = units(a + 1, 0, a + 1), 0 * noise
        square, square_noise, left = step, noise, self.K
        while left:
            if left & 1:
                spread = square.dot(spread).dot(square.T) + square_noise
                power = square.dot(power)
            square_noise = square.dot(square_noise).dot(square.T) + square_noise
            square, left = square.dot(square), left >> 1
        total = s + c + a + 1
        state, sent = m.finish(
            self._variables(m.server, 0, total),
            self._variables(m.client, s, total),
            self._variables(m.local, s + c, total),
            p,
        )
        rows = np.concatenate([self._rows(state, m.client, total), self._rows(sent, m.message, total)])
        direct = np.concatenate([rows[:, : s + c], zeros(len(rows), 1)], axis=1)
        last = np.concatenate([rows[:, s + c : -1], zeros(len(rows), 1)], axis=1)
        found = direct + last.dot(power.dot(begun)), last.dot(spread).dot(last.T)
        self.rounds_of[i, delay] = found
        return found

    def law(self, members, delays=None):
        """Of z' = A z + noise, where exactly these take part: A and the covariance of the noise."""
        m, s, c = self.method, self.sizes["server"], self.sizes["client"]
        A, N = units(self.size, 0, self.size), zeros(self.size, self.size)
        if not members and m.averages:
            return A, N
        p = {**self.p, "m": Decimal(max(len(members), 1))}
        width = s + self.sizes["message"]
        rows = m.aggregate(self._variables(m.server, 0, width), self._variables(m.message, s, width), p)
        rows = self._rows(rows, m.server, width)
        A[:s, :s] = rows[:, :s]
        received = rows[:, s:]
        for k, i in enumerate(members):
            map_, noise = self._client(i, 1 if delays is None else delays[k])
            at = [*range(s + i * c, s + (i + 1) * c)]
            columns = [*range(s), *at, self.size - 1]
            A[np.ix_(range(s), columns)] += received.dot(map_[c:])
            A[np.ix_(at, range(self.size))] = ZERO
            A[np.ix_(at, columns)] = map_[:c]
            load = np.concatenate([received.dot(units(len(map_) - c, c, len(map_))), units(c, 0, len(map_))])
            both = [*range(s), *at]
            N[np.ix_(both, both)] += load.dot(noise).dot(load.T)
        return A, N

    def first(self):
        """E[z z'] before round 0."""
        m, d = self.method, len(self.variances)
        width = self.n * d + 1
        clients = []
        for i in range(self.n):
            x = zeros(d, width)
            x[:, -1] = self.start["point"][i]
            gradient = self._asked(i, x) + units(d, i * d, width)
            clients.append(m.start(self._by_space(x), self._by_space(gradient), self.p))
        mean = {name: sum(each[name] for each in clients) / self.n for name in m.client}
        x = zeros(d, width)
        x[:, -1] = self.start["point"][0]
        rows = [self._rows(m.serve(self._by_space(x), mean, self.p), m.server, width)]
        rows += [self._rows(each, m.client, width) for each in clients]
        z = np.concatenate([*rows, units(1, width - 1, width)])
        weights = np.array([v / self.K for v in self.variances] * self.n + [ONE], dtype=object)
        return (z * weights).dot(z.T)

    def _forms(self):
        """Matrices Q of the quantities <Q, E z z'>."""
        n, width, m = self.n, self.size, self.method
        server = self._variables(m.server, 0, width)
        clients = [self._variables(m.client, self.sizes["server"] + i * self.sizes["client"], width) for i in range(n)]
        if self.bilevel:
            return self._bilevel_forms(server)
        d_u = self.dims["u"]
        if isinstance(m, Flame):
            return self._flame_forms(server["w"], clients)
        points = []
        for i in range(n):
            u = server.get("u", server.get("x"))
            v = clients[i].get("v", zeros(0, width)) if "v" in m.client else zeros(0, width)
            points.append(np.concatenate([u, v]))
        gradients = [self._asked(i, points[i]) for i in range(n)]
        mean = sum(g[:d_u] for g in gradients) / n
        joint, slope = self._joint()
        best = solve(joint, slope[:, None])[:, 0]
        Q = {"G_u": gram(mean), "G_v": sum(gram(g[d_u:]) for g in gradients) / n}
        Q["B"] = sum(gram(g[:d_u]) for g in gradients)
        away, gap = [], zeros(width, width)
        for i in range(n):
            star = np.concatenate([best[:d_u], best[d_u + i * self.dims["v"] : d_u + (i + 1) * self.dims["v"]]])
            far = points[i].copy()
            far[:, -1] = far[:, -1] - star
            away.append(far)
            gap = gap + far.T.dot(self.M[i]).dot(far) / (2 * n)
        u = away[0][:d_u]
        Q["distance2"] = gram(u) + sum(gram(far[d_u:]) for far in away) / n
        Q["gap"] = gap
        return Q

    def _joint(self):
        d_u, d_v = self.dims["u"], self.dims["v"]
        size = d_u + self.n * d_v
        joint, slope = zeros(size, size), np.full(size, ZERO, dtype=object)
        for i in range(self.n):
            at = [*range(d_u), *range(d_u + i * d_v, d_u + (i + 1) * d_v)]
            joint[np.ix_(at, at)] += self.M[i]
            slope[at] += self.c[i]
        return joint, slope

    def _flame_forms(self, w, clients):
        p = self.p
        weight, total, whole = p["lambda_"] * p["alpha"], 0, 0
        pulls = []
        for i, c in enumerate(clients):
            apart, split = c["w_i"] - w, c["theta"] - c["w_i"]
            pull = c["pi"] + p["rho"] * apart
            pulls.append(pull)
            by_theta = p["alpha"] * self._asked(i, c["theta"]) + weight * split
            total = total + gram(by_theta)
            by_w = pull - weight * split
            whole = whole + gram(by_w) + gram(apart)
        pull = sum(pulls)
        return {"grad_theta2": total, "grad_L2": total + whole + gram(pull)}

    def _bilevel_forms(self, server):
        d_x, n = self.dims["x"], self.n
        problem = self.problem
        A, B, b, Q, q = (sum(exact(part)) / n for part in (problem.A, problem.B, problem.b, problem.Q, problem.q))
        x, last = server["x"], zeros(1, self.size)
        last[0, -1] = ONE
        y = solve(A, B.dot(x) + b[:, None].dot(last))
        both = np.concatenate([x, y])
        slope = Q.dot(both) - q[:, None].dot(last)
        v = solve(A, slope[d_x:])
        gradient = slope[:d_x] + B.T.dot(v)
        e_y, e_v = server["y"] - y, server["v"] - v
        found = {"grad_Phi2": gradient, "y_error2": e_y, "v_error2": e_v}
        found = {name: gram(rows) for name, rows in found.items()}
        return found | {name[:-1] + "_w2": found[name] for name in list(found)}

    def laws(self):
        """Sets of participants in one round of a constant law: (weight, A, N)."""
        count = self.n if self.members is None else self.members
        sets = list(itertools.combinations(range(self.n), count))
        return [(ONE / len(sets), *self.law(members)) for members in sets]

    def rounds(self, wanted):
        """The quantities before each of the ``wanted`` rounds, one round after the other."""
        with localcontext(CONTEXT):
            moment, found, last = self.first(), [], [-1] * self.n
            fixed = self.members is not None and not np.isscalar(self.members)
            laws = None if fixed else self.laws()
            for t in range(max(wanted) + 1):
                if t in wanted:
                    found.append({name: (Q * moment).sum() for name, Q in self.forms.items()})
                if fixed:
                    members = [int(i) for i in np.flatnonzero(self.members[t])]
                    delays = [t - last[i] if self.method.delayed else 1 for i in members]
                    for i in members:
                        last[i] = t
                    laws = [(ONE, *self.law(members, delays))]
                moment = sum(w * (A.dot(moment).dot(A.T) + N) for w, A, N in laws)
            return found

    def average(self):
        """Means of the quantities over all T rounds of a constant law, by squaring."""
        with localcontext(CONTEXT):
            a, b = np.triu_indices(self.size)
            twice = (a != b).astype(int)
            p, q = len(a), len(self.forms)
            step = zeros(p + q, p + q)
            for w, A, N in self.laws():
                straight = A[np.ix_(a, a)] * A[np.ix_(b, b)] + twice * A[np.ix_(a, b)] * A[np.ix_(b, a)]
                step[:p, :p] += w * straight
                step[:p, p - 1] += w * N[a, b]
            for k, Q in enumerate(self.forms.values()):
                step[p + k, :p] = Q[a, b] + twice * Q[b, a]
                step[p + k, p + k] = ONE
            state = np.concatenate([self.first()[a, b], np.full(q, ZERO, dtype=object)])
            left = self.T
            while left:
                if left & 1:
                    state = step.dot(state)
                left >>= 1
                if left:
                    step = step.dot(step)
            return {name: state[p + k] / self.T for k, name in enumerate(self.forms)}


def ratio(value, error, truth):
    """The true error as a share of the claimed one; above 1 the claim is too small. The second is relative."""
    with localcontext(CONTEXT):
        if not (math.isfinite(value) and math.isfinite(error)):
            return 0.0, math.inf, math.inf
        off = abs(Decimal(float(value)) - truth)
        share = math.inf if not error and off else float(off / Decimal(float(error))) if off else 0.0
        size = abs(truth) if truth else ONE
        return share, float(off / size), float(Decimal(float(error)) / size)
