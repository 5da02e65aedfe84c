"""What goes wrong outside the app: people who type anything, links that hold anything, damaged data, no disk."""

import asyncio
import datetime as dt
import random
import re
import resource
import shutil
import subprocess
import sys
import types
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from streamlit.testing.v1 import AppTest

from calculators.catalog import CatalogError, load_catalog
from calculators.link import parse
from calculators.report import build_report
from calculators.scenario import GROUPS, SPECS, Scenario
from tests.deploy.client import Person
from tests.deploy.servers import ROOT, Streamlit, get, start_streamlit, stop

PARTS = ("app.py", "app_pages", "calculators", "data", ".streamlit/config.toml")
"""What a checkout needs to run."""

STEPS = 2000
"""Steps that the state machine takes at least, all runs together."""

JUNK = """
0|1|-1|0.5|75 %|1e9|1e308|1e-308|600k|30B|0,75|1.234,5|USD 95k|auto|none|nan|inf|-inf|∞|1/0|0x10|一万|12万|'; --|²
<b>x</b>|$x$ $y$|*_`[a](b)|\\|\u202e|\x00|😀|  7  |1 000 000|999999999999999999999999|.|,|%|k|1_000|+5|1e|0\r0
"""
TYPED = st.sampled_from(["", *JUNK.strip("\n").replace("\n", "|").split("|")]) | st.text(max_size=40)
"""What people, and people's clipboards, put into a field."""

GROUPS_BELOW = list(GROUPS)[1:]
PAGES = sorted(page.name for page in (ROOT / "app_pages").glob("[a-z]*.py"))
ANY = st.integers(0, 2**20)


def _sound(at: AppTest) -> None:
    assert not at.exception, [f"{e.message} {e.stack_trace}" for e in at.exception]
    shown = [str(m.value) for m in at.metric]
    assert not [text for text in shown if re.search(r"\b(nan|inf|infinity)\b", text, flags=re.IGNORECASE)]


class Reader(RuleBasedStateMachine):
    """Somebody who opens the app and then uses whatever stands on the page."""

    steps = 0

    @initialize(query=st.dictionaries(st.sampled_from(sorted(SPECS)), TYPED, max_size=4))
    def open(self, query: dict[str, str]) -> None:
        self.at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
        for name, text in query.items():
            self.at.query_params[name] = text
        self.at.session_state["_presets"] = True  # its buttons stand in a closed box
        self.at.run()

    @rule(pick=ANY, typed=TYPED)
    def type_into_a_field(self, pick: int, typed: str) -> None:
        fields = self.at.text_input
        fields[pick % len(fields)].set_value(typed).run()

    @rule(pick=ANY, choice=ANY)
    def choose(self, pick: int, choice: int) -> None:
        boxes = self.at.selectbox
        box = boxes[pick % len(boxes)]
        box.select_index(choice % len(box.options)).run()

    @rule(pick=ANY, share=st.floats(0, 1))
    def slide(self, pick: int, share: float) -> None:
        sliders = self.at.slider
        slider = sliders[pick % len(sliders)]
        low, high = float(slider.min), float(slider.max)
        slider.set_value(round(low + share * (high - low), 2)).run()

    @rule(pick=ANY)
    def open_and_close_groups(self, pick: int) -> None:
        self.at.pills(key="_groups").set_value([group for n, group in enumerate(GROUPS_BELOW) if pick >> n & 1]).run()

    @rule(shown=st.booleans())
    def ask_for_tables(self, shown: bool) -> None:
        if any(toggle.key == "_tables_switch" for toggle in self.at.toggle):
            self.at.toggle(key="_tables_switch").set_value(shown).run()

    @rule(pick=ANY)
    def press_a_button(self, pick: int) -> None:
        buttons = [b for b in self.at.button if not b.disabled]
        if buttons:
            buttons[pick % len(buttons)].click().run()

    @rule(language=st.sampled_from(["en", "zh"]))
    def read_in(self, language: str) -> None:
        self.at.segmented_control(key="lang").set_value(language).run()

    @rule(page=st.sampled_from(PAGES))
    def turn_to(self, page: str) -> None:
        self.at.switch_page(f"app_pages/{page}").run()

    @invariant()
    def the_page_stands(self) -> None:
        if hasattr(self, "at"):
            type(self).steps += 1
            _sound(self.at)


def test_whatever_is_done_on_the_pages_nothing_breaks() -> None:
    Reader.steps = 0
    while Reader.steps < STEPS:
        run_state_machine_as_test(
            Reader,
            settings=settings(
                max_examples=10,
                stateful_step_count=50,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*SPECS, "v", "release", "pins", "lang", "embed", "x"]) | st.text(max_size=12), TYPED
        ),
        max_size=8,
    )
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_any_link_opens_the_app(pairs: list[tuple[str, str]]) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    for name, text in pairs:
        at.query_params[name] = text
    at.run()
    _sound(at)
    assert at.metric or at.warning


@given(st.text(max_size=400))
@settings(max_examples=300)
def test_any_text_can_be_pasted_as_a_link(text: str) -> None:
    parsed = parse(text)
    assert isinstance(parsed.scenario, Scenario)
    for problem in parsed.problems:
        assert problem.message
        assert "\n" not in problem.message


# Damaged data --------------------------------------------------------------------------------------------------------

DATA_FILES = sorted(
    path.relative_to(ROOT / "data")
    for path in (ROOT / "data").rglob("*")
    if path.suffix in (".toml", ".csv") and "measurements" not in path.parts and path.stem not in ("calibration",)
)


def _damage(text: bytes, rng: random.Random) -> bytes:
    """One accident: cut off, a line lost or doubled, a character changed, a column shifted, the wrong encoding."""
    lines = text.split(b"\n")
    line, place = rng.randrange(len(lines)), rng.randrange(max(len(text), 1))
    return (
        lambda: text[:place],
        lambda: b"\n".join(lines[:line] + lines[line + 1 :]),
        lambda: b"\n".join(lines[: line + 1] + lines[line:]),
        lambda: text[:place] + bytes([rng.randrange(256)]) + text[place + 1 :],
        lambda: text[:place] + rng.choice([b",", b'"', b"=", b"[", b"-", b"e", b"\0", b"nan", b"\xff"]) + text[place:],
        lambda: text.decode().encode("utf-16"),
        lambda: b"",
    )[rng.randrange(7)]()


def test_damaged_data_is_refused_in_one_sentence_or_is_sound(tmp_path: Path) -> None:
    rng = random.Random(20261129)
    root = tmp_path / "data"
    shutil.copytree(ROOT / "data", root)
    refused = 0
    for _ in range(250):
        name = rng.choice(DATA_FILES)
        whole = (root / name).read_bytes()
        (root / name).write_bytes(_damage(whole, rng))
        try:
            catalog = load_catalog(root)
        except CatalogError as error:
            refused += 1
            told = str(error)
            assert "\n" not in told
            assert str(tmp_path) not in told
            assert re.match(r"[\w.-]+\.(toml|csv), [^:]+: .{5,}", told), told
        else:
            assert catalog.models
        finally:
            (root / name).write_bytes(whole)
    # a changed character in a note does no harm, most other accidents do
    assert 80 < refused < 240


# The app on a damaged checkout or without a disk ---------------------------------------------------------------------


def _checkout(folder: Path) -> Path:
    """A copy of what the app needs, to be damaged."""
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return folder


async def _what_is_shown(server: Streamlit, page: str = "") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Exceptions and alerts of a first visit."""
    async with Person(server.url, page=page) as person:
        run = await person.run()
    return run.errors, run.alerts


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("data/release.toml", None, r"release\.toml, file: it does not exist"),
        ("data/offers.csv", "id,price\nkimi,1\n", r"offers\.csv, line 1: the columns differ"),
        ("data/systems/hgx-b300-8.toml", "id = 'hgx-b300-8'\n", r"hgx-b300-8\.toml, hgx-b300-8: \w+ is missing"),
        ("data/calibration.toml", None, r"calibration\.toml"),
        ("data/calibration.toml", "[bands]\n", r"calibration\.toml"),
    ],
    ids=["missing", "other columns", "cut off", "no calibration", "empty calibration"],
)
def test_a_damaged_checkout_tells_so_and_fails_the_probe(
    tmp_path: Path, name: str, content: str | None, sentence: str
) -> None:
    root = _checkout(tmp_path / "checkout")
    if content is None:
        (root / name).unlink()
    else:
        (root / name).write_text(content)
    server = start_streamlit(tmp_path / "log", root=root)
    try:
        errors, alerts = asyncio.run(_what_is_shown(server))
        assert errors == ()
        assert len(alerts) == 1
        assert re.search(rf"^The app cannot start: .*{sentence}", alerts[0])
        assert get(f"{server.url}/_stcore/script-health-check")[0] == 503
    finally:
        stop(server.process)


def test_stale_data_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Later(dt.date):
        @classmethod
        def today(cls) -> dt.date:
            return dt.date(2028, 1, 1)

    monkeypatch.setattr("app_pages._inputs.dt", types.SimpleNamespace(date=Later))
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    _sound(at)
    told = " ".join(str(e.value) for e in [*at.caption, *at.warning, *at.info, *at.markdown])
    assert load_catalog().release in told


def _no_file_can_grow() -> None:
    """A disk that is full and a checkout that is read-only, also for root: each write to a file fails."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _tree(root: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(root.rglob("*"))}


@pytest.mark.e2e
def test_the_app_runs_where_nothing_can_be_written(tmp_path: Path) -> None:
    root = _checkout(tmp_path / "checkout")
    before = _tree(root)
    server = start_streamlit(tmp_path / "log", root=root, before=_no_file_can_grow)
    try:
        for page in PAGES:
            errors, _ = asyncio.run(_what_is_shown(server, page.removesuffix(".py")))
            assert errors == ()
        assert get(f"{server.url}/_stcore/script-health-check")[0] == 200
    finally:
        stop(server.process)
    assert _tree(root) == before


@pytest.mark.parametrize("kind", ["json", "csv", "xlsx", "html"])
def test_reports_are_made_where_nothing_can_be_written(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "calculators", "report", "--format", kind],
        cwd=ROOT,
        capture_output=True,
        preexec_fn=_no_file_can_grow,
        env={"PYTHONDONTWRITEBYTECODE": "1", "PATH": "", "TMPDIR": "/nonexistent"},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert len(done.stdout) > 1000


def test_a_full_disk_is_told_in_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "calculators", "report", "--output", str(tmp_path / "report.json")],
        cwd=ROOT,
        capture_output=True,
        preexec_fn=_no_file_can_grow,
        check=False,
        timeout=300,
    )
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
    assert "Traceback" not in done.stderr.decode()


def test_the_report_of_every_pair_of_model_and_machine_is_made() -> None:
    catalog = load_catalog()
    for model in catalog.models:
        for system in catalog.systems:
            typed = {"hardware_usd": 6e5, "power_kw": 14.5}
            report = build_report(Scenario(model=model, system=system, **typed), catalog)
            assert report.sentences()[0]
