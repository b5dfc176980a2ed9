import dask
import pytest

from dask_graphgpu.engine.cpu import in_place
from dask_graphgpu.kernels.cpu import threads


@pytest.fixture(params=["auto", "push", "pull", "notify-pull"])
def direction(request):
    with dask.config.set({"graphgpu.direction": request.param}):
        yield request.param


@pytest.fixture
def eager(monkeypatch):
    """Small graphs take the ways of large ones: threads and sweeps."""
    monkeypatch.setattr(threads, "LITTLE_WORK", 4)
    monkeypatch.setattr(in_place, "LONG_LIST", 3)
    monkeypatch.setattr(in_place, "DENSE_LIST", 0.0)
