"""All sentences that people read, in one catalogue (texts.toml), in English and Simplified Chinese."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

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


def duration_text(days: float, language: Language = "en") -> str:
    """Days under two years as days, longer ones as years, in words of the language."""
    if days < 730:
        return text("unit.days", language, n=f"{days:,.0f}")
    return text("unit.years", language, n=f"{days / 365:.1f}")
