"""A user's file run statement by statement, so that a theorem that cannot be built does not hide its neighbours."""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import dataclasses
import functools
import importlib.util
import inspect
import re
import sys
import traceback
import types
import warnings
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import EnumMeta
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from bounds import statement as parts
from bounds.errors import InputError, did_you_mean
from bounds.statement import Statement
from bounds.symbols import Vocabulary
from bounds.theorem import UNNAMED, FieldError, in_fields, in_sentence, symbol, theorem

# Flags of ``from __future__ import ...`` in the file, which holds for all of its statements.
_FUTURE = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a name of the file has no value, and in which line; ``symbol`` says that it would name a symbol."""

    line: int | None
    reason: str
    symbol: bool


@dataclass(frozen=True, kw_only=True)
class OwnFile:
    """Content of a file: its statements by name, why other names have no value, and the line of each name.

    ``module`` has whatever else it defines.
    """

    statements: Mapping[str, Statement]
    broken: Mapping[str, Failure]
    lines: Mapping[str, int]
    module: ModuleType


# Folders of the files that were run, whose other files they may import.
_FOLDERS: list[str] = []
# Statements that came from a file, by identity, and where they stand.
_PLACES: dict[int, tuple[weakref.ref[Statement], str]] = {}


def place_of(statement: Statement) -> str:
    """The file and line in which a user's own statement is assigned, such as ``mine.py, line 3``; empty for others."""
    found, place = _PLACES.get(id(statement), (None, ""))
    return place if found is not None and found() is statement else ""


# A file that was edited, or another one under the same name, is run anew.
@functools.lru_cache(maxsize=100)
def run(path: str, place: Path, content: bytes) -> OwnFile:
    """`run_anew`, once for the same content."""
    return run_anew(path, place, content)


def run_anew(path: str, place: Path, content: bytes) -> OwnFile:
    """Run what the file holds; what Python would keep of an earlier content beside it is not read.

    An assignment whose value is a part of a statement, or what a function of the file returns, may fail: its names are
    in ``broken``, and what follows is run. So may one without calls that needs such a name. Whatever else fails stops
    the file, since what follows may mean something else without it. Raises `InputError` then, with the line.
    """
    runner = _FileRun(path, place, content)
    runner.run()
    return runner.found()


def _print(*values: object, **options: Any) -> None:
    """Print to standard error unless told otherwise, also in functions that are called later."""
    print(*values, **{"file": sys.stderr, **options})  # noqa: T201 - the file asks for it


class _FileRun:
    """One run of a file."""

    def __init__(self, path: str, place: Path, content: bytes) -> None:
        self.path, self.place, self.content = path, place, content
        self.module = ModuleType(f"_own_statements_{place.stem}")
        self.module.__file__ = str(place)
        # Standard output is the command's own, which may be JSON.
        self.module.__builtins__ = {**vars(builtins), "print": _print}  # type: ignore[attr-defined]
        self.broken: dict[str, Failure] = {}
        self.lines: dict[str, int] = {}

    def run(self) -> None:
        """Run all of the file."""
        # What Python guesses about the file's style is no message of ours.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            try:
                tree = ast.parse(self.content, str(self.place))
                flags = compile(tree, str(self.place), "exec").co_flags & _FUTURE
            except Exception as error:  # noqa: BLE001  # more than SyntaxError, such as for null characters
                raise self._stopped(error, None) from None
            self.module.__doc__ = ast.get_docstring(tree, clean=False)
            self._open_folder()
            # Dataclasses look for the module of their class among those that were imported.
            with _imported(self.module), contextlib.redirect_stdout(sys.stderr):
                for node in tree.body:
                    self._run(node, flags)

    def _open_folder(self) -> None:
        """Let the file import its neighbours, as a script does, but for those that would hide a library."""
        folder = str(self.place.resolve().parent)
        if folder not in sys.path:
            sys.path.append(folder)
        if folder not in _FOLDERS:
            _FOLDERS.append(folder)

    def _check_neighbours(self, node: ast.stmt) -> None:
        """Raise `InputError` where an import would be of another folder's file of the same name."""
        folder = self.place.resolve().parent
        for name in _imports(node):
            spec = importlib.util.find_spec(name) if (folder / f"{name}.py").exists() else None
            found = Path(spec.origin).resolve().parent if spec is not None and spec.origin else folder
            if found != folder and str(found) in _FOLDERS:
                raise InputError(f"{name}.py of {found} has been imported, and {name}.py of {folder} is another one")

    def _run(self, node: ast.stmt, flags: int) -> None:
        names = _assigned(node)
        try:
            self._check_neighbours(node)
            code = compile(ast.Module([node], []), str(self.place), "exec", flags)
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                exec(code, vars(self.module))  # noqa: S102 - it is what the user asked for
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # The user's code may raise anything; what is not Python's own or the file's is meant for the whole program.
            if not isinstance(error, Exception) and type(error).__module__ not in ("builtins", self.module.__name__):
                raise
            needs = self._cause(error) is not None and not any(isinstance(each, ast.Call) for each in ast.walk(node))
            if not (names and isinstance(error, Exception) and (needs or self._builds(node))):
                raise self._stopped(error, node) from None
            declared = self._called(node) is symbol
            failure = Failure(line=self._line(error, node), reason=self._reason(error), symbol=declared)
            for name in names:
                # What it was before is not what is meant.
                vars(self.module).pop(name, None)
                self.broken[name] = failure
        self.lines |= dict.fromkeys(names, node.lineno)
        for name in [name for name in self.broken if name in vars(self.module)]:
            del self.broken[name]

    def _builds(self, node: ast.stmt) -> bool:
        """Whether an assignment calls what makes a part of a statement, or a function of the file: nothing else."""
        made = self._called(node)
        own = isinstance(made, FunctionType) and made.__module__ == self.module.__name__
        part = isinstance(made, type) and dataclasses.is_dataclass(made) and made.__module__ == parts.__name__
        return own or part or made in (theorem, symbol, dataclasses.replace)

    def _called(self, node: ast.stmt) -> object:
        """Function that an assignment calls for its value; None for other values and other statements."""
        call = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        return self._value(call.func) if isinstance(call, ast.Call) else None

    def _value(self, node: ast.expr) -> object:
        """Value of a name, or of an attribute of one, in the file; nothing is run for it."""
        if isinstance(node, ast.Name):
            return vars(self.module).get(node.id)
        if isinstance(node, ast.Attribute) and isinstance(module := self._value(node.value), ModuleType):
            return vars(module).get(node.attr)
        return None

    def _cause(self, error: BaseException) -> Failure | None:
        """The failure of an earlier line that this one comes from."""
        found = self.broken.get(_missing(error) or "")
        # A formula's names are symbols; a theorem by the same name is no reason.
        return None if found is not None and isinstance(error, FieldError) and not found.symbol else found

    def _line(self, error: BaseException, node: ast.stmt | None) -> int | None:
        """The line of the field that is wrong, else the last line of the file that the error passed through."""
        if isinstance(error, SyntaxError):
            return error.lineno
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == str(self.place)]
        if isinstance(error, FieldError) and len(frames) == 1 and isinstance(node, (ast.Assign, ast.AnnAssign)):
            keywords = node.value.keywords if isinstance(node.value, ast.Call) else []
            if lines := [each.value.lineno for each in keywords if each.arg == error.field]:
                return lines[0]
        return frames[-1].lineno if frames else None

    def _reason(self, error: BaseException) -> str:
        """Reason of an error in words: names as a user writes them, and which there are."""
        if (cause := self._cause(error)) is not None:
            where = "" if cause.line is None else f" in line {cause.line}"
            return f"it needs {_missing(error)!r}, which fails{where}: {cause.reason}"
        if isinstance(error, InputError):
            return str(error)
        # A syntax error's own text repeats the line.
        said = error.msg if isinstance(error, SyntaxError) else error
        return _in_words(error) or f"{type(error).__name__}: {said}"

    def _stopped(self, error: BaseException, node: ast.stmt | None) -> InputError:
        """Error for a file that does not run."""
        line = self._line(error, node)
        return InputError(f"{self.path} does not run: {'' if line is None else f'line {line}, '}{self._reason(error)}")

    def found(self) -> OwnFile:
        """The statements of the file, those without a key of their own under the names of the file and their own."""
        catalogue = sys.modules[__package__]
        stem = self.place.stem
        # A key that begins with a paper's name belongs to the paper.
        paper = UNNAMED if stem in (*catalogue.PAPERS, *catalogue.BESIDE) else f"{stem}/"
        named: dict[int, Statement] = {}
        statements: dict[str, Statement] = {}
        for name, value in vars(self.module).items():
            if not isinstance(value, Statement):
                continue
            if not all(hasattr(value, each.name) for each in dataclasses.fields(value)):
                reason = "it is a Statement that was never built: make it with bounds.theorem.theorem(...)"
                self.broken[name] = Failure(line=self.lines.get(name), reason=reason, symbol=False)
            else:
                own = isinstance(value.key, str) and value.key.startswith(UNNAMED)
                found = dataclasses.replace(value, key=paper + name) if own else value
                if value.instance and ":" not in value.instance:
                    found = dataclasses.replace(found, instance=f"{self.path}:{value.instance}")
                statements[name] = named.setdefault(id(value), found)
        for name, statement in statements.items():
            line = f", line {self.lines[name]}" if name in self.lines else ""
            _PLACES[id(statement)] = weakref.ref(statement), f"{self.path}{line}"
        return OwnFile(statements=statements, broken=dict(self.broken), lines=dict(self.lines), module=self.module)


@contextlib.contextmanager
def _imported(module: ModuleType) -> Iterator[None]:
    """Lets a module be found among those that were imported, inside the block alone."""
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        if before is None:
            sys.modules.pop(module.__name__, None)
        else:
            sys.modules[module.__name__] = before


def line_of(error: BaseException, place: Path) -> int | None:
    """The last line of the file that an error passed through; None where it passed through none."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == str(place)]
    return lines[-1] if lines else None


def _assigned(node: ast.stmt) -> tuple[str, ...]:
    """The names that an assignment binds; none for other statements, and where it sets parts of objects too."""
    targets: list[ast.expr] = [node.target] if isinstance(node, ast.AnnAssign) else []
    targets += node.targets if isinstance(node, ast.Assign) else []
    flat = [each for target in targets for each in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = tuple(each.id for each in flat if isinstance(each, ast.Name))
    return names if len(names) == len(flat) else ()


def _imports(node: ast.stmt) -> Iterator[str]:
    """The names of the modules that a statement imports, without what is after a dot."""
    if isinstance(node, ast.Import):
        yield from (each.name.partition(".")[0] for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module.partition(".")[0]


def _missing(error: BaseException) -> str | None:
    """The name that has no value in Python, or no symbol in a formula, where that is the error."""
    if isinstance(error, NameError):
        return error.name
    return error.unknown if isinstance(error, FieldError) else None


_CALL = re.compile(r"(?P<what>\w+)(?:\.__init__)?\(\) (?P<rest>.*)", re.DOTALL)


def _in_words(error: BaseException) -> str:
    """Python's message on a wrong call or name, in words of statements; empty for other errors."""
    if isinstance(error, TypeError) and (said := _CALL.match(str(error))):
        return _wrong_call(said["what"], said["rest"])
    if isinstance(error, AttributeError) and isinstance(error.obj, EnumMeta):
        kind = error.obj
        return f"no {kind.__name__}.{error.name}; {did_you_mean(str(error.name), kind.__members__)}"
    if isinstance(error, KeyError) and (vocabulary := _asked(error)) is not None:
        name = str(error.args[0])
        return f"no symbol {name!r}; {did_you_mean(name, vocabulary.order)}"
    return ""


def _wrong_call(what: str, rest: str) -> str:
    made = {"theorem": theorem, "symbol": symbol}.get(what) or getattr(parts, what, None)
    if not (made in (theorem, symbol) or (isinstance(made, type) and dataclasses.is_dataclass(made))):
        return ""
    names = re.findall(r"'(\w+)'", rest)
    if rest.startswith("missing"):
        return f"{what} lacks {' and '.join(filter(None, (', '.join(names[:-1]), names[-1])))}"
    if "unexpected keyword" in rest:
        forms = (in_fields, in_sentence) if made is theorem else (made,)
        fields = list(dict.fromkeys(name for form in forms for name in inspect.signature(form).parameters))
        return f"{what} has no field {names[0]!r}; {did_you_mean(names[0], fields)}"
    return f"{what} takes its fields by name, such as title=..." if "positional" in rest else ""


def _asked(error: BaseException) -> Vocabulary | None:
    """The vocabulary that has no such symbol, where that is the error."""
    trace: types.TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    frame = None if trace is None else trace.tb_frame
    found = frame.f_locals.get("self") if frame is not None and frame.f_code.co_name == "__getitem__" else None
    return found if isinstance(found, Vocabulary) else None
