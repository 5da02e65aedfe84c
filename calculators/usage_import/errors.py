"""The one error of the import: a file is refused with one clear sentence."""

from collections.abc import Iterable

from calculators.texts import Said, said
from calculators.texts import listed as joined


class ImportRefused(ValueError):
    """A file that cannot be read.

    Attributes:
        reason: one sentence that says what is wrong and what would help.
    """

    def __init__(self, reason: str) -> None:
        self.reason = _one_line(reason)
        super().__init__(self.reason)


class CellError(ValueError):
    """A single cell that cannot be read; the row is refused with this reason and the file goes on.

    Attributes:
        why: the reason, in words that can be translated.
    """

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


def _one_line(words: str) -> str:
    """Names from the file may hold line breaks; a reason never does."""
    line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    if not isinstance(words, Said):
        return line
    return Said(line, words.key, {n: _one_line(v) if isinstance(v, str) else v for n, v in words.places.items()})


def then(first: str, second: str) -> str:
    """Two sentences, one after the other."""
    return said("import.then", a=first, b=second)


def shown(value: object, limit: int = 40) -> str:
    """Quote a value of the file for a message: one line, printable, at most `limit` characters."""
    text = "".join(c if c.isprintable() else " " for c in str(value)[: limit * 4]).strip()
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def listed(names: Iterable[str], count: int = 12) -> str:
    """List the first names of a file's columns or models for a message, each cut to 40 characters."""
    short = [name if len(name) <= 40 else name[:39] + "…" for name in names]
    names_shown = joined(short[:count])
    if len(short) > count:
        return said("import.and_more", names=names_shown, n=len(short) - count)
    return names_shown or said("import.none")
