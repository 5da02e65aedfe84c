"""What the tests read off a report."""

from collections.abc import Iterable

from calculators.texts import Said
from calculators.usage_import import UsageReport


def keys(words: Iterable[str]) -> list[str]:
    """Keys of texts of the catalogue; a word that is in none stands for itself, so that nothing is left out."""
    return [said.key if isinstance(said, Said) else said for said in words]


def token_counts(report: UsageReport) -> tuple[int | None, ...]:
    """New, cached, written for five minutes and for an hour, output; then requests."""
    t = report.totals
    return (
        t.new_input_tokens,
        t.cached_input_tokens,
        t.cache_write_5m_tokens,
        t.cache_write_1h_tokens,
        t.output_tokens,
        t.requests,
    )
