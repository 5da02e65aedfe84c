"""What a person chose: one frozen record, each field declared once with bounds, unit, default, title and help.

Widgets, validation, link, documentation and the command line all read these declarations. A default is a contract: old
links leave it out, so a change of any default or bound needs a new ``VERSION`` (a test holds the two together).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from calculators.texts import field_id, said, unit_words

VERSION: Final = 1
"""Version of the scenario's fields, defaults and bounds; the link carries it as ``v``."""

Demand = Literal["fill", "tokens", "requests", "spend", "seats"]
Acquisition = Literal["buy", "loan", "rent"]
Facility = Literal["colocation", "own"]
CacheDtype = Literal["fp8", "bf16"]
SystemCount = Annotated[int, Field(ge=0, le=10_000)] | Literal["auto"]

GROUPS: Final = MappingProxyType(
    {
        "first": "The five that matter",
        "workload": "Workload",
        "demand": "Demand",
        "api": "API prices",
        "serving": "Serving",
        "buying": "Buying",
        "running": "Running costs",
        "finance": "Finance",
    }
)


def _field(
    default: object,
    *,
    title: str,
    help: str,
    group: str,
    unit: str = "",
    widget: str = "number",
    step: float | None = None,
    scale: float = 1.0,
    catalogue: str = "",
    **bounds: Any,
) -> Any:
    """Declare a field.

    ``scale`` is for display only (share x 100 = percent); ``catalogue`` says what an empty field stands for.
    """
    extra: dict[str, Any] = {
        "group": group,
        "unit": unit,
        "widget": widget,
        "step": step,
        "scale": scale,
        "catalogue": catalogue,
    }
    return Field(default=default, title=title, description=help, json_schema_extra=extra, **bounds)


class Scenario(BaseModel):
    """A complete, shareable set of choices. Shares are fractions; empty (None) means 'take the catalogue's figure'."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True)

    title: str = _field(
        "",
        title="Title",
        help="A name for this scenario; it travels in the link.",
        group="first",
        widget="text",
        max_length=120,
    )
    model: str = _field(
        "kimi-k3",
        title="Model",
        help="The open-weight model that you would run.",
        group="first",
        widget="choice",
        min_length=1,
        max_length=80,
    )
    system: str = _field(
        "hgx-b300-8",
        title="Machine",
        help="The machine that you would buy or rent.",
        group="first",
        widget="choice",
        min_length=1,
        max_length=80,
    )
    system_count: SystemCount = _field(
        1,
        title="Number of machines",
        group="first",
        unit="systems",
        widget="count",
        help="How many machines. 'auto' takes the number that costs least for the demand, from 0 up.",
    )

    input_tokens: int = _field(
        8192,
        title="Input tokens per request",
        unit="tokens",
        group="workload",
        step=256,
        ge=1,
        le=1_048_576,
        help="Mean prompt length, as today's provider counts it.",
    )
    output_tokens: int = _field(
        1024,
        title="Output tokens per request",
        unit="tokens",
        group="workload",
        step=64,
        ge=1,
        le=1_048_576,
        help="Mean answer length. Reasoning tokens are output and are inside it.",
    )
    cached_share: float = _field(
        0.0,
        title="Cached share of input (API bill)",
        unit="share",
        group="workload",
        widget="share",
        step=0.01,
        scale=100,
        ge=0,
        le=1,
        help="Share of the input that the API bills at its cache-hit price.",
    )
    serving_cached_share: float | None = _field(
        None,
        title="Prefix reuse on own machines",
        unit="share",
        group="workload",
        widget="share",
        step=0.01,
        scale=100,
        catalogue="same as the cached share",
        ge=0,
        le=1,
        help="Share of the input that your own machines find in their cache. Empty: the same as at the API.",
    )
    cache_write_share: float | None = _field(
        None,
        title="Cache writes, share of new input",
        unit="share",
        group="workload",
        widget="share",
        step=0.01,
        scale=100,
        catalogue="all new input when a share is cached",
        ge=0,
        le=1,
        help="Share of the new input billed at the cache-write price. Empty: all of it as soon as any input is cached.",
    )
    batch_share: float = _field(
        0.0,
        title="Share that can wait (batch)",
        unit="share",
        group="workload",
        widget="share",
        step=0.05,
        scale=100,
        ge=0,
        le=1,
        help="Share of the tokens that may take the API's batch price, where the offer has one.",
    )
    demand: Demand = _field(
        "fill",
        title="Demand is given as",
        group="first",
        widget="choice",
        help="'fill' loads the machines to the planned utilization. Else give tokens, requests, spend or seats.",
    )
    demand_tokens_per_month: float | None = _field(
        None,
        title="Tokens a month",
        unit="tokens/month",
        group="first",
        widget="amount",
        ge=0,
        le=1e18,
        help="Input plus output tokens of a month, as today's provider counts them. For example 30B.",
    )
    demand_requests_per_month: float | None = _field(
        None,
        title="Requests a month",
        unit="requests/month",
        group="first",
        widget="amount",
        ge=0,
        le=1e15,
        help="Requests of a month.",
    )
    demand_usd_per_month: float | None = _field(
        None,
        title="API spend a month",
        unit="USD/month",
        group="first",
        widget="amount",
        ge=0,
        le=1e12,
        help="What the API bill is today. It becomes tokens through the offer's price and the mix. For example 95k.",
    )
    demand_seats: float | None = _field(
        None,
        title="Seats",
        unit="people",
        group="first",
        widget="amount",
        ge=0,
        le=1e8,
        help="People who use it. Results are then also given per seat.",
    )
    requests_per_seat_workday: float = _field(
        100.0,
        title="Requests per seat and workday",
        unit="requests",
        group="demand",
        step=10,
        ge=0,
        le=1e6,
        help="How many requests a person sends on a working day.",
    )
    workdays_per_month: float = _field(
        21.0,
        title="Workdays a month",
        unit="days",
        group="demand",
        step=1,
        ge=0,
        le=31,
        help="Working days in a month, for seats.",
    )
    migratable_share: float = _field(
        1.0,
        title="Share that may move",
        unit="share",
        group="demand",
        widget="share",
        step=0.05,
        scale=100,
        ge=0,
        le=1,
        help="Share of the demand that is allowed to leave the API. The rest stays there in every comparison.",
    )
    token_ratio: float = _field(
        1.0,
        title="Token ratio",
        unit="tokens/token",
        group="demand",
        step=0.05,
        ge=0.05,
        le=20,
        help="Tokens of the open model per token of today's model: another tokenizer, a wordier model.",
    )
    profile: Literal["flat", "office-hours", "global", "imported"] = _field(
        "flat",
        title="Hours of the week",
        group="demand",
        widget="choice",
        help="When the demand comes. A peaky week leaves own machines idle at night and sends the peak to the API.",
    )
    profile_weights: str = _field(
        "",
        title="Imported hours",
        group="demand",
        widget="hidden",
        pattern=r"^([A-Za-z0-9_-]{168})?$",
        help="168 characters, one an hour of the week, written by the usage import.",
    )
    demand_growth_per_year: float = _field(
        0.0,
        title="Demand growth",
        unit="share/year",
        group="demand",
        widget="share",
        step=0.05,
        scale=100,
        ge=-0.99,
        le=10,
        help="Growth of the demand in a year; applied month by month.",
    )

    baseline: str = _field(
        "moonshotai/kimi-k3",
        title="Offer paid today",
        group="first",
        widget="choice",
        min_length=1,
        max_length=160,
        help="The API that these tokens go to today.",
    )
    alternative: str | None = _field(
        None,
        title="Serverless alternative",
        group="api",
        widget="choice",
        min_length=1,
        max_length=160,
        catalogue="cheapest standard offer of the same weights",
        help="A serverless offer of the open model to compare with too: moving there needs no hardware.",
    )
    input_usd_per_mtok: float | None = _field(
        None,
        title="Input price",
        unit="USD/Mtok",
        group="api",
        step=0.1,
        catalogue="baseline offer",
        ge=0,
        le=1000,
        help="Your own price per million new input tokens, instead of the list price.",
    )
    cached_input_usd_per_mtok: float | None = _field(
        None,
        title="Cached input price",
        unit="USD/Mtok",
        group="api",
        step=0.01,
        catalogue="baseline offer",
        ge=0,
        le=1000,
        help="Your own price per million cached input tokens.",
    )
    cache_write_usd_per_mtok: float | None = _field(
        None,
        title="Cache write price",
        unit="USD/Mtok",
        group="api",
        step=0.1,
        catalogue="baseline offer",
        ge=0,
        le=1000,
        help="Your own price per million tokens written to the cache.",
    )
    output_usd_per_mtok: float | None = _field(
        None,
        title="Output price",
        unit="USD/Mtok",
        group="api",
        step=0.1,
        catalogue="baseline offer",
        ge=0,
        le=1000,
        help="Your own price per million output tokens.",
    )
    api_discount: float = _field(
        0.0,
        title="Discount on the API bill",
        unit="share",
        group="api",
        widget="share",
        step=0.01,
        scale=100,
        ge=0,
        le=1,
        help="Negotiated discount on the whole baseline bill.",
    )
    api_price_change_per_year: float = _field(
        0.0,
        title="API price change",
        unit="share/year",
        group="api",
        widget="share",
        step=0.05,
        scale=100,
        ge=-0.99,
        le=10,
        help="Yearly change of both API prices, applied month by month. -50 % is a price that halves in a year.",
    )
    usd_per_cny: float | None = _field(
        None,
        title="USD per CNY",
        unit="USD/CNY",
        group="api",
        step=0.005,
        catalogue="dated rate",
        ge=0.001,
        le=10,
        help="Rate for offers priced in CNY.",
    )

    utilization: float = _field(
        0.75,
        title="Utilization",
        unit="share",
        group="first",
        widget="slider",
        step=0.01,
        scale=100,
        ge=0,
        le=1,
        help="Highest planned share of the capacity in any hour. It acts once, on the served tokens.",
    )
    availability: float = _field(
        0.99,
        title="Availability",
        unit="share",
        group="serving",
        widget="share",
        step=0.005,
        scale=100,
        ge=0,
        le=1,
        help="Share of the month in which the machines work.",
    )
    kv_dtype: CacheDtype = _field(
        "fp8",
        title="Cache precision",
        group="serving",
        widget="choice",
        help="Precision of the key-value cache; a choice of its own, not the weights'.",
    )
    gpu_memory_utilization: float = _field(
        0.90,
        title="Memory given to the engine",
        unit="share",
        group="serving",
        widget="share",
        step=0.01,
        scale=100,
        ge=0.1,
        le=1,
        help="Share of the usable memory that the serving engine may take.",
    )
    accepted_tokens_per_step: float = _field(
        1.0,
        title="Accepted tokens per step",
        unit="tokens/step",
        group="serving",
        step=0.1,
        ge=1,
        le=16,
        help="Tokens emitted per decode step with speculative decoding, the bonus token included. 1 = none.",
    )
    max_tpot_ms: float | None = _field(
        60.0,
        title="TPOT limit",
        unit="ms",
        group="serving",
        step=5,
        catalogue="no limit",
        ge=0.001,
        le=100_000,
        help="Longest time per output token that users accept.",
    )
    max_ttft_s: float | None = _field(
        None,
        title="TTFT limit",
        unit="s",
        group="serving",
        step=1,
        catalogue="no limit",
        ge=0.001,
        le=100_000,
        help="Longest time to first token that users accept.",
    )
    measured_output_tokens_per_s: float | None = _field(
        None,
        title="Own load test",
        unit="tokens/s",
        group="serving",
        step=50,
        catalogue="sizing model",
        ge=0.001,
        le=1e9,
        help="Output tokens per second of one whole machine at this mix, as you measured it.",
    )

    acquisition: Acquisition = _field(
        "buy",
        title="Buy, loan or rent",
        group="buying",
        widget="choice",
        help="Buy outright, buy on a loan, or rent by the accelerator-hour.",
    )
    hardware_usd: float | None = _field(
        None,
        title="Price of one machine",
        unit="USD",
        group="buying",
        widget="amount",
        catalogue="machine",
        ge=0,
        le=1e9,
        help="Purchase price per machine, for example 600k.",
    )
    other_capex_usd: float = _field(
        0.0,
        title="One-off costs",
        unit="USD",
        group="buying",
        widget="amount",
        ge=0,
        le=1e9,
        help="Network, installation, migration: paid once at the start.",
    )
    spares_share: float = _field(
        0.05,
        title="Spares",
        unit="share",
        group="buying",
        widget="share",
        step=0.01,
        scale=100,
        ge=0,
        le=1,
        help="Spare parts bought with the machines, share of their price.",
    )
    reserve_systems: int = _field(
        0,
        title="Reserve machines (N+1)",
        unit="systems",
        group="buying",
        step=1,
        ge=0,
        le=1000,
        help="Bought and powered, but not counted as capacity.",
    )
    rent_usd_per_accelerator_hour: float | None = _field(
        None,
        title="Rent",
        unit="USD/accelerator-hour",
        group="buying",
        step=0.1,
        catalogue="machine",
        ge=0,
        le=1000,
        help="Rental price per accelerator and hour.",
    )
    rented_hours_per_month: float = _field(
        730.0,
        title="Rented hours a month",
        unit="h/month",
        group="buying",
        step=10,
        ge=0,
        le=730,
        help="730 is all month. 264 is twelve hours on weekdays. Rent is paid for these hours, used or not.",
    )
    loan_rate: float = _field(
        0.13,
        title="Loan rate",
        unit="share/year",
        group="buying",
        widget="share",
        step=0.005,
        scale=100,
        ge=0,
        le=1,
        help="Yearly rate of the loan; paid monthly at a twelfth.",
    )
    loan_months: int = _field(
        36,
        title="Loan term",
        unit="months",
        group="buying",
        step=6,
        ge=1,
        le=240,
        help="Number of equal monthly payments.",
    )

    facility: Facility = _field(
        "colocation",
        title="Where it stands",
        group="running",
        widget="choice",
        help="Colocation includes power. In an own facility you pay electricity x PUE.",
    )
    colocation_usd_per_kw_month: float | None = _field(
        None,
        title="Colocation",
        unit="USD/kW-month",
        group="running",
        step=5,
        catalogue="operating costs",
        ge=0,
        le=10_000,
        help="Price per provisioned kW and month, power included.",
    )
    electricity_usd_per_kwh: float | None = _field(
        None,
        title="Electricity",
        unit="USD/kWh",
        group="running",
        step=0.01,
        catalogue="operating costs",
        ge=0,
        le=10,
        help="Only for an own facility.",
    )
    pue: float | None = _field(
        None,
        title="PUE",
        unit="ratio",
        group="running",
        step=0.05,
        catalogue="operating costs",
        ge=1,
        le=5,
        help="Facility power per machine power. Only for an own facility.",
    )
    power_kw: float | None = _field(
        None,
        title="Power of one machine",
        unit="kW",
        group="running",
        step=0.5,
        catalogue="machine",
        ge=0,
        le=10_000,
        help="Power at the wall under load.",
    )
    support_share_per_year: float = _field(
        0.05,
        title="Hardware support",
        unit="share/year",
        group="running",
        widget="share",
        step=0.01,
        scale=100,
        ge=0,
        le=1,
        help="Support contract per year, share of the hardware price.",
    )
    staff_fte: float = _field(
        0.25,
        title="Staff",
        unit="FTE",
        group="running",
        step=0.05,
        ge=0,
        le=1000,
        help="Full-time people who keep it running.",
    )
    staff_usd_per_year: float = _field(
        300_000.0,
        title="Cost of one FTE",
        unit="USD/year",
        group="running",
        widget="amount",
        ge=0,
        le=1e7,
        help="Loaded cost of a person for a year.",
    )
    other_opex_usd_per_month: float = _field(
        0.0,
        title="Other running costs",
        unit="USD/month",
        group="running",
        widget="amount",
        ge=0,
        le=1e9,
        help="Anything else that is paid every month.",
    )
    licence_share: float = _field(
        0.0,
        title="Licence fee",
        unit="share",
        group="running",
        widget="share",
        step=0.01,
        scale=100,
        ge=0,
        le=1,
        help="Share of the API value of the served tokens that a licence asks for. Own use of Kimi K3 is reported "
        "free: read the licence.",
    )

    target_payback_days: float = _field(
        365.0,
        title="Wanted payback",
        unit="days",
        group="finance",
        step=30,
        ge=1,
        le=36_500,
        help="For 'what must be true': the payback that you want.",
    )
    horizon_months: int = _field(
        48,
        title="Horizon",
        unit="months",
        group="finance",
        step=6,
        ge=1,
        le=240,
        help="How long you look ahead; the machine is written off over it.",
    )
    discount_rate: float = _field(
        0.10,
        title="Discount rate",
        unit="share/year",
        group="finance",
        widget="share",
        step=0.01,
        scale=100,
        ge=0,
        le=1,
        help="Yearly cost of capital, before tax.",
    )
    residual_share: float = _field(
        0.17,
        title="Residual value",
        unit="share",
        group="finance",
        widget="share",
        step=0.01,
        scale=100,
        ge=0,
        le=1,
        help="Share of the hardware price left at the horizon.",
    )


@dataclass(frozen=True)
class FieldSpec:
    """Declaration of one scenario field, as widgets, link, docs and validation read it."""

    name: str
    title: str
    help: str
    group: str
    unit: str
    widget: str
    default: Any
    optional: bool
    integer: bool
    options: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    exclusive_minimum: bool
    min_length: int
    max_length: int | None
    step: float | None
    scale: float
    catalogue: str


def _length(info: FieldInfo, name: str) -> int | None:
    return next((getattr(item, name) for item in info.metadata if hasattr(item, name)), None)


def _spec(name: str) -> FieldSpec:
    info = Scenario.model_fields[name]
    schema: dict[str, Any] = dict(info.json_schema_extra or {})  # type: ignore[arg-type]
    bounds = {key: getattr(item, key) for item in info.metadata for key in ("ge", "gt", "le") if hasattr(item, key)}
    annotation = info.annotation
    members = get_args(annotation)
    optional = type(None) in members
    options = tuple(str(o) for o in members) if get_origin(annotation) is Literal else ()
    for member in members:  # a bounded member of a union (system_count) keeps its bounds on the member
        if get_origin(member) is Annotated:
            inner, constraint = get_args(member)
            members = (*members, inner)
            bounds |= {key: getattr(c, key) for c in constraint.metadata for key in ("ge", "le") if hasattr(c, key)}
    integer = annotation is int or int in members
    low = bounds.get("ge", bounds.get("gt"))
    return FieldSpec(
        name=name,
        title=info.title or name,
        help=info.description or "",
        group=schema["group"],
        unit=schema["unit"],
        widget=schema["widget"],
        default=info.default,
        optional=optional,
        integer=integer,
        options=options,
        minimum=None if low is None else float(low),
        maximum=None if bounds.get("le") is None else float(bounds["le"]),
        exclusive_minimum="gt" in bounds,
        min_length=int(_length(info, "min_length") or 0),
        max_length=_length(info, "max_length"),
        step=schema["step"],
        scale=schema["scale"],
        catalogue=schema["catalogue"],
    )


SPECS: Final[Mapping[str, FieldSpec]] = MappingProxyType({name: _spec(name) for name in Scenario.model_fields})
"""All fields by name, in the order of their declaration."""

AMOUNT_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tokens": "demand_tokens_per_month",
        "requests": "demand_requests_per_month",
        "spend": "demand_usd_per_month",
        "seats": "demand_seats",
    }
)
"""The field that carries the amount for each kind of demand ('fill' needs none)."""


@dataclass(frozen=True)
class Problem:
    """Something that could not be used: the field, what stood there, and one sentence for the reader."""

    field: str
    value: str
    message: str


def _limit(value: float) -> str:
    return f"{value:,.12g}"


def at_least(limit: str, *, exclusive: bool) -> str:
    """Words for a lower bound: 'at least 1', or 'above 0' where the bound itself is out."""
    return said("problem.above", x=limit) if exclusive else said("problem.at_least", x=limit)


def _message(name: str, value: object, kind: str) -> str:
    """One sentence that names field, value and bound."""
    spec = SPECS.get(name)
    shown = f"'{' '.join(value.split())}'" if isinstance(value, str) else f"{value}"
    if len(shown) > 80:
        shown = shown[:77] + "..."
    if spec is None:
        unknown = " ".join(name.split())[:80]  # any text: the message stays one line
        return said("problem.no_field", name=unknown)
    field = field_id(name)
    if spec.options:
        return said("problem.one_of", name=field, value=shown, options=", ".join(spec.options))
    if name == "profile_weights":
        return said("problem.weights")
    if spec.minimum is None and spec.maximum is None:
        return said("problem.text_length", name=field, value=shown, low=spec.min_length, high=spec.max_length)
    low = "" if spec.minimum is None else at_least(_limit(spec.minimum), exclusive=spec.exclusive_minimum)
    high = "" if spec.maximum is None else said("problem.at_most", x=_limit(spec.maximum))
    noun = said("problem.whole_number") if spec.integer else said("problem.number")
    if name == "system_count":
        noun = said("problem.auto_or_whole")
    unit = said("problem.unit", unit=unit_words(spec.unit)) if spec.unit and spec.unit != "share" else ""
    empty = said("problem.or_empty") if spec.optional else ""
    return said("problem.bounds", name=field, value=shown, noun=noun, low=low, high=high, unit=unit, empty=empty)


def from_values(values: Mapping[str, object]) -> tuple[Scenario, tuple[Problem, ...]]:
    """Build a scenario from raw values, using all that can be used.

    Args:
        values: field name to value; text is read as numbers where the field is a number, '' as empty.

    Returns:
        The scenario and, for each value that could not be used (its field then keeps the default), a problem.
    """
    good: dict[str, object] = {}
    problems: list[Problem] = []
    for name, value in values.items():
        if name not in SPECS:
            problems.append(Problem(name, str(value), _message(name, value, "unknown")))
        elif isinstance(value, bool | bytes):
            # neither is a field's value; pydantic would read them as 1 or 0, or as text
            problems.append(Problem(name, str(value), _message(name, value, "value")))
        else:
            empty = isinstance(value, str) and value.strip() == "" and SPECS[name].optional
            good[name] = None if empty else value
    scenario = _validated(good)
    if scenario is not None:
        return scenario, tuple(problems)
    for name in list(good):
        try:
            Scenario.model_validate({name: good[name]})
        except (ValidationError, ValueError, OverflowError) as error:
            kind = error.errors()[0]["type"] if isinstance(error, ValidationError) else "value"
            del good[name]
            problems.append(Problem(name, str(values[name]), _message(name, values[name], kind)))
    order = list(values)
    return Scenario.model_validate(good), tuple(sorted(problems, key=lambda p: order.index(p.field)))


def _validated(values: Mapping[str, object]) -> Scenario | None:
    """All at once, which is nearly always right; None where a value cannot be used."""
    try:
        return Scenario.model_validate(values)
    except (ValidationError, ValueError, OverflowError):
        return None
