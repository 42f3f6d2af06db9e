"""The schema of a study file: its tables, their keys, and what each key may hold.

    name = "..."                    # names the results folder and enters every seed
    extends = "..."                 # another study, see `ratecheck.studies.extending`
    seed = 0
    level = 0.05                    # error budget of all the study's intervals together
    metric = {G_u = 1, G_v = 1}     # weights of the recorded per-round quantities, or of losses and errors (MEASURES),
                                    # or "theorem": what the method's theorems bound
    chosen = ["..."]                # what the paper leaves open and the study decides: printed with what is found
    theorems = ["..."]              # of the catalogue, or "mine.py:x" of a file that the command line allows;
                                    # each is evaluated on the curves of its algorithm
    [participation] NAME = "..."    # patterns by the paper's names, as text or as a table with its kind
    [local_steps] NAME = [1, 5, 2]  # unequal numbers of local steps, one per client, or {least, most, seed}: drawn once
    [steady]  window, tolerance     # last share of the rounds, and the drift within it that is put up with
    [quick]   rounds, replicates    # share of the rounds and number of replicates of a smoke test
    [problem] name and parameters; [run] algorithm, participation, m, K, T, replicates, sigmas, step sizes
    [[figure]] name, title, vary, values, x, admissible, and its own `run` and `problem`, which override the tables
               above; or name, title, x and `runs`, another figure whose curves are drawn again; either with its own
               metric and theorems or those of the study
    [[claim]]  name, figure or figures, says, source, kind and what the kind needs

A list in `run` or `problem` gives one value per curve. With ``gamma`` given, gamma_x = gamma / eta_x. With
``admissible = true``, or a table with the number of ``replicates``, a figure's curves are repeated at step sizes that a
theorem admits (`ratecheck.studies.admissible`).
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError
from ratecheck.problems.build import KINDS
from ratecheck.studies.reading import no_word
from ratecheck.studies.storage.entries import (
    Axis,
    FigureName,
    FileName,
    Items,
    Kind,
    Method,
    Metric,
    Nonnegative,
    OnOff,
    Pattern,
    Positive,
    Replicates,
    Share,
    Tables,
    Text,
    Value,
    Whole,
    Word,
)
from ratecheck.studies.study import ClaimKind, Effect, HorizontalAxis

STEP_SIZES = tuple(sorted({name for method in METHODS.values() for name in method.step_sizes}))
NOISES = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.noises))


class Table(BaseModel):
    """A table without other keys than its own; numbers are no texts, true is no number, and numbers are finite."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class SteadyTable(Table):
    """``[steady]``."""

    window: Share = 0.4
    tolerance: Positive = 0.1


class QuickTable(Table):
    """``[quick]``."""

    rounds: Share = 0.1
    replicates: Replicates = 4


class RangeTable(Table):
    """Numbers of local steps that are drawn."""

    least: Whole = 1
    most: Whole
    seed: Annotated[int, Field(ge=0)] = 0

    @field_validator("most")
    @classmethod
    def _not_below_least(cls, most: int, info: ValidationInfo) -> int:
        if most < (least := info.data.get("least", most)):
            raise InputError(f'{most} breaks "most >= {least}", the least')
        return most


class AdmissibleTable(Table):
    """``admissible``: replicates at most of a figure that is repeated at admissible step sizes."""

    replicates: Replicates | None = None


class ProblemTable(Table):
    """A curve's ``problem``; what its keys may hold the problem of that name knows."""

    model_config = ConfigDict(extra="allow")

    name: Word


class RunSetting(Table):
    """A curve's ``run``, without noises and step sizes: which of them there are, problems and methods say."""

    algorithm: Method
    participation: Word = "uniform"
    m: Whole
    K: Whole | Word
    T: Whole
    replicates: Replicates = 16
    gamma: Positive | None = None

    def given(self, names: tuple[str, ...]) -> dict[str, float]:
        """The noises or step sizes that the table has."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


_NUMBERS: dict[str, Any] = dict.fromkeys(NOISES, (Nonnegative, 0.0)) | dict.fromkeys(STEP_SIZES, (Positive, 1.0))
RunTable: type[RunSetting] = create_model("RunTable", __base__=RunSetting, **_NUMBERS)


class _Drawn(Table):
    """The keys of every ``[[figure]]``."""

    name: FigureName
    title: Text | None = None
    x: Axis = HorizontalAxis.ROUNDS
    metric: Metric | None = None
    metric_name: Text | None = None
    theorems: Items[Word] | None = None


class FigureTable(_Drawn):
    """A ``[[figure]]`` with curves of its own."""

    vary: Word
    values: Items[Value]
    symbol: Text | None = None
    admissible: Annotated[AdmissibleTable | None, OnOff] = None
    run: dict[str, Any] = {}
    problem: dict[str, Any] = {}


class AgainTable(_Drawn):
    """A ``[[figure]]`` that draws the curves of another."""

    runs: Word


# Which of two forms is meant is seen before it is checked, so that what is said is about that form.
_Figure = Annotated[
    Annotated[FigureTable, Tag("FigureTable")] | Annotated[AgainTable, Tag("AgainTable")],
    Discriminator(lambda table: "AgainTable" if "runs" in table else "FigureTable"),
]
_LocalSteps = Annotated[
    Annotated[list[Whole], Field(min_length=1), Tag("list")] | Annotated[RangeTable, Tag("RangeTable")],
    Discriminator(
        lambda steps: {list: "list", dict: "RangeTable"}.get(type(steps)),
        custom_error_type="local_steps",
        custom_error_message="a list with a number for each client, or a table with least and most, is needed",
    ),
]


class ClaimTable(Table):
    """A ``[[claim]]``; which keys it needs and may have depends on its kind and effect."""

    name: Word
    figure: Word | None = None
    figures: Items[Word] | None = None
    says: Text
    source: Text = ""
    kind: Kind
    effect: Word | None = None
    margin: Positive = 0.1
    levels: Items[Share] = (0.01,)
    than: Word | None = None
    curves: Items[Value] = ()
    against: Items[Value] = ()
    power: float = 0.0
    targets: Items[Positive] = ()
    factor: Positive = 1.0
    average: bool = False
    most: bool = False

    @property
    def over(self) -> tuple[str, ...]:
        """The figures that it is about."""
        return self.figures or ((self.figure,) if self.figure else ())

    @property
    def change(self) -> Effect | None:
        """The effect that is claimed."""
        return next((each for each in Effect if each.value == self.effect), None)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Every key that is needed is there, and none that would have no say."""
        below, named, change = self.kind is ClaimKind.BELOW, bool(self.curves or self.against), self.change
        ordered = (Effect.RISES, Effect.FALLS, Effect.NONE, Effect.BOUNDED)
        effects = (Effect.BETTER, Effect.NO_WORSE, Effect.NONE) if named else ordered
        needed = {
            "figure": self.figures is None,
            "than": below,
            "effect": not below,
            "curves": named and not below,
            "against": named and not below,
            "targets": self.kind is ClaimKind.ROUNDS,
        }
        if missing := next((key for key in needed if needed[key] and key not in self.model_fields_set), None):
            raise InputError(f"the key {missing!r} is missing")
        if not below and change not in effects:
            raise InputError(f"effect: {no_word(str(self.effect), [each.value for each in effects])}")
        usable = needed | {
            "margin": change is not None and change.has_margin,
            "levels": self.kind is ClaimKind.SPEED,
            "power": not named and not below,
            "factor": change is Effect.BETTER,
        }
        if idle := next((key for key in usable if not usable[key] and key in self.model_fields_set), None):
            raise InputError(f"{idle}: {self._no_say(idle)}")
        if len(self.targets) not in (0, 1, len(self.over)):
            raise InputError(
                f"targets: {len(self.targets)} numbers for {len(self.over)} figures; give one, or one per figure"
            )
        if self.average and self.most:
            raise InputError(
                "most: average is given too: a claim is about the mean of its ratios or about most figures"
            )
        return self

    def _no_say(self, key: str) -> str:
        if key == "figure":
            return "figures is given too; leave one of them out"
        effect = f" and effect = {self.effect!r}" if self.effect else ""
        versus = ", with curves and against," if key == "power" and self.curves else ""
        return f"it says nothing in a claim with kind = {self.kind.value!r}{effect}{versus}; leave it out"


class StudyTable(Table):
    """The whole file."""

    name: FileName
    title: Text | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    level: Share = 0.05
    metric: Metric = Field(default={}, validate_default=True)
    metric_name: Text = "metric"
    chosen: Items[Text] = ()
    theorems: Items[Word] = ()
    participation: dict[str, Pattern] = {}
    local_steps: dict[str, _LocalSteps] = {}
    steady: SteadyTable = SteadyTable()
    quick: QuickTable = QuickTable()
    problem: dict[str, Any] = {}
    run: dict[str, Any] = {}
    figure: Tables[_Figure] = ()
    claim: Tables[ClaimTable] = ()
