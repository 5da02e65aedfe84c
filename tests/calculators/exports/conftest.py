from collections.abc import Callable
from typing import Any

import pytest

from calculators.catalog import Catalog, load_catalog
from calculators.report import Report, build_report
from calculators.scenario import Scenario


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="session")
def make(catalog: Catalog) -> Callable[..., Report]:
    """A report of a scenario that differs from the default in the given fields."""

    def build(**changes: Any) -> Report:
        return build_report(Scenario(**changes), catalog)

    return build
