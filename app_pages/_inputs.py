"""Scenario fields as widgets bound to the address bar: the only module that touches session state.

One direction: the browser fills the widgets from the link, the widgets' texts become a Scenario, the Scenario a Report.
Nothing is written back but by the browser. On every page the inputs that matter first are drawn, the fields of groups
that stand open, and every field that differs from its default, so the address bar is always complete; a field at its
default has nothing to say there, and sixty inputs would be most of the time that an answer takes.
"""

import datetime as dt
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, cast

import streamlit as st

from app_pages import _address
from app_pages import _format as fmt
from app_pages._turns import aside
from calculators import link, views
from calculators.catalog import Catalog
from calculators.numbers import money, tokens
from calculators.report import Report, build_report
from calculators.resolve import UnresolvedError, check_ids, live_pins, pins_of_known
from calculators.scenario import AMOUNT_OF, GROUPS, SPECS, Problem, Scenario
from calculators.texts import LANGUAGES, Language, catalogue, said, text, translated

CHOICES = ("model", "system", "baseline", "alternative")
"""Fields whose options are ids of data/."""

PRESET_FIELDS = ("input_tokens", "output_tokens", "cached_share", "accepted_tokens_per_step")
FIRST = {
    "run": ("model",),
    "pay": ("baseline", "demand"),
    "buy": ("system", "system_count", "utilization"),
}
"""The inputs that matter first, under the question that each answers; the amount of the demand joins 'pay'."""

GUIDE_EXAMPLES = {"spend": "95k", "hardware": "600k"}

_LINK, _PINS, _RELEASE, _GUIDE, _TOLD = "_link", "_pins", "_release", "_guide", "_told"
_IDENTITY: dict[str, Any] = {"bind": "query-params"}
_TABLES, _TABLES_SWITCH = "_tables", "_tables_switch"
_AMOUNTS = frozenset(AMOUNT_OF.values())


@dataclass(frozen=True)
class State:
    """What a page needs: the scenario, the language, what to tell, and the answer, found when a page asks for it."""

    catalog: Catalog
    scenario: Scenario
    language: Language
    problems: tuple[Problem, ...]
    dismissable: bool
    first_visit: bool
    ask: "Callable[[], Answer]"

    @cached_property
    def answer(self) -> "Answer":
        """The answer to the scenario."""
        return self.ask()


@dataclass(frozen=True)
class Answer:
    """The report, or the sentence that says why there is none; and what today's data say instead of a link's."""

    report: Report | None
    stopped: str = ""
    moved: "Moved | None" = None


@dataclass(frozen=True)
class Moved:
    """A link was made with other data: the answer then, and the one with today's data or why there is none."""

    release: str
    then: Report
    now: Report | None
    why: str = ""


_RUN = threading.local()


def current() -> State:
    """The state of this run, for pages; app.py has drawn the inputs before a page runs, in the same thread."""
    return cast(State, _RUN.state)


# ---------------------------------------------------------------------------------------------------- reading the link


def _open_link(catalog: Catalog) -> Scenario:
    """Read the address once a session; later runs get the scenario that was read, ids of data/ only."""
    if _LINK in st.session_state:
        return cast(Scenario, st.session_state[_LINK])
    names = list(st.query_params)
    pairs = [(name, value) for name in names for value in st.query_params.get_all(name)[-1:]]
    parsed = link.parse(pairs)
    twice = tuple(
        Problem(name[:60], "", said("link.twice", name=name[:60]))
        for name in names
        if len(st.query_params.get_all(name)) > 1
    )
    scenario, unknown = check_ids(parsed.scenario, catalog)
    untyped = [p for p in parsed.problems if not _tells_itself(p)]
    st.session_state[_LINK] = scenario
    st.session_state[_TOLD] = (*untyped, *unknown, *twice)
    st.session_state[_PINS] = pins_of_known(dict(parsed.pins), parsed.scenario, unknown)
    st.session_state[_RELEASE] = parsed.release or ""
    st.session_state[_GUIDE] = not any(name in SPECS for name in names)
    _preset_what_widgets_cannot_read(scenario, dict(pairs))
    return scenario


def _is_text(name: str) -> bool:
    spec = SPECS[name]
    return not spec.options and name not in CHOICES and spec.widget != "slider"


def _tells_itself(problem: Problem) -> bool:
    """A text that is no number stays in its field, which tells about it as long as it stands there."""
    spec = SPECS.get(problem.field)
    return spec is not None and _is_text(problem.field) and spec.widget != "hidden"


def _preset_what_widgets_cannot_read(scenario: Scenario, raw: Mapping[str, str]) -> None:
    """A slider reads '0.6' but not '60 %', a box an id but not its alias: give it the value that was understood."""
    for name in raw:
        if name in SPECS and not _is_text(name) and getattr(scenario, name) != SPECS[name].default:
            value = getattr(scenario, name)
            if raw[name] != str(value):
                st.session_state[name] = value


# ---------------------------------------------------------------------------------------------------------- callbacks


def _assign(values: Mapping[str, Any]) -> None:
    """Give widgets a value, with one entry in the browser's history for all."""
    ordered = [name for name in (*_order(), *values) if name in values]
    new = {n: values[n] for n in ordered if st.session_state.get(n, _shown_default(n)) != values[n]}
    _address.announce({n: None if v == _shown_default(n) else str(v) for n, v in new.items()})
    for name, value in new.items():
        st.session_state[name] = value


def _order() -> list[str]:
    """Fields in the order in which they are drawn."""
    first = [name for names in FIRST.values() for name in names]
    return [*first, *(n for group in list(GROUPS)[1:] for n, spec in SPECS.items() if spec.group == group)]


def _reset(names: Iterable[str]) -> None:
    _assign({name: _shown_default(name) for name in names if name in st.session_state})


def _reset_all(names: Iterable[str]) -> None:
    """Also forget amounts that are kept undrawn; their address has nothing to change."""
    drawn = AMOUNT_OF.get(st.session_state["demand"])
    _reset(names)
    for name in AMOUNT_OF.values():
        if name != drawn:
            st.session_state[name] = _shown_default(name)


def _apply_preset(catalog: Catalog, preset_id: str) -> None:
    preset = catalog.presets[preset_id]
    _assign({name: fmt.field_text(name, getattr(preset, name)) for name in PRESET_FIELDS})


def apply_values(values: Mapping[str, object]) -> None:
    """Button callback of pages: put values (scenario field -> number or text) into the inputs."""
    _assign({n: fmt.field_text(n, v) if _is_text(n) else v for n, v in values.items() if n in SPECS})


def guide(state: State) -> None:
    """The first visit's three questions; the answer behind them stands already and is not held back."""
    for question, names in (("run", ("model",)), ("pay", ("baseline", "spend")), ("buy", ("system", "hardware"))):
        st.markdown(f"**{text(f'guide.{question}', state.language)}**")
        for name in names:
            if name in CHOICES:
                options = _options(state.catalog, name)
                index = options.index(str(getattr(state.scenario, name)))
                st.selectbox(field_title(name, state.language), options, index=index, key=f"_guide_{name}")
            else:
                st.text_input(
                    text(f"guide.{name}", state.language), key=f"_guide_{name}", placeholder=GUIDE_EXAMPLES[name]
                )
    with st.container(horizontal=True):
        button(text("guide.apply", state.language), _answer_guide, "_guide_apply", type="primary")
        button(text("guide.dismiss", state.language), dismiss_guide, "_dismiss_guide", type="tertiary")


def _answer_guide() -> None:
    answers = {name: st.session_state[f"_guide_{name}"] for name in ("model", "baseline", "system")}
    spend = st.session_state["_guide_spend"].strip()
    answers |= {"demand": "spend", "demand_usd_per_month": spend} if spend else {"demand": "fill"}
    answers["hardware_usd"] = st.session_state["_guide_hardware"].strip()
    _assign(answers)
    dismiss_guide()


def dismiss_guide() -> None:
    """Button callback: the first visit's questions are not shown again in this session."""
    st.session_state[_GUIDE] = False


def use_todays_data() -> None:
    """Button callback: forget the figures that the link carried."""
    st.session_state[_PINS] = {}


def dismiss_problems() -> None:
    """Button callback: what the link held and could not be used has been read."""
    st.session_state[_TOLD] = ()


# ------------------------------------------------------------------------------------------------------------ widgets


@lru_cache(maxsize=256)
def _shown_default(name: str) -> Any:
    default = SPECS[name].default
    return fmt.field_text(name, default) if _is_text(name) else default


def _is_default(name: str, value: Any) -> bool:
    """Whether a widget's value, or the address's text, says what the default says."""
    if value == _shown_default(name) or str(value) == str(_shown_default(name) or ""):
        return True
    if not _is_text(name):
        return False
    try:
        return bool(link.read_value(name, str(value)) == SPECS[name].default)
    except ValueError:
        return False


def field_title(name: str, language: Language) -> str:
    """Title of a field in the language."""
    return SPECS[name].title if language == "en" else text(f"field_title.{name}", language)


def field_help(name: str, language: Language) -> str:
    """What a field means, one or two sentences."""
    return SPECS[name].help if language == "en" else text(f"field_help.{name}", language)


@lru_cache(maxsize=512)
def _label(name: str, language: Language, changed: bool) -> str:
    """Title and unit; a screen reader reads it as it stands: no markdown in it."""
    unit = SPECS[name].unit
    if unit in ("share/year", "share"):
        shown = text("field.a_year", language) if unit == "share/year" else ""
    else:
        key = "unit_of." + unit.lower().replace("/", "_per_").replace("-", "_")
        shown = text(key, language) if key in catalogue() else unit
    words = field_title(name, language) + (f" ({shown})" if shown else "")
    return f"{words} \u2022 {text('field.changed', language)}" if changed else words


@lru_cache(maxsize=2048)
def _help(name: str, language: Language, standing: views.Standing | None) -> str:
    """What a field means, and where its figure or its default comes from."""
    words = [field_help(name, language)]
    spec = SPECS[name]
    if standing is not None:
        key = "field.source" if spec.default is None else "field.source_default"
        shown = fmt.figure(standing.value, standing.unit)
        words.append(text(key, language, value=shown, source=standing.source, date=standing.date))
    elif spec.default not in (None, ""):
        words.append(text("field.default", language, value=_shown_default(name)))
    return fmt.escape(" ".join(words))


@lru_cache(maxsize=2048)
def _placeholder(name: str, language: Language, standing: views.Standing | None) -> str:
    """What an empty field stands for."""
    if SPECS[name].default is not None or not SPECS[name].catalogue:
        return text("field.empty", language)
    if name in views.catalogue_fields():
        if standing is None:
            return text("field.no_figure", language)
        return text("field.catalogue", language, value=fmt.figure(standing.value, standing.unit))
    key = f"field.empty_{name}"
    return text(key, language) if key in catalogue() else SPECS[name].catalogue


@dataclass
class _Drawer:
    """Draws fields and collects their texts; ``held`` are the widgets that have a value as the run begins."""

    catalog: Catalog
    language: Language
    linked: Scenario
    first_run: bool
    address: frozenset[str]
    held: frozenset[str] = field(default_factory=lambda: frozenset(cast(Iterable[str], st.session_state)))
    standings: Mapping[str, views.Standing] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)

    def t(self, key: str, **places: object) -> str:
        return text(key, self.language, **places)

    def value(self, name: str) -> Any:
        """What the widget holds or, where it is not drawn yet, what the link says.

        A field that was drawn once and is not now stands at its default: that is why it is not drawn. The amounts are
        kept whether they are drawn or not.
        """
        if name in self.held:
            return st.session_state[name]
        if not self.first_run and name not in _AMOUNTS:
            return _shown_default(name)
        linked = getattr(self.linked, name)
        return fmt.field_text(name, linked) if _is_text(name) else linked

    def stands_at_default(self, name: str) -> bool:
        """Whether a field may stay undrawn: neither the address nor the session has anything else."""
        return name not in self.address and not self.is_changed(name)

    def is_changed(self, name: str) -> bool:
        return not _is_default(name, self.value(name))

    def label(self, name: str) -> str:
        return _label(name, self.language, name in self.changed)

    def help(self, name: str) -> str:
        return _help(name, self.language, self.standings.get(name))

    def placeholder(self, name: str) -> str:
        return _placeholder(name, self.language, self.standings.get(name))

    def draw(self, name: str) -> None:
        """One field: its widget, its text, and one sentence under it where the text cannot be used."""
        if self.is_changed(name):
            self.changed.add(name)
        if not _is_text(name):
            value = self._choice(name)
            self.texts[name] = "" if value is None else str(value)
            return
        typed = st.text_input(
            self.label(name),
            value=_shown_default(name),
            key=name,
            help=self.help(name),
            placeholder=self.placeholder(name),
            max_chars=200,
            **_IDENTITY,
        )
        self.texts[name] = typed or ""
        if name in self.changed:
            for problem in link.read_values([(name, self.texts[name])])[1]:
                st.caption(f":red[{fmt.escape(self.problem(problem))}]")

    def problem(self, problem: Problem) -> str:
        """A problem with what to do about it."""
        spec = SPECS.get(problem.field)
        hint = self.t("field.share_hint") if spec is not None and spec.widget == "share" else ""
        return f"{translated(problem.message, self.language)} {hint}".strip()

    def _choice(self, name: str) -> Any:
        spec = SPECS[name]
        common: dict[str, Any] = {"label": self.label(name), "key": name, "help": self.help(name), **_IDENTITY}
        if spec.widget == "slider":
            return st.slider(
                min_value=spec.minimum,
                max_value=spec.maximum,
                value=spec.default,
                step=spec.step,
                format="percent",
                **common,
            )
        options = spec.options or _options(self.catalog, name)
        index = None if spec.default is None else options.index(spec.default)
        value = st.selectbox(options=options, index=index, placeholder=self.placeholder(name), **common)
        caption = self._caption(name, value)
        if caption:
            st.caption(caption)
        return value

    def _caption(self, name: str, value: str | None) -> str:
        """Full name and key figures of what an id stands for."""
        if value is None:
            return ""
        if SPECS[name].options:
            return fmt.escape(self.t(f"choice.{name}_{value}".replace("-", "_")))
        if name == "model" and value in self.catalog.models:
            model = self.catalog.models[value]
            return fmt.escape(
                self.t(
                    "field.model_caption",
                    name=model.name,
                    params=tokens(model.total_params.value),
                    size=fmt.size(model.weights_bytes.value, self.language),
                )
            )
        if name == "system" and value in self.catalog.systems:
            return fmt.escape(self._system_caption(value))
        price = views.offer_price(self.catalog, value)
        if price is None:
            return self.t("field.unpriced")
        return fmt.escape(
            self.t(
                "field.offer_caption",
                input=f"{float(price.input_usd_per_mtok):,.4g}",
                cached=f"{float(price.cached_input_usd_per_mtok):,.4g}",
                output=f"{float(price.output_usd_per_mtok):,.4g}",
                date=price.effective_from or price.checked or self.t("ui.unknown"),
            )
        )

    def _system_caption(self, value: str) -> str:
        system = self.catalog.systems[value]
        chip = self.catalog.accelerators[system.accelerator]
        price = self.t("ui.unknown") if system.hardware_usd is None else money(system.hardware_usd.value)
        return self.t(
            "field.system_caption",
            name=system.name,
            count=system.accelerators,
            chip=chip.name,
            memory=fmt.size(chip.memory_usable_bytes.value, self.language),
            price=price,
        )


@lru_cache(maxsize=8)
def _options(catalog: Catalog, name: str) -> tuple[str, ...]:
    if name == "model":
        return tuple(catalog.models)
    if name == "system":
        return tuple(catalog.systems)
    near = SPECS["model"].default
    rank = {
        offer.id: (offer.weights_class != near, not offer.is_frontier_baseline, offer.service_tier != "standard", i)
        for i, offer in enumerate(catalog.offers.values())
    }
    return tuple(sorted(catalog.offers, key=lambda offer_id: rank[offer_id]))


# ------------------------------------------------------------------------------------------------------------ sidebar


def _language() -> Language:
    """The language chosen, at first the browser's."""
    locale = (st.context.locale or "en").lower()
    default = "zh" if locale.startswith("zh") else "en"
    chosen = st.segmented_control(
        "Language / 语言",
        list(LANGUAGES),
        default=default,
        key="lang",
        label_visibility="collapsed",
        help="English / 简体中文",
        **_IDENTITY,
    )
    return cast(Language, chosen or default)


def _reset_button(label: str, names: Iterable[str], key: str, reset: Callable[..., None] = _reset) -> None:
    st.button(label, key=key, on_click=reset, args=(tuple(names),), type="tertiary", icon=":material/undo:")


def _amount(drawer: _Drawer) -> None:
    """The amount that belongs to the kind of demand, in a place of its own.

    It is drawn here and nowhere else: a widget that moves is for a moment on the page twice, and when the old one goes
    the browser forgets that the address belongs to the new one. The other amounts keep their texts undrawn.
    """
    active = AMOUNT_OF.get(drawer.texts["demand"])
    for name in AMOUNT_OF.values():
        if name != active:
            drawer.texts[name] = str(drawer.value(name) or "")
    with st.container(key="amount"):
        if active:
            drawer.draw(active)


def _first(drawer: _Drawer, catalog: Catalog) -> None:
    t = drawer.t
    for question, names in FIRST.items():
        st.markdown(f"**{t(f'guide.{question}')}**")
        for name in names:
            drawer.draw(name)
        if question == "pay":
            _amount(drawer)
        if question == "run":
            label = t("field.presets")
            with st.popover(label, width="stretch", icon=":material/tune:", key="_presets", on_change="rerun") as box:
                if box.open:
                    _presets(drawer, catalog)


def _presets(drawer: _Drawer, catalog: Catalog) -> None:
    t = drawer.t
    st.caption(t("field.presets_help"))
    for preset_id, preset in catalog.presets.items():
        st.button(
            t(f"preset.{preset_id}".replace("-", "_")),
            key=f"_preset_{preset_id}",
            help=fmt.escape(f"{t(f'preset_help.{preset_id}'.replace('-', '_'))} {preset.source}"),
            on_click=_apply_preset,
            args=(catalog, preset_id),
            width="stretch",
        )


def _more(drawer: _Drawer) -> None:
    """All other fields by group, each with its way back: those of the groups asked for, and whatever differs.

    The groups are one widget: eight boxes would take the browser longer to draw than all inputs above (5 ms each).
    """
    t, drawn = drawer.t, set(drawer.texts)
    groups = list(GROUPS)[1:]
    asked = st.pills(
        t("field.more"), groups, selection_mode="multi", format_func=lambda group: t(f"group.{group}"), key="_groups"
    )
    for group in groups:
        names = [n for n, spec in SPECS.items() if spec.group == group and n not in drawn and spec.widget != "hidden"]
        if group == "demand":
            names += ["profile_weights"] if drawer.value("profile_weights") else []
        if group == "finance":
            names += ["title"]
        shown = [n for n in names if group in asked or not drawer.stands_at_default(n)]
        drawer.texts |= {n: str(_shown_default(n) or "") for n in names if n not in shown}
        if shown:
            st.markdown(f"**{t(f'group.{group}')}**")
        for name in shown:
            drawer.draw(name)
        here = [n for n in shown if n in drawer.changed]
        if here:
            _reset_button(t("field.reset_group"), here, f"_reset_{group}")


def _sidebar(catalog: Catalog, linked: Scenario, address: frozenset[str], *, first_run: bool) -> _Drawer:
    with st.sidebar:
        language = _language()
        drawer = _Drawer(catalog, language, linked, first_run, address)
        drawer.standings = views.standings(catalog, drawer.value("system"), drawer.value("baseline"))
        _first(drawer, catalog)
        with st.container(key="more"):
            _more(drawer)
        if drawer.changed:
            names = ", ".join(field_title(n, language) for n in SPECS if n in drawer.changed)
            st.caption(drawer.t("field.changed_list", names=fmt.escape(names)))
            _reset_button(drawer.t("field.reset_all"), drawer.changed, "_reset_all", _reset_all)
    return drawer


@lru_cache(maxsize=64)
def _answer(catalog: Catalog, scenario: Scenario, pins: tuple[tuple[str, float | str], ...], today: dt.date) -> Report:
    """The report; kept for the next page, an opened table, and the next person who asks the same (reports are frozen).

    Raises:
        UnresolvedError: an unknown id or a number that is missing.
    """
    return build_report(scenario, catalog, dict(pins), today)


def _address_without_defaults() -> frozenset[str]:
    """Names in the address; a complete link spells out defaults, which no widget has to say again."""
    address = st.query_params.to_dict()
    spelled = {name for name, value in address.items() if name in SPECS and _is_default(name, value)}
    _address.leave_out(spelled)
    return frozenset(address) - spelled


def _ask(catalog: Catalog, scenario: Scenario, linked: Scenario, language: Language) -> Answer:
    """Answer the scenario with the link's figures as far as they still apply, else with today's."""
    pins = live_pins(st.session_state[_PINS], linked, scenario)
    today = dt.date.today()
    try:
        report = _answer(catalog, scenario, tuple(sorted(pins.items())), today)
    except UnresolvedError as error:
        return Answer(None, translated(error.problem.message, language))
    moved = _moved(catalog, report, today) if pins else None
    if moved is None and scenario == linked:
        st.session_state[_PINS] = {}  # they say what today's data say: no need to answer twice from here on
    return Answer(report, moved=moved)


def _moved(catalog: Catalog, report: Report, today: dt.date) -> Moved | None:
    """Whether today's data give another answer than the link's figures, or none."""
    release: str = st.session_state[_RELEASE]
    try:
        now = _answer(catalog, report.scenario, (), today)
    except UnresolvedError as error:
        return Moved(release, report, None, error.problem.message)
    return Moved(release, report, now) if views.has_moved(report, now) else None


def draw(catalog: Catalog) -> State:
    """Draw the inputs and keep the state for the page."""
    address = _address_without_defaults()
    first_run = _LINK not in st.session_state
    linked = _open_link(catalog)
    drawer = _sidebar(catalog, linked, address, first_run=first_run)
    scenario, field_problems = link.read_values(drawer.texts.items())
    scenario, id_problems = check_ids(scenario, catalog)
    problems = tuple(dict.fromkeys((*st.session_state[_TOLD], *field_problems, *id_problems)))
    state = State(
        catalog=catalog,
        scenario=scenario,
        language=drawer.language,
        problems=tuple(Problem(p.field, p.value, drawer.problem(p)) for p in problems),
        dismissable=bool(st.session_state[_TOLD]),
        first_visit=bool(st.session_state[_GUIDE]),
        ask=lambda: _ask(catalog, scenario, linked, drawer.language),
    )
    _RUN.state = state
    return state


def button(label: str, callback: Callable[..., None], key: str, *args: Any, **options: Any) -> None:
    """A button whose callback changes the inputs."""
    st.button(label, key=key, on_click=callback, args=args, **options)


def ask_for_tables(label: str) -> None:
    """The switch for the tables beside the charts; it stays as it is on the next page."""
    if _TABLES_SWITCH not in st.session_state:
        st.session_state[_TABLES_SWITCH] = tables_asked()
    st.toggle(label, key=_TABLES_SWITCH, on_change=_keep_tables)


def _keep_tables() -> None:
    st.session_state[_TABLES] = st.session_state[_TABLES_SWITCH]


def tables_asked() -> bool:
    """Whether the charts' numbers are shown as tables."""
    return _TABLES in st.session_state and bool(st.session_state[_TABLES])


def remembered(name: str, asked: object, make: Callable[[], Any]) -> Any:
    """What ``make`` gave for the same question in this session: a large file is read once, not on every rerun."""
    key = f"_remembered_{name}"
    kept = st.session_state.get(key)
    if kept is None or kept[0] != asked:
        with aside():
            kept = (asked, make())
        st.session_state[key] = kept
    return kept[1]
