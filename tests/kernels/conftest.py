"""What the tests of compilers share."""

from types import SimpleNamespace

import pytest


@pytest.fixture
def architecture(request, monkeypatch):
    """One that a test is parametrised over, such as "sm_90": Numba takes it for the device at hand's.

    It compiles for that what functions call, and there may be no device.
    """
    name = request.param
    device = SimpleNamespace(compute_capability=(int(name[3:-1]), int(name[-1])))
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    return name
