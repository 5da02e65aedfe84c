"""One catalogue of sentences: complete in both languages, and used as it is written."""

import ast
import re
import string
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from calculators.scenario import SPECS
from calculators.texts import LANGUAGES, catalogue, duration_text, text

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([ROOT / "app.py", *(ROOT / "app_pages").glob("*.py"), *(ROOT / "calculators").rglob("*.py")])
GROUPS = {key.split(".")[0] for key in catalogue()}
KEY = re.compile(r"^([a-z_]+)\.[a-z0-9_]+$")
CALLED = {"text", "t", "said", "say", "words", "self"}


def places(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@lru_cache(maxsize=1)
def trees() -> tuple[tuple[Path, ast.Module], ...]:
    return tuple((path, ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES)


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """File, key and node of every call that asks for a text by a written key."""
    for path, tree in trees():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            key = node.args[0].value
            if name in CALLED and isinstance(key, str) and (found := KEY.match(key)) and found[1] in GROUPS | {"text"}:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", key, node


ENGLISH_ELSEWHERE = {"field_title", "field_help"}
"""Groups whose English words stand in the declaration of the fields."""


def test_every_text_is_in_every_language_with_the_same_named_places() -> None:
    assert len(catalogue()) > 100
    for key, entry in catalogue().items():
        languages = set(LANGUAGES) - ({"en"} if key.split(".")[0] in ENGLISH_ELSEWHERE else set())
        assert set(entry) == languages, key
        assert len({frozenset(places(template)) for template in entry.values()}) == 1, key
        for template in entry.values():
            assert template.strip(), key
            assert all(place.isidentifier() for place in places(template)), key
            assert "!" not in template, key
            assert "！" not in template, key


def test_fields_have_their_words_in_chinese() -> None:
    for group in ENGLISH_ELSEWHERE:
        names = {key.partition(".")[2] for key in catalogue() if key.startswith(f"{group}.")}
        assert names == set(SPECS), group


def test_sentences_of_the_verdict_end_with_a_stop() -> None:
    parts = re.compile(r"^verdict\.(.*_(one|many)|band.*|why_.*|limit_.*|and|versus_.*|need_(beyond|above|price))$")
    for key, entry in catalogue().items():
        if key.startswith("verdict.") and not parts.match(key):
            assert entry["en"].endswith((".", "}")), key
            assert entry["zh"].endswith(("。", "}")), key


def test_every_key_that_code_asks_for_exists() -> None:
    found = list(calls())
    assert len(found) > 50
    assert [(where, key) for where, key, _ in found if key not in catalogue()] == []


def test_every_call_fills_the_places_of_its_text() -> None:
    wrong = []
    for where, key, node in calls():
        if key not in catalogue() or any(k.arg is None for k in node.keywords):
            continue  # **places: not known from the code alone
        given = {k.arg for k in node.keywords}
        if given != places(catalogue()[key]["en"]):
            wrong.append((where, key, sorted(given), sorted(places(catalogue()[key]["en"]))))
    assert wrong == []


def test_every_group_that_code_asks_for_exists() -> None:
    wrong = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.JoinedStr)):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            first = node.args[0].values[0]
            if name in {"text", "t"} and isinstance(first, ast.Constant) and "." in str(first.value):
                start = str(first.value)
                if not any(key.startswith(start) for key in catalogue()):
                    wrong.append((str(path.relative_to(ROOT)), start))
    assert wrong == []


def test_text_fills_its_places() -> None:
    assert text("unit.days", n="232") == "232 days"
    assert text("unit.days", "zh", n="232") == "232 天"


def test_unknown_key_or_place_is_an_error() -> None:
    with pytest.raises(KeyError):
        text("verdict.nonsense")
    with pytest.raises(KeyError):
        text("unit.days", nonsense=1)


@pytest.mark.parametrize(
    ("days", "en", "zh"),
    [
        (0, "0 days", "0 天"),
        (231.5, "232 days", "232 天"),
        (730, "2.0 years", "2.0 年"),
        (18_250, "50.0 years", "50.0 年"),
    ],
)
def test_duration(days: float, en: str, zh: str) -> None:
    assert duration_text(days) == en
    assert duration_text(days, "zh") == zh
