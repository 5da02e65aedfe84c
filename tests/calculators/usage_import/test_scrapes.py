"""Counters of /metrics and the YAML of benchmark reports: every counter by each of its names, and what is not one."""

from typing import Any

import pytest

from calculators.usage_import import BenchmarkReport, ImportRefused, read, read_pair
from calculators.usage_import import blocks as blocks_module
from calculators.usage_import.blocks import parse_blocks


def scrape(counters: dict[str, float], *, model: str = "alpha", at: str = "", stamp: str = "") -> bytes:
    lines = [f"# scraped_at {at}"] if at else []
    tag = f'{{engine="0",model_name="{model}"}}' if model else ""
    return "\n".join(
        [*lines, *(f"{n}{tag} {v}{' ' + stamp if stamp else ''}" for n, v in counters.items()), ""]
    ).encode()


def rows(data: bytes) -> list[dict[str, Any]]:
    report = read(data, kind="metrics")
    assert isinstance(report, BenchmarkReport)
    return [{k: v for k, v in r.to_json_dict().items() if v not in (None, "", [], ())} for r in report.rows]


VLLM = {
    "vllm:prompt_tokens_total": 1000,
    "vllm:generation_tokens_total": 100,
    "vllm:prefix_cache_hits_total": 250,
    "vllm:prefix_cache_queries_total": 500,
    "vllm:request_success_total": 10,
    "vllm:time_to_first_token_seconds_sum": 5,
    "vllm:time_to_first_token_seconds_count": 20,
    "vllm:request_time_per_output_token_seconds_sum": 2,
    "vllm:request_time_per_output_token_seconds_count": 40,
    "vllm:inter_token_latency_seconds_sum": 9,
    "vllm:inter_token_latency_seconds_count": 90,
    "vllm:e2e_request_latency_seconds_sum": 30,
    "vllm:e2e_request_latency_seconds_count": 5,
    "vllm:spec_decode_num_drafts_total": 50,
    "vllm:spec_decode_num_accepted_tokens_total": 75,
}
SAYS = {
    "name": "since the server started",
    "model": "alpha",
    "engine": "vllm",
    "completed_requests": 5,  # of the latencies of whole requests
    "total_input_tokens": 1000,
    "total_output_tokens": 100,
    "input_tokens_mean": 200.0,
    "output_tokens_mean": 20.0,
    "ttft_mean_s": 0.25,
    "tpot_mean_ms": 50.0,
    "accepted_tokens_per_step": 2.5,  # 75 / 50 and the one that is always there
    "prefix_cache_hit_share": 0.5,
}
ITL = {"tpot_mean_ms": 100.0}
BY_SUCCESS = {"completed_requests": 10, "input_tokens_mean": 100.0, "output_tokens_mean": 10.0}


def without(*names: str) -> dict[str, float]:
    return {n: v for n, v in VLLM.items() if n not in names}


def renamed(names: dict[str, str], start: dict[str, float] = VLLM) -> dict[str, float]:
    return {names.get(n, n): v for n, v in start.items()}


TPOT = ("vllm:request_time_per_output_token_seconds_sum", "vllm:request_time_per_output_token_seconds_count")
E2E = ("vllm:e2e_request_latency_seconds_sum", "vllm:e2e_request_latency_seconds_count")


@pytest.mark.parametrize(
    ("counters", "change"),
    [
        (VLLM, {}),
        (renamed({"vllm:prompt_tokens_total": "vllm:prompt_tokens"}), {}),
        (renamed({"vllm:generation_tokens_total": "vllm:generation_tokens"}), {}),
        (renamed({"vllm:prefix_cache_hits_total": "vllm:prefix_cache_hits"}), {}),
        (renamed({"vllm:prefix_cache_hits_total": "vllm:gpu_prefix_cache_hits_total"}), {}),
        (renamed({"vllm:prefix_cache_queries_total": "vllm:prefix_cache_queries"}), {}),
        (renamed({"vllm:prefix_cache_queries_total": "vllm:gpu_prefix_cache_queries_total"}), {}),
        (renamed({"vllm:spec_decode_num_drafts_total": "vllm:spec_decode_num_drafts"}), {}),
        (renamed({"vllm:spec_decode_num_accepted_tokens_total": "vllm:spec_decode_num_accepted_tokens"}), {}),
        (without("vllm:prefix_cache_queries_total"), {"prefix_cache_hit_share": 0.25}),  # of the prompt
        (without("vllm:prefix_cache_hits_total"), {"prefix_cache_hit_share": None}),
        ({**VLLM, "vllm:prefix_cache_hits_total": 501}, {"prefix_cache_hit_share": 1.0}),
        ({**VLLM, "vllm:prefix_cache_hits_total": 0}, {"prefix_cache_hit_share": 0.0}),
        (without(*TPOT), ITL),
        (
            renamed(
                {
                    "vllm:inter_token_latency_seconds_sum": "vllm:time_per_output_token_seconds_sum",
                    "vllm:inter_token_latency_seconds_count": "vllm:time_per_output_token_seconds_count",
                },
                without(*TPOT),
            ),
            ITL,
        ),
        (without(TPOT[1]), ITL),
        (without("vllm:time_to_first_token_seconds_sum"), {"ttft_mean_s": None}),
        (without(*E2E), BY_SUCCESS),
        (renamed({"vllm:request_success_total": "vllm:request_success"}, without(*E2E)), BY_SUCCESS),
        (
            without(*E2E, "vllm:request_success_total"),
            {"completed_requests": 20, "input_tokens_mean": 50.0, "output_tokens_mean": 5.0},
        ),
        (without("vllm:spec_decode_num_drafts_total"), {"accepted_tokens_per_step": None}),
        (without("vllm:spec_decode_num_accepted_tokens_total"), {"accepted_tokens_per_step": None}),
        (without("vllm:generation_tokens_total"), {"total_output_tokens": 0, "output_tokens_mean": None}),
        (
            without("vllm:prompt_tokens_total"),
            {"total_input_tokens": 0, "input_tokens_mean": None},
        ),
    ],
)
def test_counters_of_vllm(counters: dict[str, float], change: dict[str, Any]):
    assert rows(scrape(counters)) == [{k: v for k, v in {**SAYS, **change}.items() if v is not None}]


SGLANG = {
    "sglang:prompt_tokens_total": 1000,
    "sglang:generation_tokens_total": 100,
    "sglang:cached_tokens_total": 250,
    "sglang:num_requests_total": 10,
    "sglang:time_to_first_token_seconds_sum": 5,
    "sglang:time_to_first_token_seconds_count": 20,
    "sglang:time_per_output_token_seconds_sum": 2,
    "sglang:time_per_output_token_seconds_count": 40,
    "sglang:inter_token_latency_seconds_sum": 9,
    "sglang:inter_token_latency_seconds_count": 90,
    "sglang:e2e_request_latency_seconds_sum": 30,
    "sglang:e2e_request_latency_seconds_count": 5,
    "sglang:spec_accept_length": 2.5,
}


@pytest.mark.parametrize(
    ("counters", "change"),
    [
        (SGLANG, {}),
        (renamed({"sglang:prompt_tokens_total": "sglang:prompt_tokens"}, SGLANG), {}),
        (renamed({"sglang:generation_tokens_total": "sglang:generation_tokens"}, SGLANG), {}),
        ({n: v for n, v in SGLANG.items() if "time_per_output" not in n}, ITL),
        ({n: v for n, v in SGLANG.items() if "e2e" not in n}, BY_SUCCESS),
        ({**SGLANG, "sglang:spec_accept_length": 0}, {"accepted_tokens_per_step": None}),
    ],
)
def test_counters_of_sglang(counters: dict[str, float], change: dict[str, Any]):
    expected = {**SAYS, "engine": "sglang", "prefix_cache_hit_share": 0.25, **change}
    assert rows(scrape(counters)) == [{k: v for k, v in expected.items() if v is not None}]
    report = read(scrape(counters))
    assert (report.kind, report.label) == ("sglang_metrics", "SGLang /metrics")


def test_a_gauge_of_two_engines_is_not_added_up():
    two = b'sglang:spec_accept_length{engine="0"} 2.5\nsglang:spec_accept_length{engine="1"} 2.25\n'
    two += b'sglang:prompt_tokens_total{engine="0"} 5\nsglang:prompt_tokens_total{engine="1"} 7\n'
    (row,) = rows(two)
    assert (row["accepted_tokens_per_step"], row["total_input_tokens"]) == (2.25, 12)


def test_models_are_kept_apart():
    found = rows(scrape(VLLM, model="b") + scrape(SGLANG, model="a"))
    assert [(r["model"], r["total_input_tokens"]) for r in found] == [("a", 1000), ("b", 1000)]
    unnamed = rows(scrape(VLLM, model=""))
    assert "model" not in unnamed[0]
    quoted = rows(b'vllm:prompt_tokens_total{model_name="a \\"b\\""} 5\n')
    assert quoted[0]["model"] == 'a \\"b\\"'


# -------------------------------------------------------------------------------------------------------- two scrapes

LATER = {n: 3 * v for n, v in VLLM.items()}


@pytest.mark.parametrize(
    "stamp",
    [
        "# scraped_at {}",
        "# scraped at: {}",
        "# scrape_time = {}",
        "# timestamp: {}",
        "#time {}",
        "# date: {}",
        "# at {}",
        "# SCRAPED_AT {}",
    ],
)
def test_the_clock_of_a_scrape_is_a_comment_before_it(stamp: str):
    def at(time: str, counters: dict[str, float]) -> bytes:
        return stamp.format(time).encode() + b"\n" + scrape(counters)

    report = read_pair(at("2026-06-01T12:00:00Z", VLLM), at("2026-06-01T12:01:40Z", LATER))
    (row,) = report.rows
    assert row.duration_s == 100
    assert (row.name, row.total_input_tokens, row.total_output_tokens) == ("between two scrapes", 2000, 200)
    assert (row.output_tokens_per_s, row.total_tokens_per_s, row.requests_per_s) == (2, 22, 0.1)
    assert row.concurrency_effective == 0.6  # 60 s of requests in 100 s
    assert (row.input_tokens_mean, row.output_tokens_mean, row.completed_requests) == (200, 20, 10)
    assert (row.ttft_mean_s, row.tpot_mean_ms, row.accepted_tokens_per_step) == (0.25, 50, 2.5)
    assert row.prefix_cache_hit_share == 0.5
    assert [n.key for n in report.notes] == ["import_note.rates"]  # type: ignore[attr-defined]
    assert report.notes[0].places == {"s": "100.0"}  # type: ignore[attr-defined]
    assert report.questions == ()
    assert (report.kind, report.label, report.rows_read) == ("vllm_metrics", "vLLM /metrics", 30)


def test_the_clock_of_a_scrape_may_be_that_of_its_samples():
    report = read_pair(scrape(VLLM, stamp="1780272000000"), scrape(LATER, stamp="1780272100000"))
    assert report.rows[0].duration_s == 100
    # a comment goes before the samples, the caller before both
    both = read_pair(
        scrape(VLLM, at="2026-06-01T00:00:00Z", stamp="1780272000000"),
        scrape(LATER, at="2026-06-01T00:00:50Z", stamp="1780272100000"),
    )
    assert both.rows[0].duration_s == 50
    assert (
        read_pair(scrape(VLLM, stamp="1780272000000"), scrape(LATER, stamp="1780272100000"), 20).rows[0].duration_s
        == 20
    )


@pytest.mark.parametrize(
    ("first", "second"), [("", ""), ("", "2026-06-01T00:00:50Z"), ("2026-06-01T00:00:50Z", ""), ("soon", "later")]
)
def test_without_a_clock_there_are_means_and_a_question(first: str, second: str):
    report = read_pair(scrape(VLLM, at=first), scrape(LATER, at=second))
    assert [n.key for n in report.notes] == ["import_note.no_clock"]  # type: ignore[attr-defined]
    assert [q.key for q in report.questions] == ["import_ask.seconds"]  # type: ignore[attr-defined]
    (row,) = report.rows
    assert (row.duration_s, row.output_tokens_per_s, row.requests_per_s, row.concurrency_effective) == (None,) * 4
    assert row.input_tokens_mean == 200


def refusal(call: Any) -> tuple[str, dict[str, Any]]:
    with pytest.raises(ImportRefused) as caught:
        call()
    return caught.value.args[0].key, caught.value.args[0].places


@pytest.mark.parametrize("seconds", [0, -5, float("inf"), float("nan")])
def test_seconds_between_scrapes_are_positive(seconds: float):
    assert refusal(lambda: read_pair(scrape(VLLM), scrape(LATER), seconds))[0] == "import_refused.scrape_order"


def test_a_counter_that_fell_is_named_with_both_values():
    key, places = refusal(lambda: read_pair(scrape(LATER), scrape({**LATER, "vllm:generation_tokens_total": 250}), 5))
    assert (key, places) == ("import_refused.counter_fell", {"name": "output", "before": "300", "now": "250"})


def test_an_idle_server_is_named():
    assert refusal(lambda: read_pair(scrape(VLLM), scrape(VLLM), 5))[0] == "import_refused.idle"
    nothing = dict.fromkeys(VLLM, 0)
    assert refusal(lambda: read(scrape(nothing)))[0] == "import_refused.no_tokens_yet"
    half = {**dict.fromkeys(VLLM, 0), "vllm:prompt_tokens_total": 5}
    assert rows(scrape(half))[0]["total_input_tokens"] == 5


def test_lines_that_are_no_samples():
    assert refusal(lambda: read(b"vllm:prompt_tokens_total\n"))[0] == "import_refused.not_prometheus"
    key, places = refusal(lambda: read(scrape(VLLM) + b"vllm:prompt_tokens_total{x} many\n"))
    assert (key, places) == ("import_refused.metric_value", {"line": 16, "name": "vllm:prompt_tokens_total"})
    # a line of a log between the samples is passed over
    assert rows(scrape(VLLM) + b"INFO something: else happened\n") == [SAYS]
    odd = b'vllm:prompt_tokens_total{engine="1"} NaN\nvllm:prompt_tokens_total{engine="2"} -5\n'
    odd += b'vllm:prompt_tokens_total{engine="3"} 1e19\nvllm:prompt_tokens_total{engine="4"} +Inf\n'
    assert rows(odd + b'vllm:prompt_tokens_total{engine="5"} 7\n')[0]["total_input_tokens"] == 7
    for other in (b"# HELP vllm:x y\n", b"", b"# HELP node_cpu y\nnode_cpu 5\n"):
        assert refusal(lambda o=other: read_pair(o or b"#\n", o or b"#\n"))[0] == "import_refused.no_counters"


def test_blank_lines_and_the_end_of_a_scrape():
    spaced = b"\n\n" + scrape(VLLM).replace(b"\n", b"\r\n\n") + b"# EOF\n# eof\n"
    assert rows(spaced) == [SAYS]
    assert rows(b"\xef\xbb\xbf" + scrape(VLLM)) == [SAYS]


def test_the_kind_metrics_needs_a_server_of_its_own():
    assert refusal(lambda: read(b"node_cpu_seconds 5\n", kind="metrics"))[0] == "import_refused.no_metrics"
    assert rows(b"# TYPE vllm:prompt_tokens_total counter\n" + scrape(VLLM)) == [SAYS]


# -------------------------------------------------------------------------------------------------------------- YAML


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", {"a": 1}),
        ("a: -1", {"a": -1}),
        ("a: +7", {"a": 7}),
        ("a: 1.5", {"a": 1.5}),
        ("a: .5", {"a": 0.5}),
        ("a: 1.", {"a": 1.0}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: -2.5E-3", {"a": -0.0025}),
        ("a: 123456789012345678", {"a": 123456789012345678}),
        ("a: x y", {"a": "x y"}),
        ("a: true", {"a": True}),
        ("a: False", {"a": False}),
        ("a: null", {"a": None}),
        ("a: ~", {"a": None}),
        ("a: .inf", {"a": None}),
        ("a: -.inf", {"a": None}),
        ("a: +.inf", {"a": None}),
        ("a: .nan", {"a": None}),
        ("a: {}", {"a": {}}),
        ("a: []", {"a": []}),
        ("a:", {"a": None}),
        ("a: 1 # why", {"a": 1}),
        ("a: x#y", {"a": "x#y"}),
        ('a: "x: # y"', {"a": "x: # y"}),
        ('a: "x\\ny"', {"a": "x\ny"}),
        ('a: "x\\qy"', {"a": "x\\qy"}),
        ("a: 'it''s'", {"a": "it's"}),
        ("'a b': 1", {"a b": 1}),
        ('"a:b": 1', {"a:b": 1}),
        ("a: 12:30", {"a": "12:30"}),
        ("a: 2026-06-01T12:00:00Z", {"a": "2026-06-01T12:00:00Z"}),
        ("a:\n  b: 1\n  c: 2\nd: 3", {"a": {"b": 1, "c": 2}, "d": 3}),
        ("a:\n  b:\n    c: 1\n  d: 2", {"a": {"b": {"c": 1}, "d": 2}}),
        ("a:\n- 1\n- 2\nb: 3", {"a": [1, 2], "b": 3}),
        ("a:\n  - 1\n  - x: 1\n    y: 2\n  - z: 3\nb: 4", {"a": [1, {"x": 1, "y": 2}, {"z": 3}], "b": 4}),
        ("a:\n- x: 1\n  y:\n    z: 2\n- x: 3", {"a": [{"x": 1, "y": {"z": 2}}, {"x": 3}]}),
        ("- - 1\n  - 2\n- - 3", [[1, 2], [3]]),
        ("-\n  a: 1\n-\n  b: 2", [{"a": 1}, {"b": 2}]),
        ("a: |\n  x\n  y\nb: 1", {"a": "x y", "b": 1}),
        ("a: >-\n  x\n  y\nb: 1", {"a": "x y", "b": 1}),
        ("a: x\n  y\nb: 1", {"a": "x y", "b": 1}),
        ("# head\n\na: 1\n  # more\nb: 2", {"a": 1, "b": 2}),
        ("a: 1\n? odd\nb: 2", {"a": 1, "b": 2}),
        ("a:\n- 1\n-2\n- 3", {"a": [1, 3]}),
        ("- 1\nx: 2\n- 3", [1, 3]),
    ],
)
def test_yaml(text: str, value: Any):
    assert parse_blocks(text) == [value]


def test_yaml_of_several_documents():
    assert parse_blocks("---\na: 1\n---\nb: 2\n...\nc: 3\n") == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert parse_blocks("") == []
    assert parse_blocks("---\n---\n# nothing\n") == []


def test_yaml_has_limits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(blocks_module, "_MAX_LINES", 50)

    assert len(parse_blocks("a: 1\n" * 50)) == 1
    assert refusal(lambda: parse_blocks("a: 1\n" * 51))[0] == "import_refused.yaml_lines"


def test_yaml_may_be_nested_sixty_times():
    def deep(levels: int) -> str:
        return "\n".join("  " * i + f"k{i}:" for i in range(levels)) + "\n" + "  " * levels + "x: 1"

    assert parse_blocks(deep(60))
    assert refusal(lambda: parse_blocks(deep(61)))[0] == "import_refused.yaml_deep"


@pytest.mark.parametrize(
    "head",
    [
        "version: '0.2'\nscenario:\n  x: 1\n",
        "scenario:\n  x: 1\n",
        "results:\n  x: 1\n",
        "version: 1\nmetrics:\n  x: 1\n",
        "version: 1\nrun:\n  x: 1\n",
        "- version: 1\n  run: 2\n",
    ],
)
def test_a_yaml_report_is_known_by_its_head(head: str):
    assert refusal(lambda: read(head.encode()))[0] == "import_refused.no_load_test"
    assert refusal(lambda: read(head.encode(), kind="llmd_report"))[0] == "import_refused.not_kind"


@pytest.mark.parametrize(
    "head", ["version: 1\nother: 2\n", "run: 1\nmetrics: 2\n", "a,version: 1\nscenario: 2\n", "x\ny\n"]
)
def test_other_texts_are_no_yaml_report(head: str):
    assert refusal(lambda: read(head.encode()))[0] in ("import_refused.no_table", "import_refused.no_format")


def test_a_large_yaml_is_refused():
    text = "results:\n  scenario: x\n" + "# padding of a comment\n" * 400_000
    assert refusal(lambda: read(text.encode()))[0] == "import_refused.yaml_large"
