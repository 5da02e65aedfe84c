"""Every page through AppTest: defaults, presets, junk, invalid values; one clear sentence, never a traceback."""

import json
import logging
import re
import threading
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.testing.v1 import AppTest

from app_pages import _inputs as inputs
from app_pages import _page as parts
from app_pages import _session
from app_pages._charts import WORDS, level_names
from app_pages._session import send_theme_as_made
from app_pages._turns import TURN, aside
from calculators import link
from calculators.catalog import load_catalog
from calculators.report import build_report, to_json
from calculators.scenario import AMOUNT_OF, GROUPS, SPECS, Scenario
from calculators.texts import LANGUAGES, catalogue

ROOT = Path(__file__).resolve().parent.parent
OWN_PAGES = ("decision", "capacity", "machines", "costs")
DEFAULT_VERDICT = build_report(Scenario(), load_catalog()).sentences()[0]

GROUPS_BELOW = list(GROUPS)[1:]
"""All groups of inputs below those that matter first."""


def plain(text: str) -> str:
    """Markdown without its escapes."""
    return text.replace("\\", "")


def start(page: str = "decision", groups: Sequence[str] = (), **query: str) -> AppTest:
    """The app on a page, with groups of inputs asked for."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.session_state["_groups"] = list(groups)
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    if page != "decision":
        at.switch_page(f"app_pages/{page}.py").run()
    assert not at.exception, [e.value for e in at.exception]
    return at


def told(at: AppTest) -> str:
    """All that the page tells apart from its figures."""
    elements = [*at.title, *at.warning, *at.info, *at.caption, *at.markdown]
    return "\n".join(plain(str(e.value)) for e in elements)


@pytest.mark.parametrize("page", OWN_PAGES)
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"demand": "spend", "demand_usd_per_month": "250k", "system_count": "auto"},
        {"demand": "seats", "demand_seats": "900", "profile": "office-hours", "acquisition": "loan"},
        {"acquisition": "rent", "utilization": "0"},
        {"system": "hgx-b200-8"},
        {"system": "mac-studio-512-x2"},
        {"system_count": "0"},
        {"input_tokens": "218922", "cached_share": "0.95", "max_tpot_ms": ""},
    ],
    ids=["defaults", "auto", "seats on a loan", "idle rent", "does not fit", "too slow", "no machine", "long context"],
)
def test_every_page_in_every_state(page: str, lang: str, query: dict[str, str]) -> None:
    at = start(page, lang=lang, **query)
    assert at.title, "a page begins with what it finds"
    shown = told(at) + " ".join(f"{m.label} {m.value} {m.delta}" for m in at.metric)
    assert not re.search(r"\b(nan|inf|None)\b", shown)


def test_decision_shows_the_figures_of_the_report() -> None:
    at = start()
    data = to_json(build_report(Scenario(), load_catalog()))
    assert at.title[0].value.replace("\\", "") == DEFAULT_VERDICT
    assert len(at.metric) == 4
    assert at.metric[2].value == f"{data['payback']['days']:,.0f} days"
    # 29.0 B: three digits of the capacity
    assert at.metric[0].value == f"{data['capacity']['tokens_per_month'] / 1e9:.1f} B"


def test_a_changed_input_moves_the_verdict_and_is_marked() -> None:
    at = start()
    at.slider(key="utilization").set_value(0.5).run()
    assert plain(at.title[0].value) == build_report(Scenario(utilization=0.5), load_catalog()).sentences()[0]
    assert "changed" in at.slider(key="utilization").label
    at.button(key="_reset_all").click().run()
    assert plain(at.title[0].value) == DEFAULT_VERDICT
    assert "changed" not in at.slider(key="utilization").label


def test_changing_one_field_resets_no_other() -> None:
    at = start(groups=GROUPS_BELOW)
    at.text_input(key="hardware_usd").set_value("500k").run()
    at.text_input(key="spares_share").set_value("7 %").run()
    at.selectbox(key="demand").set_value("tokens").run()
    at.text_input(key="demand_tokens_per_month").set_value("30B").run()
    at.selectbox(key="demand").set_value("spend").run()
    at.selectbox(key="system").set_value("mi355x-8").run()
    assert at.selectbox(key="demand").value == "spend"
    at.selectbox(key="demand").set_value("tokens").run()
    values = {n: at.text_input(key=n).value for n in ("hardware_usd", "spares_share", "demand_tokens_per_month")}
    assert values == {"hardware_usd": "500k", "spares_share": "7 %", "demand_tokens_per_month": "30B"}


def test_resetting_all_forgets_amounts_that_are_not_shown() -> None:
    at = start(demand="spend", demand_usd_per_month="95k", demand_tokens_per_month="30B")
    at.selectbox(key="demand").set_value("tokens").run()
    assert at.text_input(key="demand_tokens_per_month").value == "30B"
    at.selectbox(key="demand").set_value("spend").run()
    at.button(key="_reset_all").click().run()
    for demand, amount in AMOUNT_OF.items():
        at.selectbox(key="demand").set_value(demand).run()
        assert at.text_input(key=amount).value == ""


def test_an_untyped_figure_follows_the_machine() -> None:
    at = start(groups=["buying"])
    assert "600,000 USD" in at.text_input(key="hardware_usd").placeholder
    at.selectbox(key="system").set_value("mi355x-8").run()
    figure = load_catalog().systems["mi355x-8"].hardware_usd
    assert figure is not None
    assert f"{figure.value:,.0f} USD" in at.text_input(key="hardware_usd").placeholder


@pytest.mark.parametrize("preset_id", list(load_catalog().presets))
def test_presets_set_the_mix_and_nothing_else(preset_id: str) -> None:
    at = start(utilization="0.6", hardware_usd="550k")
    at.session_state["_presets"] = True
    at.run()
    at.button(key=f"_preset_{preset_id}").click().run()
    assert not at.exception
    preset = load_catalog().presets[preset_id]
    expected = Scenario(
        utilization=0.6,
        hardware_usd=550_000,
        input_tokens=preset.input_tokens,
        output_tokens=preset.output_tokens,
        cached_share=preset.cached_share,
        accepted_tokens_per_step=preset.accepted_tokens_per_step,
    )
    assert plain(at.title[0].value) == build_report(expected, load_catalog()).sentences()[0]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"input_usd_per_mtok": "-1"}, "input_usd_per_mtok is -1"),
        ({"input_tokens": "many"}, "'many' is not a number"),
        ({"spares_share": "7"}, "write 7 % or 0.07"),
        ({"model": "kimi-k9"}, "model 'kimi-k9' is not in the catalogue"),
        ({"baseline": "moonshotai/kimi"}, "baseline 'moonshotai/kimi' is not an offer"),
        ({"demand": "everything"}, "demand is 'everything'"),
        ({"utilization": "1.7"}, "utilization is 1.7"),
        ({"foo": "bar"}, "foo is not a field of a scenario"),
        ({"v": "99"}, "The link has version 99"),
        ({"profile_weights": "zz"}, "168 characters"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_sentence_and_the_rest_is_kept(query: dict[str, str], sentence: str) -> None:
    at = start(**query, hardware_usd="500k")
    assert len([w for w in at.warning if sentence in plain(w.value)]) == 1
    expected = build_report(Scenario(hardware_usd=500_000), load_catalog()).sentences()[0]
    assert plain(at.title[0].value) == expected
    for button in [b for b in at.button if b.key == "_dismiss_problems"]:
        button.click().run()
        assert not at.exception
        assert not at.warning


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"utilization": "0"}, "it serves nothing, because utilization is 0"),
        ({"input_usd_per_mtok": "0", "output_usd_per_mtok": "0"}, "costs nothing at these prices"),
        ({"demand": "tokens", "demand_tokens_per_month": "0"}, "the demand is 0"),
        ({"system": "hgx-b200-8"}, "does not fit on"),
        ({"system": "hgx-h200-8"}, "does not fit on"),
    ],
)
def test_special_states_are_answers(query: dict[str, str], sentence: str) -> None:
    assert sentence in plain(start(**query).title[0].value)


def test_an_empty_demand_asks_for_it() -> None:
    at = start(demand="tokens")
    assert [w.value for w in at.warning if "demand_tokens_per_month is empty" in plain(w.value)]
    at.text_input(key="demand_tokens_per_month").set_value("10B").run()
    assert at.title
    assert not at.warning


def test_bad_text_stays_in_its_field_with_a_sentence_below_it() -> None:
    at = start(groups=GROUPS_BELOW)
    at.text_input(key="staff_fte").set_value("a few").run()
    assert at.text_input(key="staff_fte").value == "a few"
    assert any("'a few' is not a number" in plain(c.value) for c in at.sidebar.caption)
    assert plain(at.title[0].value) == DEFAULT_VERDICT


def test_values_are_read_as_people_type_them() -> None:
    at = start(
        hardware_usd="600k", utilization="60 %", cached_share="0,75", demand="tokens", demand_tokens_per_month="30B"
    )
    expected = Scenario(
        hardware_usd=600_000, utilization=0.6, cached_share=0.75, demand="tokens", demand_tokens_per_month=30e9
    )
    assert plain(at.title[0].value) == build_report(expected, load_catalog()).sentences()[0]
    assert at.slider(key="utilization").value == 0.6


def test_a_complete_link_opens_the_same_scenario() -> None:
    scenario = Scenario(
        system="mi355x-8",
        system_count=3,
        demand="spend",
        demand_usd_per_month=95_000,
        max_tpot_ms=None,
        alternative="fireworks/kimi-k3",
        title="Board | *meeting*",
        utilization=0.62,
        spares_share=0.0,
    )
    report = build_report(scenario, load_catalog())
    at = start(**dict(pair.split("=", 1) for pair in _unquoted(report.link)))
    at.session_state["_share"] = True  # its link stands in a closed box
    at.run()
    assert not at.warning
    assert plain(at.title[0].value) == report.sentences()[0]
    link_shown = next(c.value for c in at.code if "system=mi355x-8" in c.value)
    assert link.parse(link_shown).scenario == scenario


def _unquoted(query: str) -> list[str]:
    from urllib.parse import parse_qsl

    return [f"{name}={value}" for name, value in parse_qsl(query, keep_blank_values=True)]


def test_figures_of_an_old_link_hold_until_todays_are_asked_for() -> None:
    at = start(pins="hardware_usd:300000", release="2026-06-01", v="1")
    then = build_report(Scenario(), load_catalog(), {"hardware_usd": 300_000.0})
    assert plain(at.title[0].value) == then.sentences()[0]
    assert "2026-06-01" in at.info[0].value
    at.button(key="_use_today").click().run()
    assert plain(at.title[0].value) == DEFAULT_VERDICT
    assert not at.info


def test_a_link_whose_figures_are_todays_is_answered_once() -> None:
    link_of_today = build_report(Scenario(utilization=0.6), load_catalog()).link
    at = start(**dict(parse_qsl(link_of_today)))
    assert not at.info
    assert at.session_state["_pins"] == {}
    moved = start(pins="hardware_usd:300000", release="2026-06-01", v="1")
    assert moved.session_state["_pins"] == {"hardware_usd": 300_000.0}


def test_a_link_that_todays_data_cannot_answer_keeps_its_answer_and_says_so() -> None:
    query = {"system": "atlas-a3-64", "acquisition": "rent"}
    assert "No source gives" in start(**query).warning[0].value
    at = start(**query, pins="rent_usd_per_accelerator_hour:3", release="2026-06-01")
    then = build_report(Scenario(**query), load_catalog(), {"rent_usd_per_accelerator_hour": 3.0})  # type: ignore[arg-type]
    assert plain(at.title[0].value) == then.sentences()[0]
    assert "today's data give no answer" in plain(at.info[0].value)
    at.button(key="_use_today").click().run()
    assert not at.title


def test_first_visit_asks_three_questions_and_blocks_nothing() -> None:
    at = start()
    assert plain(at.title[0].value) == DEFAULT_VERDICT
    at.session_state["guide"] = True  # opens the popover
    at.run()
    at.selectbox(key="_guide_system").set_value("mi355x-8")
    at.text_input(key="_guide_spend").set_value("95k")
    at.button(key="_guide_apply").click().run()
    expected = Scenario(system="mi355x-8", demand="spend", demand_usd_per_month=95_000)
    assert plain(at.title[0].value) == build_report(expected, load_catalog()).sentences()[0]
    assert "guide" not in boxes(at)


def boxes(at: AppTest) -> list[str]:
    """Keys of the boxes that open below a button."""
    return [box.proto.id.rsplit("-", 1)[-1] for box in at.get("popover")]


def test_the_questions_of_a_first_visit_can_be_put_away() -> None:
    at = start()
    assert "guide" in boxes(at)
    assert "_guide_apply" not in [b.key for b in at.button], "a closed box is not drawn"
    at.session_state["guide"] = True
    at.run()
    at.button(key="_dismiss_guide").click().run()
    assert "guide" not in boxes(at)
    assert plain(at.title[0].value) == DEFAULT_VERDICT


def test_a_visit_with_a_scenario_is_not_a_first_visit() -> None:
    assert "guide" not in boxes(start(utilization="0.5"))


def test_link_and_files_stand_in_a_box() -> None:
    at = start()
    assert "_share" in boxes(at)
    assert not at.get("download_button")
    at.session_state["_share"] = True
    at.run()
    assert [b.proto.id.rsplit("_download_", 1)[-1] for b in at.get("download_button")] == [
        "csv", "cash_flow", "workbook", "html",
    ]  # fmt: skip


def test_language_follows_the_choice() -> None:
    at = start(lang="zh")
    assert "购买" in at.title[0].value
    assert at.slider(key="utilization").label == "利用率"


def test_machines_lists_every_machine_and_says_why_not() -> None:
    at = start("machines")
    frame = at.dataframe[0].value
    assert sorted(frame["name"]) == sorted(s.name for s in load_catalog().systems.values())
    why = frame.set_index("name")["why"]
    assert "does not fit" in why[load_catalog().systems["hgx-h200-8"].name]


def test_costs_lines_sum_to_the_month() -> None:
    at = start("costs")
    table = next(m.value for m in at.markdown if m.value.startswith("| Line |"))
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]
    data = to_json(build_report(Scenario(), load_catalog()))
    shown = sum(float(plain(row[1]).replace(",", "")) for row in rows)
    assert shown == pytest.approx(data["self_host"]["usd_per_month"], abs=0.005 * len(rows)), "lines are shown in cents"
    assert len(rows) == len(data["self_host"]["lines"])
    assert "14.5 kW" in rows[0][2], "the whole working is there to read"


def fields_drawn(at: AppTest) -> set[str]:
    return {w.key for kind in (at.text_input, at.selectbox, at.slider) for w in kind if w.key} & set(SPECS)


def test_a_closed_group_draws_what_differs_and_nothing_else() -> None:
    first = {"model", "baseline", "demand", "system", "system_count", "utilization"}
    assert fields_drawn(start()) == first
    at = start(spares_share="0.07", profile="office-hours", title="mine")
    assert fields_drawn(at) == first | {"spares_share", "profile", "title"}
    at.button(key="_reset_buying").click().run()
    at.run()
    assert fields_drawn(at) == first | {"profile", "title"}
    complete = build_report(Scenario(staff_fte=1.5), load_catalog()).link
    assert fields_drawn(start(**dict(parse_qsl(complete)))) == first | {"staff_fte"}, "a default in words is a default"


@pytest.mark.parametrize("query", [{"system": "hgx-h200-8"}, {"system_count": "0"}, {"utilization": "0"}, {}])
def test_the_switch_for_tables_stands_where_charts_stand_and_gives_each_a_table(query: dict[str, str]) -> None:
    at = start("decision", **query)
    charts = len(at.get("plotly_chart"))
    assert [t.key for t in at.toggle] == (["_tables_switch"] if charts else [])
    if charts:
        before = len(at.dataframe)
        at.toggle(key="_tables_switch").set_value(True).run()
        assert len(at.dataframe) == before + charts
        at.switch_page("app_pages/risk.py").run()
        assert bool(at.dataframe) == bool(at.get("plotly_chart")), "it stays on for the next page"


def test_closing_a_group_keeps_what_was_typed_and_forgets_nothing() -> None:
    at = start(groups=["running", "buying"])
    at.text_input(key="staff_fte").set_value("2").run()
    at.text_input(key="spares_share").set_value("many").run()
    at.session_state["_groups"] = []
    at.run()
    assert at.text_input(key="staff_fte").value == "2"
    assert at.text_input(key="spares_share").value == "many"
    at.switch_page("app_pages/costs.py").run()
    assert at.text_input(key="staff_fte").value == "2"
    at.text_input(key="staff_fte").set_value("0.25").run()
    at.run()
    assert "staff_fte" not in fields_drawn(at)


def test_every_field_is_drawn_on_every_page_under_its_own_name() -> None:
    for page in OWN_PAGES:
        at = start(page, groups=GROUPS_BELOW)
        drawn = {w.key for kind in (at.text_input, at.selectbox, at.slider) for w in kind}
        # the amounts are drawn with their kind of demand, the profile once it holds something
        missing = set(SPECS) - drawn - {"profile_weights", *AMOUNT_OF.values()}
        assert not missing, page
    for demand, amount in AMOUNT_OF.items():
        drawn = {w.key for w in start(demand=demand).text_input}
        assert drawn & set(AMOUNT_OF.values()) == {amount}
    assert "profile_weights" in {w.key for w in start(profile_weights="A" * 168).text_input}


def test_every_text_is_there_in_both_languages() -> None:
    english_elsewhere = ("field_title.", "field_help.")  # English titles and help are the declarations in scenario.py
    for key, entry in catalogue().items():
        assert entry.get("zh"), key
        assert entry.get("en") or key.startswith(english_elsewhere), key
        if "en" in entry:
            places = [set(re.findall(r"{(\w+)", entry[lang])) for lang in ("en", "zh")]
            assert places[0] == places[1], key
    for name, spec in SPECS.items():
        assert inputs.field_title(name, "zh")
        assert inputs.field_help(name, "zh")
        for option in spec.options:
            assert f"choice.{name}_{option}".replace("-", "_") in catalogue()
    for preset_id in load_catalog().presets:
        assert f"preset.{preset_id}".replace("-", "_") in catalogue()


def test_only_the_inputs_touch_session_state_and_binding() -> None:
    for file in [ROOT / "app.py", *(ROOT / "app_pages").glob("*.py")]:
        if file.name in ("_inputs.py", "_address.py", "_session.py"):
            continue
        source = file.read_text(encoding="utf-8")
        assert "session_state" not in source, file.name
        assert "bind=" not in source, file.name
        assert "plotly.express" not in source, file.name


CHART_CASES: tuple[dict[str, str], ...] = (
    {},
    {"demand": "spend", "demand_usd_per_month": "250k", "system_count": "auto"},
    {"system": "hgx-h200-8"},
    {"acquisition": "rent", "utilization": "0.3"},
)


def charts_of(name: str, case: dict[str, str]) -> list[Any]:
    """All charts of a page, of each of its tabs."""
    at = start(name, **case)
    labels = [tab.label for tab in at.tabs]
    found = list(at.get("plotly_chart"))
    for label in labels[1:]:
        at.session_state[f"_{name}_tabs"] = label
        found += at.run().get("plotly_chart")
    return found


@pytest.mark.parametrize("name", [*OWN_PAGES, "risk", "claims", "evidence"])
def test_plotly_accepts_every_chart(name: str) -> None:
    """The pages write plotly's data directly: here plotly checks each property and value."""
    drawn = 0
    for case in CHART_CASES:
        for chart in charts_of(name, case):
            spec = json.loads(chart.proto.spec)
            figure = go.Figure(spec)
            assert figure.layout.font.color == WORDS, "the page puts its text colour there"
            assert figure.layout.xaxis.title.text is not None
            assert figure.layout.datarevision == 1, "without it the browser draws a mounted chart twice"
            for trace in spec["data"]:
                assert {len(trace[axis]) for axis in ("x", "y") if axis in trace} != {0}
            drawn += 1
    assert drawn >= len(CHART_CASES) - 1, "rented machines have no payback for the chart of all machines"


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        ([], "string", []),
        ([None, None], "string", [None, None]),
        ([1, None, -(2**40)], "int64", [1, None, -(2**40)]),
        ([1, 0.5, float("nan")], "double", [1.0, 0.5, None]),
        (np.array([0.25, np.nan]), "double", [0.25, None]),
        (["", "月", None, "ab"], "string", ["", "月", None, "ab"]),
        ([1, "never", True], "string", ["1", "never", "True"]),
        ([str(i) for i in range(9)], "string", [str(i) for i in range(9)]),
    ],
)
def test_a_tables_column_keeps_values_and_gaps(values: Sequence[Any], kind: str, found: list[Any]) -> None:
    column = parts._column(values)
    column.validate(full=True)
    assert str(column.type) == kind
    assert column.to_pylist() == found


def test_names_of_a_contour_stand_on_their_lines_and_apart() -> None:
    """z = x + 2 y on 0 .. 10: level 12 is y = 6 - x / 2, so each name's place must give its own level."""
    x = np.linspace(0.0, 10.0, 21)
    z = x[None, :] + 2.0 * x[:, None]
    names = level_names(x.tolist(), x.tolist(), z, {"start": 6, "end": 18, "size": 6})
    assert names["text"] == ["6", "12", "18"]
    assert [a + 2 * b for a, b in zip(names["x"], names["y"], strict=True)] == pytest.approx([6, 12, 18])
    assert names["x"] == sorted(set(names["x"]))
    assert level_names(x.tolist(), x.tolist(), z, {"start": 40, "end": 60, "size": 10})["text"] == [], "none is there"


def test_the_theme_is_sent_as_streamlit_writes_it() -> None:
    send_theme_as_made()
    for section in ("theme", "theme.light", "theme.dark", "theme.sidebar", "theme.light.sidebar"):
        written, copied = CustomThemeConfig(), CustomThemeConfig()
        _session._write_theme(written, section)
        app_session._populate_theme_msg(copied, section)
        assert copied == written, section


def test_no_other_origin_may_steer_the_app() -> None:
    """Streamlit's default trusts its own cloud's pages to stop, rerun and read an app that they frame."""
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["client"]["allowedOrigins"] == []


def free_turns() -> int:
    """How many runs could begin now."""
    taken = 0
    while TURN.acquire(blocking=False):
        taken += 1
    for _ in range(taken):
        TURN.release()
    return taken


def test_a_run_gives_its_turn_back_whatever_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    at = start()
    assert free_turns() == 2
    stopped = start(system="atlas-a3-64", acquisition="rent")
    assert stopped.warning, "no rental price: the page stops with a sentence"
    assert not stopped.metric
    assert free_turns() == 2

    def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(inputs, "draw", fail)
    assert at.run().exception
    assert free_turns() == 2


def test_a_run_waits_for_its_turn() -> None:
    at = start()
    held = [TURN.acquire(blocking=False) for _ in range(2)]
    assert held == [True, True]
    runner = threading.Thread(target=lambda: at.slider(key="utilization").set_value(0.5).run())
    runner.start()
    runner.join(timeout=0.5)
    assert runner.is_alive(), "two runs are under way"
    for _ in held:
        TURN.release()
    runner.join(timeout=60)
    assert not runner.is_alive()
    assert at.slider(key="utilization").value == 0.5


def test_a_long_file_is_read_beside_the_turns() -> None:
    with TURN:
        assert free_turns() == 1
        with aside():
            assert free_turns() == 2
        assert free_turns() == 1
        with pytest.raises(ValueError, match="no such file"), aside():
            raise ValueError("no such file")
        assert free_turns() == 1
    assert free_turns() == 2


def test_a_fault_is_logged_with_its_place_and_kind_but_without_what_was_typed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    at = start()
    typed = f"{95_123:,} USD"

    def fail(*_: object) -> None:
        try:
            float(typed)
        except ValueError as error:
            raise RuntimeError(f"somebody typed {typed}") from error

    monkeypatch.setattr(inputs, "draw", fail)
    assert at.run().exception
    assert "Uncaught app execution" in caplog.text
    assert "RuntimeError" in caplog.text
    assert "ValueError" in caplog.text
    assert "in fail" in caplog.text
    assert typed not in caplog.text
    assert "could not convert" not in caplog.text
    caplog.clear()
    logging.getLogger("streamlit.any").warning("it failed: %s", ValueError(typed))
    assert caplog.messages == ["it failed: ValueError"]
