"""Only a few runs of the script at a time; the others wait for their turn.

One process computes on one core whatever the number of its threads. With 150 people at it, thirty runs took the core
from one another and from the thread that sends the answers, which then waited for all of them each time: 70 % of the
core was used and an answer took 6 s. With two runs at a time all of it is used (`python -m tests.bench --only load`).
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

TURN: Final = threading.BoundedSemaphore(2)
"""Held by a run from its first input to the end of its page."""

sys.setswitchinterval(0.02)
"""Seconds that a thread may compute while another waits: long enough to send an answer's parts together."""


@contextmanager
def aside() -> Iterator[None]:
    """Let others run while this run does something long, such as reading a large file; then wait for a turn again."""
    TURN.release()
    try:
        yield
    finally:
        TURN.acquire()
