"""Records of data/: a figure needs its source, and a memory size is the same in bytes, GB and GiB."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from calculators.catalog import load_catalog
from calculators.records import Figure
from calculators.report import build_report
from calculators.scenario import Scenario

DATA = Path(__file__).resolve().parents[2] / "data"


def _typed(tmp_path: Path, value: str, unit: str) -> list[Path]:
    """The B300 and its 8-GPU server once more, under another id, with the memory typed as given."""
    chip = (DATA / "accelerators" / "b300_sxm.toml").read_text(encoding="utf-8")
    chip = chip.replace('id = "b300_sxm"', 'id = "b300_typed"', 1)
    block = re.search(r"\[memory_usable_bytes\]\n(?:[^\[].*\n|\n)*", chip)
    assert block is not None
    typed = re.sub(r"value = .*", f"value = {value}", block[0])
    typed = re.sub(r'unit = ".*"', f'unit = "{unit}"', typed)
    typed = re.sub(r"(low|high) = .*\n", "", typed)
    chip_file, system_file = tmp_path / "b300_typed.toml", tmp_path / "typed-8.toml"
    chip_file.write_text(chip.replace(block[0], typed), encoding="utf-8")
    system = (DATA / "systems" / "hgx-b300-8.toml").read_text(encoding="utf-8")
    system = system.replace('id = "hgx-b300-8"', 'id = "typed-8"', 1)
    system_file.write_text(
        re.sub(r'accelerator = ".*"', 'accelerator = "b300_typed"', system, count=1), encoding="utf-8"
    )
    return [chip_file, system_file]


@pytest.mark.parametrize(("value", "unit"), [("268.6", "GiB"), ("288.4", "GB"), ("288400343040", "bytes")])
def test_memory_typed_in_gib_or_gb_is_the_same_machine(tmp_path: Path, value: str, unit: str) -> None:
    # 268.6 x 2^30 = 288.407e9 and 288.4 x 1e9 = 288.400e9: the same card to the digits that people write
    catalog = load_catalog(extra=_typed(tmp_path, value, unit))
    memory = catalog.accelerators["b300_typed"].memory_usable_bytes
    assert memory.unit == "bytes"
    assert memory.value == pytest.approx(288_400_343_040, rel=1e-4)
    typed = build_report(Scenario(system="typed-8"), catalog).result.sizing
    known = build_report(Scenario(), catalog).result.sizing
    assert bool(typed.fits)
    assert int(typed.min_systems) == int(known.min_systems) == 1
    assert float(typed.max_concurrent_sequences) == pytest.approx(float(known.max_concurrent_sequences), abs=1)


def test_a_memory_size_in_another_unit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bytes, GB or GiB"):
        load_catalog(extra=_typed(tmp_path, "288.4", "gigs"))


def test_a_figure_without_a_source_is_refused() -> None:
    with pytest.raises(ValidationError, match="source"):
        Figure.model_validate({"value": 1.0, "unit": "USD", "date": "2026", "kind": "press"})


def test_low_and_high_enclose_the_value() -> None:
    with pytest.raises(ValidationError, match="above the value"):
        Figure(value=1, unit="USD", source="x", date="2026", kind="press", low=2)
