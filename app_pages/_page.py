"""Parts that every page has: what to tell first, charts with a table twin, sources, downloads, sharing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import pyarrow as pa
import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _inputs as inputs
from calculators.report import Report, cost_lines
from calculators.texts import Language, text, translated


def t(key: str, /, **places: object) -> str:
    """A text in the language of this session."""
    return text(key, inputs.current().language, **places)


def begin(title: str = "") -> tuple[inputs.State, Report]:
    """Tell what has to be told, then hand over state and report; the page stops with one sentence without a report."""
    state = inputs.current()
    if title:
        st.title(title)
    if state.problems:
        lines = "\n".join(f"- {fmt.escape(p.message)}" for p in state.problems)
        with st.container(key="problems"):
            st.warning(f"{t('page.not_used')}\n\n{lines}")
            if state.dismissable:
                inputs.button(t("page.dismiss"), inputs.dismiss_problems, "_dismiss_problems", type="tertiary")
    answer = state.answer
    if answer.moved is not None:
        date = answer.moved.release or fmt.unknown(state.language)
        reports = (answer.moved.then, answer.moved.now)
        then, now = ("" if r is None else fmt.payback(r.status, r.days, state.language) for r in reports)
        key = "page.moved" if then != now else "page.moved_elsewhere"
        why = fmt.escape(translated(answer.moved.why, state.language))
        st.info(t(key if now else "page.moved_away", date=date, then=then, now=now, why=why))
        inputs.button(t("page.use_today"), inputs.use_todays_data, "_use_today")
    if answer.report is None:
        st.warning(fmt.escape(answer.stopped))
        st.stop()
    assert answer.report is not None
    return state, answer.report


def cards(rows: Sequence[tuple[str, str, str, str]]) -> None:
    """Figures in a row that wraps: label, value, a line below it ('' = none), help."""
    grid = st.grid(4, min_column_width=190)
    unknown = fmt.unknown(inputs.current().language)
    for label, value, line, words in rows:
        grid.metric(
            label,
            value,
            delta=None if not line or unknown in line else line,
            delta_color="off",
            delta_arrow="off",
            help=fmt.escape(words),
            border=True,
            height="stretch",
        )


def tabs(parts: Mapping[str, Callable[[], None]], key: str) -> None:
    """Parts of a page in tabs, by the key of their name; only the open one is drawn."""
    for tab, draw in zip(st.tabs([t(name) for name in parts], key=key, on_change="rerun"), parts.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def finding(words: str, note: str = "") -> None:
    """A chart's title: what it finds, and one line of how to read it."""
    # one element: each costs a third of a millisecond of the server
    st.markdown(f"## {words}\n\n:small[:gray[{_in_brackets(note)}]]" if note else f"## {words}")


def _in_brackets(words: str) -> str:
    """Words that stand inside of [ ] in markdown."""
    return words.replace("[", "\\[").replace("]", "\\]")


def chart(
    fig: charts.Chart,
    key: str,
    title: str,
    alt: str,
    columns: Mapping[str, Sequence[Any]] | Callable[[], Mapping[str, Sequence[Any]]],
    note: str = "",
) -> None:
    """A chart under its finding, with a text alternative and, where `tables` is on, the same numbers as a table.

    Long columns come as a function, called where a person asks for the tables.
    """
    finding(title, note)
    plot(fig, key, alt)
    if inputs.tables_asked():
        table(columns() if callable(columns) else columns, f"{key}_rows", alt)


def plot(fig: charts.Chart, key: str, alt: str) -> None:
    """The chart alone, in its own look."""
    st.plotly_chart(fig.figure(), key=key, config=charts.CONFIG, alt=alt, theme=None)


def tables() -> None:
    """The switch for the tables of the charts below it; one for all, as each box is drawn anew on every change."""
    inputs.ask_for_tables(t("page.tables"))


def table(columns: Mapping[str, Sequence[Any]] | pa.Table, key: str, alt: str, **options: Any) -> None:
    """A sortable table from named columns, or from what `arrow` made of them before."""
    data = arrow(columns) if isinstance(columns, Mapping) else columns
    st.dataframe(data, key=key, hide_index=True, alt=alt, lazy=False, **options)


def arrow(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Named columns as Arrow, which is what goes to the browser; for other data Streamlit loads pandas, 40 MB."""
    return pa.table({name: _column(values) for name, values in columns.items()})


def small_table(columns: Mapping[str, Sequence[str]]) -> None:
    """A few rows in full, long words wrapped; all columns but the first and the last texts stand to the right.

    Plain text: a sortable table cuts long words off and is drawn on a canvas a while after the rest of the page.
    """
    names = list(columns)
    marks = [
        ":--" if n == 0 or any(len(v) > 40 for v in values) else "--:" for n, values in enumerate(columns.values())
    ]
    rows = [names, *zip(*columns.values(), strict=True)]
    lines = ["| " + " | ".join(fmt.escape(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    st.markdown("\n".join([lines[0], "|" + "|".join(marks) + "|", *lines[1:]]))


def _column(values: Sequence[Any]) -> pa.Array:
    """Numbers or texts with gaps (None, NaN), made from buffers: `pa.array` loads pandas to see whether it has one."""
    plain = values.tolist() if isinstance(values, np.ndarray) else list(values)
    known = [v is not None and v == v for v in plain]
    gaps = pa.py_buffer(np.packbits(np.array(known, dtype=bool), bitorder="little").tobytes())
    kept = [v for v, there in zip(plain, known, strict=True) if there]
    if kept and all(type(v) is int for v in kept):
        numbers = np.array([v if there else 0 for v, there in zip(plain, known, strict=True)], dtype="<i8")
        return pa.Array.from_buffers(pa.int64(), len(plain), [gaps, pa.py_buffer(numbers.tobytes())])
    if kept and all(isinstance(v, int | float) and not isinstance(v, bool) for v in kept):
        numbers = np.array([v if there else 0 for v, there in zip(plain, known, strict=True)], dtype="<f8")
        return pa.Array.from_buffers(pa.float64(), len(plain), [gaps, pa.py_buffer(numbers.tobytes())])
    texts = [str(v).encode() if there else b"" for v, there in zip(plain, known, strict=True)]
    ends = np.cumsum([0, *map(len, texts)], dtype="<i4")
    return pa.Array.from_buffers(
        pa.string(), len(plain), [gaps, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(texts))]
    )


def notes(report: Report) -> None:
    """What a reader should know of the figures, in a closed expander."""
    language = inputs.current().language
    warnings = [translated(w, language) for w in report.data["warnings"]]
    if warnings:
        with st.expander(t("page.notes", n=len(warnings)), key="notes"):
            st.markdown("\n".join(f"- {fmt.escape(w)}" for w in warnings))


def sources(report: Report, language: Language) -> None:
    """Every number that went into the answer with its source, and every cost line with its working."""
    with st.expander(t("page.sources"), key="sources", on_change="rerun") as box:
        pass
    if not box.open:
        return
    with box:
        st.markdown(f"**{t('page.working')}**")
        lines = cost_lines(report)
        table(
            {
                t("col.line"): [text_of_line(line["name"], language) for line in lines],
                t("col.usd_per_month"): [fmt.usd(line["usd_per_month"], language) for line in lines],
                t("col.formula"): [translated(line["formula"], language) for line in lines],
                t("col.source"): [line["source"] for line in lines],
            },
            "sources_lines",
            t("page.working"),
        )
        st.markdown(f"**{t('page.figures')}**")
        used = report.resolved.used
        table(
            {
                t("col.figure"): [translated(u.title, language) for u in used],
                t("col.value"): [fmt.figure(u.value, u.unit) for u in used],
                t("col.origin"): [t(f"origin.{u.origin}") for u in used],
                t("col.source"): [translated(u.source, language) for u in used],
                t("col.date"): [u.date for u in used],
                t("col.kind"): [u.kind for u in used],
                t("col.note"): [u.note for u in used],
            },
            "sources_figures",
            t("page.figures"),
        )


def text_of_line(name: str, language: Language) -> str:
    """Name of a cost line in the language."""
    slug = "".join(c if c.isalnum() else "_" for c in name.lower())
    return text(f"line.{slug}", language)


def _later(make: Callable[..., bytes], *args: Any) -> Callable[[], bytes]:
    return lambda: make(*args)


def share_and_downloads(report: Report, language: Language) -> None:
    """The files and the full link, in a box; a file is made when it is asked for."""
    with st.popover(t("share.title"), icon=":material/ios_share:", key="_share", on_change="rerun") as box:
        pass
    if not box.open:
        return
    from calculators import exports

    with box:
        files = (
            ("csv", exports.csv_bytes, (report,), "text/csv", "csv"),
            ("cash_flow", exports.cash_flow_csv_bytes, (report,), "text/csv", "csv"),
            ("workbook", exports.workbook_bytes, (report,), _XLSX, "xlsx"),
            ("html", exports.html_bytes, (report, language), "text/html", "html"),
        )
        for name, make, args, mime, ending in files:
            st.download_button(
                t(f"share.{name}"),
                data=_later(make, *args),
                file_name=f"self-hosting-{name.replace('_', '-')}.{ending}",
                mime=mime,
                key=f"_download_{name}",
                on_click="ignore",
                icon=":material/download:",
                width="stretch",
            )
        st.markdown(t("share.what", release=report.release))
        st.code(permalink(report), language=None)


_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def permalink(report: Report) -> str:
    """The complete link of the default page, absolute where the address is known."""
    here = urlsplit(st.context.url or "")
    pages = ("capacity", "machines", "costs", "risk", "claims", "usage", "evidence", "compare")
    path = here.path.rstrip("/")
    if path.rsplit("/", 1)[-1] in pages:
        path = path.rsplit("/", 1)[0]
    return urlunsplit((here.scheme, here.netloc, f"{path}/", report.link, ""))
