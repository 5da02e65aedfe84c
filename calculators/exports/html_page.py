"""The report as one page to print: verdict, charts, tables, assumptions, sources and warnings in one file.

No script and no request to anywhere; a content security policy forbids both. All that a person or a catalogue wrote is
escaped. Light and dark follow the reader's setting; paper is always light, A4, with no figure or row cut in two.
"""

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from calculators import views
from calculators.exports.charts import Chart, Line, Mark, svg
from calculators.exports.months import Months, months
from calculators.numbers import money, plain, share, three_digits, tokens
from calculators.report import Report, to_json
from calculators.resolve import PRICE_FIELDS, Used
from calculators.scenario import GROUPS, SPECS
from calculators.texts import Language, catalogue, duration_text, months_text, text, translated
from calculators.verdict import break_even_key, cash_key, plan_text

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"

_LONG: Final = 40
"""Letters from which on a cell may wrap anywhere."""

_WORD: Final = 12
"""Letters up to which a single word (a date) stays on one line."""

_STYLE: Final = """
:root{--page:#fff;--ink:#1b2733;--soft:#5b6670;--rule:#d5dbe1;--tint:#f3f5f7;--accent:#00629b;--own:#2c7fb8;
--api:#b84a0e;--alternative:#0f7a5b;color-scheme:light dark}
@media screen and (prefers-color-scheme:dark){:root{--page:#12181f;--ink:#e6ebf0;--soft:#a3afbb;--rule:#344150;
--tint:#1c252f;--accent:#7cc4f0;--own:#5cb3e6;--api:#f28a4b;--alternative:#3fc79b}}
@page{size:A4;margin:16mm 14mm}
*{box-sizing:border-box}
body{margin:0 auto;padding:32px 20px 48px;max-width:880px;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans SC","PingFang SC","Microsoft YaHei",
sans-serif}
h1{font-size:1.15rem;font-weight:600;margin:0;color:var(--accent)}
h2{font-size:1.1rem;font-weight:600;margin:2.2em 0 .5em;break-after:avoid}
h3{font-size:1rem;font-weight:600;margin:0 0 .3em;break-after:avoid}
p{margin:.4em 0}
.sub,figcaption,caption{color:var(--soft)}
.first{font-size:1.5rem;line-height:1.3;font-weight:600;margin:.8em 0 .4em}
.cards{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin:1.4em 0 0;padding:0}
.cards div{border:1px solid var(--rule);border-radius:6px;padding:10px 12px;break-inside:avoid}
.cards dt{font-size:.85rem;color:var(--soft)}
.cards dd{margin:0}.cards .figure{font-size:1.35rem;font-weight:600;line-height:1.3}
.cards .note{font-size:.8rem;color:var(--soft);overflow-wrap:anywhere}
figure{margin:1.6em 0;break-inside:avoid}
svg.chart{display:block;width:100%;height:auto}
svg text{font-size:12px;fill:var(--soft)}
svg text.name{font-size:12.5px;font-weight:600}
svg text.told{font-size:12.5px;font-weight:600;fill:var(--ink)}
svg .grid{stroke:var(--rule);stroke-width:1}svg .zero{stroke:var(--soft);stroke-width:1.2}
svg .beyond{fill:var(--soft);fill-opacity:.12}
svg .upright{stroke:var(--soft);stroke-width:1.2;stroke-dasharray:4 4}
svg .line{fill:none;stroke-width:2.5;stroke-linejoin:round}
svg .line.own{stroke:var(--own)}svg .line.api{stroke:var(--api)}svg .line.alternative{stroke:var(--alternative)}
svg text.own{fill:var(--own)}svg text.api{fill:var(--api)}svg text.alternative{fill:var(--alternative)}
svg .mark{fill:var(--page);stroke:var(--ink);stroke-width:2.2}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.88rem;margin:.4em 0 1em}
caption{text-align:left;padding:0 0 .4em}
thead{display:table-header-group}
tr{break-inside:avoid}
th,td{padding:5px 8px;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule);overflow-wrap:break-word}
td.long{overflow-wrap:anywhere;white-space:normal!important}
thead th{background:var(--tint);font-weight:600}
tbody th{font-weight:400}
tr.group th{font-weight:600;background:var(--tint)}
tr.sum th,tr.sum td{font-weight:600;border-top:1.5px solid var(--soft)}
td.w{white-space:nowrap;overflow-wrap:normal}
tr.group{break-after:avoid}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
td.n{white-space:nowrap}
.small{font-size:.8rem;color:var(--soft)}
code{font:.78rem/1.4 ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace;overflow-wrap:anywhere;display:block;
background:var(--tint);padding:8px 10px;border-radius:6px}
ul{padding-left:1.2em}
.keep{break-inside:avoid}
@media (max-width:640px){figure{overflow-x:auto}svg.chart{min-width:560px}tbody th{min-width:7.5em}
.cards{grid-template-columns:repeat(2,1fr)}.first{font-size:1.25rem}}
@media print{body{padding:0;max-width:none;font-size:9.5pt;line-height:1.4}
.first{font-size:13.5pt}table{font-size:8.5pt}figure{margin:1em 0}h2{margin-top:1.6em}
.cards{grid-template-columns:repeat(4,1fr)}.wide{overflow:visible}th,td{padding:3px 6px}
svg.chart{max-height:66mm}.cards .figure{font-size:12pt}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""


class _Cell(str):
    """A number's cell: right-aligned."""

    __slots__ = ()


class _Words:
    """Texts and numbers in one language; None becomes the word for unknown."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language

    def __call__(self, key: str, **places: object) -> str:
        return text(key if "." in key else f"export.{key}", self.language, **places)

    def _or_unknown(self, value: float | None, shown: Any) -> _Cell:
        return _Cell(self("unknown") if value is None else shown(value))

    def usd(self, value: float | None) -> _Cell:
        return self._or_unknown(value, money)

    def exact_usd(self, value: float | None) -> _Cell:
        return self._or_unknown(value, lambda v: f"{v:,.2f}".replace("-", "\u2212"))

    def whole_usd(self, value: float | None) -> _Cell:
        return self._or_unknown(value, lambda v: f"{v:,.0f}".replace("-", "\u2212"))

    def per_mtok(self, value: float | None) -> _Cell:
        return self._or_unknown(value, lambda v: f"{three_digits(v)} USD")

    def tokens(self, value: float | None) -> _Cell:
        return self._or_unknown(value, tokens)

    def share(self, value: float | None) -> _Cell:
        return self._or_unknown(value, share)

    def payback(self, status: str | None, days: float | None) -> _Cell:
        if status is None:
            return _Cell(self("unknown"))
        if status in ("pays_back", "beyond_horizon") and days is not None:
            return _Cell(duration_text(days, self.language))
        return _Cell(self(f"payback.{status}"))

    def days_or_never(self, days: float | None) -> _Cell:
        if days is None or not math.isfinite(days):
            return _Cell(self("payback.never"))
        return _Cell(self("payback.immediate") if days == 0 else duration_text(days, self.language))

    def title(self, name: str, otherwise: str) -> str:
        """Title of a field, or of an offer's price, in the language."""
        if self.language == "en":
            return otherwise
        for label in ("baseline", "alternative"):
            for batch in ("batch_", ""):
                field = name.removeprefix(f"{label}_{batch}")
                if field in PRICE_FIELDS and field != name:
                    shown = self(label, title=self(f"field_title.{field}"))
                    return self("batch", title=shown) if batch else shown
        key = f"field_title.{name}"
        return self(key) if key in catalogue() else translated(otherwise, self.language)


def _figure(value: float | str, unit: str) -> str:
    """A figure with all its digits; shares as per cent."""
    if isinstance(value, str):
        return value
    if unit in ("share", "share/year"):
        return f"{plain(round(value * 100, 8))} %"
    unit = "×" if unit == "ratio" else unit
    shown = f"{int(value):,}" if value == int(value) and abs(value) < 1e15 else f"{value:,.10g}"
    return f"{shown} {unit}".strip()


def _kind(cell: str) -> str:
    """Class of a cell: a number does not wrap, a long text may break anywhere (addresses)."""
    if isinstance(cell, _Cell):
        return " class=n" if len(cell) <= _LONG else ' class="n long"'
    if len(cell) > _LONG:
        return " class=long"
    return " class=w" if cell and " " not in cell and len(cell) <= _WORD else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", sums: Sequence[str] = ()) -> str:
    """A table; the first cell of a row is its head, a `_Cell` is right-aligned, a row of one cell is a group."""
    listed = [list(row) for row in rows]
    right = [
        all(isinstance(row[k], _Cell) for row in listed if len(row) > 1) if listed else False for k in range(len(head))
    ]
    top = "".join(
        f'<th scope="col"{" class=n" if wide else ""}>{escape(title)}</th>'
        for title, wide in zip(head, right, strict=True)
    )
    body = []
    for row in listed:
        if len(row) == 1:
            body.append(f'<tr class="group"><th scope="rowgroup" colspan="{len(head)}">{escape(row[0])}</th></tr>')
            continue
        cells = "".join(f"<td{_kind(cell)}>{escape(cell)}</td>" for cell in row[1:])
        kind = ' class="sum"' if row[0] in sums else ""
        first = " class=n" if isinstance(row[0], _Cell) else ""
        body.append(f'<tr{kind}><th scope="row"{first}>{escape(row[0])}</th>{cells}</tr>')
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    # a table may be wider than a phone: then it scrolls, by keyboard too
    name = escape(caption or head[0])
    box = f'<div class="wide" role="region" tabindex="0" aria-label="{name}">'
    return f"{box}<table>{told}<thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"


def _card(title: str, figure: str, note: str) -> str:
    return (
        f'<div><dt>{escape(title)}</dt><dd class="figure">{escape(figure)}</dd>'
        f'<dd class="note">{escape(note)}</dd></div>'
    )


def _bought(report: Report) -> bool:
    """Whether anything is paid at the start: else there is nothing to pay back, and the NPV tells the risk."""
    return float(report.result.ownership.capex_usd) > 0


def _cards(report: Report, data: dict[str, Any], w: _Words) -> str:
    offer = report.resolved.baseline.id
    band = data["uncertainty"]["payback_days"]
    note = w("payback_note", offer=offer)
    if band is not None and band["p10"] is not None and _bought(report):
        note = w("band", low=w.days_or_never(band["p10"]), high=w.days_or_never(band["p90"]))
    even, base = data["break_even"], data["serverless"]["baseline"]
    cards = (
        _card(w("payback"), w.payback(report.status, report.days), note),
        _card(
            w("saving"),
            w.usd(data["payback"]["saving_usd_per_month"]),
            w("saving_note", bill=w.usd(base["usd_per_month"])),
        ),
        _card(
            w("own_cost"),
            w.per_mtok(data["self_host"]["usd_per_mtok"]),
            w("own_cost_note", api=w.per_mtok(base["usd_per_mtok"])),
        ),
        _card(
            w("break_even"),
            w("not_reachable") if even["api_usd_per_month"] is None else w.usd(even["api_usd_per_month"]),
            "" if even["tokens_per_month"] is None else w("break_even_note", tokens=w.tokens(even["tokens_per_month"])),
        ),
    )
    return f'<dl class="cards" aria-label="{escape(w("key_figures"))}">{"".join(cards)}</dl>'


# Charts --------------------------------------------------------------------------------------------------------------


def _cash_chart(report: Report, table: Months, w: _Words) -> str:
    x = list(range(len(table)))
    offer = report.resolved.baseline.id
    own = [v or 0.0 for v in table.columns["cumulative_usd"]]
    lines = [Line("api", w("chart.against", offer=offer), x, own)]
    if table.alternative and report.resolved.alternative is not None:
        other = [v or 0.0 for v in table.columns["alternative_cumulative_usd"]]
        lines.append(Line("alternative", w("chart.against", offer=report.resolved.alternative.id), x, other))
    told = w.payback(report.status, report.days)
    horizon = months_text(report.scenario.horizon_months, w.language)
    marks = [Mark(float(report.result.flow.payback_months), 0.0, told)] if report.status == "pays_back" else []
    title = w(cash_key(report.result, report.status), days=told, horizon=horizon)
    alt = w("chart.cash_alt", title=title, offer=offer, end=money(own[-1]))
    chart = Chart("cash", title, alt, w("axis.month"), w("axis.cumulative_usd"), lines, marks, whole_x=True)
    return _figure_element(chart)


def _cost_chart(report: Report, w: _Words) -> str:
    curve = views.cost_curve(report)
    if curve is None:
        return ""
    lines = [Line("api", report.resolved.baseline.id, curve.api_tokens.tolist(), curve.api_usd.tolist())]
    if curve.alternative_usd is not None and report.resolved.alternative is not None:
        lines.append(
            Line(
                "alternative",
                report.resolved.alternative.id,
                curve.api_tokens.tolist(),
                curve.alternative_usd.tolist(),
            )
        )
    lines.append(Line("own", w("chart.own"), curve.own_tokens.tolist(), curve.own_usd.tolist()))
    marks = []
    title = w("chart.never_cheaper")
    if curve.break_even_tokens is not None and curve.break_even_usd is not None:
        shown = tokens(curve.break_even_tokens)
        marks = [Mark(curve.break_even_tokens, curve.break_even_usd, w("chart.break_even", tokens=shown))]
        title = w(break_even_key(report.even), tokens=shown)
    load = share(report.scenario.utilization)
    alt = w("chart.cost_alt", title=title, capacity=tokens(curve.capacity_tokens), share=load)
    chart = Chart(
        "cost",
        title,
        alt,
        w("axis.tokens_per_month"),
        w("axis.usd_per_month"),
        lines,
        marks,
        beyond=(curve.capacity_tokens, w("chart.beyond")),
        upright=(curve.served_tokens, w("chart.planned")),
    )
    return _figure_element(chart)


def _figure_element(chart: Chart) -> str:
    return f"<figure><h3>{escape(chart.title)}</h3>{svg(chart)}</figure>"


# Tables --------------------------------------------------------------------------------------------------------------


def _results_table(report: Report, data: dict[str, Any], w: _Words) -> str:
    parts = (data["payback"], data["alternative_payback"])
    offers = (data["serverless"]["baseline"], data["serverless"]["alternative"])
    known = [part["status"] is not None for part in parts]

    def each(title: str, cells: Iterable[str]) -> list[str]:
        return [title, *cells]

    def discounted(part: dict[str, Any], told: bool) -> _Cell:
        days = part["discounted_days"]
        if not told:
            return _Cell(w("unknown"))
        return _Cell(w("not_within")) if days is None else w.days_or_never(days)

    def irr(part: dict[str, Any], told: bool) -> _Cell:
        return _Cell(w("none")) if told and part["irr_per_year"] is None else w.share(part["irr_per_year"])

    head = [w("measure"), *(o["offer"] or w("none") for o in offers)]
    rows = [
        each(w("payback"), (w.payback(p["status"], p["days"]) for p in parts)),
        each(w("discounted"), (discounted(p, k) for p, k in zip(parts, known, strict=True))),
        each(w("saving"), (w.usd(p["saving_usd_per_month"]) for p in parts)),
        each(w("npv"), (w.usd(p["npv_usd"]) for p in parts)),
        each(w("irr"), (irr(p, k) for p, k in zip(parts, known, strict=True))),
        each(w("bill"), (w.usd(o["usd_per_month"]) for o in offers)),
        each(w("price"), (w.per_mtok(o["usd_per_mtok"]) for o in offers)),
    ]
    return _table(head, rows, caption=w("results_caption"))


def _plan_table(report: Report, data: dict[str, Any], w: _Words) -> str:
    memory, speed = data["memory"], data["throughput"]["output_tokens_per_s"]
    if memory["fits"]:
        gb = {k: f"{memory[f'{k}_bytes'] / 1e9:,.0f} GB" for k in ("weights", "usable")}
        fits = w("fits_yes", **gb)
    else:
        fits = w("fits_no", short=f"{(memory['short_by_bytes'] or 0) / 1e9:,.0f} GB")
    rows = [
        [w("fits"), _Cell(fits)],
        [w("throughput"), _Cell(w("unknown") if speed is None else f"{three_digits(speed)} tokens/s")],
        [w("evidence"), _Cell(w(f"evidence.{report.evidence}"))],
        [w("capacity"), w.tokens(data["capacity"]["tokens_per_month"])],
        [w("served"), w.tokens(data["served"]["tokens_per_month"])],
        [w("used"), w.share(data["served"]["utilization"])],
        [w("overflow"), w.tokens(data["served"]["overflow_tokens_per_month"])],
        [w("capex"), w.usd(data["self_host"]["capex_usd"])],
    ]
    unsure = report.uncertainty
    if unsure is not None and _bought(report):
        rows.append([w("probability"), w.share(unsure.probability_pays_back)])
    elif unsure is not None:
        rows.append([w("probability_saves"), w.share(unsure.probability_npv_above_zero)])
    return _table([w("measure"), w("value")], rows)


def _cost_table(data: dict[str, Any], w: _Words) -> str:
    host = data["self_host"]

    def name(line: str) -> str:
        key = "line." + "".join(c if c.isalnum() else "_" for c in line.lower())
        return w(key) if key in catalogue() else line

    def row(line: dict[str, Any]) -> list[str]:
        return [name(line["name"]), w.exact_usd(line["usd_per_month"]), translated(line["formula"], w.language)]

    # running lines first, then their sum, then the write-off
    late = [line for line in host["lines"] if line["name"] == "Depreciation"]
    rows = [row(line) for line in host["lines"] if line not in late]
    rows.append([w("opex"), w.exact_usd(host["opex_usd_per_month"]), ""])
    rows += [row(line) for line in late]
    rows.append([w("total"), w.exact_usd(host["usd_per_month"]), ""])
    return _table([w("col.line"), w("col.usd_per_month"), w("col.formula")], rows, sums=(w("opex"), w("total")))


def _break_even_table(data: dict[str, Any], w: _Words) -> str:
    even = data["break_even"]

    def row(title: str, value: float | None, shown: Any) -> list[str]:
        return [w(title), _Cell(w("not_reachable")) if value is None else shown(value)]

    rows = [
        row("even_spend", even["api_usd_per_month"], w.usd),
        row("even_tokens", even["tokens_per_month"], w.tokens),
        row("even_utilization", even["utilization"], w.share),
        row("even_price", even["api_usd_per_mtok"], w.per_mtok),
        row("even_hardware", even["hardware_usd"], w.usd),
    ]
    return _table([w("measure"), w("value")], rows, caption=w("break_evens_caption"))


def _risk_table(report: Report, w: _Words) -> str:
    unsure = report.uncertainty
    if unsure is None or not unsure.tornado:
        return ""
    bought = _bought(report)

    def end(value: float, unit: str, days: float, npv: float) -> _Cell:
        return _Cell(f"{_figure(value, unit)}{w('colon')}{w.days_or_never(days) if bought else money(npv)}")

    bars = unsure.tornado if bought else sorted(unsure.tornado, key=lambda bar: -bar.swing_npv_usd)
    rows = [
        [
            bar.input.title(w.language)[:1].upper() + bar.input.title(w.language)[1:],
            end(bar.input.low, bar.input.unit, bar.payback_days_at_low, bar.npv_usd_at_low),
            end(bar.input.high, bar.input.unit, bar.payback_days_at_high, bar.npv_usd_at_high),
        ]
        for bar in bars[:6]
    ]
    head = [w("input"), w("at_low"), w("at_high")]
    content = _table(head, rows, caption=w("risk_caption" if bought else "risk_caption_npv"))
    return f'<section class="keep"><h2>{escape(w("risk" if bought else "risk_npv"))}</h2>{content}</section>'


def _flow_table(table: Months, w: _Words) -> str:
    c = table.columns
    rows: list[list[str]] = []
    for month in range(len(table)):
        paid = sum(c[name][month] or 0.0 for name in ("running_usd", "licence_usd", "interest_usd"))
        row: list[str] = [
            _Cell(str(month)),
            w.whole_usd(c["api_value_usd"][month]),
            w.whole_usd(paid),
            w.whole_usd(c["saving_usd"][month]),
            w.whole_usd(c["cumulative_usd"][month]),
            w.whole_usd(c["discounted_cumulative_usd"][month]),
        ]
        rows.append([*row, w.whole_usd(c["alternative_cumulative_usd"][month])] if table.alternative else row)
    names = ["month", "api_value", "running", "month_saving", "cumulative", "discounted_cumulative"]
    names += ["alternative_cumulative"] if table.alternative else []
    return _table([w(name) for name in names], rows, caption=w("flow_caption"))


def _assumptions_table(report: Report, w: _Words) -> str:
    used = {u.name: u for u in report.resolved.used if u.origin == "scenario"}
    rows: list[list[str]] = []
    for group in GROUPS:
        listed = [name for name, spec in SPECS.items() if spec.group == group and name in used and name != "title"]
        if listed:
            rows.append([w(f"group.{group}")])
        for name in listed:
            figure = used[name]
            typed = getattr(report.scenario, name) != SPECS[name].default
            origin = w("typed") if typed else w("default")
            rows.append([w.title(name, figure.title), _Cell(_figure(figure.value, figure.unit)), origin])
    return _table([w("input"), w("value"), w("origin")], rows, caption=w("assumptions_caption"))


def _sources_table(report: Report, w: _Words) -> str:
    def row(used: Used) -> list[str]:
        source = translated(used.source, w.language)
        told = f"{source} ({used.note})" if used.note else source
        shown = _Cell(_figure(used.value, used.unit))
        return [w.title(used.name, used.title), shown, told, used.date, used.kind.replace("_", " ")]

    rows = [row(used) for used in report.resolved.used if used.origin != "scenario"]
    anchor = report.result.sizing.anchor
    if anchor and report.evidence != "none":
        speed = report.result.sizing.output_tokens_per_s
        place = f"{anchor.get('source_url') or ''} ({anchor.get('id', '')})"
        shown = _Cell(f"{three_digits(float(speed))} tokens/s")
        rows.append([w("throughput"), shown, place, str(anchor.get("date") or ""), w(f"evidence.{report.evidence}")])
    head = [w("input"), w("value"), w("source"), w("date"), w("kind")]
    return _table(head, rows, caption=w("sources_caption"))


def _body(report: Report, language: Language) -> Iterable[str]:
    w = _Words(language)
    data = to_json(report)
    first, *rest = report.sentences(language)
    offer = report.resolved.baseline.id
    heading = report.scenario.title or w("heading", model=report.resolved.model.name)
    subtitle = w("subtitle", plan=plan_text(report.resolved, language), offer=offer, release=report.release)
    yield f'<header><h1>{escape(heading)}</h1><p class="sub">{escape(subtitle)}</p></header><main>'
    yield f'<section aria-label="{escape(w("verdict"))}"><p class="first">{escape(first)}</p>'
    yield "".join(f"<p>{escape(sentence)}</p>" for sentence in rest)
    yield _cards(report, data, w) + "</section>"
    table = months(report)
    if table is not None:
        yield f'<section aria-label="{escape(w("charts"))}">'
        yield _cash_chart(report, table, w) + _cost_chart(report, w) + "</section>"
    for title, content in (
        ("results", _results_table(report, data, w)),
        ("plan", _plan_table(report, data, w)),
        ("costs", _cost_table(data, w)),
        ("break_evens", _break_even_table(data, w)),
    ):
        yield f'<section class="keep"><h2>{escape(w(title))}</h2>{content}</section>'
    yield _risk_table(report, w)
    if data["warnings"]:
        yield f"<h2>{escape(w('warnings'))}</h2><ul>"
        yield "".join(f"<li>{escape(translated(warning, language))}</li>" for warning in data["warnings"]) + "</ul>"
    yield f"<h2>{escape(w('assumptions'))}</h2>{_assumptions_table(report, w)}"
    yield f"<h2>{escape(w('sources'))}</h2>{_sources_table(report, w)}"
    if table is not None:
        yield f"<h2>{escape(w('flow'))}</h2>{_flow_table(table, w)}"
    yield f'<p class="small">{escape(w("link"))}</p><code>{escape(data["link"])}</code></main>'


def html_bytes(report: Report, language: Language = "en") -> bytes:
    """The report as one HTML file in UTF-8, in English or Simplified Chinese."""
    title = report.scenario.title or text("export.heading", language, model=report.resolved.model.name)
    lang = "zh-Hans" if language == "zh" else "en"
    head = (
        f'<!DOCTYPE html><html lang="{lang}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
    )
    return (head + "\n".join(_body(report, language)) + "</body></html>\n").encode()
