"""These tests are collected only where the GPU engine can run; the header says why they are not."""

import dask
import pytest

from dask_graphgpu.engine import driver
from dask_graphgpu.report import Report

_LACKING = driver.missing()
collect_ignore_glob = ["test_*.py"] if _LACKING else []


def pytest_report_header():
    return f"tests/gpu: {_LACKING or 'collected'}"


@pytest.fixture
def limited(monkeypatch):
    """Calls with room for this share of the edges beside the vertices, or for the least buffers; and their reports.

    ``row`` : edges of the longest one, where buffers have to hold it.
    """
    from dask_graphgpu.engine import limits

    cut_of = limits.Cut.of

    def call(function, view, share, way="auto", *given, row=0, **named):
        def cut(num_edges, edge, vertices, limit, what, **most):
            least = max(limits.BLOCK, -(-row // limits.BLOCK) * limits.BLOCK)
            room = max(int(share * num_edges * edge), limits.BUFFERS * least * edge)
            return cut_of(num_edges, edge, vertices, vertices + room, what, **most)

        report = Report("test")
        monkeypatch.setattr(limits.Cut, "of", cut)
        with dask.config.set({"graphgpu.device-memory-limit": "1TB", "graphgpu.transfer": way}):
            return function(view, *given, report=report, **named), report

    return call
