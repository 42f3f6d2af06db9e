"""One round of a method in vectors of a Hilbert space: the state before it, what happens in it, and the state after it.

The round is played on families of vectors with the coefficients of the method's four functions, so that whatever holds
of its vectors holds of every round of every run, in every dimension.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from bounds.symbols import PREVIOUS
from ratecheck.algorithms.model.algorithm import TermOver
from ratecheck.proving.classes import OracleAnswer, Point
from ratecheck.proving.compared import CHANGE, STEP, Compared
from ratecheck.proving.forms import Form, KnownFact, Value, VectorFamily, VectorState, independent, plus, total
from ratecheck.proving.invariants import Invariant, invariants, kept_by
from ratecheck.proving.question import Question, Table
from ratecheck.proving.vectors import Vectors


@dataclass(frozen=True)
class RoundEnd:
    """The state after a round on a side of its coin, which falls so with probability ``share``.

    ``after`` is the state as it is seen from the recorded ``point``, and ``name`` what that point is called.
    """

    share: Fraction
    name: str
    raw: VectorState
    after: VectorState
    point: Point


class PlayedRound:
    """Round ``t``: ``state`` and ``point`` before it, the ``outcomes`` of it, and all ``facts``.

    Where clients share a coin the round is played on both of its sides, from one state and with one draw of
    participants: what is asked at other points on the other side has vectors of its own. Those of one side are
    independent of those of the other given the state, so that whatever is known of new vectors holds beside all of
    them, and of a quantity after the round the expectation over the coin is p times that on one side and 1 - p times
    that on the other.

    ``kept`` are the invariants that the state before it satisfies, by default those of the method. A round
    ``from_state`` goes on with known vectors from a known state.
    """

    def __init__(
        self,
        question: Question,
        t: int,
        *,
        played: bool = True,
        kept: Sequence[Invariant] | None = None,
        apart: bool | None = None,
        from_state: tuple[Vectors, VectorState] | None = None,
    ) -> None:
        self.question, self.t = question, t
        self.apart = question.apart and played if apart is None else apart
        q = question
        if from_state is not None:
            self.vectors, self.state = from_state
        else:
            self.vectors = Vectors(question, self.apart)
            self.raw_state = free = self._free()
            relations = invariants(q, PlayedRound, RunStart) if kept is None else kept
            origin = () if q.minimiser else q.origin_slots
            self.state = kept_by(relations, q.at_origin(free), self.vectors.mean_of, origin)
        self.point = q.recorded(self.state)
        if q.nearest:
            self._inside()
        self._followed: dict[str, KnownFact] = {}
        self.outcomes: tuple[RoundEnd, ...] = tuple(self._play()) if played else ()

    def _inside(self) -> None:
        """The recorded point is in the set, and what it was the nearest point to is beside it in a normal direction."""
        v, slot, u = self.vectors, self.question.projected_slot, self.question.shared
        if all(self.point != each for _, each, _ in v.members):
            normal = None if slot is None else {u: self.state.server[u][slot] - self.point[u]}
            v.member("x", self.point, normal)

    def _free(self) -> VectorState:
        """A state of new vectors."""
        q, v = self.question, self.vectors
        if q.minimiser:
            v.minimiser()
        make = {"server": v.shared, "client": v.clients}
        return VectorState(
            *(
                {
                    b: [make[group](b, name) for name in q.variables(group, b)]
                    + [VectorFamily(b)] * (q.slots(group) - q.counts(group, b))
                    for b in q.blocks
                }
                for group in ("server", "client")
            )
        )

    @cached_property
    def here(self) -> OracleAnswer:
        """The oracle's exact answer at the recorded point."""
        return self.vectors.at("x", self.point)

    def answer(self, outcome: RoundEnd) -> OracleAnswer | None:
        """The answer at the recorded point after the round; None where that depends on who took part."""
        return None if self.unknown_after else self.after(outcome)

    def after(self, outcome: RoundEnd) -> OracleAnswer:
        """The answer at the recorded point after the round, where it is known."""
        v, old = self.vectors, self.here
        if all(each.joined is None for each in outcome.point.values()):
            return v.at(outcome.name, outcome.point)
        # Participants are where a client would be that takes part, and the others where they were.
        new = v.at(outcome.name, {b: participants(each) for b, each in outcome.point.items()})
        gradient = {b: _joining(old.gradient[b], new.gradient[b]) for b in self.question.blocks}
        value = plus((1 - v.draw.share, old.value), (v.draw.share, new.value))
        return OracleAnswer(outcome.name, outcome.point, gradient, value)

    def expected(self, measured: Callable[[RoundEnd], Form]) -> Form:
        """The expectation over the coin of what is measured after the round."""
        assert self.outcomes
        return plus(*((each.share, measured(each)) for each in self.outcomes))

    @property
    def unknown_after(self) -> bool:
        """Whether nothing but smoothness is known after the round: participants are not followed apart."""
        return self.question.sampled and not self.apart and not self.question.own_points

    @cached_property
    def height(self) -> Form:
        """The objective before the round."""
        return self.vectors.height("x", self.point)

    @cached_property
    def next_height(self) -> Form:
        """The objective after the round."""
        return self.expected(self.height_after)

    def height_after(self, outcome: RoundEnd) -> Form:
        """The objective after the round on a side of the coin."""
        if (answer := self.answer(outcome)) is not None:
            if self.question.own_points:
                return answer.value
            return self.vectors.height(outcome.name, outcome.point)
        if self.question.L is None or not self.question.has_values:
            raise self.question.out_of_reach("functions that need not be smooth after a round that samples clients")
        value: Form = {Value(f"f({outcome.name})"): Fraction(1)}
        if outcome.name not in self._followed:
            self._followed[outcome.name] = self.vectors.descent(self.here, self.step(outcome), value)
        return value

    def step(self, outcome: RoundEnd) -> Point:
        """By how much the recorded point moves."""
        return {b: outcome.point[b] - self.point[b] for b in self.question.blocks}

    def _play(self) -> Iterator[RoundEnd]:
        q = self.question
        ends = [self._local_steps(side) for side in range(len(q.tosses))]
        if self.apart:
            if not q.proximal:
                _ = self.here
            self.vectors.drawn()
        for side, (local, (share, coin)) in enumerate(zip(ends, q.tosses, strict=True)):
            raw = self._sent(side, local)
            name = "".join(["x+", *(f" on {each}" for each in coin.values())])
            point = q.recorded(raw)
            if q.nearest and all(point != each for _, each, _ in self.vectors.members):
                raise q.out_of_reach(f"the point at which {q.name} records need not be in the set on which it projects")
            yield RoundEnd(share, name, raw, q.gauged(raw), point)

    def _local_steps(self, side: int) -> dict[str, list[VectorFamily]]:
        """Local variables after the local steps, by block."""
        q, v = self.question, self.vectors
        begin, step, _, _, _, after = q.tables(self.t, side)
        servers, clients = self.state.server, self.state.client
        local = {b: apply(begin[b], [*servers[b], *clients[b]], b) for b in q.blocks}
        drawn: list[VectorFamily] = []
        for k in range(q.K):
            told = self._told(k, local, drawn)
            local = {b: apply(step[b], _padded([*local[b], *told[b]], step[b]), b) for b in q.blocks}
            if after is not None:
                way = {b: local[b][0] for b in q.blocks}
                nearest = v.prox(f"p_{k}", way, q.second_weight, second=True, local=k > 0)
                local = {b: apply(after[b], [*local[b], nearest[b]], b) for b in q.blocks}
        return local

    def _sent(self, side: int, local: Mapping[str, Sequence[VectorFamily]]) -> VectorState:
        """The state once messages are sent and the server has them."""
        q, v = self.question, self.vectors
        _, _, finish, sent, aggregate, _ = q.tables(self.t, side)
        servers, clients = self.state.server, self.state.client
        server, client = {}, {}
        for b in q.blocks:
            out = apply(finish[b], [*servers[b], *clients[b], *local[b]], b)
            kept, message = out[: q.slots("client")], out[q.slots("client") :]
            if sent is not None:
                names = q.variables("message", b)
                message = [
                    v.compressed(each, name) if name in q.algorithm.compressed else each
                    for each, name in zip(message, names, strict=True)
                ]
                kept = apply(sent[b], [*kept, *message], b)
            if q.algorithm.mixed:
                kept = v.mixed(kept, [name in q.algorithm.mixed for name in q.variables("client", b)])
            sums = [_drawn_sum(each, q) for each in message]
            if q.nearest and b == q.shared:
                self._project(aggregate[b], sums)
            server[b] = apply(aggregate[b], [*servers[b], *sums], b)
            client[b] = [_joining(*pair) for pair in zip(clients[b], kept, strict=True)] if q.sampled else kept
        return VectorState(server, client)

    def _project(self, table: Table, sums: list[VectorFamily]) -> None:
        """Have the sums of messages that are nearest points be those: the server's last variables are what is asked."""
        q, b = self.question, self.question.shared
        names, first = q.variables("message", b), q.counts("server", b) - len(q.nearest)
        for k, name in enumerate(q.nearest):
            asked = apply(table[first + k : first + k + 1], [*self.state.server[b], *sums], b)[0]
            sums[names.index(name)] = self.vectors.projected(f"P({name.replace('nearest', 'y')})", asked)

    def _told(
        self, k: int, local: Mapping[str, Sequence[VectorFamily]], drawn: list[VectorFamily]
    ) -> dict[str, list[VectorFamily]]:
        """What the oracles answer in local step k, by block; ``drawn`` are the noises so far."""
        q, v = self.question, self.vectors
        point = {b: local[b][0] for b in q.blocks}
        if q.proximal:
            nearest = v.prox(f"y_{k}", point, q.weight, local=k > 0, error=q.inner_error)
            return {b: [each] for b, each in nearest.items()}
        asked = [(f"y_{k}", b, point, True) for b in q.blocks]
        asked += [(f"{at}_{k}", b, {**point, b: local[b][slot]}, noisy) for at, b, slot, noisy in q.further_points]
        answers = [self._asked(name, where, k, drawn) for name, _, where, _ in asked]
        # One sample: of the noises at its points no more is known than of each alone.
        sample: list[VectorFamily] = []
        told: dict[str, list[VectorFamily]] = {b: [] for b in q.blocks}
        for (name, b, _, noisy), answer in zip(asked, answers, strict=True):
            e = v.noise(name.replace("y_", "e_"), b, sample=sample) if noisy else VectorFamily(b)
            sample += [e] if e.mean else []
            told[b].append(answer.gradient[b] + e)
        drawn += sample
        return told

    def _asked(self, name: str, point: Point, k: int, drawn: Sequence[VectorFamily]) -> OracleAnswer:
        """The exact answer at a point in local step k."""
        v, known = self.vectors, len(self.vectors.answers)
        answer = v.at("x" if point == self.point else name, point, local=k > 0)
        if known < len(v.answers):
            # A client's later gradients depend on its own noise alone.
            for e in drawn:
                v.independent(e, answer.gradient[e.block])
        return answer

    @cached_property
    def facts(self) -> list[KnownFact]:
        """Everything that is known of the vectors so far: to be read last."""
        v = self.vectors
        found = [*independent(v.facts), *self._followed.values(), *v.interpolation(), *v.bounded()]
        shared = [self.point, *(each.point for each in self.outcomes if not self.unknown_after)]
        for answer in v.answers:
            if answer.point in shared:
                found += v.lower(answer)
        return found

    def metric(self, compared: Compared) -> Form:
        """The left side of a claim in this round."""
        # What is compared with the round before is what the round changes.
        before = any(fact.endswith(PREVIOUS) for fact in compared.weights)
        return plus(
            *(
                (weight, self.measured(fact.removesuffix(PREVIOUS), after=before and not fact.endswith(PREVIOUS)))
                for fact, weight in compared.weights.items()
            )
        )

    def measured(self, name: str, *, after: bool = False) -> Form:
        """A measured quantity by its fact, before the round or ``after`` it."""
        if name.startswith(STEP):
            return self._moved(name.removeprefix(STEP))
        if name in self._measures:
            if self.question.own_points:
                raise self.question.out_of_reach(f"{self.question.name} has no point at which all clients are")
            return self._measures[name](after)
        if name.startswith(CHANGE):
            name = name.removeprefix(CHANGE)
            return plus((1, self._recorded(name, after=True)), (-1, self._recorded(name, after=False)))
        return self._recorded(name, after=after)

    def _moved(self, name: str) -> Form:
        """The squared step of a variable, of a client's summed over the clients."""
        q, v = self.question, self.vectors
        for b, group in itertools.product(q.blocks, ("server", "client")):
            if name in q.variables(group, b):
                slot = q.variables(group, b).index(name)
                before = getattr(self.state, group)[b][slot]
                steps = [(each.share, getattr(each.raw, group)[b][slot] - before) for each in self.outcomes]
                if group == "server":
                    return plus(*((share, v.draw.of_means(step, step)) for share, step in steps))
                return plus(*((q.n * share, v.draw.average(step, step)) for share, step in steps))
        raise q.out_of_reach(f"{q.name} has no variable {name}")

    @cached_property
    def _measures(self) -> dict[str, Callable[[bool], Form]]:
        """What is measured of points and values; the others are recorded by the method."""
        q, v, shared = self.question, self.vectors, self.question.shared

        def distance2(after: bool) -> Form:
            # Of clients on a graph that are recorded at points of their own it is the mean of their distances.
            if not after:
                return v.average(self.point, self.point)
            return self.expected(lambda each: v.average(each.point, each.point))

        def moved(inner: Callable[[VectorFamily, VectorFamily], Form], of: Point | None = None) -> Form:
            steps = ((each.share, self.step(each)[shared]) for each in self.outcomes)
            return plus(*((share, inner(step if of is None else of[shared], step)) for share, step in steps))

        def fall(_: bool) -> Form:
            return plus((1, self.next_height), (-1, self.height))

        return {
            "gap": lambda after: plus((1, self.next_height if after else self.height), (-1, q.lowest)),
            "distance2": distance2,
            "descent": fall,
            "change:gap": fall,
            "change:distance2": lambda _: plus((1, distance2(after=True)), (-1, distance2(after=False))),
            "du2": lambda _: moved(v.draw.of_means),
            "inner_u": lambda _: moved(v.draw.of_means, self.here.gradient),
        }

    def _recorded(self, name: str, *, after: bool) -> Form:
        """A quantity that the method records."""
        q, v = self.question, self.vectors
        if name not in q.records:
            raise q.out_of_reach(f"{name} is recorded by no round")
        if not after:
            answer = v.prox("y_0", self.point, q.weight) if q.records_prox else self.here.gradient
            return _terms(q, v, name, self.state, answer, self.height if self._valued(name) else {})
        if q.records_prox:
            raise q.out_of_reach("it compares proximal steps before and after a round")

        def at(outcome: RoundEnd) -> Form:
            answer = self.answer(outcome)
            if answer is None:
                raise q.out_of_reach("gradients after a round that samples clients")
            height = self.height_after(outcome) if self._valued(name) else {}
            return _terms(q, v, name, outcome.after, answer.gradient, height)

        return self.expected(at)

    def _valued(self, name: str) -> bool:
        return any(term.over is TermOver.VALUES for term in self.question.records[name])


class RunStart:
    """The state before the first round, and what is known of it."""

    def __init__(self, question: Question) -> None:
        self.question = q = question
        self.vectors = v = Vectors(question)
        if q.minimiser:
            v.minimiser()
        new = {b: v.shared if b == q.shared else v.clients for b in q.blocks}
        self.point: Point = {b: new[b](b, "x0") if q.minimiser else VectorFamily(b) for b in q.blocks}
        client, server = q.start_tables
        told: Point = {b: VectorFamily(b) for b in q.blocks}
        if any(row[1] for b in q.blocks for row in client[b]):
            # What clients remember is the mean of K answers.
            if q.proximal:
                steps = [v.prox("y_0", self.point, q.weight, error=q.inner_error) for _ in range(q.K)]
                told = {b: total(b, [(Fraction(1, q.K), each[b]) for each in steps]) for b in q.blocks}
            else:
                told = dict(self.here.gradient)
                if not q.algorithm.full_start:
                    told = {b: told[b] + v.noise("e", b, times=Fraction(1, q.K)) for b in q.blocks}
        clients = {b: apply(client[b], [self.point[b], told[b]], b) for b in q.blocks}
        means = {b: [VectorFamily(b, q.draw.mean_of(each).mean) for each in clients[b]] for b in q.blocks}
        self.raw = VectorState({b: apply(server[b], [self.point[b], *means[b]], b) for b in q.blocks}, clients)
        self.state = q.gauged(self.raw)
        if q.nearest:
            v.member("x0", self.point)
        if not q.starts_at_point or any(q.recorded(self.raw)[b] != self.point[b] for b in q.blocks):
            raise q.out_of_reach(f"the point at which {q.name} records is another one than x^0 at first")

    @cached_property
    def here(self) -> OracleAnswer:
        """The oracle's exact answer at the start."""
        return self.vectors.at("x0", self.point)

    @cached_property
    def height(self) -> Form:
        """The objective at the start."""
        return self.vectors.height("x0", self.point)

    @property
    def weights(self) -> Fraction:
        """The sum of the clients' weights alpha_i in a joint objective, 1 where the method has none."""
        return self.question.n * Fraction(self.question.parameters(0).get("alpha", Fraction(1, self.question.n)))

    @property
    def lagrangian(self) -> Form:
        """The Lagrangian at the start, as the method records it."""
        return _terms(self.question, self.vectors, "lagrangian", self.state, self.here.gradient, self.height)

    @property
    def limits(self) -> list[KnownFact]:
        """What the statement's constants say of the start."""
        q, v = self.question, self.vectors
        found: list[KnownFact] = []
        if q.F_0 is not None:
            found.append(KnownFact("F_0", plus((1, self.height), (-1, q.lowest), (-q.F_0, LIMIT))))
        if q.lagrangian_gap is not None:
            form = plus((1, self.lagrangian), (-self.weights, q.lowest), (-q.lagrangian_gap, LIMIT))
            found.append(KnownFact("L^0 - F*", form))
        if q.R_0 is not None:
            found.append(KnownFact("dist2_0", plus((1, v.of_means(self.point, self.point)), (-q.R_0, LIMIT))))
        if q.B_0 is not None:
            g = self.here.gradient[q.shared]
            found.append(KnownFact("B_0", plus((q.n, v.draw.average(g, g)), (-q.B_0, LIMIT))))
        return found

    @cached_property
    def facts(self) -> list[KnownFact]:
        """Everything that is known of the vectors so far: to be read last."""
        v = self.vectors
        found = [*self.limits, *v.facts, *v.interpolation(), *v.bounded()]
        for answer in v.answers:
            if answer.name == "x0":
                found += v.lower(answer)
        return found


class AnyStart(RunStart):
    """Any state that the invariants allow, where a statement asks no more of a start than one of them."""

    def __init__(self, question: Question) -> None:
        self.question = question
        still = PlayedRound(question, 0, played=False)
        self.vectors, self.point, self.state = still.vectors, still.point, still.state
        self.raw = self.state


def start_of(question: Question) -> RunStart:
    """The start of a run."""
    if question.lagrangian_gap is not None:
        # The gap is that of sum_i alpha_i f_i(x^0), whatever a method calls its Lagrangian.
        common = RunStart(question)
        if common.lagrangian != plus((common.weights, common.height)):
            raise question.out_of_reach(f"the Lagrangian that {question.name} records is not the objective at x^0")
    return AnyStart(question) if question.own_points else RunStart(question)


class PlayedRun:
    """The first ``count`` rounds of a run, one after the other, with all their vectors; the last is not ``played``."""

    def __init__(self, question: Question, count: int) -> None:
        self.question, self.start = question, start_of(question)
        self.vectors = self.start.vectors
        self.rounds: list[PlayedRound] = []
        state = self.start.raw
        for t in range(count):
            if not question.records_prox:
                # In the order of the run: the noise that follows is independent of it.
                self.vectors.at("x", question.recorded(state))
            played = PlayedRound(question, t, played=t < count - 1, from_state=(self.vectors, state))
            self.rounds.append(played)
            state = played.outcomes[0].raw if played.outcomes else state

    @cached_property
    def facts(self) -> list[KnownFact]:
        """Everything that is known of the vectors: to be read last."""
        v, shared = self.vectors, [each.point for each in self.rounds]
        found = [*independent(v.facts), *self.start.limits, *v.interpolation(), *v.bounded()]
        for answer in v.answers:
            if answer.point in shared:
                found += v.lower(answer)
        return found


LIMIT: Form = {Value("1"): Fraction(1)}


def _terms(q: Question, v: Vectors, name: str, state: VectorState, told: Point, height: Form) -> Form:
    """The terms of a recorded quantity at a state with these answers and that value of the objective."""
    form: Form = {}
    for term in q.records[name]:
        if term.over is TermOver.VALUES:
            form = plus((1, form), (Fraction(term.factor), height))
            continue
        b = q.algorithm.blocks[term.block]
        if b not in q.blocks:
            continue
        inputs = [*state.server[b], *state.client[b], told[b]]
        left, right = (total(b, zip(map(Fraction, side), inputs, strict=True)) for side in (term.left, term.right))
        inner = v.draw.average if term.over is TermOver.CLIENTS else v.draw.of_means
        form = plus((1, form), (Fraction(term.factor), inner(left, right)))
    return form


def apply(table: Table, inputs: Sequence[VectorFamily], block: str) -> list[VectorFamily]:
    """Outputs of a table of coefficients on families."""
    return [total(block, zip(row, inputs, strict=True)) for row in table]


def _padded(inputs: list[VectorFamily], table: Table) -> list[VectorFamily]:
    """Inputs of a step, and nothing where another block has more of them."""
    return inputs + [VectorFamily(inputs[0].block)] * (len(table[0]) - len(inputs))


def _drawn_sum(message: VectorFamily, q: Question) -> VectorFamily:
    """The sum of the participants' messages."""
    mean, own = ({number: value * q.m for number, value in part.items()} for part in (message.mean, message.own))
    # Participants that are followed apart have a mean of their own.
    return VectorFamily(message.block, mean, {}, own if q.sampled and message.other is None else {})


def _joining(old: VectorFamily, new: VectorFamily) -> VectorFamily:
    """A client's vector that becomes ``new`` where it takes part."""
    change = new - old
    if change.constant:
        return old
    if new.other is not None or old.other is not None:
        return VectorFamily(new.block, new.mean, new.own, other=old.others)
    return VectorFamily(old.block, old.mean, old.own, {}, change)


def participants(family: VectorFamily) -> VectorFamily:
    """The vectors that clients have who take part, and would have who do not."""
    return VectorFamily(family.block, family.mean, family.own) + (family.joined or VectorFamily(family.block))
