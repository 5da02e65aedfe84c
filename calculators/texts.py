"""All sentences that people read, in one catalogue (texts.toml), in English and Simplified Chinese."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, Self

Language = Literal["en", "zh"]
LANGUAGES: Final[Mapping[str, str]] = MappingProxyType({"en": "English", "zh": "简体中文"})


@lru_cache(maxsize=1)
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """All texts: key -> language -> template with named {places}."""
    with (Path(__file__).parent / "texts.toml").open("rb") as file:
        tables = tomllib.load(file)
    flat = {
        f"{group}.{key}": MappingProxyType(entry) for group, entries in tables.items() for key, entry in entries.items()
    }
    return MappingProxyType(flat)


def text(key: str, language: Language = "en", /, **places: object) -> str:
    """A text in a language, its places filled in.

    Raises:
        KeyError: the catalogue has no such key or language (a test looks for missing ones).
    """
    template = catalogue()[key][language]
    return template.format(**places) if places else template


class Said(str):
    """English words that remember which text they are, so that a page can show them in another language.

    It is a plain `str` to everything else: files, the command line and comparisons see the English words.
    """

    key: str
    places: Mapping[str, object]

    def __new__(cls, words: str, key: str, places: Mapping[str, object]) -> Self:
        """The words, the key of their text, and what fills its places (again words that may be `Said`)."""
        self = super().__new__(cls, words)
        self.key = key
        self.places = places
        return self

    def __reduce__(self) -> tuple[type["Said"], tuple[str, str, dict[str, object]]]:
        """Copies and pickles remember too."""
        return Said, (str(self), self.key, dict(self.places))

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Itself: neither words nor places change."""
        return self


def said(key: str, /, **places: object) -> Said:
    """An English text that `translated` can turn into another language.

    Raises:
        KeyError: the catalogue has no such key.
    """
    return Said(text(key, "en", **places), key, places) if places else _said(key)


@lru_cache(maxsize=1024)
def _said(key: str) -> Said:
    return Said(text(key), key, {})


@lru_cache(maxsize=4096)
def _known(words: str, key: str) -> str:
    return Said(words, key, {}) if key in catalogue() else words


def field_id(name: str) -> str:
    """The id of a scenario field; in other languages its title."""
    return _known(name, f"field_title.{name}")


def field_words(name: str, title: str) -> str:
    """The English title of a scenario field as given; in other languages their title."""
    return _known(title, f"field_title.{name}")


def unit_words(unit: str) -> str:
    """A unit such as 'USD/kW-month'; in other languages their word for it."""
    return _known(unit, "unit_of." + unit.lower().replace("/", "_per_").replace("-", "_"))


def listed(parts: Sequence[str], key: str = "list.comma") -> str:
    """Parts in one line; ``key`` is the text that joins two, {a} and {b}."""
    return reduce(lambda a, b: said(key, a=a, b=b), parts) if parts else ""


def translated(words: str, language: Language) -> str:
    """Words in a language: `Said` words by their key, all others as they are."""
    if language == "en" or not isinstance(words, Said):
        return str(words)
    places = {n: translated(v, language) if isinstance(v, str) else v for n, v in words.places.items()}
    return text(words.key, language, **places)


def duration_text(days: float, language: Language = "en") -> str:
    """Days under two years as days, longer ones as years, in words of the language."""
    if days < 730:
        shown = f"{days:,.0f}"
        return text("unit.day", language) if shown == "1" else text("unit.days", language, n=shown)
    return text("unit.years", language, n=f"{days / 365:.1f}")


def months_text(count: int, language: Language = "en") -> str:
    """'1 month', '48 months'."""
    return translated(months_said(count), language)


def months_said(count: int) -> Said:
    """`months_text` as words that can be translated later."""
    return said("unit.month") if count == 1 else said("unit.months", n=f"{count:,}")
