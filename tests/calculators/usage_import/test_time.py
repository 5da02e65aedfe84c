"""The time that a file covers: hours and days, spans in words, gaps, charges of a month, days of other time zones."""

from decimal import Decimal

import pytest

from calculators.usage_import import ImportRefused, UsageReport, read
from calculators.usage_import import usage as usage_module

from .reports import keys


def usage(text: str, **more: object) -> UsageReport:
    report = read(text.encode(), **more)  # type: ignore[arg-type]
    assert isinstance(report, UsageReport)
    return report


def at(*times: str) -> UsageReport:
    """Rows of ten tokens at these times."""
    return usage("\n".join(["time,model,input_tokens,output_tokens", *(f"{t},a,9,1" for t in times)]))


def spans(*pairs: tuple[str, str]) -> UsageReport:
    """Rows of ten tokens from one time to another."""
    rows = (f"{start},{end},a,9,1" for start, end in pairs)
    return usage("\n".join(["time,end_time,model,input_tokens,output_tokens", *rows]))


def trace(*seconds: float, calendar: bool = False) -> UsageReport:
    """Requests so many seconds after the first, with or without a calendar."""
    if calendar:
        rows = (f"{1780275600 + s},9,1" for s in seconds)
        return usage("\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows]))
    return usage("\n".join(["Timestamp,Model,Request tokens,Response tokens", *(f"{s},a,9,1" for s in seconds)]))


@pytest.mark.parametrize(
    ("seconds", "span", "scale"),
    [
        (60, "60 seconds", "43,800"),
        (119, "119 seconds", "22,084"),
        (120, "2 minutes", "21,900"),
        (1800, "30 minutes", "1,460"),
        (3599, "60 minutes", "730.2"),
        (3600, "1 hour", "730"),
        (3601, "1 hours", "729.8"),
        (5400, "1.5 hours", "486.7"),
        (36000, "10 hours", "73"),
        (172799, "48 hours", "15.21"),
        (172800, "2 days", "15.21"),
        (180000, "2.1 days", "14.6"),
        (216000, "2.5 days", "12.17"),
        (86400 * 100, "100 days", "0.3042"),
        (86400 * 100 + 4300, "100 days", "0.304"),
    ],
)
def test_a_span_in_words(seconds: int, span: str, scale: str):
    cover = trace(0, seconds).coverage
    assert cover.sentence.startswith(f"The file covers {span}; a month of 730 hours is {scale} times that.")
    assert cover.hours == pytest.approx(seconds / 3600)
    assert cover.scale_to_month == pytest.approx(730 * 3600 / seconds)
    assert (cover.first, cover.last, cover.days_with_data, cover.days_spanned) == (None, None, None, None)


@pytest.mark.parametrize(
    ("hours", "calendar", "span"),
    [
        (24, True, "1 day"),
        (23.995, True, "1 day"),
        (24.005, True, "1 day"),
        (23.98, True, "23.98 hours"),
        (24.02, True, "24.02 hours"),
        (24, False, "24 hours"),
    ],
)
def test_a_day_is_called_one_where_there_is_a_calendar(hours: float, calendar: bool, span: str):
    sentence = trace(0, 3600 * hours, calendar=calendar).coverage.sentence
    assert sentence.startswith(f"The file covers {span};")


@pytest.mark.parametrize(
    ("hours", "words", "short", "under_a_day"),
    [
        (23.99, "Less than a day", True, True),
        (24, "less than a week", True, False),
        (167, "less than a week", True, False),
        (168, "less than a month", True, False),
        (671, "less than a month", True, False),
        (672, None, False, False),
        (9999, None, False, False),
    ],
)
def test_how_little_a_short_file_says(hours: float, words: str | None, short: bool, under_a_day: bool):
    cover = trace(0, 3600 * hours).coverage
    assert (cover.is_short, cover.under_a_day) == (short, under_a_day)
    if words is None:
        assert cover.sentence.endswith("times that.")
    else:
        assert words in cover.sentence


def test_one_instant_covers_nothing():
    for report in (trace(5), trace(5, calendar=True), trace(5, 5)):
        cover = report.coverage
        assert (cover.hours, cover.scale_to_month) == (None, None)
        assert (cover.is_short, cover.under_a_day) == (True, True)
        assert cover.sentence == "All rows have the same instant: the file cannot be scaled to a month."
        assert (
            "All rows have the same instant: the file cannot be scaled to a month."
            in (report.to_scenario_fields(scale_short=True)["unresolved"])
        )


def test_a_file_without_dates_covers_nothing():
    report = usage("model,input_tokens,output_tokens\na,9,1\na,9,1\n")
    cover = report.coverage
    assert (cover.first, cover.last, cover.days_with_data, cover.days_spanned) == (None, None, None, None)
    assert (cover.hours, cover.scale_to_month, cover.is_short, cover.under_a_day) == (None, None, True, True)
    assert cover.sentence == "The file has no dates: say how long a time it covers."
    assert report.granularity == "none"
    assert [n for n in report.notes if "no date" in n] == ["2 rows have no date; they are in the totals but in no day."]


# ----------------------------------------------------------------------------------------------------------- days


@pytest.mark.parametrize(
    ("days", "spanned", "with_data", "words"),
    [
        ((1, 2, 3), 3, 3, "covers 3 days;"),
        ((1, 3), 3, 2, "covers 3 days, 2 of them with data;"),
        ((1,), 1, 1, "covers 1 day;"),
        ((30, 1), 30, 2, "covers 30 days, 2 of them with data;"),
    ],
)
def test_days_and_gaps(days: tuple[int, ...], spanned: int, with_data: int, words: str):
    cover = at(*(f"2026-06-{d:02d}" for d in days)).coverage
    assert (cover.days_spanned, cover.days_with_data, cover.hours) == (spanned, with_data, 24 * spanned)
    assert words in cover.sentence
    assert cover.first == f"2026-06-{min(days):02d}T00:00:00Z"
    assert cover.last == (f"2026-06-{max(days) + 1:02d}T00:00:00Z" if max(days) < 30 else "2026-07-01T00:00:00Z")


def test_rows_of_one_time_of_day_are_days():
    report = at("2026-06-01T09:00Z", "2026-06-02T09:00Z")
    assert report.granularity == "day"
    assert [r.period for r in report.records] == ["2026-06-01", "2026-06-02"]
    assert (report.coverage.first, report.coverage.last) == ("2026-06-01T00:00:00Z", "2026-06-03T00:00:00Z")


def test_rows_of_several_times_of_day_are_hours():
    report = at("2026-06-01T09:00Z", "2026-06-01T10:00Z", "2026-06-01T10:00Z")
    assert report.granularity == "hour"
    assert [r.period for r in report.records] == ["2026-06-01T09:00:00Z", "2026-06-01T10:00:00Z"]
    # an hour is named by its start: two hours
    assert (report.coverage.hours, report.coverage.last) == (2, "2026-06-01T11:00:00Z")
    minutes = at("2026-06-01T09:15Z", "2026-06-01T10:15Z", "2026-06-01T09:45Z")
    assert minutes.coverage.hours == 1
    assert [r.period for r in minutes.records] == ["2026-06-01T09:00:00Z", "2026-06-01T10:00:00Z"]


def test_rows_in_any_order_cover_the_same_time():
    times = ["2026-06-01T09:00Z", "2026-06-01T10:00Z", "2026-06-03T08:00Z"]
    assert at(*times).coverage == at(*reversed(times)).coverage
    pairs = [("2026-06-01", "2026-06-02"), ("2026-06-02", "2026-06-03"), ("2026-06-05", "2026-06-06")]
    assert spans(*pairs).coverage == spans(*reversed(pairs)).coverage
    assert spans(*pairs).coverage.hours == 120


@pytest.mark.parametrize(
    ("start", "end", "granularity", "hours"),
    [
        ("2026-06-01T09:00Z", "2026-06-01T10:00Z", "hour", 1),
        ("2026-06-01T09:00Z", "2026-06-01T10:01Z", "day", 61 / 60),
        ("2026-06-01T09:00Z", "2026-06-01T09:05Z", "hour", 1 / 12),
        ("2026-06-01", "2026-06-02", "day", 24),
        ("2026-06-01", "2026-06-01", "day", 24),  # an end that is no later is no end
        ("2026-06-02", "2026-06-01", "day", 24),
        ("2026-06-01", "someday", "day", 24),
        ("2026-06-01", "", "day", 24),
    ],
)
def test_the_width_of_rows_tells_hours_from_days(start: str, end: str, granularity: str, hours: float):
    report = spans((start, end))
    assert report.granularity == granularity
    assert report.coverage.hours == pytest.approx(hours)


def test_the_narrowest_row_decides():
    report = spans(("2026-06-01T00:00Z", "2026-06-01T12:00Z"), ("2026-06-01T12:00Z", "2026-06-01T13:00Z"))
    assert report.granularity == "hour"
    assert report.coverage.hours == 13


@pytest.mark.parametrize(
    ("start", "end", "period", "shifted"),
    [
        # days of other time zones go to the UTC day that holds most of them
        ("2026-06-01T20:00Z", "2026-06-02T16:00Z", "2026-06-02", True),
        ("2026-06-01T20:00Z", "2026-06-02T15:00Z", "2026-06-01", False),  # 19 hours are no day
        ("2026-06-01T16:00Z", "2026-06-02T16:00Z", "2026-06-02", True),
        ("2026-06-01T05:00Z", "2026-06-02T05:00Z", "2026-06-01", True),
        ("2026-06-01T00:00Z", "2026-06-02T00:00Z", "2026-06-01", False),
        ("2026-06-01T00:00Z", "2026-06-02T04:00Z", "2026-06-01", False),  # 28 hours
    ],
)
def test_days_that_start_at_another_hour(start: str, end: str, period: str, shifted: bool):
    report = spans((start, end))
    assert [r.period for r in report.records] == [period]
    assert ("import_note.shifted_days" in keys(report.notes)) is shifted
    assert (report.coverage.days_with_data, report.coverage.days_spanned) == (
        1,
        1 if shifted or end <= "2026-06-02T00:00Z" else 2,
    )


# --------------------------------------------------------------------------------------------- charges of many days


def test_a_charge_of_a_month_does_not_stretch_the_days_of_the_others():
    report = spans(
        ("2026-06-01", "2026-07-01"),
        ("2026-06-10", "2026-06-11"),
        ("2026-06-11", "2026-06-12"),
        ("2026-05-01", "2026-05-31"),
    )
    assert (report.coverage.hours, report.coverage.days_with_data, report.coverage.days_spanned) == (48, 2, 2)
    assert "import_note.wide_rows" in keys(report.notes)
    assert report.totals.total_tokens == 40
    assert [r.period for r in report.records] == ["2026-05-01", "2026-06-01", "2026-06-10", "2026-06-11"]


def test_charges_of_months_alone_cover_their_months():
    report = spans(("2026-06-01", "2026-07-01"), ("2026-05-01", "2026-06-01"))
    assert (report.coverage.first, report.coverage.last) == ("2026-05-01T00:00:00Z", "2026-07-01T00:00:00Z")
    assert (report.coverage.hours, report.coverage.days_with_data, report.coverage.days_spanned) == (61 * 24, 61, 61)
    assert "import_note.wide_rows" not in keys(report.notes)
    assert report.granularity == "day"


@pytest.mark.parametrize(("hours", "wide"), [("04:00", False), ("05:00", True)])
def test_more_than_28_hours_are_many_days(hours: str, wide: bool):
    report = spans(("2026-06-01", "2026-06-02"), ("2026-06-03T00:00Z", f"2026-06-04T{hours}Z"))
    assert ("import_note.wide_rows" in keys(report.notes)) is wide
    assert report.coverage.hours == (24 if wide else 76)


# ------------------------------------------------------------------------------------------------ tables that are full


def test_more_hours_than_the_table_holds_become_days(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(usage_module, "MAX_BUCKETS", 30)
    rows = [f"2026-06-0{d}T{h:02d}:00Z,a,9,1,2,1.5" for d in (1, 2) for h in range(24)]
    header = "time,model,input_tokens,output_tokens,requests,cost_usd"
    report = usage("\n".join([header, ",undated,5,5,5,5", *rows]))
    assert report.granularity == "day"
    by_day = {r.period: r.amounts for r in report.records}
    assert list(by_day) == ["", "2026-06-01", "2026-06-02"]
    day = by_day["2026-06-02"]
    assert (day.total_tokens, day.requests, day.spend) == (240, 48, {"USD": Decimal(36)})
    assert by_day["2026-06-01"] == day
    assert (by_day[""].total_tokens, by_day[""].spend) == (10, {"USD": Decimal(5)})
    assert "import_note.by_day" in keys(report.notes)
    assert report.coverage.hours == 48


def test_more_days_than_the_table_holds_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(usage_module, "MAX_BUCKETS", 30)
    rows = [f"2026-06-0{d},m{m},9,1" for d in (1, 2) for m in range(15)]
    header = "time,model,input_tokens,output_tokens"
    full = usage("\n".join([header, *rows]))
    assert len(full.records) == 30
    assert "import_note.by_day" not in keys(full.notes)
    with pytest.raises(ImportRefused) as caught:
        usage("\n".join([header, *rows, "2026-06-03,a,9,1", "2026-06-03,b,9,1"]))
    assert caught.value.args[0].key == "import_refused.many_buckets"
    assert caught.value.args[0].places == {"most": "30"}


def test_more_models_than_the_table_holds_are_added_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(usage_module, "MAX_MODELS", 3)
    rows = [f"2026-06-01,m{m},9,{m}" for m in (1, 2, 3, 4, 5, 1)]
    report = usage("\n".join(["time,model,input_tokens,output_tokens", *rows]))
    assert {m.model: m.amounts.output_tokens for m in report.models} == {"m1": 2, "m2": 2, "m3": 3, "(other models)": 9}
    (note,) = [n for n in report.notes if "more than" in n]
    assert note == "The file names more than 3 models; the rest are added up as (other models)."
    three = usage("\n".join(["time,model,input_tokens,output_tokens", *rows[:3]]))
    assert "import_note.many_models" not in keys(three.notes)


def test_twenty_refused_rows_are_listed_and_all_are_counted():
    bad = [f"2026-06-01,a,x{i},1" for i in range(25)]
    report = usage("\n".join(["time,model,input_tokens,output_tokens", "2026-06-01,a,9,1", *bad]))
    assert (report.rows_read, report.rows_refused, len(report.refused)) == (1, 25, 20)
    assert (report.refused[0].line, report.refused[-1].line) == (3, 22)


def test_a_file_without_one_good_row_is_refused_with_its_first_reason():
    with pytest.raises(ImportRefused) as caught:
        usage("time,model,input_tokens,output_tokens\n2026-06-01,a,x,1\n2026-06-01,a,y,1\n")
    assert caught.value.args[0].key == "import_refused.no_row"
    assert caught.value.args[0].places["n"] == "2"
    assert caught.value.args[0].places["line"] == 2
    assert "'x'" in caught.value.args[0].places["why"]
    with pytest.raises(ImportRefused, match="has a header but no rows"):
        usage("time,model,input_tokens,output_tokens\n")


# -------------------------------------------------------------------------------------------------- hours of the week

MONDAY = 1780272000
"""2026-06-01T00:00Z."""


def week(figure: str, hours: range, amount: object = 6, start: int = MONDAY, **special: str) -> UsageReport:
    """Rows of one hour each with one figure; `special` overrides that of single hours ('h5')."""
    rows = [f"{start + 3600 * h},{start + 3600 * h + 3600},a,{special.get(f'h{h}', amount)}" for h in hours]
    header = {"tokens": "input_tokens", "requests": "requests", "spend": "cost_usd"}[figure]
    mapping = {"time": "start", "end_time": "end", "model": "model", header.replace("cost_usd", "cost"): header}
    if figure == "tokens":
        rows = [f"{r},0" for r in rows]
        header += ",output_tokens"
        mapping["output_tokens"] = "output_tokens"
    return usage("\n".join([f"start,end,model,{header}", *rows]), mapping=mapping)


@pytest.mark.parametrize("figure", ["tokens", "requests", "spend"])
def test_hours_are_weighed_by_tokens_or_else_requests_or_else_spend(figure: str):
    report = week(figure, range(168), h5="18")
    weights = report.profile_weights
    assert weights is not None
    mean = (167 * 6 + 18) / 168
    assert weights[5] == pytest.approx(18 / mean)
    assert weights[6] == pytest.approx(6 / mean)
    assert report.profile_reason == f"Mean {figure} of each hour of the week over 7.0 days, UTC."


def test_credits_do_not_make_an_hour_negative():
    weights = week("spend", range(168), h5="-18").profile_weights
    assert weights is not None
    assert weights[5] == 0
    assert weights[6] == pytest.approx(168 / 167)


def test_the_first_hour_of_the_weights_is_monday_midnight_wherever_the_file_starts():
    # from Wednesday noon; the double hour is Sunday 23:00 = 6 x 24 + 23
    start = MONDAY + 3600 * 60
    weights = week("tokens", range(168), start=start, h107="18").profile_weights
    assert weights is not None
    assert weights.index(max(weights)) == 60 + 107 - 24 * 0 == 167


def test_hours_seen_twice_are_halved():
    # ten days: the first three days of the week are seen twice
    weights = week("tokens", range(240)).profile_weights
    assert weights is not None
    assert weights == pytest.approx([1.0] * 168)
    # half an hour of the eighth day: 6 tokens in 1.5 hours of Monday 00:00
    rows = week("tokens", range(168))
    assert rows.profile_weights == pytest.approx([1.0] * 168)


@pytest.mark.parametrize(("hours", "known"), [(167, False), (168, True)])
def test_a_profile_needs_a_whole_week(hours: int, known: bool):
    report = week("tokens", range(hours))
    assert (report.profile_weights is not None) is known
    if not known:
        assert report.profile_reason == (
            "A profile of the week needs 7 whole days by the hour; the file covers 7 days."
        )


def test_a_week_without_amounts_has_no_profile():
    report = week("tokens", range(168), amount=0)
    assert report.profile_weights is None
    assert report.profile_reason == "The file has no amounts to weigh the hours with."


def test_undated_rows_have_no_hour():
    rows = [f"{MONDAY + 3600 * h},{MONDAY + 3600 * h + 3600},a,9,1" for h in range(168)]
    report = usage("\n".join(["time,end_time,model,input_tokens,output_tokens", ",,a,900,1", *rows]))
    assert report.profile_weights == pytest.approx([1.0] * 168)
    assert report.totals.input_tokens == 900 + 168 * 9


def test_a_trace_without_a_calendar_has_no_hours_of_the_week():
    report = trace(0, 86400 * 10)
    assert report.profile_weights is None
    assert report.profile_reason == ("The file's times have no calendar: which hour of the week they are is unknown.")
