"""What the GPU engine reports of a minimum spanning forest."""

import importlib

import pytest
from made_graphs import path

from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.spanning_forest")


def test_report():
    report = Report("msf")
    view = path(50).view()
    gpu.spanning_forest(view, report)
    (row,) = report.advances
    assert (row.direction, row.frontier) == ("hook", 50)
    assert row.edges >= 49
