"""Constants that every module shares, so that a month or a gigabyte is the same length everywhere.

Month: 365 days / 12 = 730 h, for rent, power, tokens and payback alike.
"""

from typing import Final

HOURS_PER_MONTH: Final = 730.0
"""Hours in a month (365 x 24 / 12)."""

SECONDS_PER_MONTH: Final = 3600.0 * HOURS_PER_MONTH

DAYS_PER_MONTH: Final = 365.0 / 12.0

HOURS_PER_WEEK: Final = 168

MONTHS_PER_YEAR: Final = 12.0

GB: Final = 1e9
"""Gigabyte, decimal: what vendors print on a card."""

GIB: Final = 2.0**30
"""Gibibyte, binary: what nvidia-smi prints, divided by 1024."""

TOKENS_PER_MTOK: Final = 1e6
"""API prices are quoted per million tokens."""
