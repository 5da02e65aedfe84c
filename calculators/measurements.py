"""Measured serving points: read either column layout into one form, with a reason for every row that cannot be used.

Two layouts are recognised by their header: the one of k3_measured.csv (a free-text layout column) and the one of
other_measured.csv (parallelism in columns, InferenceX style). Traps handled here, once:

* total_tok_s_per_gpu counts input and output; with disaggregated pools out_tok_s_per_gpu counts decode GPUs only.
* a row without concurrency but with a speed per user is a point of a latency-throughput curve.
* prefill-only rows, serverless observations and host-memory cache tiers are not machine throughput of this model.
"""

import csv
import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from calculators.memory import PRECISIONS, KvDtype, Layout
from calculators.records import Accelerator, Model, System
from calculators.throughput import Plan, Pool

NAN: Final = math.nan
"""Inside a Point NaN means 'not stated'; it never leaves this package."""

_MODEL_NAMES: Final = (
    # pattern of the name in a file, id in data/models
    (r"kimi[-_ ]?k3\.1", "kimi-k3.1-pro"),
    (r"kimi[-_ ]?k3", "kimi-k3"),
    (r"kimi[-_ ]?k2\.[567]", "kimi-k2.5"),
    (r"deepseek[-_ ]?(r1|v3)(?!\.2)", "deepseek-r1-0528"),
    (r"deepseek[-_ ]?v3\.2", "deepseek-v3.2"),
    (r"deepseek[-_ ]?v4[-_ ]?flash", "deepseek-v4-flash"),
    (r"deepseek[-_ ]?v4", "deepseek-v4-pro"),
    (r"glm[-_ ]?5\.2", "glm-5.2"),
    (r"glm[-_ ]?5", "glm-5"),
    (r"qwen3\.5", "qwen3.5-397b-a17b"),
    (r"qwen3[-_ ]?235b", "qwen3-235b-a22b"),
    (r"gpt[-_ ]?oss[-_ ]?120b", "gpt-oss-120b"),
    (r"minimax[-_ ]?m3", "minimax-m3"),
    (r"minimax[-_ ]?m2", "minimax-m2.5"),
    (r"llama[-_ ]?3\.[13][-_ ]?70b", "llama-3.3-70b"),
)

_CHIP_NAMES: Final = (
    (r"gb300", "gb300"),
    (r"b300", "b300_sxm"),
    (r"gb200", "gb200"),
    (r"b200", "b200_sxm"),
    (r"h200", "h200_sxm"),
    (r"h100", "h100_sxm"),
    (r"mi355x", "mi355x"),
    (r"mi350x", "mi350x"),
    (r"mi325x", "mi325x"),
    (r"mi300x", "mi300x"),
    (r"rtx[-_ ]?pro[-_ ]?6000", "rtxpro6000se"),
    (r"(rtx[-_ ]?)?5090", "rtx5090"),
    (r"atlas[-_ ]?a3|910c|ascend", "ascend910c_die"),
)

K3_COLUMNS: Final = frozenset({"id", "hardware", "gpus", "layout", "isl", "osl"})
OTHER_COLUMNS: Final = frozenset({"id", "model", "hardware", "decode_tp", "isl", "osl"})
_RATES: Final = ("out_tok_s_total", "out_tok_s_per_gpu", "total_tok_s_per_gpu")
"""Columns of the throughput, of which a row needs one; the first one stated counts."""


class HasRecords(Protocol):
    """What this module needs of a catalogue."""

    @property
    def models(self) -> Mapping[str, Model]:
        """Models by id."""

    @property
    def accelerators(self) -> Mapping[str, Accelerator]:
        """Accelerators by id."""

    @property
    def systems(self) -> Mapping[str, System]:
        """Machines by id."""


class Unusable(ValueError):
    """A row cannot be predicted; the message is the reason shown to people."""


@dataclass(frozen=True)
class Point:
    """One measured serving point in SI units. NaN = not stated.

    arm: the source's own name for one of several arms with this layout. unstated: what the source leaves open, of
    'concurrency' (then it follows from rate and latency) and 'speculation' (then none is assumed).
    """

    id: str
    model_id: str
    accelerator_id: str
    class_id: str
    engine: str
    date: str
    precision: str
    kv_dtype: KvDtype
    plan: Plan
    spec: str
    accepted: float
    input_tokens: float
    output_tokens: float
    cached_share: float
    concurrency: float
    user_tokens_per_s: float
    tpot_s: float
    ttft_s: float
    output_tokens_per_s: float
    source_url: str
    suspect: str
    saturation: bool
    arm: str = ""
    unstated: frozenset[str] = frozenset()

    @property
    def devices(self) -> int:
        """Accelerators of the measured replica."""
        return self.plan.devices

    @property
    def speed_s(self) -> float:
        """Seconds per output token that a user sees, stated either way; NaN when neither is."""
        if self.tpot_s > 0:
            return self.tpot_s
        return 1.0 / self.user_tokens_per_s if self.user_tokens_per_s > 0 else NAN

    @property
    def verified(self) -> float:
        """Tokens verified a sequence and step: 1 without speculation, 4 for MTP (3 drafts + 1), else draft + 1."""
        if self.spec == "none":
            return 1.0
        if self.spec == "mtp":
            return 4.0
        size = number("".join(re.findall(r"(?:block|dspark)\s*(\d+)", self.spec.lower())[-1:]))
        return size + 1.0 if math.isfinite(size) and 1 <= size <= 16 else 8.0

    @property
    def era(self) -> str:
        """Half-year of the software; undated rows of 2026 count as its first half."""
        match = re.search(r"(20\d\d)-(\d\d)", self.date)
        if not match:
            return "2026H1"
        return f"{match.group(1)}H{1 if int(match.group(2)) <= 6 else 2}"

    @property
    def configuration(self) -> str:
        """What must stay on one side of a split: everything but shape and concurrency."""
        return "|".join((self.model_id, self.accelerator_id, self.engine, self.precision, self.plan.name, self.spec))


@dataclass(frozen=True)
class Skipped:
    """A row that was not used, and why."""

    id: str
    why: str


def number(text: str | None) -> float:
    """First number of a cell, NaN when there is none ('mean 219k' reads 219000; '75.0% (prefix 1920)' reads 75)."""
    if text is None:
        return NAN
    cleaned = text.strip().lower().replace(",", "")
    mean = re.search(r"mean\s*([0-9.]+)\s*(k?)", cleaned)
    match = mean or re.match(r"[~<>= ]*([0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?)\s*(k(?![a-z])|)", cleaned)
    if not match:
        return NAN
    try:
        value = float(match.group(1)) * (1000.0 if match.group(2) == "k" else 1.0)
    except ValueError:
        return NAN
    return value if math.isfinite(value) else NAN


_ROUNDING: Final = 0.02
"""Two figures of one throughput may differ by this share; beyond it one of them is wrong."""

_OPEN: Final = re.compile(r"[-–—?]|n/?a|none|null|unknown|swept|(not|none) (stated|known|measured|reported)\b.*")
"""Words of a cell that leaves a figure open."""


def stated(row: Mapping[str, str], column: str, *, zero: bool = False) -> float:
    """The number of a cell, NaN where it is empty or says that the figure is open.

    Args:
        row: cells as text.
        column: name of the column.
        zero: whether 0 is a value; otherwise the number must be above 0.

    Raises:
        Unusable: the cell holds no number, or one that no measurement can give.
    """
    text = (row.get(column) or "").strip()
    lowered = text.lower()
    if not lowered or _OPEN.fullmatch(lowered):
        return NAN
    value = number(text)
    if math.isnan(value):
        try:
            value = float(lowered.replace(",", ""))
        except ValueError:
            raise Unusable(f"{column} {text[:60]!r} is no number") from None
        if not math.isfinite(value):
            raise Unusable(f"{column} {text[:60]!r} is no finite number; give the figure or leave the cell empty")
    if value > _LARGEST or value < 0 or (value == 0 and not zero):
        bounds = f"{'from' if zero else 'above'} 0 up to {_LARGEST:,.0f}"
        raise Unusable(f"{column} {text[:60]!r} is out of bounds: {bounds}")
    return value


_DATE: Final = re.compile(r"(20\d\d)(?:/20\d\d|[-/.](\d{1,2})(?:[-/.](\d{1,2})(?:T.*)?)?|(\d\d)(\d\d)(?:[-T_]\d.*)?)?")


def _date(row: Mapping[str, str]) -> str:
    """The date of a row, '' where it is open: a day, a month or a year, perhaps with words behind it.

    Raises:
        Unusable: the cell holds no date, or one that does not exist.
    """
    text = (row.get("date") or "").strip()
    if not text or _OPEN.fullmatch(text.lower()) or text.lower().startswith("undated"):
        return ""
    first = text.split()[0].rstrip(",;")
    match = _DATE.fullmatch(first)
    if match:
        year, month, day = match[1], match[2] or match[4], match[3] or match[5]
        try:
            found = dt.date(int(year), int(month or 1), int(day or 1))
        except ValueError:
            pass
        else:
            return found.isoformat() if day else f"{found:%Y-%m}" if month else text
    raise Unusable(f"date {text[:60]!r} is no date: write 2026-09-30, 2026-09 or 2026, or leave the cell empty")


def _agreeing(row: Mapping[str, str], whole: float, per_gpu: float, counts: Iterable[float]) -> None:
    """Refuse a total output that is not the output per accelerator times their number, but for rounding.

    Args:
        row: cells as text.
        whole: out_tok_s_total, NaN where open.
        per_gpu: out_tok_s_per_gpu, NaN where open.
        counts: numbers of accelerators that the value per accelerator may stand for.

    Raises:
        Unusable: the two contradict each other.
    """
    if not _ok(whole) or not _ok(per_gpu):
        return
    decimals = re.search(r"\.(\d+)", row["out_tok_s_per_gpu"])
    half_digit = 0.5 * 10.0 ** -(len(decimals[1]) if decimals else 0)
    known = [n for n in counts if _ok(n)]
    if any(abs(per_gpu * n - whole) <= _ROUNDING * whole + half_digit * n for n in known):
        return
    raise Unusable(
        f"out_tok_s_total {row['out_tok_s_total'].strip()[:20]} contradicts out_tok_s_per_gpu "
        f"{row['out_tok_s_per_gpu'].strip()[:20]} x {known[0]:g} accelerators = {per_gpu * known[0]:g}: "
        "correct one of them or leave it empty"
    )


def _lookup(text: str, table: Sequence[tuple[str, str]], known: Mapping[str, object], what: str) -> str:
    name = text.strip()
    if name in known:
        return name
    for pattern, ident in table:
        if re.search(rf"(?<![a-z0-9]){pattern}", name.lower()) and ident in known:
            return ident
    if not name:
        raise Unusable(f"{what} is not stated")
    raise Unusable(f"{what} {name[:80]!r} is not in the catalogue")


def _precision(text: str, model: Model) -> str:
    lowered = text.lower()
    for name in ("nvfp4", "mxfp4", "w4a8", "int4", "fp8", "bf16", "fp4"):
        if name in lowered:
            return "mxfp4" if name == "w4a8" else name
    if not lowered.strip() or "not stated" in lowered:
        # as the model is published; a 4-bit format has 4.25 or 4.5 bits with the scales of its blocks
        if model.weights_bits < 6:
            return "mxfp4" if model.activation_bits == 8 else "int4"
        return "fp8" if model.weights_bits == 8 else "bf16"
    raise Unusable(f"precision {text.strip()[:60]!r} is not one this model of time knows ({', '.join(PRECISIONS)})")


def _engine(text: str) -> str:
    lowered = text.lower()
    for name in ("sglang", "vllm", "atom"):
        if name in lowered:
            return name
    if "trt" in lowered or "tensorrt" in lowered:
        return "trt"
    return lowered.strip().split(" ")[0] or "unknown"


def _pool(text: str, devices_per_worker: int = 8) -> Pool:
    """One pool of a free-text layout: '2xTP8', 'TP8xPP2 + EP', 'PP8', 'DCP8 dp4 EP32', 'DP4xTP16xEP64'."""
    upper = text.upper()
    workers = 1
    lead = re.match(r"\s*(\d+)\s*X\s*(?=[A-Z])", upper)
    if lead:
        workers = int(lead.group(1))
        upper = upper[lead.end() :]
    no_ep = bool(re.search(r"EP\s*OFF", upper))
    found = {name: int(n) for name, n in re.findall(r"(?<![A-WYZ])(DCP|TP|PP|DP|EP|DEP|TEP)\s*(\d+)", upper)}
    if not found:
        raise Unusable(f"layout {text.strip()[:80]!r} is not understood")
    if "DEP" in found:
        return Pool(Layout(tp=1, dp=found["DEP"], ep=found["DEP"]), workers)
    dcp = found.get("DCP", 1)
    tp = found.get("TP", found.get("TEP", max(dcp, 1)))
    pp = found.get("PP", 1)
    dp = found.get("DP", 1)
    ep = 1
    if not no_ep:
        ep = found.get("EP", found.get("TEP", tp * dp if re.search(r"(?<![A-Z])EP(?!\d|\s*OFF)", upper) else 1))
    if ep > tp * dp:
        raise Unusable(f"layout {text.strip()[:80]!r}: more expert ranks ({ep}) than devices of a stage ({tp * dp})")
    return Pool(Layout(tp=tp, pp=pp, dp=dp, ep=ep, dcp=dcp), workers)


def parse_layout(text: str) -> Plan:
    """A plan from free text; 'A -> B' is a prefill pool A beside a decode pool B.

    Raises:
        Unusable: the text is empty or names no parallel dimension.
    """
    cleaned = text.strip()
    if not cleaned or cleaned.lower().startswith("not stated"):
        raise Unusable("layout is not stated")
    if "hicache" in cleaned.lower() or "offload" in cleaned.lower() or "host dram" in cleaned.lower():
        raise Unusable("the cache lives partly in host memory, which is not modelled")
    if "experts on cpu" in cleaned.lower() or "streaming" in cleaned.lower():
        raise Unusable(f"layout {cleaned!r} is not one of accelerators only")
    if "->" in cleaned:
        left, right = cleaned.split("->", 1)
        return Plan(decode=_pool(right), prefill=_pool(left))
    return Plan(decode=_pool(cleaned.split(";")[0]))


_LARGEST: Final = 1e9
"""No count, length, rate or time of a serving measurement is larger; above it a cell is a typing error."""


def _ok(value: float) -> bool:
    return math.isfinite(value) and 0 < value <= _LARGEST


def _point_k3(row: Mapping[str, str], catalog: HasRecords) -> Point:
    hardware = row.get("hardware", "")
    if hardware.lower().startswith("serverless"):
        raise Unusable("a serverless observation, not a machine")
    model_text = row.get("model", "") or "kimi-k3"
    model_id = _lookup(model_text, _MODEL_NAMES, catalog.models, "model")
    model = catalog.models[model_id]
    accelerator_id = _accelerator(hardware, catalog)
    plan = parse_layout(row.get("layout", ""))
    gpus = stated(row, "gpus")
    if not _ok(gpus):
        raise Unusable("number of accelerators is not stated")
    if "prefill only" in row.get("evidence", "").lower() or number(row.get("osl")) == 1:
        raise Unusable("prefill only: no output throughput")
    if plan.devices != int(gpus):
        raise Unusable(f"layout {row.get('layout', '')!r} uses {plan.devices} accelerators, the row says {int(gpus)}")
    isl, osl = _lengths(row)
    precision = _precision(row.get("precision", ""), model)
    spec_text = row.get("spec", "").strip().lower()
    spec = "none" if spec_text in ("", "none", "not stated", "none stated") else row["spec"].strip()
    accepted = stated(row, "accept_len") if spec != "none" else 1.0
    if "forced" in row.get("accept_kind", "").lower() and math.isfinite(accepted):
        accepted += 1.0  # 'accepted' counts drafts in these rows; the bonus token comes on top
    whole, per_gpu, total = (stated(row, column) for column in _RATES)
    # Of separate pools the output may be per decode accelerator.
    _agreeing(row, whole, per_gpu, (gpus, float(plan.decode.devices)) if plan.prefill else (gpus,))
    output = whole if _ok(whole) else per_gpu * gpus if _ok(per_gpu) else total * gpus * osl / (isl + osl)
    tpot, user = stated(row, "tpot_ms") / 1e3, stated(row, "tok_s_per_user")
    concurrency = stated(row, "concurrency")
    if not _ok(output):
        raise Unusable("no measured throughput of the whole machine")
    cap = re.search(r"(?:cap|max_num_seqs)\s*(\d+)", f"{row.get('layout', '')}; {row.get('notes', '')}")
    ttft = stated(row, "ttft_ms", zero=True) / 1e3
    if cap and _ok(concurrency) and concurrency > int(cap.group(1)):
        # The engine admits no more than the cap; the rest waits outside and is no load on the machine.
        concurrency, ttft = float(cap.group(1)), NAN
    hit = stated(row, "prefix_cache_hit", zero=True)
    hit_text = row.get("prefix_cache_hit", "")
    cached = 0.0 if not math.isfinite(hit) else hit / 100 if "%" in hit_text or hit > 1 else hit
    notes = row.get("notes", "")
    suspect = ""
    if "suspect" in notes.lower():
        suspect = "marked SUSPECT in its notes"
    elif "dummy" in row.get("evidence", "").lower():
        suspect = "dummy weights"
    elif "ladder" in notes.lower():
        suspect = "intermediate state of the software"
    kv_text = row.get("kv_dtype", "").lower()
    tag = re.search(r"arm tagged (\w+)", row.get("precision", "").lower())
    open_ = {"concurrency": not _ok(concurrency), "speculation": spec_text in ("", "not stated")}
    return Point(
        id=row.get("id", ""),
        model_id=model_id,
        accelerator_id=accelerator_id,
        class_id=catalog.accelerators[accelerator_id].class_id,
        engine=_engine(row.get("engine", "")),
        date=_date(row),
        precision=precision,
        kv_dtype="bf16" if "bf16" in kv_text or "fp16" in kv_text else "fp8",
        plan=plan,
        spec=spec,
        accepted=accepted,
        input_tokens=isl,
        output_tokens=osl,
        cached_share=min(max(cached, 0.0), 0.999),
        concurrency=concurrency,
        user_tokens_per_s=user,
        tpot_s=tpot,
        ttft_s=ttft,
        output_tokens_per_s=output,
        source_url=row.get("source_url", ""),
        suspect=suspect,
        saturation=False,
        arm=tag.group(1) if tag else "",
        unstated=frozenset(name for name, is_open in open_.items() if is_open),
    )


def _lengths(row: Mapping[str, str]) -> tuple[float, float]:
    """Input and output tokens a request."""
    found = stated(row, "isl"), stated(row, "osl")
    if not all(_ok(n) for n in found):
        raise Unusable("input and output lengths are not stated")
    return found


def _accelerator(text: str, catalog: HasRecords) -> str:
    if text.strip() in catalog.systems:
        return catalog.systems[text.strip()].accelerator
    return _lookup(text, _CHIP_NAMES, catalog.accelerators, "machine")


def _column_pool(tp: float, ep: float, dp_attention: bool, workers: float, gpus: float) -> Pool:
    if not _ok(tp) or tp < 1:
        raise Unusable("layout is not stated")
    ranks = int(tp)
    count = int(workers) if _ok(workers) else 1
    if _ok(gpus) and count * ranks != int(gpus):
        if int(gpus) % ranks:
            raise Unusable(f"{int(gpus)} accelerators do not divide into workers of {ranks}")
        count = int(gpus) // ranks
    experts = int(ep) if _ok(ep) else 1
    if experts > ranks and experts % ranks == 0 and int(gpus) % experts == 0:
        # More expert ranks than tensor ranks: data-parallel attention over the rest.
        return Pool(Layout(tp=ranks, dp=experts // ranks, ep=experts), int(gpus) // experts)
    if dp_attention:
        return Pool(Layout(tp=1, dp=ranks, ep=ranks), count)
    return Pool(Layout(tp=ranks, ep=min(max(experts, 1), ranks)), count)


def _point_other(row: Mapping[str, str], catalog: HasRecords) -> Point:
    model_id = _lookup(row.get("model", ""), _MODEL_NAMES, catalog.models, "model")
    model = catalog.models[model_id]
    accelerator_id = _accelerator(row.get("hardware", ""), catalog)
    isl, osl = _lengths(row)
    gpus = stated(row, "gpus")
    prefill_gpus, decode_gpus = number(row.get("num_prefill_gpu")), number(row.get("num_decode_gpu"))
    disagg = row.get("disagg", "").strip().lower() == "true"
    dp_attention = row.get("dp_attention", "").strip().lower() == "true"
    if not _ok(gpus):
        raise Unusable("number of accelerators is not stated")
    decode_text = row.get("decode_tp", "").strip()
    if not decode_text:
        raise Unusable("layout is not stated")
    if not re.fullmatch(r"[0-9.]+", decode_text):
        plan = parse_layout(decode_text)
    elif disagg:
        if not _ok(prefill_gpus) or not _ok(decode_gpus):
            raise Unusable("accelerators of the prefill and decode pools are not stated")
        if number(row.get("decode_workers")) == 0 or number(row.get("prefill_workers")) == 0:
            raise Unusable("workers of the prefill and decode pools are not stated")
        plan = Plan(
            decode=_column_pool(
                number(decode_text),
                number(row.get("decode_ep")),
                dp_attention,
                number(row.get("decode_workers")),
                decode_gpus,
            ),
            prefill=_column_pool(
                number(row.get("prefill_tp")),
                number(row.get("prefill_ep")),
                dp_attention,
                number(row.get("prefill_workers")),
                prefill_gpus,
            ),
        )
    else:
        plan = Plan(decode=_column_pool(number(decode_text), number(row.get("decode_ep")), dp_attention, NAN, gpus))
    if plan.devices != int(gpus):
        raise Unusable(f"layout uses {plan.devices} accelerators, the row says {int(gpus)}")
    whole, per_gpu, total = (stated(row, column) for column in _RATES)
    _agreeing(row, whole, per_gpu, (gpus, decode_gpus) if disagg else (gpus,))
    suspect = ""
    if disagg:
        # With separate pools the per-GPU output is per decode GPU; the total is over all.
        by_output = per_gpu * (decode_gpus if _ok(decode_gpus) else gpus)
        by_total = total * gpus * osl / (isl + osl)
        output = by_output if _ok(by_output) else by_total
        if _ok(by_total) and _ok(by_output) and abs(by_total / by_output - 1) > 0.15:
            suspect = "its throughput columns contradict one another"
    else:
        output = per_gpu * gpus if _ok(per_gpu) else total * gpus * osl / (isl + osl)
    if not _ok(output):
        raise Unusable("no measured throughput")
    concurrency_text = row.get("concurrency", "").strip().lower()
    saturated = "max" in concurrency_text  # 'max load': as many requests as the engine takes
    concurrency = NAN if saturated else stated(row, "concurrency")
    user, tpot = stated(row, "median_tok_s_per_user"), stated(row, "median_tpot_s")
    ttft = stated(row, "median_ttft_s", zero=True)
    spec = row.get("spec", "").strip().lower() or "none"
    if _ok(concurrency) and _ok(tpot):
        implied = output * (tpot + (ttft / osl if _ok(ttft) else 0.0))
        if not suspect and (implied / concurrency < 0.7 or (implied / concurrency > 1.3)) and _ok(ttft):
            suspect = "throughput, latency and concurrency contradict one another (Little's law)"
    if "untuned" in row.get("notes", "").lower():
        suspect = "untuned baseline by its own notes"
    if "suspect" in row.get("notes", "").lower():
        suspect = "marked SUSPECT in its notes"
    return Point(
        id=row.get("id", ""),
        model_id=model_id,
        accelerator_id=accelerator_id,
        class_id=catalog.accelerators[accelerator_id].class_id,
        engine=_engine(row.get("engine", "")),
        date=_date(row),
        precision=_precision(row.get("precision", ""), model),
        kv_dtype="fp8",
        plan=plan,
        spec=spec,
        accepted=1.0 if spec == "none" else NAN,
        input_tokens=isl,
        output_tokens=osl,
        cached_share=0.0,
        concurrency=concurrency,
        user_tokens_per_s=user,
        tpot_s=tpot,
        ttft_s=ttft,
        output_tokens_per_s=output,
        source_url=row.get("source_url", ""),
        suspect=suspect,
        saturation=saturated,
    )


def parse_row(row: Mapping[str, str], catalog: HasRecords) -> Point:
    """One row of either layout.

    Raises:
        Unusable: with the reason, in words.
    """
    columns = set(row)
    if columns >= OTHER_COLUMNS and "layout" not in columns:
        return _point_other(row, catalog)
    if columns >= K3_COLUMNS:
        return _point_k3(row, catalog)
    missing = sorted((OTHER_COLUMNS if "decode_tp" in columns else K3_COLUMNS) - columns)
    raise Unusable(f"columns are of neither known layout; missing {', '.join(missing)}")


def check_columns(names: Iterable[str], where: str) -> None:
    """Refuse a table in which no row could be read.

    Args:
        names: its columns.
        where: what to call it.

    Raises:
        ValueError: the columns of neither layout are there, or none of a throughput; the sentence lists what is needed.
    """
    columns = {name.strip() for name in names}
    if any(columns >= known and columns & set(_RATES) for known in (K3_COLUMNS, OTHER_COLUMNS)):
        return
    rate = f"one of {', '.join(_RATES)}"
    layouts = "; or ".join(
        f"{', '.join(sorted(known))} and {rate if known is K3_COLUMNS else ' or '.join(_RATES[1:])}"
        for known in (K3_COLUMNS, OTHER_COLUMNS)
    )
    raise ValueError(f"{where}: has the columns of neither known layout. It needs {layouts}.")


def _checked(point: Point) -> Point:
    """Refuse what no measurement can be, so that a typing error is named and not predicted."""
    for what, value, low, high in (
        ("input length", point.input_tokens, 1.0, 1e8),
        ("output length", point.output_tokens, 1.0, 1e8),
        ("output throughput", point.output_tokens_per_s, 1e-6, _LARGEST),
        ("number of accelerators", float(point.devices), 1.0, 1e5),
        ("concurrency", point.concurrency, 1.0, 1e7),
        ("time per token", point.tpot_s, 1e-6, 1e5),
        ("speed per user", point.user_tokens_per_s, 1e-5, 1e6),
        ("accepted tokens per step", point.accepted, 1.0, 64.0),
    ):
        if not math.isnan(value) and not low <= value <= high:
            raise Unusable(f"{what} {value:g} is outside {low:g} to {high:g}")
    return point


def parse_rows(rows: Iterable[Mapping[str, str]], catalog: HasRecords) -> tuple[list[Point], list[Skipped]]:
    """All rows: the usable points and the others with their reason. Never raises for a bad row."""
    points: list[Point] = []
    skipped: list[Skipped] = []
    for index, raw in enumerate(rows, start=1):
        row = {str(k).strip(): ("" if v is None else str(v)) for k, v in raw.items() if k is not None}
        ident = row.get("id", "").strip() or f"row {index}"
        try:
            points.append(_checked(parse_row({**row, "id": ident}, catalog)))
        except Unusable as why:
            skipped.append(Skipped(ident, str(why)))
        except (ValueError, KeyError, ArithmeticError) as why:
            skipped.append(Skipped(ident, f"could not be read: {why}"))
    return points, skipped


def read_csv(path: Path | str, check: bool = False) -> list[dict[str, str]]:
    """Rows of a CSV file as text; tolerates a byte-order mark and CRLF.

    Args:
        path: the file.
        check: refuse a header of neither layout, see `check_columns`.

    Raises:
        ValueError: the file is missing, empty or not text, in one sentence.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as why:
        raise ValueError(f"{path}: cannot be read ({why.strerror})") from why
    except UnicodeDecodeError as why:
        raise ValueError(f"{path}: is not UTF-8 text (byte {why.start})") from why
    reader = csv.DictReader(text.splitlines(keepends=True))
    if not reader.fieldnames:
        raise ValueError(f"{path}: has no header row")
    if check:
        check_columns(reader.fieldnames, str(path))
    return [{k: (v if isinstance(v, str) else "") for k, v in row.items() if isinstance(k, str)} for row in reader]
