"""The source of a claim on instances: its function and those it hands its work to, found exactly and compiled anew.

A step's ``sides`` is a function of a ledger, often one of several lambdas in a line. Which node of the file it is, is
not guessed: a node counts as the function's source only if it compiles to the same instructions at the same places. A
mutant is compiled in the function's own globals and closure, and takes its place for all that call it.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import linecache
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import CellType, CodeType, FunctionType
from typing import Any, TypeAlias

from bounds.ledger.draw import NoisyRational, mean

FunctionNode: TypeAlias = ast.FunctionDef | ast.Lambda
Sides: TypeAlias = Callable[..., Any]

_MAKER = "_maker"
# What a file's imports from `__future__` change about the code of its functions.
_FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


def extreme(method: Any, pick: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes a mean, with ``pick`` for the mean."""
    plain = method.__func__
    code, scope = plain.__code__, plain.__globals__
    if "mean" not in scope:
        raise TypeError(f"{plain.__qualname__} takes no mean")
    other = FunctionType(code, {**scope, "mean": pick}, plain.__name__, plain.__defaults__, plain.__closure__)
    return functools.partial(other, method.__self__)


def square_of_mean(vector: NoisyRational | Sequence[NoisyRational]) -> Fraction:
    """||E vector||^2, which is less than E||vector||^2 by the variance."""
    entries = [vector] if isinstance(vector, NoisyRational) else vector
    return sum((entry.constant**2 for entry in entries), Fraction(0))


@functools.cache
def averaging(module: str) -> frozenset[str]:
    """The names of the methods, of classes in a module and those beside it, that take a mean."""
    package = _package(module)
    beside = [name for name in sys.modules if name == module or (package and name.startswith(f"{package}."))]
    classes = {each for name in beside for each in vars(sys.modules[name]).values() if isinstance(each, type)}
    return frozenset(
        name
        for each in classes
        for name, method in vars(each).items()
        if isinstance(method, FunctionType) and "mean" in method.__code__.co_names and "mean" in method.__globals__
    )


# What mutants call beside what the ledger has.
SCOPE: Mapping[str, Any] = {"extreme": extreme, "mean_of": mean, "square_of_mean": square_of_mean}


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """A function with its node in a file; ``draw`` is the name of the argument that instances are drawn from."""

    function: FunctionType
    node: FunctionNode
    file: str
    draw: str | None

    def compiled(self, node: FunctionNode) -> CodeType:
        """The code of another node in the function's place; raises `ValueError` for one that cannot take it."""
        found = _code(node, self.function.__code__, _file(self.file))
        if not {*found.co_freevars} <= {*self.function.__code__.co_freevars}:
            raise ValueError("it needs a variable that the function has not")
        return found


def sources(sides: Sides, *, drawn: bool) -> tuple[FunctionSource, ...]:
    """The sources of ``sides`` and of what it hands its work to, none where they are not found.

    These are the functions of its module that it names, and so on, and those of another module of its ledger whose
    result it returns as it is. What is given the draw itself and not returned makes the instance: that is no part of
    the claim. ``drawn`` says that instances are draws.
    """
    first = _plain(sides)
    if not isinstance(first, FunctionType):
        return ()
    todo = [(first, _first_argument(first) if drawn else None)]
    found: dict[int, FunctionSource] = {}
    while todo:
        function, draw = todo.pop(0)
        if id(function) in found:
            continue
        node = node_of(function)
        if node is None:
            continue
        found[id(function)] = FunctionSource(function, node, function.__code__.co_filename, draw)
        todo += _called(found[id(function)])
    return tuple(found.values())


def with_mutant(sides: Sides, listed: tuple[FunctionSource, ...], source: FunctionSource, node: FunctionNode) -> Sides:
    """``sides`` with another node for one of its sources; raises `ValueError` where this makes no function."""
    code = source.compiled(node)
    scopes = {id(each.function.__globals__): {**each.function.__globals__, **SCOPE} for each in listed}
    anew: dict[int, FunctionType] = {}
    for each in listed:
        old = each.function
        used = code if each is source else old.__code__
        cells = dict(zip(old.__code__.co_freevars, old.__closure__ or (), strict=True))
        closure = tuple(CellType(*_content(cells[name])) for name in used.co_freevars)
        new = FunctionType(used, scopes[id(old.__globals__)], old.__name__, old.__defaults__, closure)
        # Draws are seeded by the name.
        new.__kwdefaults__, new.__qualname__, new.__module__ = old.__kwdefaults__, old.__qualname__, old.__module__
        anew[id(old)] = new

    def current(value: Any) -> Any:
        if isinstance(value, functools.partial):
            return functools.partial(
                current(value.func), *map(current, value.args), **{k: current(v) for k, v in value.keywords.items()}
            )
        return anew.get(id(value), value)

    for scope in scopes.values():
        scope.update({name: anew[id(value)] for name, value in scope.items() if id(value) in anew})
    for new in anew.values():
        for cell in new.__closure__ or ():
            if _content(cell):
                cell.cell_contents = current(cell.cell_contents)
    found: Sides = current(_bare(sides))
    return found


def _content(cell: CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # not yet filled
        return ()


def _bare(sides: Any) -> Any:
    """Without what guards a function of a user's own ledger."""
    return getattr(sides, "bare", sides)


def _plain(sides: Any) -> Any:
    sides = _bare(sides)
    while isinstance(sides, functools.partial):
        sides = sides.func
    return sides


def _first_argument(function: FunctionType) -> str | None:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return names[0] if names else None


# --- The node of a function ---


def node_of(function: FunctionType) -> FunctionNode | None:
    """The node of the file that is the function; None where none compiles to it."""
    code = function.__code__
    kind: type = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    known = _file(code.co_filename)
    for node in known.functions:
        if isinstance(node, kind) and getattr(node, "name", "<lambda>") == code.co_name:
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            if first == code.co_firstlineno and _same(_code(node, code, known), code):
                return node
    return None


def nodes_of_file(file: str) -> tuple[FunctionNode, ...]:
    """All functions of a file."""
    return _file(file).functions


@dataclass(frozen=True)
class _File:
    """The functions of a file, and the names that it imports: what is called of a module is compiled otherwise."""

    functions: tuple[FunctionNode, ...]
    imported: tuple[str, ...]


def _file(file: str) -> _File:
    return _parsed("".join(linecache.getlines(file)))


@functools.lru_cache(maxsize=50)
def _parsed(text: str) -> _File:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return _File((), ())
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda)))
    return _File(tuple(functions), tuple(sorted(names - {"*"})))


def _same(one: CodeType, other: CodeType) -> bool:
    return (one.co_code, one.co_names, one.co_varnames, [*one.co_positions()]) == (
        other.co_code,
        other.co_names,
        other.co_varnames,
        [*other.co_positions()],
    )


def _code(node: FunctionNode, old: CodeType, file: _File) -> CodeType:
    """The code of a node in the place of another: within a function that has its free variables, in a file like it."""
    plain = _undecorated(node)
    body: ast.stmt = plain if isinstance(plain, ast.FunctionDef) else ast.Return(plain)
    outer = ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in old.co_freevars], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    maker = ast.FunctionDef(name=_MAKER, args=outer, body=[body], decorator_list=[])
    imports: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in file.imported]
    module = ast.fix_missing_locations(ast.Module([*imports, maker], []))
    try:
        whole = compile(module, old.co_filename, "exec", old.co_flags & _FUTURE, dont_inherit=True)
    except SyntaxError as error:
        raise ValueError(str(error)) from None
    [made] = [each for each in whole.co_consts if isinstance(each, CodeType)]
    [found] = [each for each in made.co_consts if isinstance(each, CodeType)]
    return found


def _undecorated(node: FunctionNode) -> FunctionNode:
    """Without what stands around the code: decorators, annotations and the values of arguments left out."""
    args = ast.arguments(
        posonlyargs=[ast.arg(each.arg) for each in node.args.posonlyargs],
        args=[ast.arg(each.arg) for each in node.args.args],
        vararg=None if node.args.vararg is None else ast.arg(node.args.vararg.arg),
        kwonlyargs=[ast.arg(each.arg) for each in node.args.kwonlyargs],
        kw_defaults=[None] * len(node.args.kwonlyargs),
        kwarg=None if node.args.kwarg is None else ast.arg(node.args.kwarg.arg),
        defaults=[],
    )
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Lambda(args=args, body=node.body), node)
    new = ast.FunctionDef(name=node.name, args=args, body=node.body, decorator_list=[])
    return ast.copy_location(new, node)


# --- What a function hands its work to ---


def _called(source: FunctionSource) -> Iterator[tuple[FunctionType, str | None]]:
    """The functions of the ledger that a function names, each with the name of its draw."""
    function = source.function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    body: list[ast.AST] = [source.node.body] if isinstance(source.node, ast.Lambda) else [*source.node.body]
    returned = {id(node) for statement in body for node in _returned(statement)}
    makers = {
        id(node.func)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and id(node) not in returned and _given(node, source.draw)
    }
    handed = {
        id(node.func): node
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and id(node) in returned
    }
    for statement in body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or id(node) in makers:
                continue
            value = next(iter(_content(cells[node.id])), None) if node.id in cells else None
            value = function.__globals__.get(node.id) if node.id not in cells else value
            if not isinstance(value, FunctionType) or vars(builtins).get(node.id) is value:
                continue
            own = value.__globals__ is function.__globals__
            if own or (id(node) in handed and _package(value.__module__) == _package(function.__module__) != ""):
                call = handed.get(id(node))
                yield value, None if call is None else _passed(call, source.draw, value)


def _returned(node: ast.AST) -> Iterator[ast.Call]:
    """The calls whose result a function returns as it is, or in a list."""
    if isinstance(node, ast.Call):
        yield node
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from _returned(node.value)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for each in node.elts:
            yield from _returned(each)
    elif isinstance(node, ast.Starred):
        yield from _returned(node.value)
    elif isinstance(node, (ast.IfExp, ast.If)):
        parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [*node.body, *node.orelse]
        for part in parts:
            yield from _returned(part)
    elif isinstance(node, ast.BinOp):
        yield from _returned(node.left)
        yield from _returned(node.right)


def _given(call: ast.Call, draw: str | None) -> bool:
    """Whether a call is given the draw itself."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return draw is not None and any(isinstance(each, ast.Name) and each.id == draw for each in given)


def _passed(call: ast.Call, draw: str | None, function: FunctionType) -> str | None:
    """The name that the draw has in a function which a call gives it to."""
    names = function.__code__.co_varnames
    places = [names[k] for k, each in enumerate(call.args) if isinstance(each, ast.Name) and each.id == draw]
    places += [k.arg for k in call.keywords if isinstance(k.value, ast.Name) and k.value.id == draw and k.arg]
    return places[0] if places else None


def _package(module: str) -> str:
    """The proofs of its paper that a module is a part of; else the package in which it lies."""
    paper, proofs, _ = module.partition(".proofs.")
    return f"{paper}.proofs" if proofs else module.rpartition(".")[0]
