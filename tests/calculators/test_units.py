"""A month and a gigabyte have one length each, and the derived constants follow from it."""

from calculators import units


def test_month_is_a_twelfth_of_a_year_of_365_days() -> None:
    # 365 x 24 / 12 = 730 h; 730 x 3600 = 2,628,000 s; 365 / 12 = 30.41666... days of 24 h
    assert units.HOURS_PER_MONTH == 365 * 24 / 12 == 730
    assert units.SECONDS_PER_MONTH == 2_628_000
    assert units.DAYS_PER_MONTH * 24 == units.HOURS_PER_MONTH
    assert units.DAYS_PER_MONTH * units.MONTHS_PER_YEAR == 365


def test_week_has_168_hours() -> None:
    assert units.HOURS_PER_WEEK == 7 * 24


def test_gigabyte_is_decimal_and_gibibyte_binary() -> None:
    # 8xB300 has 268.6 GiB a device as nvidia-smi prints it, which is 288.4 GB: the same bytes to a part in 2,000
    assert units.GB == 1_000_000_000
    assert units.GIB == 1_073_741_824
    assert abs(268.6 * units.GIB / (288.4 * units.GB) - 1) < 5e-4
