"""The one error of the import: a file is refused with one clear sentence."""

from collections.abc import Iterable


class ImportRefused(ValueError):
    """A file that cannot be read.

    Attributes:
        reason: one sentence that says what is wrong and what would help.
    """

    def __init__(self, reason: str) -> None:
        # Names from the file may hold line breaks; a reason never does.
        self.reason = " ".join("".join(c if c.isprintable() else " " for c in reason).split())
        super().__init__(self.reason)


class CellError(ValueError):
    """A single cell that cannot be read; the row is refused with this reason and the file goes on."""


def shown(value: object, limit: int = 40) -> str:
    """Quote a value of the file for a message: one line, printable, at most `limit` characters."""
    text = "".join(c if c.isprintable() else " " for c in str(value)[: limit * 4]).strip()
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def listed(names: Iterable[str], count: int = 12) -> str:
    """List the first names of a file's columns or models for a message, each cut to 40 characters."""
    short = [name if len(name) <= 40 else name[:39] + "…" for name in names]
    return (", ".join(short[:count]) + (f" and {len(short) - count} more" if len(short) > count else "")) or "none"
