"""Start what a deployment starts, on loopback: Streamlit processes and nginx with the template that is shipped."""

import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / ".streamlit" / "deploy" / "nginx.conf.template"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
NO_NGINX = "nginx is not on this machine (Debian package nginx-light); the two-process test needs it"
START_SECONDS = 60.0
"""How long a server may take to answer before the test says that it did not start."""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(url: str, headers: Mapping[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    """Status, headers (lower case) and body; an error status is an answer, not an exception."""
    request = urllib.request.Request(url, headers=dict(headers or {}))
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {k.lower(): v for k, v in error.headers.items()}, error.read()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the address answers 200."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"The server ended with {process.returncode}: {log.read_text()[-2000:]}")
        try:
            if get(url)[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise RuntimeError(f"{url} did not answer within {START_SECONDS:.0f} s: {log.read_text()[-2000:]}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that we started."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=10)


@dataclass
class Streamlit:
    """A running Streamlit process."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def active_sessions(self) -> int:
        """People connected, as the process itself counts them."""
        text = get(f"{self.url}/_stcore/metrics")[2].decode()
        rows = [line for line in text.splitlines() if line.startswith("active_sessions")]
        return int(float(rows[0].split()[-1])) if rows else 0


def start_streamlit(
    log: Path,
    *,
    root: Path = ROOT,
    script: str = "app.py",
    port: int | None = None,
    options: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> Streamlit:
    """Start one process of the app as the container does; ``before`` takes rights away from it first.

    A process without rights may not be able to write its log either, so it has none.
    """
    port = port or free_port()
    settings = {
        "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
        "STREAMLIT_SERVER_PORT": str(port),
        "STREAMLIT_SERVER_HEADLESS": "true",
        "STREAMLIT_SERVER_COOKIE_SECRET": "the-same-for-all-processes-of-this-test",
        "STREAMLIT_SERVER_SCRIPT_HEALTH_CHECK_ENABLED": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
        **(options or {}),
    }
    with log.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", script],
            cwd=root,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=out if before is None else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            preexec_fn=before,
        )
    server = Streamlit(port, process, log)
    try:
        wait_for(f"{server.url}/_stcore/health", process, log)
    except RuntimeError:
        stop(process)
        raise
    return server


def render(values: Mapping[str, str]) -> str:
    """Fill in the template's ${UPPER_CASE} names only, as envsubst in the nginx image does."""

    return re.sub(r"\$\{([A-Z_]+)\}", lambda found: values[found[1]], TEMPLATE.read_text())


@contextmanager
def nginx(folder: Path, upstream_ports: Sequence[int], max_upload_mb: int = 60) -> Iterator[tuple[str, Path]]:
    """Run nginx over the processes; yields its address and the file that holds all it logged."""
    assert NGINX is not None, NO_NGINX
    folder.mkdir(parents=True, exist_ok=True)
    port, log, conf = free_port(), folder / "nginx.log", folder / "nginx.conf"
    site = render(
        {
            "LISTEN": f"127.0.0.1:{port}",
            "MAX_UPLOAD_MB": str(max_upload_mb),
            "UPSTREAM_SERVERS": " ".join(f"server 127.0.0.1:{p} max_fails=1 fail_timeout=2s;" for p in upstream_ports),
        }
    )
    temporary = "\n".join(
        f"    {kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # the frame that the nginx image brings, with all paths inside the test's own folder
    conf.write_text(
        f"daemon off;\nuser {_user()};\nworker_processes 1;\npid {folder / 'nginx.pid'};\n"
        "error_log /dev/stderr notice;\nevents { worker_connections 1024; }\n"
        f"http {{\n    include /etc/nginx/mime.types;\n{temporary}\n{site}\n}}\n"
    )
    with log.open("ab") as out:
        process = subprocess.Popen(
            [NGINX, "-p", str(folder), "-c", str(conf)], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process, log)
        yield f"http://127.0.0.1:{port}", log
    finally:
        stop(process)


def _user() -> str:
    """Workers run as the user of the test, so that they may write to its folder."""
    return getpass.getuser()
