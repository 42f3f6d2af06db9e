"""Other things that the code of a claim might say, one place at a time: what a proof with a slip in it would mean.

The maximum for the mean, an expectation given too little or too much, sums over one index more or less, a quantity in
another's place, and < for <=. What draws an instance is left as it is, since that is no part of the claim.
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ratecheck.auditing.mutation.code import FunctionNode, FunctionSource, averaging, nodes_of_file
from ratecheck.auditing.mutation.mutants import MutantKind

_MEANS = ("mean", "average")
_SHOWN = 60
# Of participation: in this round and in earlier ones, the last round up to t and the last before it.
_OTHER_METHOD = {"present": "seen", "seen": "present", "last": "before", "before": "last", "tau_max": "tau_avg"}
_STRICT = {ast.LtE: ("<", ast.Lt), ast.Lt: ("<=", ast.LtE), ast.GtE: (">", ast.Gt), ast.Gt: (">=", ast.GtE)}
_PRINTED = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">"}


@dataclass(frozen=True, eq=False)
class Rewrite:
    """One place of a source with something else in it; ``said`` is what, such as ``max for mean``."""

    kind: MutantKind
    source: FunctionSource
    place: ast.expr
    new: ast.expr
    said: str

    @property
    def change(self) -> str:
        """The change in words, such as ``max for mean in line 120 of lemmas.py``."""
        return f"{self.said} in line {self.place.lineno} of {Path(self.source.file).name}"

    @property
    def text(self) -> str:
        """The new expression."""
        text = " ".join(ast.unparse(self.new).split())
        return f"`{text if len(text) <= _SHOWN else text[: _SHOWN - 3] + '...'}`"

    def node(self) -> FunctionNode:
        """The function with it."""
        new = ast.fix_missing_locations(ast.copy_location(copy.deepcopy(self.new), self.place))
        # The copy of the place is what stands there now.
        return copy.deepcopy(self.source.node, {id(self.place): new})


def rewrites(source: FunctionSource) -> list[Rewrite]:
    """The rewrites of a source."""
    body: list[ast.AST] = [source.node.body] if isinstance(source.node, ast.Lambda) else [*source.node.body]
    names = _NameUses(source, body)
    found = []
    for statement in body:
        for node, averaged in _places(statement, source.draw):
            for kind, new, said in _others(node, names):
                if not averaged or kind in (MutantKind.MEAN, MutantKind.CONDITION):
                    found.append(Rewrite(kind, source, node, new, said))
    return found


def _places(node: ast.AST, draw: str | None) -> Iterator[tuple[ast.expr, bool]]:
    """The expressions that are part of the claim, and whether an instance is drawn within."""
    if isinstance(node, ast.stmt):
        inside = _of_statement(node, draw)
    else:
        if isinstance(node, ast.expr):
            yield node, _mentions(node, draw)
        # A list of comparisons: for which indices is said like for which instances, and is no part of what is compared.
        listed = isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Tuple)
        inside = iter([node.elt]) if isinstance(node, ast.ListComp) and listed else _children(node)
    for each in inside:
        yield from _places(each, draw)


def _of_statement(node: ast.stmt, draw: str | None) -> Iterator[ast.AST]:
    """The parts of a statement that are about the claim: where it draws something, what it returns alone."""
    if isinstance(node, ast.FunctionDef):
        yield from node.body
    elif isinstance(node, (ast.For, ast.While, ast.If)):
        head = node.iter if isinstance(node, ast.For) else node.test
        drawn = _mentions(head, draw)
        if not (drawn or (isinstance(node, ast.For) and not _adds_up(node))):
            yield head
        # An instance may be made in one of two ways.
        if not (drawn and isinstance(node, ast.If)):
            yield from (*node.body, *node.orelse)
    elif isinstance(node, ast.Return) or not (_mentions(node, draw) or _is_alias(node)):
        yield from _children(node)


def _adds_up(loop: ast.For) -> bool:
    """Whether a loop is a sum, and does not list comparisons, which ledgers call ``found``."""
    return any(
        isinstance(node, ast.AugAssign)
        and not isinstance(node.value, (ast.List, ast.ListComp))
        and ast.unparse(node.target) != "found"
        for node in ast.walk(loop)
    )


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node that are evaluated: not its annotations, nor what names are bound."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "target", "targets", "args") and not isinstance(node, ast.Call):
            continue
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST))


def _mentions(node: ast.AST, draw: str | None) -> bool:
    return draw is not None and any(isinstance(each, ast.Name) and each.id == draw for each in ast.walk(node))


def _is_alias(node: ast.stmt) -> bool:
    """Whether a statement only gives names to what there is: another round throughout is no slip."""
    kinds = (ast.Name, ast.Attribute, ast.Tuple, ast.expr_context)
    return isinstance(node, ast.Assign) and all(isinstance(each, kinds) for each in ast.walk(node.value))


# --- Names that may be taken for each other ---


class _NameUses:
    """The meaning of the names of a function, as far as their use shows."""

    def __init__(self, source: FunctionSource, body: list[ast.AST]) -> None:
        self.indices: set[str] = set()
        self._uses: dict[str, set[str]] = defaultdict(set)
        self._groups: list[list[str]] = []
        self._attributes: dict[tuple[str, int | None], list[str]] = {}
        self._elsewhere: dict[tuple[str, int | None], list[str]] = {}
        self._globals = source.function.__globals__
        self.functions: set[int] = set()
        self.averaging = averaging(source.function.__module__)
        for statement in body:
            for node in ast.walk(statement):
                self._look(node)
            _attributes(statement, self._attributes)
        for function in nodes_of_file(source.file):
            _attributes(function, self._elsewhere)

    def _look(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self.functions.add(id(node.func))
        if isinstance(node, (ast.For, ast.comprehension)):
            counted = isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func).rpartition(".")[2]
            if counted in ("range", "rounds") and isinstance(node.target, ast.Name):
                self.indices.add(node.target.id)
            if (
                counted == "enumerate"
                and isinstance(node.target, ast.Tuple)
                and isinstance(node.target.elts[0], ast.Name)
            ):
                self.indices.add(node.target.elts[0].id)
        if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
            self._groups.append([each.id for each in node.elts if isinstance(each, ast.Name) and each.id != "_"])
        for use, child in _uses(node):
            if isinstance(child, ast.Attribute):
                self._uses[ast.unparse(child)].add(use)
            if isinstance(child, ast.Name):
                self._uses[child.id].add(use)
                if use == "index":
                    self.indices.add(child.id)

    def like(self, name: str) -> list[str]:
        """The names that are bound together with one and used alike."""
        found = [each for group in self._groups if name in group for each in group if each != name]
        return [each for each in dict.fromkeys(found) if self._uses[each] & self._uses[name]]

    def attributes(self, node: ast.Attribute, given: int | None = None) -> list[str]:
        """Other attributes of the same thing, of this function or, without any, of its file.

        ``given`` is the number of arguments that a method is given; None for what is not called.
        """
        owner = ast.unparse(node.value)
        if isinstance(self._globals.get(owner), ModuleType):
            return []
        for known in (self._attributes, self._elsewhere):
            found = [each for each in known.get((owner, given), ()) if each != node.attr]
            alike = [
                each for each in found if given is not None or self._alike(f"{owner}.{node.attr}", f"{owner}.{each}")
            ]
            if alike:
                return alike
        return []

    def _alike(self, one: str, other: str) -> bool:
        """Whether something is used as another is somewhere in the function, or is not used there at all."""
        return not self._uses[other] or bool(self._uses[one] & self._uses[other])


def _uses(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Attribute):
        yield "owner", node.value
    elif isinstance(node, ast.Subscript):
        yield "sequence", node.value
        for each in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            yield "index", each
    elif isinstance(node, ast.Call):
        yield from ((f"given to {ast.unparse(node.func)}", each) for each in node.args)
    elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        yield from (("number", each) for each in ast.iter_child_nodes(node))


def _attributes(tree: ast.AST, into: dict[tuple[str, int | None], list[str]]) -> None:
    given = {id(node.func): len(node.args) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and _is_path(node.value):
            known = into.setdefault((ast.unparse(node.value), given.get(id(node))), [])
            if node.attr not in known:
                known.append(node.attr)


def _is_path(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_path(node.value))


# --- What else might stand at a place ---

_Other = tuple[MutantKind, ast.expr, str]


def _others(node: ast.expr, names: _NameUses) -> Iterator[_Other]:
    other = _OTHERS.get(type(node))
    if other is not None and id(node) not in names.functions and isinstance(getattr(node, "ctx", _LOAD), ast.Load):
        yield from other(node, names)


def _other_comparisons(node: ast.Compare, _names: _NameUses) -> Iterator[_Other]:
    if len(node.ops) == 1 and type(node.ops[0]) in _STRICT:
        text, operator = _STRICT[type(node.ops[0])]
        new = ast.Compare(left=node.left, ops=[operator()], comparators=node.comparators)
        yield MutantKind.COMPARISON, new, f"{text} for {_PRINTED[type(node.ops[0])]}"


def _other_neighbours(node: ast.BinOp, _names: _NameUses) -> Iterator[_Other]:
    one = isinstance(node.right, ast.Constant) and node.right.value == 1
    if one and isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.left, ast.Name):
        yield MutantKind.RANGE, node.left, f"{node.left.id} for {ast.unparse(node)}"


def _other_names(node: ast.Name, names: _NameUses) -> Iterator[_Other]:
    for other in names.like(node.id):
        yield MutantKind.SWAP, _name(other), f"{other} for {node.id}"


def _other_attributes(node: ast.Attribute, names: _NameUses) -> Iterator[_Other]:
    if _is_path(node.value):
        first = [_OTHER_METHOD[node.attr]] if node.attr in _OTHER_METHOD else []
        for attribute in dict.fromkeys([*first, *names.attributes(node)]):
            new = ast.Attribute(node.value, attribute, ast.Load())
            yield MutantKind.SWAP, new, f"{ast.unparse(new)} for {ast.unparse(node)}"


def _other_calls(node: ast.Call, names: _NameUses) -> Iterator[_Other]:
    if isinstance(node.func, ast.Attribute):
        yield from _other_methods(node, node.func, names)
    elif isinstance(node.func, ast.Name):
        name = node.func.id
        if (name in _MEANS or name in ("max", "min")) and node.args:
            yield from _other_means(node, name)
        elif name == "range":
            yield from _other_ranges(node)
        elif name in ("expect", "expect_square"):
            yield from _other_expectations(node, name)
        elif name == "subsets" and len(node.args) == 2:
            new = ast.Call(node.func, [node.args[0], node.args[0]], [])
            yield MutantKind.SWAP, new, "all clients for a sample"
        if name in ("range", "Fraction"):
            return
    for index, argument in enumerate(node.args):
        if isinstance(argument, ast.Name) and argument.id in names.indices:
            yield MutantKind.RANGE, _with_argument(node, index, _less(argument)), f"{argument.id} - 1 for {argument.id}"


def _other_methods(node: ast.Call, func: ast.Attribute, names: _NameUses) -> Iterator[_Other]:
    method = func.attr
    if method in names.averaging:
        for pick in ("max", "min"):
            new = ast.Call(_call("extreme", func, _name(pick)), node.args, node.keywords)
            yield MutantKind.MEAN, new, f"{pick} for mean" + ("" if method == "mean" else f" in {method}")
    if method in ("given", "known") and len(node.args) == 1:
        one = func.value if method == "given" else node.args[0]
        new = ast.Call(ast.Attribute(one, "given", ast.Load()), [ast.Tuple([], ast.Load())], [])
        yield MutantKind.CONDITION, new, "expectation for conditional expectation"
        yield MutantKind.CONDITION, one, "random variable for conditional expectation"
        return
    others = names.attributes(func, len(node.args))
    # A run has no such rows itself, but what says how it participates.
    if method in _OTHER_METHOD and ast.unparse(func.value) != "run":
        others = [_OTHER_METHOD[method]]
    for other in others:
        new = ast.Call(ast.Attribute(func.value, other, ast.Load()), node.args, node.keywords)
        yield MutantKind.SWAP, new, f"{other} for {method}"


def _other_expectations(node: ast.Call, name: str) -> Iterator[_Other]:
    if name == "expect" and len(node.args) == 2:
        apart = ast.BinOp(_call("expect", node.args[0]), ast.Mult(), _call("expect", node.args[1]))
        yield MutantKind.CONDITION, apart, "product of expectations for expectation of product"
    elif name == "expect_square" and len(node.args) == 1:
        yield MutantKind.CONDITION, _call("square_of_mean", node.args[0]), "square of expectation for that of square"


def _other_means(node: ast.Call, name: str) -> Iterator[_Other]:
    """Other names for the mean or an extreme of many values, or for the greater of two."""
    if name in _MEANS:
        picks = {
            "max": ast.Call(_name("max"), node.args, []),
            "the sum": ast.Call(_name("sum"), node.args, []),
        }
        yield from ((MutantKind.MEAN, new, f"{pick} for {name}") for pick, new in picks.items())
        first = ast.Subscript(
            ast.List([ast.Starred(node.args[0], ast.Load())], ast.Load()), ast.Constant(0), ast.Load()
        )
        yield MutantKind.CONDITION, first, f"given the first outcome for {name}"
        return
    other = "min" if name == "max" else "max"
    yield MutantKind.MEAN, ast.Call(_name(other), node.args, node.keywords), f"{other} for {name}"
    if len(node.args) == 1:
        yield MutantKind.MEAN, _call("mean_of", node.args[0]), f"mean for {name}"


def _other_ranges(node: ast.Call) -> Iterator[_Other]:
    if not 1 <= len(node.args) <= 2 or node.keywords:
        return
    first, last = node.args if len(node.args) == 2 else (ast.Constant(0), node.args[0])
    ends = [(first, _less(last)), (_more(first), last), (first, _more(last))]
    if len(node.args) == 2:
        ends.append((_less(first), last))
    for low, high in ends:
        new = _call("range", low, high)
        yield MutantKind.RANGE, new, f"{ast.unparse(new)} for {ast.unparse(node)}"


def _other_items(node: ast.Subscript, names: _NameUses) -> Iterator[_Other]:
    # One of several comparisons.
    if isinstance(node.value, (ast.List, ast.Tuple)):
        return
    if isinstance(node.slice, ast.Slice):
        if node.slice.step is None:
            for low, high in ((None, node.slice.upper), (node.slice.lower, None)):
                if (low, high) != (node.slice.lower, node.slice.upper):
                    new = ast.Subscript(node.value, ast.Slice(low, high), ast.Load())
                    yield MutantKind.RANGE, new, f"{ast.unparse(new)} for {ast.unparse(node)}"
        return
    several = isinstance(node.slice, ast.Tuple)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for k, part in enumerate(parts):
        other: ast.expr
        if isinstance(part, ast.Constant) and part.value in (0, 1) and not isinstance(part.value, bool):
            other, kind = ast.Constant(1 - part.value), MutantKind.SWAP
        elif isinstance(part, ast.Name) and part.id in names.indices:
            other, kind = _less(part), MutantKind.RANGE
        else:
            continue
        index = ast.Tuple([*parts[:k], other, *parts[k + 1 :]], ast.Load()) if several else other
        new = ast.Subscript(node.value, index, ast.Load())
        yield kind, new, f"{ast.unparse(new)} for {ast.unparse(node)}"


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_name(name), [*arguments], [])


def _less(value: ast.expr) -> ast.expr:
    return ast.BinOp(value, ast.Sub(), ast.Constant(1))


def _more(value: ast.expr) -> ast.expr:
    if isinstance(value, ast.Constant) and value.value == 0:
        return ast.Constant(1)
    return ast.BinOp(value, ast.Add(), ast.Constant(1))


def _with_argument(node: ast.Call, index: int, argument: ast.expr) -> ast.Call:
    return ast.Call(node.func, [*node.args[:index], argument, *node.args[index + 1 :]], node.keywords)


_LOAD = ast.Load()
_OTHERS: Mapping[type, Callable[[Any, _NameUses], Iterator[_Other]]] = {
    ast.Call: _other_calls,
    ast.Compare: _other_comparisons,
    ast.Subscript: _other_items,
    ast.BinOp: _other_neighbours,
    ast.Name: _other_names,
    ast.Attribute: _other_attributes,
}
