"""From rows to a scenario: which amounts add up, how models are priced and ordered, what is asked and what is told."""

import json
from decimal import Decimal
from typing import Any

import pytest

from calculators.records import Offer
from calculators.usage_import import Amounts, ImportRefused, UsageReport, read
from calculators.usage_import.errors import CellError
from calculators.usage_import.usage import split_input

from .reports import keys


def generic(header: str, *rows: str, **more: Any) -> UsageReport:
    report = read("\n".join([header, *rows]).encode(), **more)
    assert isinstance(report, UsageReport)
    return report


def places(words: list[str] | tuple[str, ...], key: str) -> dict[str, Any]:
    (found,) = [w for w in words if getattr(w, "key", "") == key]
    return dict(found.places)  # type: ignore[attr-defined]


class Offers:
    """A catalogue of offers by exact id, some with a price for long requests; remembers what it was asked."""

    def __init__(self, *ids: str, tiered: tuple[str, ...] = ()) -> None:
        self.ids, self.tiered, self.asked = ids, tiered, list[str]()

    def offer(self, id_or_alias: str) -> Offer | None:
        self.asked.append(id_or_alias)
        if id_or_alias not in self.ids:
            return None
        tiers = [{"above_input_tokens": 200_000, "input_usd_per_mtok": 6.0}] if id_or_alias in self.tiered else []
        return Offer.model_validate(
            {
                "id": id_or_alias,
                "provider": "p",
                "model_id": "m",
                "weights_class": "m",
                "prices": [
                    {
                        "input_per_mtok": 3.0,
                        "output_per_mtok": 15.0,
                        "source": "s",
                        "checked": "2026-11-01",
                        "kind": "list_price",
                        "tiers": tiers,
                    }
                ],
            }
        )


# ------------------------------------------------------------------------------------------------------------- sums


def test_input_is_new_and_cached_and_written():
    full = Amounts(100, 20, 3, 4, 50)
    assert (full.input_tokens, full.cache_write_tokens, full.total_tokens) == (127, 7, 177)
    assert (Amounts(100).input_tokens, Amounts(100).cache_write_tokens, Amounts(100).total_tokens) == (100, 0, 100)
    assert Amounts(100, cache_write_1h_tokens=4).input_tokens == 104
    assert (Amounts(cached_input_tokens=5).input_tokens, Amounts(output_tokens=7).total_tokens) == (None, 7)
    assert Amounts(requests=3).total_tokens is None


@pytest.mark.parametrize(
    ("total_input", "cached", "writes", "inside", "output", "grand_total", "new"),
    [
        (100, None, None, True, None, None, 100),
        (100, 0, 0, False, None, None, 100),
        (100, 40, None, True, None, None, 60),
        (100, 40, 10, True, None, None, 50),
        (100, None, 10, True, None, None, 90),
        (100, 40, 10, False, None, None, 100),
        (100, 100, None, True, None, None, 0),
        (None, 40, 10, True, 5, 5, None),
        # the row's own total settles it
        (100, 40, 10, False, 7, 107, 50),
        (100, 40, 10, True, 7, 157, 100),
        (100, 40, 10, True, 7, 140, 50),
        (100, 40, 10, False, 7, 140, 100),
        (100, 40, 10, True, None, 150, 50),
        (100, 40, 10, False, 7, None, 100),
        (40, 100, None, True, 7, 147, 40),
    ],
)
def test_cached_tokens_are_taken_out_of_the_input_where_they_are_inside(
    total_input: int | None,
    cached: int | None,
    writes: int | None,
    inside: bool,
    output: int | None,
    grand_total: int | None,
    new: int | None,
):
    assert split_input(total_input, cached, writes, inside=inside, output=output, grand_total=grand_total) == new


def test_more_cached_than_input_is_refused_with_both():
    with pytest.raises(CellError) as caught:
        split_input(1000, 900, 101, inside=True)
    assert str(caught.value) == ("1,001 cached tokens are more than the 1,000 input tokens that should contain them")


@pytest.mark.parametrize(
    ("amounts", "text"),
    [
        (("1.5",), "1.50"),
        (("100",), "100.00"),
        (("1000", "0"), "1000.00"),
        (("0",), "0.00"),
        (("0.1", "0.2"), "0.30"),
        (("0.000001",), "0.000001"),
        (("1.5", "-1.5"), "0.00"),
        (("-2.125",), "-2.125"),
        (("1e3",), "1000.00"),
    ],
)
def test_money_is_exact_and_has_cents(amounts: tuple[str, ...], text: str):
    report = generic("date,model,cost_usd", *(f"2026-06-01,a,{a}" for a in amounts))
    assert report.to_json_dict()["totals"]["spend"] == {"USD": text}


def test_the_json_form_of_a_report():
    report = generic(
        "date,model,input_tokens,cached_tokens,cache_write_tokens,output_tokens,requests,cost,currency",
        "2026-06-01,a,100,40,10,7,2,1.5,USD",
        "2026-06-02,a,100,40,10,7,2,1,EUR",
        "2026-06-02,a,x,40,10,7,2,1,EUR",
        catalog=Offers("a"),
    )
    plain = report.to_json_dict()
    sums = {
        "new_input_tokens": 100,
        "cached_input_tokens": 80,
        "cache_write_5m_tokens": 20,
        "cache_write_1h_tokens": None,
        "input_tokens": 200,
        "output_tokens": 14,
        "total_tokens": 214,
        "requests": 4,
        "spend": {"EUR": "1.00", "USD": "1.50"},
        "list_spend": {},
    }
    assert plain["totals"] == plain["api_totals"] == sums
    assert plain["models"] == [{"model": "a", "billing": "api", "offer_id": "a", "price": "in file", **sums}]
    assert [(r["period"], r["model"], r["billing"], r["total_tokens"]) for r in plain["records"]] == [
        ("2026-06-01", "a", "api", 107),
        ("2026-06-02", "a", "api", 107),
    ]
    assert {k: plain[k] for k in ("type", "kind", "rows_read", "rows_empty", "rows_refused", "granularity")} == {
        "type": "usage",
        "kind": "generic",
        "rows_read": 2,
        "rows_empty": 0,
        "rows_refused": 1,
        "granularity": "day",
    }
    assert plain["refused"] == [{"line": 4, "why": "input_tokens: 'x' is not an amount"}]
    assert plain["coverage"] == {
        "first": "2026-06-01T00:00:00Z",
        "last": "2026-06-03T00:00:00Z",
        "days_with_data": 2,
        "days_spanned": 2,
        "hours": 48.0,
        "scale_to_month": pytest.approx(730 / 48),
        "sentence": report.coverage.sentence,
    }
    assert (plain["profile_weights"], plain["serving_cached_share"]) == (None, None)
    assert plain["profile_reason"] == "The file has daily totals: the hours of the week are unknown."
    assert plain["notes"] == list(report.notes)
    assert plain["units"] == ["tokens", "money"]
    json.dumps(plain, allow_nan=False)


# ----------------------------------------------------------------------------------------------------------- models


def test_models_are_ordered_by_who_is_paid_then_spend_then_tokens_then_name():
    report = generic(
        "date,model,input_tokens,output_tokens,cost_usd,provider",
        "2026-06-01,cheap,900,1,1,",
        "2026-06-01,dear,9,1,5,",
        "2026-06-01,z,50,1,,",
        "2026-06-01,b,9,1,,",
        "2026-06-01,c,9,1,,",
        "2026-06-01,own,9999,1,99,vllm",
        "2026-06-01,gift:free,9999,1,0,",
    )
    assert [m.model for m in report.models] == ["dear", "cheap", "z", "b", "c", "own", "gift:free"]


@pytest.mark.parametrize(
    ("row", "price"),
    [
        ("a,9,1,2.5,", "in file"),
        ("a,,,0,", "in file"),  # spend is all that the file has
        ("a,9,1,,", "unpriced"),
        ("a,9,1,0,", "unpriced"),
        ("known,9,1,0,", "list"),
        ("known,9,1,,", "list"),
        ("known,9,1,2.5,", "in file"),
        ("a:free,9,1,0,", "free"),
        ("a,9,1,0,vllm", "self-hosted"),
        ("known,9,1,-2.5,", "in file"),
    ],
)
def test_what_is_known_of_a_models_price(row: str, price: str):
    catalog = Offers("known")
    report = generic("date,model,input_tokens,output_tokens,cost_usd,provider", f"2026-06-01,{row}", catalog=catalog)
    (model,) = report.models
    assert model.price == price
    assert model.offer_id == ("known" if row.startswith("known") else None)
    cost = row.split(",")[3]
    unpriced = price in ("unpriced", "list") and cost == "0"
    assert ("import_note.no_spend" in keys(report.notes)) is unpriced
    assert (model.amounts.spend == {}) is (unpriced or cost == "")


def test_an_offer_is_looked_up_by_its_exact_spellings_only():
    for name, known in (
        ("gpt-4.1", "gpt-4.1"),
        ("gpt-4.1", "openai/gpt-4.1"),
        ("gpt-4.1", "gpt-4-1"),
        ("gpt-4.1", "openai/gpt-4-1"),
        ("x/gpt-4.1", "x/gpt-4-1"),
    ):
        row = f"2026-06-01,{name},9,1,2"
        report = generic(
            "date,model,input_tokens,output_tokens,num_model_requests", row, catalog=Offers(known), kind="openai_usage"
        )
        assert report.models[0].offer_id == known
    asked = Offers()
    generic("date,model,input_tokens,output_tokens,num_model_requests", "2026-06-01,x/a.b,9,1,2", catalog=asked)
    assert set(asked.asked) == {"x/a.b", "x/a-b"}


def test_the_first_spelling_that_is_known_is_the_offer():
    catalog = Offers("a.b", "a-b", "openai/a.b")
    row = "2026-06-01,a.b,9,1,2"
    header = "date,model,input_tokens,output_tokens,num_model_requests"
    assert generic(header, row, catalog=catalog).models[0].offer_id == "a.b"
    catalog = Offers("a-b", "openai/a.b")
    assert generic(header, row, catalog=catalog).models[0].offer_id == "openai/a.b"


# --------------------------------------------------------------------------------------------------- the mean request

HEADER = "date,model,input_tokens,output_tokens,requests"


def scenario(header: str, *rows: str, **more: Any) -> dict[str, Any]:
    return generic(header, *rows).to_scenario_fields(**more)


def test_the_mean_request_and_why():
    told = scenario(HEADER, "2026-06-01,a,1000,101,4", "2026-06-01,a,1000,100,2")
    assert (told["fields"]["input_tokens"], told["fields"]["output_tokens"]) == (333, 34)
    assert told["explanations"]["input_tokens"] == "Mean input 333.3 tokens over 6 requests."
    assert told["explanations"]["output_tokens"] == "Mean output 33.5 tokens over 6 requests."
    assert not {"import_ask.no_requests", "import_ask.no_tokens"} & set(keys(told["unresolved"]))


@pytest.mark.parametrize(
    ("tokens", "mean"), [(0, 1), (1, 1), (6, 2), (10, 2), (2_097_152, 1_048_576), (2_097_154, None)]
)
def test_a_mean_is_at_least_one_token_and_at_most_a_context(tokens: int, mean: int | None):
    told = scenario(HEADER, f"2026-06-01,a,{tokens},10,{2 if tokens > 100 or tokens == 0 else 4}")
    assert told["fields"].get("input_tokens") == mean
    assert ("import_ask.huge_mean" in keys(told["unresolved"])) is (mean is None)
    if mean is None:
        assert places(told["unresolved"], "import_ask.huge_mean") == {"which": "input", "n": "1,048,577"}


@pytest.mark.parametrize(
    ("row", "mean_input", "fields", "asked"),
    [
        (
            "800,200,",
            None,
            None,
            "The file has no request counts: give the mean request. Its ratio of input to output is 4 : 1.",
        ),
        ("800,0,", None, None, "The file has no request counts: give the mean request."),
        ("800,200,", 1000, (1000, 250), None),
        ("800,200,0", 1000, (1000, 250), None),
        ("800,200,2", 1000, (400, 100), None),
        (
            "0,200,",
            1000,
            None,
            "The file has no request counts: give the mean request. Its ratio of input to output is 0 : 1.",
        ),
    ],
)
def test_without_request_counts_the_mean_is_asked_or_given(
    row: str, mean_input: int | None, fields: tuple[int, int] | None, asked: str | None
):
    told = scenario(HEADER, f"2026-06-01,a,{row}", mean_input_tokens=mean_input)
    found = told["fields"]
    assert (found.get("input_tokens"), found.get("output_tokens")) == (fields or (None, None))
    assert [q for q in told["unresolved"] if "request counts" in q] == ([asked] if asked else [])


@pytest.mark.parametrize("row", [",,,5", "0,0,3,5", "900,,3,5"])
def test_without_tokens_the_mean_is_asked(row: str):
    told = scenario(HEADER + ",cost_usd", f"2026-06-01,a,{row}")
    if row.startswith("900"):  # the column of output exists: no output is 0 of it
        assert (told["fields"]["input_tokens"], told["fields"]["output_tokens"]) == (300, 1)
        return
    assert "input_tokens" not in told["fields"]
    assert "The file has no input and output tokens: give the mean request." in told["unresolved"]


# ------------------------------------------------------------------------------------------------- caches and batches


@pytest.mark.parametrize(
    ("cells", "cached", "written", "asked"),
    [
        # input, cached, written 5 min, written 1 h
        ("1000,400,60,0", 0.4, 0.1, []),
        ("1000,400,30,30", 0.4, 0.1, ["import_ask.hour_cache"]),
        ("1000,0,0,0", 0.0, 0.0, []),
        ("1000,1000,0,0", 1.0, None, []),
        ("300,100,200,0", 0.333333, 1.0, []),
    ],
)
def test_shares_of_the_input(cells: str, cached: float, written: float | None, asked: list[str]):
    header = "date,model,input_tokens,cached_tokens,cache_write_tokens,cache_write_1h_tokens,output_tokens,requests"
    told = scenario(header, f"2026-06-01,a,{cells},9,3")
    assert (told["fields"]["cached_share"], told["fields"].get("cache_write_share")) == (cached, written)
    assert [k for k in keys(told["unresolved"]) if k in ("import_ask.hour_cache", "import_ask.cached")] == asked
    if asked:
        assert places(told["unresolved"], "import_ask.hour_cache") == {"n": "30"}
    if cells.startswith("1000,400,60"):
        assert told["explanations"]["cached_share"] == "400 of 1,000 input tokens were billed as cache hits."
        assert told["explanations"]["cache_write_share"] == "60 of 600 uncached input tokens were cache writes."


def test_an_unknown_cache_is_asked():
    told = scenario(HEADER, "2026-06-01,a,1000,9,3")
    assert "import_ask.cached" in keys(told["unresolved"])
    assert not {"cached_share", "cache_write_share"} & set(told["fields"])


def test_the_share_of_batches():
    header = "date,model,input_tokens,output_tokens,num_model_requests,batch"
    told = scenario(header, "2026-06-01,a,200,10,1,true", "2026-06-01,a,400,20,1,false")
    assert told["fields"]["batch_share"] == 0.333333
    assert told["explanations"]["batch_share"] == "210 of 630 tokens went through the batch API."
    assert "batch_share" not in scenario(header, "2026-06-01,a,400,20,1,false")["fields"]
    assert scenario(header, "2026-06-01,a,200,10,1,true")["fields"]["batch_share"] == 1.0


# -------------------------------------------------------------------------------------------------------- the volume

DAILY = "date,model,input_tokens,output_tokens,requests,cost_usd"


def month(*rows: str, **more: Any) -> dict[str, Any]:
    return generic(DAILY, *rows).to_scenario_fields(**more)


def test_tokens_size_the_demand_and_spend_is_told_beside():
    told = month("2026-06-01,a,900,100,1,2", "2026-06-02,a,900,100,1,1")
    assert told["fields"]["demand"] == "tokens"
    assert told["fields"]["demand_tokens_per_month"] == round(2000 * 730 / 48)
    why = told["explanations"]
    assert why["demand_tokens_per_month"] == (
        "2,000 tokens x 15.21 (730 h / 48 h). Its spend is 3.00 USD, 45.62 USD a month."
    )
    assert why["demand"] == "The file counts tokens, which need no price to be compared."


def test_spend_sizes_the_demand_without_tokens():
    told = month("2026-06-01,a,,,,2.5", "2026-06-02,a,,,,0.5")
    assert told["fields"] == {"demand": "spend", "demand_usd_per_month": 45.62}
    assert told["explanations"]["demand_usd_per_month"] == "3.00 USD x 15.21 (730 h / 48 h)."
    assert "spend but no tokens" in told["explanations"]["demand"]


def test_requests_size_the_demand_without_tokens_and_spend():
    told = month("2026-06-01,a,,,7,", "2026-06-02,a,,,4,")
    assert told["fields"] == {"demand": "requests", "demand_requests_per_month": round(11 * 730 / 48)}
    assert told["explanations"]["demand_requests_per_month"] == "11 requests x 15.21 (730 h / 48 h)."
    assert told["explanations"]["demand"] == "The file counts requests."


@pytest.mark.parametrize("row", ["a,,,,0", "a,,,,-5", "a,0,0,0,"])
def test_nothing_to_size_the_demand_with_is_asked(row: str):
    told = month(f"2026-06-01,{row}", "2026-06-02,a,,,,")
    assert "demand" not in told["fields"]
    assert "import_ask.no_demand" in keys(told["unresolved"])


def test_spend_that_is_only_partly_explained_by_tokens_sizes_the_demand():
    told = month("2026-06-01,a,900,100,1,2", "2026-06-01,a,,,,1")
    assert told["fields"]["demand_usd_per_month"] == round(3 * 730 / 24, 2)
    assert told["explanations"]["demand"] == "The file's tokens are only part of what its spend paid for."
    credit = month("2026-06-01,a,900,100,1,2", "2026-06-01,a,,,,-1")
    assert credit["fields"]["demand"] == "tokens"


def test_other_currencies_are_asked_and_neither_converted_nor_called_nothing():
    told = scenario("date,model,cost,currency", "2026-06-01,a,5,EUR", "2026-06-01,a,7,CNY")
    assert "demand" not in told["fields"]
    asked = [q for q in told["unresolved"] if "not in USD" in q]
    assert asked == [
        "7.00 CNY is not in USD and was not converted or added: give its value in USD.",
        "5.00 EUR is not in USD and was not converted or added: give its value in USD.",
    ]
    assert "import_ask.no_demand" not in keys(told["unresolved"])


@pytest.mark.parametrize(("cells", "fits"), [("a,31000000000000000,1,,", True), ("a,34000000000000000,1,,", False)])
def test_a_volume_that_no_scenario_holds_is_asked(cells: str, fits: bool):
    # 31 and 34 quadrillion tokens a day: 9.4e17 and 1.03e18 a month, the bound is 1e18
    told = month(f"2026-06-01,{cells}")
    assert ("demand_tokens_per_month" in told["fields"]) is fits
    if not fits:
        assert places(told["unresolved"], "import_ask.volume") == {"n": "1.03e+18", "what": "tokens"}


@pytest.mark.parametrize(
    ("cells", "what", "n"),
    [("a,,,,33000000000", "spend", "1e+12"), ("a,,,33000000000000,", "requests", "1e+15")],
)
def test_spend_and_requests_have_bounds_too(cells: str, what: str, n: str):
    told = month(f"2026-06-01,{cells}")
    assert "demand" not in told["fields"]
    assert places(told["unresolved"], "import_ask.volume") == {"n": n, "what": what}
    assert "demand" in month(f"2026-06-01,{cells.replace('33', '32')}")["fields"]


def test_short_files_are_scaled_with_a_question_and_less_than_a_day_only_on_demand():
    two_days = month("2026-06-01,a,900,100,1,", "2026-06-02,a,900,100,1,")
    (asked,) = [q for q in two_days["unresolved"] if "Is that a typical time?" in q]
    assert asked.startswith("The file covers 2 days;")
    long = month("2026-06-01,a,900,100,1,", "2026-06-28,a,900,100,1,")
    assert not any("typical" in q for q in long["unresolved"])
    rows = ("time,model,input_tokens,output_tokens", "2026-06-01T09:00Z,a,9,1", "2026-06-01T10:00Z,a,9,1")
    hours = scenario(*rows)
    assert "demand" not in hours["fields"]
    (asked,) = [q for q in hours["unresolved"] if "Give the volume of a month." in q]
    assert asked.startswith("The file covers 2 hours;")
    assert scenario(*rows, scale_short=True)["fields"]["demand_tokens_per_month"] == 20 * 365


# --------------------------------------------------------------------------------------------------- which rows, whom


def test_rows_that_are_no_api_spend_are_left_out_and_asked_for():
    header = "date,model,input_tokens,output_tokens,provider"
    rows = ("2026-06-01,a,900,100,", "2026-06-01,own,90,10,vllm", "2026-06-01,b:free,1000,1,", "2026-06-01,c:free,1,1,")
    told = scenario(header, *rows)
    assert told["fields"]["demand_tokens_per_month"] == round(1000 * 730 / 24)
    assert places(told["unresolved"], "import_ask.left_out") == {"n": "1,103", "kinds": "free, self-hosted"}
    own = scenario(header, *rows, model="own")
    assert own["fields"]["demand_tokens_per_month"] == round(100 * 730 / 24)
    assert "import_ask.left_out" not in keys(own["unresolved"])
    only = scenario(header, *rows[1:])
    assert {"import_ask.no_api_spend", "import_ask.no_tokens", "import_ask.no_model"} <= set(keys(only["unresolved"]))
    assert "demand" not in only["fields"]
    report = generic(header, *rows[1:])
    assert (report.api_totals.total_tokens, report.api_totals.spend) == (None, {})
    assert "import_ask.left_out" not in keys(scenario(header, rows[0])["unresolved"])


def test_of_a_name_that_is_paid_and_free_the_paid_rows_are_taken():
    header = "startTime,model,prompt_tokens,completion_tokens,spend,cache_hit"
    paid, free = "2026-06-01T10:00Z,a,900,100,1,", "2026-06-03T10:00Z,a,9,1,0,true"
    told = scenario(header, paid, free, model="a")
    assert told["fields"]["input_tokens"] == 900
    alone = scenario(header, free, "2026-06-01T10:00Z,a,9,1,0,true", model="a")
    assert alone["fields"]["input_tokens"] == 9


def test_a_model_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ImportRefused) as caught:
        scenario(HEADER, "2026-06-01,a,9,1,1", "2026-06-01,b,9,1,1", model="c")
    assert caught.value.args[0].places == {"model": "'c'", "models": "a, b"}


@pytest.mark.parametrize(
    ("names", "key", "told"),
    [
        (("a",), "import_ask.no_offer", {"model": "'a'"}),
        (("a", "b"), "import_ask.many_models", {"n": 2, "models": "a, b"}),
        (("a", "b", "c", "d"), "import_ask.many_models", {"n": 4, "models": "a, b, c, d"}),
        (("a", "b", "c", "d", "e"), "import_ask.many_models", {"n": 5, "models": "a, b, c, d, …"}),
        (("",), "import_ask.no_model", {}),
    ],
)
def test_the_baseline_is_asked(names: tuple[str, ...], key: str, told: dict[str, Any]):
    unresolved = scenario(HEADER, *(f"2026-06-01,{n},9,1,1" for n in names))["unresolved"]
    assert places(unresolved, key) == told
    named = [n for n in names if n]
    assert ("import_ask.unpriced" in keys(unresolved)) is bool(named)
    if named:
        shown = ", ".join(named[:4]) + (", …" if len(named) > 4 else "")
        assert places(unresolved, "import_ask.unpriced") == {"models": shown}


def test_one_model_with_an_offer_is_the_baseline():
    report = generic(HEADER, "2026-06-01,known,9,1,1")
    told = report.to_scenario_fields(catalog=Offers("known"))
    assert told["fields"]["baseline"] == "known"
    assert told["explanations"]["baseline"] == "known is the offer known."
    assert "import_ask.no_offer" not in keys(told["unresolved"])
    early = generic(HEADER, "2026-06-01,known,9,1,1", catalog=Offers("known")).to_scenario_fields()
    assert early["fields"]["baseline"] == "known"
    assert "import_ask.unpriced" not in keys(early["unresolved"])
    mixed = generic(HEADER, "2026-06-01,known,9,1,1", "2026-06-01,,9,1,1").to_scenario_fields(catalog=Offers("known"))
    assert "baseline" not in mixed["fields"]
    assert "import_ask.no_model" in keys(mixed["unresolved"])


def test_a_price_for_long_requests_is_asked_for_totals_and_not_for_single_requests():
    catalog = Offers("long", "plain", tiered=("long",))
    for name, asked in (("long", True), ("plain", False), ("unknown", False)):
        told = generic(HEADER, f"2026-06-01,{name},9,1,1").to_scenario_fields(catalog=catalog)
        assert ("import_ask.tiered" in keys(told["unresolved"])) is asked
        log = generic(
            "startTime,model,prompt_tokens,completion_tokens,spend", f"2026-06-01T10:00Z,{name},9,1,1"
        ).to_scenario_fields(catalog=catalog)
        assert "import_ask.tiered" not in keys(log["unresolved"])
    told = generic(HEADER, "2026-06-01,plain,9,1,1", "2026-06-01,long,9,1,1").to_scenario_fields(catalog=catalog)
    assert places(told["unresolved"], "import_ask.tiered") == {"offer": "long"}


def test_totals_are_noted_for_tokens_only_and_not_for_single_requests():
    assert "import_note.totals" in keys(generic(HEADER, "2026-06-01,a,9,1,1").notes)
    assert "import_note.totals" not in keys(generic("date,model,cost_usd", "2026-06-01,a,9").notes)
    log = generic("startTime,model,prompt_tokens,completion_tokens,spend", "2026-06-01T10:00Z,a,9,1,1")
    assert "import_note.totals" not in keys(log.notes)


def test_the_profile_is_explained_either_way():
    told = scenario(HEADER, "2026-06-01,a,9,1,1")
    assert told["explanations"]["profile"] == (
        "The file has daily totals: the hours of the week are unknown. The scenario's profile stays as it is."
    )
    assert "profile" not in told["fields"]


def test_a_question_is_asked_once():
    unresolved = scenario("date,model,cost", "2026-06-01,a,1", "2026-06-01,b,1")["unresolved"]
    assert len(unresolved) == len(set(unresolved))
    assert unresolved[-1].key == "import_ask.usd"


def test_spend_of_rows_without_tokens_is_kept_apart():
    report = generic(DAILY, "2026-06-01,a,9,1,1,2", "2026-06-01,a,,,3,4", "2026-06-01,a,,,,5", "2026-06-01,a,,,,-1")
    assert report.spend_without_tokens == {"USD": Decimal(9)}
    output_only = generic(DAILY, "2026-06-01,a,,1,,5", "2026-06-01,a,1,,,5")
    assert output_only.spend_without_tokens == {}
