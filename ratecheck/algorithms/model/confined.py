"""The convex set that a nonlinear method stays in, found by evaluating its functions with random gradients."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ratecheck.algorithms.model.algorithm import Algorithm, Parameters, U, Variables
from ratecheck.algorithms.model.nonlinear import Functions
from ratecheck.algorithms.model.sets import ConvexSet, asked
from ratecheck.aliases import Array

# Rounds that are played, with gradients of these sizes in their rows.
_ROUNDS, _SIZES = 3, (1e-3, 1.0, 1.0, 30.0, 1e3)
# Far points, and the share of their size that nothing exceeds which a method makes of them where it stays near.
_FAR, _SHARE = (1e8, 1e8, 1e10), 1e-3
# How far beside a set a point of it may be, in shares of its size: projections round.
_NEAR = 1e-9


def excluded(algorithm: Algorithm, functions: Functions, p: Parameters, point: Array) -> str:
    """Where a method stays that a point (d,) is not in, in words; empty where it is, or where the method may go far.

    ``p`` are the parameters of a round with one participant. Some rounds are played from points of a set that the
    functions project on, with random gradients of several sizes: where none leads out of it, the method stays there. A
    set that only clips gradients is none. A method that makes near points of far ones in another way is bounded where
    it leaves the point with gradients that are 0, and comes as far as that with large ones.
    """
    game = _Game(algorithm, functions, p)
    if not game.recorded:
        return ""
    with asked() as found:
        game.play(*game.made_up(_SIZES))
    one = point[None, :]
    for members in {repr(each): each for each in found}.values():
        if game.stays(members):
            return f"in {members}" if _apart(members.project(one), one).any() else ""
    if game.bounded() and game.leaves(one):
        return "in a bounded set"
    return ""


class _Game:
    """Rounds with one participant, in which gradients are what is given."""

    def __init__(self, algorithm: Algorithm, functions: Functions, p: Parameters) -> None:
        self.functions, self.p, self.answers = functions, p, algorithm.answers
        self.shared = {name for name, block in algorithm.server.items() if block == U}
        point: Mapping[str, str] = algorithm.point or {}
        name = point.get(U, next(iter(algorithm.server), ""))
        # Where clients record at points of their own nothing is known.
        self.recorded = name if name in self.shared else ""

    def made_up(self, sizes: tuple[float, ...]) -> tuple[Variables, Variables, Variables]:
        """Random variables of the server and a client, and random answers, rows being of these sizes."""
        column = np.array(sizes)[:, None]
        server, client = self.functions.made_up("begin", column)
        return server, client, self.functions.made_up("step", column)[1]

    def play(self, server: Variables, client: Variables, gradient: Variables) -> list[Array]:
        """The recorded points after each round."""
        points = []
        for _ in range(_ROUNDS):
            (local,) = self._call("begin", server, client)
            for _ in range(int(self.p["K"])):
                (local,) = self._call("step", local, gradient)
            client, message = self._call("finish", server, client, local)
            (server,) = self._call("aggregate", server, message)
            points.append(server[self.recorded])
        return points

    def stays(self, members: ConvexSet) -> bool:
        """Whether no round leads out of a set."""
        server, client, gradient = self.made_up(_SIZES)
        inside = {k: members.project(v) if k in self.shared else v for k, v in server.items()}
        return not any(_apart(members.project(x), x).any() for x in self.play(inside, client, gradient))

    def bounded(self) -> bool:
        """Whether points stay near whatever goes in."""
        far = np.array(_FAR)
        return all((np.linalg.norm(x, axis=-1) < _SHARE * far).all() for x in self.play(*self.made_up(_FAR)))

    def leaves(self, point: Array) -> bool:
        """Whether a point (1, d) is left with gradients that are 0, and no large one leads as far in its direction."""
        server, client, gradient = ({k: 0 * v for k, v in group.items()} for group in self.made_up((1.0,)))
        there = {k: point if k in self.shared else v for k, v in server.items()}
        away = point - self.play(there, client, gradient)[-1]
        if not _apart(point - away, point).any():
            return False
        pull = -_FAR[0] * away / np.linalg.norm(away)
        pulled = {k: pull if self.answers[k] == U else v for k, v in gradient.items()}
        reached = max(np.vdot(away, x) for x in self.play(there, client, pulled))
        return bool(reached < np.vdot(away, point) - _NEAR * np.vdot(away, away))

    def _call(self, name: str, *arguments: Variables) -> tuple[dict[str, Array], ...]:
        return self.functions(name, arguments, self.p, made_up=True)


def _apart(one: Array, other: Array) -> Array:
    """Which rows differ by more than rounding."""
    return np.asarray(np.linalg.norm(one - other, axis=-1) > _NEAR * (1 + np.linalg.norm(other, axis=-1)))
