"""Write the golden files anew: ``python -m tests.golden.update``. Look at the difference before you commit it.

The declarations of a version that has been released are a contract with old links: they are written only where the
file of that version does not exist yet, or with ``--declarations``.
"""

import sys

from calculators.catalog import load_catalog
from calculators.report import build_report
from calculators.scenario import Scenario
from tests.golden import DECLARATIONS, HEADLINES, SCENARIOS, declarations, headline, write_json
from tests.golden.exports import all_files


def main() -> None:
    """Write what the code says now."""
    if not DECLARATIONS.exists() or "--declarations" in sys.argv:
        write_json(DECLARATIONS, declarations())
    figures = {name: headline(changes) for name, changes in SCENARIOS.items()}
    write_json(HEADLINES, {"data_release": load_catalog().release, "scenarios": figures})
    for file, lines in all_files(lambda changes: build_report(Scenario(**changes), load_catalog())):
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
