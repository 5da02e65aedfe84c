"""Usage: read an export or a load test, show what was read and what was not, put it into the scenario."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app_pages import _format as fmt
from app_pages import _inputs as inputs
from app_pages import _page as page
from calculators import usage_import as usage
from calculators.numbers import tokens
from calculators.texts import translated

t = page.t
Found = usage.UsageReport | usage.BenchmarkReport


def say(words: str) -> str:
    """Words of the importers in the language of this session."""
    return translated(words, inputs.current().language)


def ask() -> tuple[list[Any], str]:
    """The files and their kind."""
    left, right = st.columns([2, 1])
    files = left.file_uploader(
        t("usage.file"), accept_multiple_files=True, key="_usage_files", help=t("usage.file_help")
    )
    kinds = {kind: say(label) for kind, label in usage.KINDS.items()}
    kind = right.selectbox(
        t("usage.kind"),
        list(kinds),
        format_func=lambda k: kinds[k],
        key="_usage_kind",
        help=t("usage.kind_help"),
    )
    return list(files or []), kind


def mapping_of(file: Any) -> Mapping[str, str]:
    """The column mapping of a table that no reader knows: guessed, and corrected by the person."""
    guess = usage.guess_mapping(file.getvalue(), file.name)
    st.caption(f"{t('usage.mapping')} {say(guess.needed)}")
    columns = st.columns(3)
    chosen: dict[str, str] = {}
    for i, (name, label) in enumerate(usage.GENERIC_FIELDS.items()):
        options = ["", *guess.columns]
        start = options.index(guess.guess[name]) if guess.guess.get(name) in options else 0
        column = columns[i % 3].selectbox(say(label), options, index=start, key=f"_usage_column_{name}")
        if column:
            chosen[name] = column
    return chosen


def read(files: list[Any], kind: str, catalog: Any) -> Found:
    """Read one file, or two scrapes of /metrics."""
    if len(files) > 2:
        raise usage.ImportRefused(t("usage.too_many"))
    if len(files) == 2:
        seconds = st.number_input(
            t("usage.seconds"), min_value=0.0, value=None, key="_usage_seconds", help=t("usage.seconds_help")
        )
        return usage.read_pair(files[0].getvalue(), files[1].getvalue(), seconds or None)
    mapping = mapping_of(files[0]) if kind == "generic" else None
    asked = (files[0].file_id, kind, tuple(sorted((mapping or {}).items())))
    return inputs.remembered(
        "usage", asked, lambda: usage.read(files[0].getvalue(), files[0].name, kind, mapping, catalog=catalog)
    )


def told(found: Found) -> None:
    """What was read, refused and assumed."""
    data = found.to_json_dict()
    counts = t("usage.rows", read=f"{found.rows_read:,}", refused=f"{found.rows_refused:,}")
    st.markdown(f"**{fmt.escape(say(found.label))}** · {counts}")
    notes = [*(data.get("coverage", {}).get("sentence", ""),), *found.units, *found.notes]
    st.markdown("\n".join(f"- {fmt.escape(say(n))}" for n in notes if n))
    if found.refused:
        with st.expander(t("usage.refused", n=found.rows_refused)):
            columns = {
                t("usage.line"): [r.line for r in found.refused],
                t("usage.why"): [say(r.why) for r in found.refused],
            }
            page.table(columns, "usage_refused", t("usage.why"))


def usage_table(found: usage.UsageReport) -> None:
    """Totals by model, to check against the bill."""
    rows = found.models
    money = [", ".join(f"{v} {c}" for c, v in r.amounts.to_json_dict()["spend"].items()) for r in rows]
    columns = {
        t("usage.model"): [say(r.model) or t("ui.unknown") for r in rows],
        t("usage.new"): [r.amounts.new_input_tokens for r in rows],
        t("usage.cached"): [r.amounts.cached_input_tokens for r in rows],
        t("usage.written"): [r.amounts.cache_write_tokens for r in rows],
        t("usage.output"): [r.amounts.output_tokens for r in rows],
        t("usage.requests"): [r.amounts.requests for r in rows],
        t("usage.spend"): money,
        t("usage.price"): [say(r.price) for r in rows],
    }
    page.table(columns, "usage_models", t("usage.by_model"))
    total = found.totals.to_json_dict()
    spend = ", ".join(f"{v} {c}" for c, v in total["spend"].items()) or t("ui.unknown")
    words = tokens(total["total_tokens"]) if total["total_tokens"] is not None else t("ui.unknown")
    st.caption(t("usage.total", tokens=words, spend=spend))


def bench_table(found: usage.BenchmarkReport) -> int | None:
    """The runs of a load test, and which of them to take."""
    rows = found.rows
    columns = {
        t("usage.run"): list(range(len(rows))),
        t("usage.output_rate"): [r.output_tokens_per_s for r in rows],
        t("usage.concurrency"): [r.concurrency for r in rows],
        t("usage.mean_input"): [r.input_tokens_mean for r in rows],
        t("usage.mean_output"): [r.output_tokens_mean for r in rows],
        "TTFT (s)": [r.ttft_mean_s for r in rows],
        "TPOT (ms)": [r.tpot_mean_ms for r in rows],
    }
    page.table(columns, "usage_runs", t("usage.runs"))
    if len(rows) < 2:
        return None
    return int(st.selectbox(t("usage.which_run"), range(len(rows)), index=found.best(), key="_usage_run"))


def fields_of(found: Found, catalog: Any) -> dict[str, Any]:
    """The scenario fields that follow, with why, and what is still open."""
    if isinstance(found, usage.BenchmarkReport):
        return found.to_scenario_fields(bench_table(found))
    usage_table(found)
    names = {None: t("usage.all_models"), **{m.model: say(m.model) for m in found.models}}
    model = st.selectbox(
        t("usage.take_model"), list(names), format_func=lambda m: names.get(m, str(m)), key="_usage_model"
    )
    mean: int | None = None
    if found.api_totals.requests is None:
        mean = st.number_input(
            t("usage.mean_request"), min_value=1, max_value=1_048_576, value=None, key="_usage_mean", step=256
        )
    short = found.coverage.under_a_day and st.checkbox(t("usage.scale_short"), key="_usage_short")
    return found.to_scenario_fields(model, catalog, mean_input_tokens=mean, scale_short=bool(short))


def apply(result: Mapping[str, Any], language: str) -> None:
    """What will be put into the scenario, what is open, and the button that does it."""
    fields, why = result["fields"], result["explanations"]
    st.subheader(t("usage.fields"), anchor=False)
    shown = {n: v for n, v in fields.items() if n != "profile_weights"}
    columns = {
        t("usage.field"): [inputs.field_title(n, language) for n in shown],
        t("usage.value"): [fmt.field_text(n, v) for n, v in shown.items()],
        t("usage.why"): [say(why.get(n, "")) for n in shown],
    }
    page.table(columns, "usage_fields", t("usage.fields"))
    if result["unresolved"]:
        st.warning("\n".join([t("usage.open"), "", *(f"- {fmt.escape(say(q))}" for q in result["unresolved"])]))
    if fields:
        inputs.button(t("usage.apply"), inputs.apply_values, "_usage_apply", dict(fields), type="primary")
    else:
        st.info(t("usage.nothing"))


state = inputs.current()
st.title(t("nav.usage"), anchor=False)
st.markdown(t("usage.what"))
files, kind = ask()
if not files:
    st.info(t("usage.empty"))
else:
    try:
        found = read(files, kind, state.catalog)
        told(found)
        apply(fields_of(found, state.catalog), state.language)
    except usage.ImportRefused as refusal:
        st.error(fmt.escape(say(refusal.reason)))
        st.markdown(t("usage.refused_next"))
