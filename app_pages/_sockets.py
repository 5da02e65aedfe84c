"""The server's sockets send at once.

Streamlit 1.67 makes its listening socket without naming TCP, so asyncio does not turn Nagle's algorithm off: the last
part of each answer waits for the browser's delayed acknowledgement, up to 40 ms an interaction (tests/bench.py).
On Linux, accepted connections inherit the option from the listening socket.
"""

import os
import socket
from functools import cache
from pathlib import Path


@cache
def send_at_once() -> int:
    """Turn TCP_NODELAY on for all TCP sockets of this process, once; does nothing where /proc does not list them.

    Returns:
        How many sockets were set.
    """
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        return 0
    count = 0
    for entry in list(descriptors.iterdir()):
        try:
            # a duplicate shares the socket and its options; closing it leaves the server's own descriptor open
            with socket.socket(fileno=os.dup(int(entry.name))) as shared:
                if shared.family in (socket.AF_INET, socket.AF_INET6) and shared.type == socket.SOCK_STREAM:
                    shared.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    count += 1
        except OSError:
            continue  # not a socket, or closed meanwhile
    return count
