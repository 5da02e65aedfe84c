import itertools
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from calculators.catalog import load_catalog
from calculators.exports import html_bytes
from calculators.numbers import money
from calculators.report import Report, build_report, to_json
from calculators.scenario import Scenario
from calculators.texts import Language, catalogue

Make = Callable[..., Report]

CASES: dict[str, dict[str, Any]] = {
    "pays back": {},
    "never": {"demand": "spend", "demand_usd_per_month": 8000.0},
    "does not fit": {"system": "hgx-h200-8"},
    "rent": {"acquisition": "rent"},
    "peaks": {"demand": "tokens", "demand_tokens_per_month": 6e10, "profile": "office-hours", "system_count": 2},
    "price falls": {"acquisition": "loan", "api_price_change_per_year": -0.6, "utilization": 0.3},
}
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """Elements, attributes and texts; fails on tags that do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [v for k, v in attrs if k == "id" and v]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("case", CASES)
def test_is_one_well_formed_file_that_asks_for_nothing(make: Make, case: str, language: Language) -> None:
    page = html_bytes(make(**CASES[case]), language).decode()
    found = Page(page)
    assert not found.all("script")
    assert not found.all("link")
    assert not found.all("img")
    assert not [a for _, attrs in found.tags for a in attrs if a.startswith("on") or a in ("src", "href", "srcset")]
    assert "url(" not in page
    assert "@import" not in page
    policy = next(m for m in found.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"
    assert found.all("html")[0]["lang"] == {"en": "en", "zh": "zh-Hans"}[language]
    assert len(found.ids) == len(set(found.ids))
    assert not {w.strip() for w in found.words} & {"nan", "NaN", "inf", "-inf", "Infinity", "None", "{"}
    # each table says what its columns are, and repeats it on the next sheet of paper
    assert len(found.all("thead")) == len(found.all("table")) >= 5
    assert all(h.get("scope") in ("col", "row", "rowgroup") for h in found.all("th"))


@pytest.mark.parametrize("case", CASES)
def test_says_the_verdict_and_the_figures_of_the_report(make: Make, case: str) -> None:
    report = make(**CASES[case])
    words = " ".join(Page(html_bytes(report).decode()).words)
    for sentence in report.sentences():
        assert sentence in words
    data = to_json(report)
    for line in data["self_host"]["lines"]:
        assert f"{line['usd_per_month']:,.2f}" in words
        assert line["formula"] in words
    for warning in data["warnings"]:
        assert warning in words
    for used in report.resolved.used:
        if used.origin != "scenario":
            assert used.source in words
    saving = data["payback"]["saving_usd_per_month"]
    assert (money(saving) if saving is not None else "unknown") in words
    assert data["link"] in words


def test_has_two_charts_with_words_for_those_who_do_not_see_them(make: Make) -> None:
    found = Page(html_bytes(make()).decode())
    charts = found.all("svg")
    assert len(charts) == 2
    for chart in charts:
        assert chart["role"] == "img"
        names = (chart["aria-labelledby"] or "").split()
        assert len(names) == 2
        assert set(names) <= set(found.ids)
    told = [w for w in found.words if "Line chart of" in w]
    assert len(told) == 2


def points(page: str, kind: str) -> list[tuple[float, float]]:
    found = re.search(rf'<polyline class="line {kind}" points="([^"]+)"', page)
    assert found is not None
    return [(float(a), float(b)) for a, b in (pair.split(",") for pair in found[1].split())]


def test_the_cash_chart_draws_the_cash_flow(make: Make) -> None:
    report = make()
    page = html_bytes(report).decode()
    drawn = points(page, "api")
    # month 0 to 48, evenly spaced; a straight line from -630,000 at month 0, since nothing changes by the month
    assert len(drawn) == 49
    steps = {round(b[0] - a[0], 0) for a, b in itertools.pairwise(drawn)}
    assert len(steps) <= 2
    table = report.schedule().cumulative_usd
    # two points fix the scale; a third then has to be where the cash flow says
    scale = (drawn[48][1] - drawn[0][1]) / (float(table[-1]) + 630000)
    middle = drawn[0][1] + scale * (float(table[23]) + 630000)
    assert drawn[24][1] == pytest.approx(middle, abs=0.11)
    # the ring stands on the zero line at the payback
    ring = re.search(r'<circle class="mark" cx="([\d.]+)" cy="([\d.]+)"', page)
    assert ring is not None
    month = (float(ring[1]) - drawn[0][0]) / (drawn[48][0] - drawn[0][0]) * 48
    assert month * 365 / 12 == pytest.approx(report.days, abs=2)
    assert float(ring[2]) == pytest.approx(drawn[0][1] + scale * 630000, abs=0.11)


def test_no_chart_of_a_payback_that_cannot_be_told(make: Make) -> None:
    found = Page(html_bytes(make(system="hgx-h200-8")).decode())
    assert not found.all("svg")
    assert "does not fit" in " ".join(found.words)


@pytest.mark.parametrize("title", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b </title>"])
def test_what_a_person_wrote_is_text(make: Make, title: str) -> None:
    page = html_bytes(make(title=title)).decode()
    found = Page(page)
    assert not found.all("script")
    assert not found.all("img")
    assert title in "".join(found.words)


def test_prints_on_a4_and_follows_light_and_dark(make: Make) -> None:
    page = html_bytes(make()).decode()
    assert "@page{size:A4" in page
    assert "prefers-color-scheme:dark" in page
    assert "thead{display:table-header-group}" in page
    assert "figure{margin:1.6em 0;break-inside:avoid}" in page
    assert "tr{break-inside:avoid}" in page


def test_chinese_has_no_english_heading(make: Make) -> None:
    page = html_bytes(make(demand="seats", demand_seats=200.0), "zh").decode()
    heads = re.findall(r'<th scope="(?:col|rowgroup)"[^>]*>([^<]+)</th>', page)
    names = {"moonshotai/kimi-k3", make().resolved.alternative.id}  # type: ignore[union-attr]
    assert [h for h in heads if h.isascii() and h not in names] == []
    rows = re.findall(r'<th scope="row">([^<]+)</th>', page)
    assert [r for r in rows if r.isascii() and not r.isdigit()] == ["PUE"] * rows.count("PUE")


def test_every_text_is_there_in_both_languages_and_fits() -> None:
    mine = {key: entry for key, entry in catalogue().items() if key.startswith("export.")}
    assert len(mine) > 60
    for key, entry in mine.items():
        assert set(entry) == {"en", "zh"}, key
        places = [sorted(re.findall(r"{(\w+)}", entry[lang])) for lang in ("en", "zh")]
        assert places[0] == places[1], key


def test_a_rent_tells_what_it_saves_and_no_payback_of_nothing() -> None:
    page = html_bytes(build_report(Scenario(acquisition="rent"), load_catalog())).decode()
    assert "0 days" not in page
    assert "Probability of saving money over the horizon" in page
    assert "Net present value when one input alone takes its low or high value" in page
    assert "Probability of paying back" not in page
