"""Pins that are no single number: how a link writes them, and how they are read back within bounds.

A link carries the figures of data/ that its result rested on. Most are numbers under the name of a field (link.py).
Here are the rest: the sizing as a whole, the ranges of the uncertain inputs, the hours of a named profile, and what
there was not (no alternative, no price). Reading raises ValueError for whatever this app would not have written.
"""

import base64
import binascii
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from calculators.numbers import plain
from calculators.scenario import SPECS
from calculators.sizing import EVIDENCE, LIMITS, Stated
from calculators.texts import catalogue
from calculators.units import HOURS_PER_WEEK

Distribution = Literal["PERT", "lognormal"]

NONE: Final = "none"
"""What a pin says where there was nothing: no alternative, no price."""

ALTERNATIVE: Final = "alternative"
SIZING: Final = "sizing"
HOURS: Final = "hours"
ALL_RANGES: Final = "ranges"
"""Says that the inputs with a range pin were all that were uncertain."""

RANGE: Final = "range_"
"""Begins the name of a range pin, an input's name ends it."""

PRICES: Final = ("baseline_price", "baseline_batch_price", "alternative_price", "alternative_batch_price")
"""Pins that an offer had no price."""

UNCERTAIN: Final = tuple(key.removeprefix("uncertain.") for key in catalogue() if key.startswith("uncertain."))
"""Inputs that data/ may call uncertain: those with words for it."""

_BETWEEN: Final = "~"
_FACTOR: Final = "throughput_factor"
_MOST_HOURS_CHARACTERS: Final = 4000
_LAYOUT: Final = re.compile(r"[A-Za-z0-9+> .-]{0,80}")
_ANCHOR: Final = re.compile(r"[A-Za-z0-9._-]{0,40}")


@dataclass(frozen=True)
class Range:
    """How an input was drawn and between which values, in its own unit; the throughput's are factors on it."""

    distribution: Distribution
    low: float
    high: float


def is_text(name: str) -> bool:
    """Whether a pin of that name is read here."""
    return name in (ALTERNATIVE, SIZING, HOURS, ALL_RANGES, *PRICES) or name.startswith(RANGE)


def check(name: str, value: str) -> None:
    """Read a pin to see whether it can be used.

    Raises:
        ValueError: it cannot.
    """
    if name == SIZING:
        read_stated(value)
    elif name == HOURS:
        read_hours(value)
    elif name.startswith(RANGE):
        read_range(name.removeprefix(RANGE), value)
    elif not value or (name in PRICES and value != NONE) or (name == ALL_RANGES and value != "all"):
        raise ValueError(value)


def found(pins: Mapping[str, float | str], name: str) -> str | None:
    """The text of a pin that can be used, else None."""
    value = pins.get(name)
    if not isinstance(value, str):
        return None
    try:
        check(name, value)
    except ValueError:
        return None
    return value


# ------------------------------------------------------------------------------------------------------------- sizing


def write_stated(stated: Stated) -> str:
    """All figures in the order of their declaration."""
    return _BETWEEN.join(v.replace(" ", "_") if isinstance(v, str) else plain(float(v)) for v in vars(stated).values())


def read_stated(text: str) -> Stated:
    """Figures within bounds that fit together.

    Raises:
        ValueError: a figure is missing, out of bounds or contradicts another.
    """
    names = [f.name for f in fields(Stated)]
    values: dict[str, Any] = dict(zip(names, text.split(_BETWEEN), strict=True))
    for field in fields(Stated):
        if field.type is str:
            values[field.name] = values[field.name].replace("_", " ") if field.name != "anchor" else values["anchor"]
            continue
        number = _number(values[field.name], 0.0, 1e18)
        if field.type is int:
            _need(number == int(number) <= 1e9)
            number = int(number)
        values[field.name] = number
    stated = Stated(**values)
    _need(stated.evidence in EVIDENCE and stated.evidence != "user")
    _need(stated.limited_by in LIMITS and stated.limited_by != "own test")
    _need(_LAYOUT.fullmatch(stated.layout) is not None and _ANCHOR.fullmatch(stated.anchor) is not None)
    _need(min(stated.accelerators_per_system, stated.devices, stated.decode_slots, stated.max_context_tokens) >= 1)
    _need(stated.weights_bytes > 0 and stated.usable_bytes > 0 and stated.prefill_share <= 1)
    for low, high in (
        (stated.low_factor, stated.high_factor),
        (stated.own_test_low_factor, stated.own_test_high_factor),
    ):
        _need(0 < low <= 1 <= high <= 1e6)
    holds, runs = stated.max_concurrent_sequences >= 1, stated.concurrency >= 1
    _need(holds == (stated.limited_by not in ("does not fit", "context")))
    _need(runs == (stated.evidence != "none") and (holds or not runs))
    _need(not runs or (0 < stated.requests_per_s <= 1e9 and stated.tpot_ms > 0))
    _need(holds or stated.limited_by != "context" or stated.min_systems == 0)
    return stated


def _need(true: bool) -> None:
    if not true:
        raise ValueError("does not fit together")


def _number(text: str, low: float, high: float) -> float:
    number = float(text)
    _need(math.isfinite(number) and low <= number <= high and text.strip() == text and "_" not in text)
    return number


# ------------------------------------------------------------------------------------------------------------- ranges


def write_range(found: Range) -> str:
    """Distribution, low and high."""
    return _BETWEEN.join((found.distribution, plain(found.low), plain(found.high)))


def read_range(name: str, text: str) -> Range:
    """A range within the bounds of the field.

    Raises:
        ValueError: no such input, no such distribution, or values that it cannot have.
    """
    kind, low, high = text.split(_BETWEEN)
    least, most = 1e-6, 1e6
    if name != _FACTOR:
        spec = SPECS.get(name)
        if name not in UNCERTAIN or spec is None or spec.minimum is None or spec.maximum is None:
            raise ValueError(name)
        least, most = spec.minimum, spec.maximum
        _need(kind == "PERT" or "share" not in spec.unit)  # a lognormal has no upper end, a share has
    ends = _number(low, least, most), _number(high, least, most)
    _need(ends[0] <= ends[1] and kind in ("PERT", "lognormal") and (kind == "PERT" or ends[0] > 0))
    _need(name != _FACTOR or ends[0] <= 1 <= ends[1])
    return Range("PERT" if kind == "PERT" else "lognormal", *ends)


def ranges(pins: Mapping[str, float | str]) -> dict[str, Range]:
    """The range pins that can be used, by input."""
    usable = {name: found(pins, name) for name in pins if name.startswith(RANGE)}
    inputs = {name.removeprefix(RANGE): value for name, value in usable.items() if value is not None}
    return {name: read_range(name, value) for name, value in inputs.items()}


# -------------------------------------------------------------------------------------------------------------- hours


def write_hours(weights: Sequence[float]) -> str:
    """The 168 weights of a week to the last digit; days that are alike cost next to nothing."""
    packed = zlib.compress(",".join(plain(w) for w in weights).encode(), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def read_hours(text: str) -> tuple[float, ...]:
    """168 weights with mean 1.

    Raises:
        ValueError: anything else.
    """
    _need(len(text) <= _MOST_HOURS_CHARACTERS)
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpack = zlib.decompressobj()
        words = unpack.decompress(packed, 168 * 32).decode("ascii")
    except (binascii.Error, zlib.error, UnicodeDecodeError) as why:
        raise ValueError("not hours") from why
    _need(unpack.eof and not unpack.unused_data)
    weights = tuple(_number(word, 0.0, float(HOURS_PER_WEEK)) for word in words.split(","))
    _need(len(weights) == HOURS_PER_WEEK and abs(sum(weights) - HOURS_PER_WEEK) <= 1e-6)
    return weights
