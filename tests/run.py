"""Install what the tests need and run all of them: ``python3 tests/run.py [pytest arguments]``.

Works on a bare machine: only Python is needed to start. A virtual environment is made in .venv; the browser is the
system's Chromium where there is one, Debian's where apt-get can bring it (root), else playwright's own download.
LibreOffice (recalculates the workbook) and nginx (two-process test) come the same way; without them their tests say why
they are skipped.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DEBIAN = {
    "chromium": BROWSERS,
    "libreoffice-calc": ("soffice", "libreoffice"),
    "nginx-light": ("nginx", "/usr/sbin/nginx"),
}


def _python() -> Path:
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _missing() -> list[str]:
    return [package for package, names in DEBIAN.items() if not any(shutil.which(name) for name in names)]


def _run(*command: str | Path, check: bool = True) -> int:
    print("+", " ".join(str(part) for part in command), flush=True)
    done = subprocess.run([str(part) for part in command], cwd=ROOT, check=False)
    if check and done.returncode:
        raise SystemExit(done.returncode)
    return done.returncode


def _system_packages() -> None:
    """Bring Debian's packages where we may; tell, but go on, where we may not."""
    missing = _missing()
    if missing and shutil.which("apt-get") and getattr(os, "geteuid", lambda: 1)() == 0:
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        _run("apt-get", "update", "-qq", check=False)
        _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing, check=False)
        missing = _missing()
    if "chromium" in missing:
        _run(_python(), "-m", "playwright", "install", "chromium", check=False)
    for package in missing:
        print(f"note: {package} is not on this machine; the tests that need it say so and are skipped.", flush=True)


def main() -> int:
    """Make the environment, then lint, type-check and test."""
    if not _python().exists():
        venv.create(VENV, with_pip=True)
    _run(_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ".[test]")
    _system_packages()
    _run(_python(), "-m", "ruff", "check", ".")
    _run(_python(), "-m", "mypy")
    return _run(_python(), "-m", "pytest", *sys.argv[1:], check=False)


if __name__ == "__main__":
    raise SystemExit(main())
