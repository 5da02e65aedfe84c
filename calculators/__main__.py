"""Command line: report, validate, import, catalog. Same code path as the app.

Exit 0 with the answer on standard output; 2 with one line on standard error that says what is wrong and where.
"""

import argparse
import datetime as dt
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from calculators import link as links
from calculators.catalog import Catalog, CatalogError, load_catalog
from calculators.report import build_report, to_json
from calculators.resolve import UnresolvedError, check_ids, live_pins
from calculators.scenario import SPECS, Problem, Scenario, from_values
from calculators.texts import Said, catalogue, text

MAX_INPUT_BYTES = 60_000_000


class UsageError(Exception):
    """Something the caller can mend; the message is one sentence."""


_LONGEST_MESSAGE = 1000


def _fail(message: str) -> NoReturn:
    line = " ".join(message.split()).encode("utf-8", "backslashreplace").decode()  # JSON may hold half a character
    if len(line) > _LONGEST_MESSAGE:
        line = f"{line[:_LONGEST_MESSAGE]}..."
    raise UsageError(line if line.endswith((".", "?")) else f"{line}.")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _fail(f"{message}; see python -m calculators --help.")


def _read_text(source: str) -> str:
    name = "standard input" if source == "-" else source[:200]
    try:
        if source == "-":
            data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        else:
            with Path(source).open("rb") as file:
                data = file.read(MAX_INPUT_BYTES + 1)
    except OSError as error:
        _fail(f"{name} could not be read: {error.strerror}.")
    except ValueError:
        _fail(f"{name!r} is no name of a file.")
    if len(data) > MAX_INPUT_BYTES:
        _fail(f"{name} is larger than {MAX_INPUT_BYTES // 1_000_000} MB.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        _fail(f"{name} could not be read: it is not UTF-8 text.")


def _first(problems: Sequence[Problem]) -> None:
    if problems:
        _fail(" ".join(_refusal(p.message) for p in problems))


def _refusal(message: str) -> str:
    """The sentence without what a page does next: a page goes on without what it could not use, a command stops."""
    if not isinstance(message, Said):
        return message
    key = message.key.replace("problem.", "refused.", 1)
    return text(key, "en", **message.places) if key in catalogue() else message


def _from_json(text: str, name: str) -> tuple[Scenario, dict[str, float | str]]:
    """A scenario from JSON: its fields, or a report that holds them under 'scenario'."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        _fail(f"{name} is neither a link nor valid JSON{where}.")
    if isinstance(data, dict) and isinstance(data.get("scenario"), dict):
        data = data["scenario"]
    if not isinstance(data, dict):
        _fail(f"{name} must hold a JSON object with scenario fields.")
    plain: dict[str, object] = {}
    for key, value in data.items():
        if isinstance(value, bool | list | dict):
            _fail(f"{key} is {json.dumps(value)[:60]}; a scenario field is a text, a number or null.")
        if isinstance(value, str) and key in SPECS:
            try:
                value = links.read_value(key, value)
            except ValueError as error:
                _fail(f"{key}: {error}")
        plain[str(key)] = value
    scenario, problems = from_values(plain)
    _first(problems)
    return scenario, {}


def _scenario(source: str | None, sets: Sequence[str]) -> tuple[Scenario, dict[str, float | str]]:
    pins: dict[str, float | str] = {}
    if source is None:
        scenario = Scenario()
    elif "=" in source or "://" in source or source.startswith("?"):
        parsed = links.parse(source)
        _first(parsed.problems)
        scenario, pins = parsed.scenario, dict(parsed.pins)
    else:
        text = _read_text(source)
        stripped = text.strip()
        if stripped and not stripped.startswith(("{", "[")) and "=" in stripped.split("\n")[0]:
            parsed = links.parse(stripped)
            _first(parsed.problems)
            scenario, pins = parsed.scenario, dict(parsed.pins)
        else:
            scenario, pins = _from_json(text, source if source != "-" else "standard input")
    linked = scenario
    values = scenario.model_dump()
    for item in sets:
        name, equals, text = item.partition("=")
        name = name.strip()
        if not equals:
            _fail(f"--set {item} needs the form field=value.")
        if name not in SPECS:
            _first(from_values({name: text})[1])
        try:
            values[name] = links.read_value(name, text)
        except ValueError as error:
            _fail(f"{name}: {error}")
    scenario, problems = from_values(values)
    _first(problems)
    return scenario, live_pins(pins, linked, scenario)


def _write(data: bytes | str, output: str | None) -> None:
    if output is None or output == "-":
        if isinstance(data, bytes):
            sys.stdout.buffer.write(data)
        else:
            sys.stdout.write(data if data.endswith("\n") else data + "\n")
        sys.stdout.flush()
        return
    try:
        Path(output).write_bytes(data if isinstance(data, bytes) else (data + "\n").encode())
    except OSError as error:
        _fail(f"{output} could not be written: {error.strerror}.")


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def _report(args: argparse.Namespace, catalog: Catalog) -> bytes | str:
    scenario, pins = _scenario(args.source, args.set)
    known, unknown = check_ids(scenario, catalog)
    try:
        # the page goes on with a default in place of an unknown id; here the unknown id itself is refused
        report = build_report(scenario if unknown else known, catalog, pins, dt.date.today())
    except UnresolvedError as error:
        _fail(str(error))
    if args.format == "json":
        return _json(to_json(report))
    from calculators import exports

    if args.format == "csv":
        return exports.csv_bytes(report)
    if args.format == "xlsx":
        if args.output is None and sys.stdout.isatty():
            _fail("A workbook is binary: give --output PATH.")
        return exports.workbook_bytes(report)
    return exports.html_bytes(report)


def _validate(args: argparse.Namespace, catalog: Catalog) -> str:
    from calculators.validate import validate_rows

    try:
        found = validate_rows(Path(args.file), catalog)
    except OSError as error:
        _fail(f"{args.file[:200]} could not be read: {error.strerror}.")
    except ValueError as error:
        _fail(str(error))
    if args.format == "json":
        return _json(found)
    summary = found["summary"]
    lines = [f"{'id':<24}{'measured':>12}{'predicted':>12}{'error':>9}  evidence"]
    lines += [
        f"{str(r['id'])[:23]:<24}{r['measured_output_tokens_per_s']:>12,.1f}{r['predicted_output_tokens_per_s']:>12,.1f}"
        f"{r['error']:>+9.1%}  {r['evidence']}"
        for r in found["rows"]
    ]
    if summary["n"]:
        lines.append(
            f"n {summary['n']}, mean absolute error {summary['mape']:.1%}, median {summary['median_ape']:.1%}, "
            f"90th percentile {summary['p90_ape']:.1%}"
        )
    lines += [f"skipped {s['id']}: {s['why']}" for s in summary["skipped"]]
    return "\n".join(lines)


def _import(args: argparse.Namespace, catalog: Catalog) -> str:
    from calculators.usage_import import ImportRefused, UsageReport, read

    path = Path(args.file)
    try:
        if path.stat().st_size > MAX_INPUT_BYTES:
            _fail(f"{path.name} is larger than {MAX_INPUT_BYTES // 1_000_000} MB; export a shorter period.")
        data = path.read_bytes()
    except OSError as error:
        _fail(f"{args.file} could not be read: {error.strerror}.")
    try:
        found = read(data, path.name, args.kind, catalog=catalog)
    except ImportRefused as error:
        _fail(str(error))
    result = found.to_scenario_fields(catalog=catalog) if isinstance(found, UsageReport) else found.to_scenario_fields()
    if args.format == "json":
        return _json({**found.to_json_dict(), "scenario": result["fields"], **{k: result[k] for k in _WHY}})
    lines = [f"{found.label}: {found.rows_read:,} rows read, {found.rows_refused:,} refused"]
    lines += [f"  line {r.line}: {r.why}" for r in found.refused]
    lines += [f"{name} = {value}  ({result['explanations'].get(name, '')})" for name, value in result["fields"].items()]
    lines += [f"note: {note}" for note in (*found.units, *found.notes)]
    lines += [f"open: {question}" for question in result["unresolved"]]
    return "\n".join(lines)


_WHY = ("explanations", "unresolved")


def _catalog(args: argparse.Namespace, catalog: Catalog) -> str:
    records: Any = {
        "models": catalog.models,
        "systems": catalog.systems,
        "offers": catalog.offers,
    }
    if args.what == "measurements":
        rows: list[Any] = [{"file": name, **row} for name, table in catalog.measurements.items() for row in table]
    else:
        rows = [record.model_dump(mode="json") for record in records[args.what].values()]
    if args.format == "json":
        return _json(rows)
    names = [
        f"{row.get('id', '')}\t{row.get('name') or row.get('provider') or row.get('hardware', '')}" for row in rows
    ]
    return "\n".join(names)


def _arguments() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m calculators", description="Should we self-host this open-weight model?")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    report = commands.add_parser("report", help="answer a scenario")
    report.add_argument("source", nargs="?", help="a link, a JSON file, or - for standard input; nothing = defaults")
    report.add_argument("--set", action="append", default=[], metavar="field=value")
    report.add_argument("--format", choices=("json", "csv", "xlsx", "html"), default="json")
    report.add_argument("--output", metavar="PATH")
    validate = commands.add_parser("validate", help="hold the sizing model against measurements")
    validate.add_argument("file")
    validate.add_argument("--format", choices=("text", "json"), default="text")
    reader = commands.add_parser("import", help="read a usage export or a load test into scenario fields")
    reader.add_argument("file")
    reader.add_argument("--kind", default="auto")
    reader.add_argument("--format", choices=("text", "json"), default="text")
    catalog = commands.add_parser("catalog", help="list what data/ holds")
    catalog.add_argument("what", choices=("models", "systems", "offers", "measurements"))
    catalog.add_argument("--format", choices=("text", "json"), default="text")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    try:
        args = _arguments().parse_args(argv)
        catalog = load_catalog()
        answer: bytes | str
        if args.command == "report":
            answer = _report(args, catalog)
        elif args.command == "validate":
            answer = _validate(args, catalog)
        elif args.command == "import":
            answer = _import(args, catalog)
        else:
            answer = _catalog(args, catalog)
        _write(answer, getattr(args, "output", None))
    except (UsageError, CatalogError) as error:
        print(str(error), file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
