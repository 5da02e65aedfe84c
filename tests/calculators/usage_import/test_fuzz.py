"""Mutated exports end in an answer with finite numbers or in one sentence, never in another exception."""

import contextlib
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calculators.scenario import Scenario
from calculators.usage_import import KINDS, ImportRefused, guess_mapping, read, read_pair
from calculators.usage_import.cells import count_of, instant_of, money_of, token_kind, token_scale
from calculators.usage_import.errors import CellError

from .exports import EXPORTS, METRICS

NAMES = sorted(EXPORTS)
PIECES = [
    b"",
    b",",
    b";",
    b'"',
    b"\n",
    b"\r\n",
    b"\x00",
    b"\xff",
    b"NaN",
    b"Infinity",
    b"-1",
    b"1e999",
    b"=cmd|x",
    b"null",
    b"[]",
    b"{}",
    b"true",
    b"9" * 400,
    b"\xef\xbb\xbf",
    "\u2212".encode(),
    b"0",
    b"1,5",
    b"2026-13-45",
    b"24:61",
    b"\t",
    b"{" * 50,
    b": ",
    b"- ",
]


def settled(data: bytes, kind: str = "auto") -> None:
    reason = ""
    try:
        report = read(data, "fuzz", kind)
    except ImportRefused as refused:
        reason = refused.reason
    if reason:
        assert reason.endswith((".", "?"))
        assert reason.isprintable()
        return
    json.dumps(report.to_json_dict(), allow_nan=False)
    result = report.to_scenario_fields()
    json.dumps(result, allow_nan=False)
    Scenario(**result["fields"])


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(NAMES),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(PIECES)), min_size=1, max_size=6),
)
def test_bytes_replaced_anywhere(name: str, edits: list[tuple[float, int, bytes]]):
    data = EXPORTS[name][0]
    for place, length, piece in edits:
        at = int(place * len(data))
        data = data[:at] + piece + data[at + length :]
    settled(data)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.floats(0, 1))
def test_truncated_anywhere(name: str, share: float):
    data = EXPORTS[name][0]
    settled(data[: int(share * len(data))])


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([n for n in NAMES if n.endswith(".csv")]), st.randoms(use_true_random=False))
def test_shuffled_columns_and_cells(name: str, rng: random.Random):
    lines = [line.split(b",") for line in EXPORTS[name][0].splitlines()]
    order = list(range(len(lines[0])))
    rng.shuffle(order)
    mixed = b"\n".join(b",".join(line[i] if i < len(line) else b"" for i in order) for line in lines)
    settled(mixed)
    cells = [cell for line in lines[1:] for cell in line]
    rng.shuffle(cells)
    width = len(lines[0])
    settled(b"\n".join([b",".join(lines[0])] + [b",".join(cells[i : i + width]) for i in range(0, len(cells), width)]))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([n for n in NAMES if n.endswith((".json", ".jsonl"))]), st.randoms(use_true_random=False))
def test_json_values_of_other_types(name: str, rng: random.Random):
    odd = [
        None,
        True,
        -1,
        0,
        1e308,
        float("inf"),
        float("nan"),
        "",
        "x",
        "1,5",
        [],
        {},
        [1],
        {"a": 1},
        10**30,
        "2026-06-01",
        [[]],
        {"results": []},
    ]

    def spoil(value: object) -> object:
        if rng.random() < 0.08:
            return rng.choice(odd)
        if isinstance(value, dict):
            return {k: spoil(v) for k, v in value.items()}
        if isinstance(value, list):
            return [spoil(v) for v in value]
        return value

    documents = (
        [json.loads(line) for line in EXPORTS[name][0].splitlines()]
        if name.endswith("jsonl")
        else [json.loads(EXPORTS[name][0])]
    )
    settled("\n".join(json.dumps(spoil(d)) for d in documents).encode())


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=2000))
def test_random_bytes(data: bytes):
    settled(data)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=400))
def test_random_text(text: str):
    settled(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "data",
                        "results",
                        "metrics",
                        "date",
                        "spend",
                        "model",
                        "models",
                        "breakdown",
                        "benchmarks",
                        "successes",
                        "throughput",
                        "amount",
                        "currency",
                        "tput_per_gpu",
                        "output_throughput",
                        "usage",
                        "startTime",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=25,
    )
)
def test_random_json(value: object):
    settled(json.dumps(value).encode())


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(NAMES), st.sampled_from(sorted(KINDS)))
def test_every_kind_on_every_file(name: str, kind: str):
    settled(EXPORTS[name][0], kind)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(NAMES), st.floats(0, 1))
def test_guess_mapping_and_pairs(name: str, share: float):
    data = EXPORTS[name][0]
    cut = data[: int(share * len(data))]
    for call in (lambda: guess_mapping(cut), lambda: read_pair(METRICS, cut), lambda: read_pair(cut, METRICS, 10.0)):
        with contextlib.suppress(ImportRefused):
            call()


@settings(max_examples=400, deadline=None)
@given(
    st.text(max_size=40)
    | st.just(10**400)
    | st.floats()
    | st.integers()
    | st.none()
    | st.booleans()
    | st.from_regex(r"[-+($€]{0,2}[\d.,' ]{1,12}[)%eE-]?\d?", fullmatch=True)
)
def test_cells_read_or_complain(cell: object):
    for how in (".", ","):
        for reader in (money_of, count_of):
            try:
                found = reader(cell, how)  # type: ignore[arg-type]
            except CellError:
                continue
            if found is not None:
                amount = found if isinstance(found, int) else found.amount
                assert amount == amount
    for order in ("mdy", "dmy"):
        try:
            found_at = instant_of(cell, order)  # type: ignore[arg-type]
        except CellError:
            continue
        assert found_at is None or 946_684_800 <= found_at.epoch_s < 4_102_444_800
    if isinstance(cell, str):
        token_kind(cell)
        token_scale(cell)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_encodings(name: str):
    text = EXPORTS[name][0].decode("utf-8", "replace")
    for encoding in ("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "cp1252", "utf-7"):
        settled(text.encode(encoding, "replace"))
