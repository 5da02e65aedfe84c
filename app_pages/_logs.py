"""Logs say what went wrong and where, not with which values: an exception's own words can quote what a person typed."""

import logging
import traceback
from functools import cache
from typing import Any


def where(error: BaseException) -> str:
    """The lines of code that led to an exception and its kind, and those of what caused it; not its words."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    first = "" if before is None else f"{where(before)}\n\nwhich led to\n\n"
    return f"{first}Traceback:\n{''.join(traceback.format_tb(error.__traceback__))}{type(error).__qualname__}"


@cache
def hide_values() -> None:
    """Leave the words of exceptions out of everything that this process logs; once a process."""
    make = logging.getLogRecordFactory()

    def record(*args: Any, **options: Any) -> logging.LogRecord:
        made = make(*args, **options)
        if made.exc_info and made.exc_info[1] is not None:
            made.exc_text = where(made.exc_info[1])  # a formatter takes it as it is
        if isinstance(made.args, tuple):
            made.args = tuple(type(a).__qualname__ if isinstance(a, BaseException) else a for a in made.args)
        return made

    logging.setLogRecordFactory(record)
