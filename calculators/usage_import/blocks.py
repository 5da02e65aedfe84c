"""A reader for the YAML that benchmark tools dump: block mappings and lists of plain or quoted scalars.

No more than that: anchors, tags and flow collections other than empty ones are left as text. Values that run over
several
lines are joined; keys that no reader uses may come out wrong, numbers do not.
"""

import json
import re
from typing import Any, Final

from calculators.texts import said
from calculators.usage_import.errors import ImportRefused

_KEY: Final = re.compile(
    r"""^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#'"\[\]{}&*!|>%@`-][^#]*?|-[^\s][^#]*?):(?:\s+(.*))?$"""
)
_MAX_DEPTH: Final = 60
_MAX_LINES: Final = 400_000


def _scalar(text: str) -> Any:
    text = text.strip()
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        try:
            return json.loads(text)
        except ValueError:
            return text[1:-1]
    if text.startswith("'") and text.endswith("'") and len(text) > 1:
        return text[1:-1].replace("''", "'")
    text = re.sub(r"\s+#.*$", "", text)
    low = text.lower()
    if low in ("", "~", "null"):
        return None
    if low in ("true", "false"):
        return low == "true"
    if text == "{}":
        return {}
    if text == "[]":
        return []
    if re.fullmatch(r"[-+]?\d{1,18}", text):
        return int(text)
    if re.fullmatch(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?", text):
        return float(text)
    if low in (".inf", "+.inf", "-.inf", ".nan"):
        return None
    return text


def parse_blocks(text: str) -> list[Any]:
    """Read a YAML dump into its documents.

    Raises:
        ImportRefused: too deep or too long.
    """
    documents: list[Any] = []
    lines: list[tuple[int, str]] = []
    for count, raw in enumerate([*text.splitlines(), "---"]):
        if count > _MAX_LINES:
            raise ImportRefused(said("import_refused.yaml_lines"))
        body = raw.rstrip()
        if body.strip() == "---" or body.strip() == "...":
            if lines:
                documents.append(_block(lines, 0, len(lines), 0))
            lines = []
        elif body.strip() and not body.lstrip().startswith("#"):
            stripped = body.lstrip(" ")
            lines.append((len(body) - len(stripped), stripped))
    return documents


def _end(lines: list[tuple[int, str]], start: int, stop: int, indent: int) -> int:
    at = start
    while at < stop and lines[at][0] > indent:
        at += 1
    return at


def _block(lines: list[tuple[int, str]], start: int, stop: int, depth: int) -> Any:
    if start >= stop:
        return None
    if depth > _MAX_DEPTH:
        raise ImportRefused(said("import_refused.yaml_deep"))
    indent, first = lines[start]
    if first.startswith("- ") or first == "-":
        items: list[Any] = []
        at = start
        while at < stop:
            column, text = lines[at]
            if column != indent or not (text.startswith("- ") or text == "-"):
                at += 1
                continue
            end = at + 1
            while end < stop and (lines[end][0] > indent):
                end += 1
            rest = text[2:].lstrip() if text != "-" else ""
            if rest and (_KEY.match(rest) or rest.startswith("- ")):
                inner = [(column + len(text) - len(rest), rest), *lines[at + 1 : end]]
                items.append(_block(inner, 0, len(inner), depth + 1))
            elif rest:
                items.append(_scalar(rest))
            else:
                items.append(_block(lines, at + 1, end, depth + 1))
            at = end
        return items
    mapping: dict[str, Any] = {}
    at = start
    while at < stop:
        column, text = lines[at]
        match = _KEY.match(text) if column == indent else None
        if match is None:
            at += 1
            continue
        key, value = str(_scalar(match[1])), (match[2] or "").strip()
        end = _end(lines, at + 1, stop, indent)
        if value in ("|", "|-", ">", ">-", "|+", ">+"):
            mapping[key] = " ".join(t for _, t in lines[at + 1 : end])
        elif value:
            mapping[key] = _scalar(" ".join([value, *(t for _, t in lines[at + 1 : end])]))
        else:
            # A list may stand at the indent of its key.
            if end == at + 1 and end < stop and lines[end][0] == indent and lines[end][1].startswith("-"):
                while end < stop and (
                    lines[end][0] > indent or (lines[end][0] == indent and lines[end][1].startswith("-"))
                ):
                    end += 1
            mapping[key] = _block(lines, at + 1, end, depth + 1)
        at = end
    return mapping
