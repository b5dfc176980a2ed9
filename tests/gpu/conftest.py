"""These tests are collected only where the GPU engine can run; the header says why they are not."""

from dask_graphgpu.engine import driver

_LACKING = driver.missing()
collect_ignore_glob = ["test_*.py"] if _LACKING else []


def pytest_report_header():
    return f"tests/gpu: {_LACKING or 'collected'}"
