"""A person uploads an export, uses its numbers and sees the verdict move; a wrong file changes nothing."""

from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visitor

pytestmark = pytest.mark.e2e

HEAD = '"Date","Slug","Usage","BYOK Usage","Requests","Prompt Tokens","Completion Tokens","Reasoning Tokens"\n'


def _activity() -> bytes:
    """Ten days of 2 M requests with 6,000 + 600 tokens each: 1.32e10 tokens a day, 4.0e11 a month."""
    day = '"2026-06-{d:02d} 00:00:00","moonshotai/kimi-k3","54000","0","2000000","12000000000","1200000000","0"\n'
    return (HEAD + "".join(day.format(d=d) for d in range(1, 11))).encode()


def parameters(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


def _upload(visitor: Visitor, name: str, data: bytes, mime: str) -> None:
    field = visitor.page.get_by_test_id("stFileUploaderDropzoneInput")
    field.set_input_files({"name": name, "mimeType": mime, "buffer": data})


def test_an_uploaded_export_moves_the_verdict(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.open()
    before = visitor.verdict
    visitor.page.get_by_role("link", name="Usage").click()
    visitor.settle()
    _upload(visitor, "activity.csv", _activity(), "text/csv")
    button = visitor.page.get_by_role("button", name="Use these numbers")
    expect(button).to_be_visible()
    button.click()
    expect(visitor.page.get_by_role("textbox", name="Tokens a month").first).to_have_value("401,500,000,000")
    visitor.page.get_by_role("link", name="Decision").click()
    visitor.settle()
    expect(visitor.page.locator("h1").first).not_to_have_text(before)
    shown = {"demand": "tokens", "demand_tokens_per_month": "401,500,000,000", "input_tokens": "6,000"}
    assert parameters(visitor.page.url) == shown | {"output_tokens": "600"}
    assert not visitor.external


def test_a_wrong_file_says_why_and_changes_nothing(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.open("usage", 0)
    address = visitor.page.url
    _upload(visitor, "picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, "image/png")
    expect(visitor.page.get_by_test_id("stAlert").filter(has_text="file").first).to_be_visible()
    visitor.settle()
    assert visitor.page.url == address
    assert visitor.page.get_by_role("button", name="Use these numbers").count() == 0
