"""The one error of the import: a file is refused with one clear sentence."""


class ImportRefused(ValueError):
    """A file that cannot be read.

    Attributes:
        reason: one sentence that says what is wrong and what would help.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CellError(ValueError):
    """A single cell that cannot be read; the row is refused with this reason and the file goes on."""


def shown(value: object, limit: int = 40) -> str:
    """Quote a value of the file for a message: one line, printable, at most `limit` characters."""
    text = "".join(c if c.isprintable() else " " for c in str(value)[: limit * 4]).strip()
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
