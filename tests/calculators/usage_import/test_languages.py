"""What the importers say: the English words as they were, and none of them left in a Chinese page."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from calculators import usage_import
from calculators.records import Offer
from calculators.texts import Said, catalogue, said, translated
from calculators.usage_import import (
    GENERIC_FIELDS,
    KINDS,
    MAX_BYTES,
    BenchmarkReport,
    ImportRefused,
    UsageReport,
    guess_mapping,
    read,
    read_pair,
)
from calculators.usage_import.metrics import read_metrics

from .exports import EXPORTS, METRICS, vllm_metrics
from .test_files import ODD, REFUSED
from .test_samples import SAMPLES

ENGLISH = Path(__file__).with_name("english.json")
"""All that is said of each sample, in English, as the command line and the JSON have it.

Written anew by `python -m tests.calculators.usage_import.test_languages` when a sentence is changed on purpose.
"""
CHINESE = re.compile(r"[\u4e00-\u9fff]")
ENGLISH_WORD = re.compile(r"\b(the|is|are|of|must|was|were|not|more|than|only|has|and|for|with|no|to|from|by)\b")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
SAME_EVERYWHERE = {"tokens", "USD", "tokens/s"}
"""Units, which stay as they are."""
PRODUCTS = {"FOCUS 1.x", "sglang.bench_serving", "vllm bench serve", "vLLM /metrics"}

SHARED = {path.name: path for path in sorted(SAMPLES.glob("b*"))}
REFUSED_FILES = {n: data for n, (data, _) in REFUSED.items() if len(data) < 10**6 or len(data) > MAX_BYTES}


class NoOffers:
    """A catalogue without offers: what is said must not change with the prices of the day."""

    def offer(self, id_or_alias: str) -> Offer | None:
        return None


def sayings(report: UsageReport | BenchmarkReport) -> Iterator[str]:
    """All sentences and labels of a report and of the scenario that follows from it."""
    yield from (report.label, *report.units, *report.notes, *report.questions, *(r.why for r in report.refused))
    results = [report.to_scenario_fields()]
    if isinstance(report, UsageReport):
        yield from (report.coverage.sentence, report.profile_reason)
        yield from (m.price for m in report.models)
        yield from (m.model for m in report.models if m.model.startswith("("))
        results.append(report.to_scenario_fields(None, NoOffers(), mean_input_tokens=1000, scale_short=True))
    for result in results:
        yield from result["explanations"].values()
        yield from result["unresolved"]


def said_of(data: bytes, name: str) -> list[str]:
    try:
        return list(dict.fromkeys(sayings(read(data, name, catalog=NoOffers()))))
    except ImportRefused as refusal:
        return [refusal.reason]


def samples() -> Iterator[tuple[str, bytes]]:
    yield from ((name, data) for name, (data, _) in EXPORTS.items())
    yield from REFUSED_FILES.items()
    yield from ((name, path.read_bytes()) for name, path in SHARED.items())


def in_chinese(words: str) -> str:
    assert isinstance(words, Said), words
    told = translated(words, "zh")
    assert told != words
    assert CHINESE.search(told), told
    assert sorted(NUMBER.findall(told)) == sorted(NUMBER.findall(words)), (words, told)
    return told


@pytest.mark.parametrize("name", [*EXPORTS, *REFUSED_FILES, *SHARED])
def test_the_english_words_are_as_they_were(name: str):
    expected = json.loads(ENGLISH.read_text(encoding="utf-8"))
    if name not in expected:
        pytest.skip("a sample that was collected later")
    assert said_of(dict(samples())[name], name) == expected[name]


@pytest.mark.parametrize("name", [*EXPORTS, *SHARED])
def test_nothing_said_of_a_sample_is_left_in_english(name: str):
    data = EXPORTS[name][0] if name in EXPORTS else SHARED[name].read_bytes()
    for words in said_of(data, name):
        if words not in SAME_EVERYWHERE | PRODUCTS:
            told = in_chinese(words)
            assert not ENGLISH_WORD.search(told), told


@pytest.mark.parametrize("name", REFUSED_FILES)
def test_a_refusal_is_told_in_chinese(name: str):
    for words in said_of(REFUSED_FILES[name], name):
        in_chinese(words)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "auto"])
def test_a_wrong_kind_is_told_in_chinese(kind: str):
    for name in ("openai_usage.csv", "anthropic_cost.json", "vllm.json"):
        try:
            read(EXPORTS[name][0], name, kind)
        except ImportRefused as refusal:
            in_chinese(refusal.reason)


BAD_ROWS = {
    "few columns": ("2026-06-01,a,1\n", "第 2 行：只有 3 列，应有 4 列。"),
    "no number": ("2026-06-01,a,x,1\n", "第 2 行：input_tokens：'x' 不是金额或数量。"),
    "negative": ("2026-06-01,a,-5,1\n", "第 2 行：input_tokens：'-5' 是负数。"),
    "not whole": ("2026-06-01,a,1.5,1\n", "第 2 行：input_tokens：'1.5' 不是整数。"),
    "formula": ("2026-06-01,a,=1+1,1\n", "第 2 行：input_tokens：'=1+1' 是公式，不是数字。"),
    "no date": ("tomorrow,a,1,1\n", "第 2 行：date：'tomorrow' 不是可读取的日期（例如应为 2026-05-12T13:00:00Z）。"),
    "another age": ("1999-01-01,a,1,1\n", "第 2 行：date：'1999-01-01' 不在 2000 至 2099 年之间。"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_a_refused_row_is_told_in_chinese_with_its_column(name: str):
    row, told = BAD_ROWS[name]
    head = "date,model,input_tokens,output_tokens\n"
    with pytest.raises(ImportRefused) as caught:
        read((head + row).encode())
    assert translated(caught.value.reason, "zh") == "1 行均无法读取；" + told
    report = read((head + row + "2026-06-02,a,1,1\n").encode())
    (refused,) = report.refused
    assert f"第 2 行：{in_chinese(refused.why)}。" == told


def test_a_reason_with_a_line_break_in_a_name_stays_one_line_in_both_languages():
    with pytest.raises(ImportRefused) as caught:
        read(ODD, mapping={"input_tokens": "a\n b", "output_tokens": "raus"})
    assert isinstance(caught.value.args[0], Said)
    split = ImportRefused(said("import.then", a="a\nb", b=" c\x00"))
    assert split.reason == "a b c"
    assert translated(split.reason, "zh") == "a bc"


def test_metrics_are_told_in_chinese():
    first, second = (vllm_metrics(n, n // 10, 10, ttft_s=5.0) for n in (1000, 3000))
    for report in (read(METRICS), read_pair(first, second), read_pair(first, second, 10.0)):
        for words in sayings(report):
            if words not in SAME_EVERYWHERE | PRODUCTS:
                in_chinese(words)
        assert all(in_chinese(r.name) for r in report.rows)
    for pair, seconds in (((second, first), 10.0), ((first, first), 10.0), ((first, second), -1.0)):
        with pytest.raises(ImportRefused) as caught:
            read_pair(*pair, seconds)
        in_chinese(caught.value.reason)
    with pytest.raises(ImportRefused) as caught:
        read_metrics([])
    in_chinese(caught.value.reason)


def test_labels_are_told_in_chinese():
    for words in (*KINDS.values(), *GENERIC_FIELDS.values(), guess_mapping(ODD).needed):
        told = in_chinese(words)
        assert not ENGLISH_WORD.search(told), told


def test_every_text_of_the_importers_is_chinese_in_chinese():
    """Also those that no sample brings up."""
    keys = [key for key in catalogue() if key.split(".")[0].split("_")[0] == "import"]
    assert len(keys) > 250
    for key in keys:
        template = re.sub(r"\{\w+\}", "", catalogue()[key]["zh"])
        if key not in ("import.then", "import_cell.of_column", "import.tokens", "import_why.tokens", "import_why.usd"):
            assert CHINESE.search(template) or key == "import_why.basis", key
        assert not ENGLISH_WORD.search(re.sub(r"has_more|cost_usd", "", template)), key


def test_no_sentence_is_written_into_the_code():
    folder = Path(usage_import.__file__).parent
    found = []
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                words = node.args[0]
                written = isinstance(words, ast.JoinedStr | ast.BinOp) or (
                    isinstance(words, ast.Constant) and isinstance(words.value, str) and " " in words.value
                )
                if name in ("ImportRefused", "CellError", "note", "append") and written:
                    found.append(f"{path.name}:{node.lineno}")
    assert found == []


if __name__ == "__main__":
    kept = {name: [str(w) for w in said_of(data, name)] for name, data in samples()}
    ENGLISH.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
