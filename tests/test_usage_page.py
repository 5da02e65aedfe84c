"""The Usage page: a file is read, told, and put into the inputs; a wrong file changes nothing."""

import csv
import io
import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parent.parent


def _page(language: str = "en") -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["lang"] = language
    at.run()
    at.switch_page("app_pages/usage.py").run()
    assert not at.exception
    return at


def _openrouter(rows: list[list[str]]) -> bytes:
    out = io.StringIO()
    head = ["Date", "Slug", "Usage", "BYOK Usage", "Requests", "Prompt Tokens", "Completion Tokens", "Reasoning Tokens"]
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([head, *rows])
    return out.getvalue().encode()


def test_an_export_is_read_and_put_into_the_inputs() -> None:
    at = _page()
    # 10 days, 1,000 requests of 4,000 + 500 tokens each: 45 M tokens, scaled by 730 / 240 h
    rows = [
        [f"2026-06-{d:02d} 00:00:00", "moonshotai/kimi-k3", "1.95", "0", "100", "400000", "50000", "0"]
        for d in range(1, 11)
    ]
    at.file_uploader[0].set_value([("activity.csv", _openrouter(rows), "text/csv")])
    at.run()
    assert not at.exception
    assert not at.error
    at.button(key="_usage_apply").click().run()
    assert not at.exception
    assert at.text_input(key="input_tokens").value == "4,000"
    assert at.text_input(key="output_tokens").value == "500"
    assert at.selectbox(key="demand").value == "tokens"
    applied = float(at.text_input(key="demand_tokens_per_month").value.replace(",", ""))
    # 10 x (400,000 + 50,000) x 730 / 240
    assert abs(applied - 4_500_000 * 730 / 240) < 1


def test_a_wrong_file_is_refused_in_one_sentence_and_changes_nothing() -> None:
    at = _page()
    before = {t.key: t.value for t in at.text_input}
    at.file_uploader[0].set_value([("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "image/png")])
    at.run()
    assert not at.exception
    assert len(at.error) == 1
    assert {t.key: t.value for t in at.text_input} == before


def test_a_table_of_an_unknown_tool_is_read_by_naming_its_columns() -> None:
    at = _page()
    table = b"when;who;fresh;answer\n2026-06-01;x;1000;100\n2026-06-02;x;3000;300\n"
    at.file_uploader[0].set_value([("own.csv", table, "text/csv")])
    at.selectbox(key="_usage_kind").set_value("generic").run()
    assert not at.exception
    for name, column in (
        ("time", "when"),
        ("model", "who"),
        ("new_input_tokens", "fresh"),
        ("output_tokens", "answer"),
    ):
        at.selectbox(key=f"_usage_column_{name}").set_value(column)
    at.run()
    assert not at.exception
    assert not at.error
    # 4,000 + 400 tokens were read
    assert any("4,400" in c.value for c in at.caption)


def test_two_scrapes_give_rates_when_the_time_between_them_is_given() -> None:
    at = _page()
    line = 'vllm:{name}{{engine="0",model_name="k3"}} {value}\n'

    def scrape(prompt: int, output: int) -> bytes:
        texts = (("prompt_tokens_total", prompt), ("generation_tokens_total", output))
        return "".join(line.format(name=n, value=v) for n, v in texts).encode()

    files = [("a.prom", scrape(1000, 100), "text/plain"), ("b.prom", scrape(9000, 1100), "text/plain")]
    at.file_uploader[0].set_value(files).run()
    assert not at.exception
    at.number_input(key="_usage_seconds").set_value(10.0).run()
    assert not at.exception
    assert not at.error
    # 1,000 output tokens in 10 s
    at.button(key="_usage_apply").click().run()
    assert at.text_input(key="measured_output_tokens_per_s").value == "100"


ENGLISH_WORD = re.compile(r"\b(the|is|are|was|were|not|than|only|has|and|for|with|file|row)\b")


def test_a_chinese_page_tells_an_upload_in_chinese() -> None:
    at = _page("zh")
    rows = [
        ["2026-06-01 00:00:00", "moonshotai/kimi-k3", "1.95", "2", "100", "400000", "50000", "0"],
        ["2026-06-02 00:00:00", "moonshotai/kimi-k3", "1.95", "0", "many", "400000", "50000", "0"],
        ["2026-06-03 00:00:00", "other/unknown:free", "0", "0", "100", "400000", "50000", "0"],
    ]
    at.file_uploader[0].set_value([("activity.csv", _openrouter(rows), "text/csv")])
    at.run()
    assert not at.exception
    assert not at.error
    shown = "\n".join(e.value for e in (*at.markdown, *at.warning, *at.caption)).replace("\\", "")
    assert "OpenRouter 活动记录" in shown
    assert "OpenRouter 的提示 token 含缓存输入，输出 token 含推理部分。" in shown
    assert "自带密钥（BYOK）由其他提供商计费 2.00 USD，未计入花费。" in shown
    assert "文件覆盖的时间：3 天（其中 2 天有数据）" in shown
    assert "免费行的 450,000 token 不属于 API 花费" in shown
    tables = "\n".join(str(d.value.to_dict("list")) for d in at.dataframe)
    assert "Requests：'many' 不是金额或数量" in tables
    assert "平均输入 4,000.0 token（按 100 个请求平均）。" in tables
    assert "见文件" in tables
    assert not ENGLISH_WORD.search(shown + tables)
    kinds = at.selectbox(key="_usage_kind").options
    assert kinds[0] == "自动识别"
    assert not [k for k in kinds if ENGLISH_WORD.search(k)]


def test_a_chinese_page_refuses_a_file_in_chinese() -> None:
    at = _page("zh")
    at.file_uploader[0].set_value([("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "image/png")])
    at.run()
    assert not at.exception
    assert [e.value for e in at.error] == ["这是图片，不是文本文件：请另存或解压为 CSV 或 JSON。"]


def test_a_chinese_page_asks_for_columns_in_chinese() -> None:
    at = _page("zh")
    at.file_uploader[0].set_value([("own.csv", b"when;who;fresh;answer\n2026-06-01;x;1000;100\n", "text/csv")])
    at.selectbox(key="_usage_kind").set_value("generic").run()
    assert not at.exception
    assert at.selectbox(key="_usage_column_time").label == "该行的日期或时间"
    assert any("需要：输入和输出 token 的列" in c.value for c in at.caption)
    assert len(at.error) == 1
    assert "when, who, fresh, answer" not in at.error[0].value
    assert "when、who、fresh、answer" in at.error[0].value
