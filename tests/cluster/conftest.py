"""Clusters of worker processes, started once a module."""

import pytest
from cluster_cases import started


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/cluster" in str(item.path):
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="module")
def client(request):
    """A client of as many workers as the module's WORKERS says, two without it."""
    with started(getattr(request.module, "WORKERS", 2)) as client:
        yield client
