"""Scenario <-> link. The link is complete (every field), versioned, and carries the figures that it rested on.

Reading never fails: what cannot be used is told, and the rest of the scenario is kept. ``v`` is the version of the
fields and defaults, ``release`` the release of data/, ``pins`` the catalogue figures of that day.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from calculators.numbers import NotANumberError, parse_number, plain
from calculators.pins import check, is_text
from calculators.scenario import SPECS, VERSION, Problem, Scenario, at_least, from_values
from calculators.texts import field_id, said

EMPTY: Final = "none"
"""A word that reads as empty, where an empty text would be hard to see (a link writes just nothing)."""

META: Final = ("v", "release", "pins")
_IGNORED: Final = ("embed", "embed_options", "lang")
_MAX_LENGTH: Final = 20_000


@dataclass(frozen=True)
class Parsed:
    """A link that was read: the scenario, what could not be used, and which data it was made with."""

    scenario: Scenario
    problems: tuple[Problem, ...]
    version: int | None = None
    release: str | None = None
    pins: tuple[tuple[str, float | str], ...] = ()


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return plain(float(value))
    return str(value)


def encode(scenario: Scenario, release: str, pins: Mapping[str, float | str] | None = None) -> str:
    """Write the full query string of a scenario (without the leading '?'), every field in declared order."""
    pairs = [("v", str(VERSION)), ("release", release)]
    pairs += [(name, _text(getattr(scenario, name))) for name in SPECS]
    if pins:
        pairs.append(("pins", ",".join(f"{name}:{_text(value)}" for name, value in pins.items())))
    return urlencode(pairs)


def changed(scenario: Scenario) -> dict[str, str]:
    """Fields that differ from their defaults, as link text: the short form that the address bar has."""
    return {n: _text(getattr(scenario, n)) for n, spec in SPECS.items() if getattr(scenario, n) != spec.default}


@lru_cache(maxsize=1024)  # a page reads sixty texts on every change, all but one as before
def read_value(name: str, text: str) -> object:
    """Read the text of a field as its type; raises NotANumberError with one sentence for a number that is none.

    Whole-number fields keep a fraction, so that the bound's message can name it.
    """
    spec = SPECS[name]
    stripped = text.strip()
    if spec.optional and stripped.lower() in ("", EMPTY):
        return None
    if spec.options:
        return stripped
    if spec.widget in ("text", "choice", "hidden"):
        return text  # the record strips it, by the same rule for a link, a file and a widget
    if name == "system_count" and stripped.lower() == "auto":
        return "auto"
    number = parse_number(stripped)
    return int(number) if spec.integer and number == int(number) else number


def read_values(pairs: Iterable[tuple[str, str]]) -> tuple[Scenario, tuple[Problem, ...]]:
    """Read field texts into a scenario; a value that cannot be used leaves the default and a problem."""
    values: dict[str, object] = {}
    problems: list[Problem] = []
    for name, text in pairs:
        if name not in SPECS:
            values[name] = text
            continue
        if name in values:
            problems.append(Problem(name, text[:200], said("problem.twice", name=field_id(name))))
            continue
        try:
            values[name] = read_value(name, text)
        except NotANumberError as error:
            problems.append(
                Problem(name, text[:200], said("problem.of_field", name=field_id(name), what=error.message))
            )
    scenario, more = from_values(values)
    return scenario, (*problems, *more)


def _pin_bounds(name: str) -> tuple[float, float, bool] | None:
    """Bounds of a pinned figure, those of the field that it stands for; None for a name that links do not carry."""
    if name == "output_tokens_per_s":  # of all machines together
        return 0.0, 1e13, True
    if name == "system_count":  # what 'auto' chose
        return 0.0, 10_000.0, False
    if name in ("payback_p10_days", "payback_p90_days"):  # at most the 600 months after which a payback is 'never'
        return 0.0, 20_000.0, False
    field = name
    for prefix in ("baseline_", "alternative_", "batch_"):
        field = field.removeprefix(prefix)
    spec = SPECS.get(field)
    if spec is None or not spec.catalogue or spec.minimum is None or spec.maximum is None:
        return None
    return spec.minimum, spec.maximum, spec.exclusive_minimum


def _pins(text: str) -> tuple[dict[str, float | str], list[Problem]]:
    """Pins from 'name:number,name:text', held to the bounds of the fields; and what could not be used."""
    pins: dict[str, float | str] = {}
    problems: list[Problem] = []
    for part in text.split(","):
        name, _, value = part.partition(":")
        if is_text(name) and name not in pins:
            try:
                check(name, value)
            except ValueError:
                problems.append(Problem("pins", part[:40], said("problem.pin_unread", part=part[:40])))
            else:
                pins[name] = value
            continue
        bounds = _pin_bounds(name)
        try:
            number = parse_number(value)
        except NotANumberError:
            bounds = None
        if bounds is None or name in pins:
            told = said("problem.pin_unread", part=part[:40])
            problems.append(Problem("pins", part[:40], told))
            continue
        low, high, exclusive = bounds
        whole = name != "system_count" or number == int(number)
        if number < low or number > high or (exclusive and number == low) or not whole:
            told = said(
                "problem.pin_bounds",
                name=name[:40],
                value=plain(number),
                low=at_least(f"{low:,.12g}", exclusive=exclusive),
                high=said("problem.at_most", x=f"{high:,.12g}"),
            )
            problems.append(Problem("pins", part[:40], told))
            continue
        pins[name] = number
    return pins, problems


def parse(link: str | Mapping[str, str] | Iterable[tuple[str, str]]) -> Parsed:
    """Read a link, a query string or a mapping of parameters.

    Args:
        link: 'https://.../?utilization=0.6', 'utilization=0.6', or name-value pairs.

    Returns:
        Always a scenario; `problems` lists what was not used and why.
    """
    problems: list[Problem] = []
    if isinstance(link, str):
        text = link.strip()
        if len(text) > _MAX_LENGTH:
            return Parsed(
                Scenario(),
                (Problem("link", text[:60], said("problem.link_long", limit=f"{_MAX_LENGTH:,}")),),
            )
        try:
            query = urlsplit(text).query if ("?" in text or "://" in text) else text
            pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=1000)
        except ValueError:
            return Parsed(Scenario(), (Problem("link", text[:60], said("problem.link_unread")),))
        if text and not pairs:
            problems.append(Problem("link", text[:60], said("problem.link_empty")))
    else:
        pairs = list(link.items()) if isinstance(link, Mapping) else list(link)
    meta = {name: value for name, value in reversed(pairs) if name in META}
    version: int | None = None
    if "v" in meta:
        if meta["v"] in map(str, range(1, VERSION + 1)):
            version = int(meta["v"])
        else:
            problems.append(
                Problem(
                    "v",
                    meta["v"][:40],
                    said("problem.link_version", version=meta["v"][:40], known=VERSION),
                )
            )
    pins: dict[str, float | str] = {}
    if meta.get("pins"):
        pins, unread = _pins(meta["pins"])
        problems += unread
    scenario, more = read_values((n, t) for n, t in pairs if n not in META and n not in _IGNORED)
    return Parsed(scenario, (*problems, *more), version, meta.get("release", "")[:40] or None, tuple(pins.items()))
