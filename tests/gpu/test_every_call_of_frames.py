"""Every call that tests have, on cuDF frames: the rows of the CPU engine on pandas frames, in the memory of the GPU."""

from unittest import mock

import method_calls
import numpy as np
import pandas as pd
import pytest
from frames_on_device import assert_same, cudf
from method_calls import IN_PLACES, METHODS

from dask_graphgpu.errors import NotConverged

pytestmark = pytest.mark.gpu

CALLS = {**METHODS, **IN_PLACES}
GIVEN = ("SOME", "FEW", "GROUPS")


def found(name, graph):
    """None where it does not converge."""
    try:
        return CALLS[name](graph)
    except NotConverged:
        return None


@pytest.fixture(scope="module", params=[True, False], ids=["directed", "undirected"])
def graphs(request):
    random = np.random.default_rng(0)
    edges = pd.DataFrame(random.integers(0, 1200, (12000, 2)), columns=["src", "dst"])
    edges["weight"] = random.integers(1, 9, len(edges)).astype("float32")
    given = {"directed": request.param}
    return (
        edges.graph(engine="cpu", **given).persist(),
        cudf.from_pandas(edges).graph(**given).persist(),
    )


@pytest.mark.parametrize("name", CALLS)
def test_a_call(name, graphs):
    host, device = graphs
    wanted = found(name, host)
    on_device = {each: cudf.from_pandas(getattr(method_calls, each)) for each in GIVEN}
    with mock.patch.multiple(method_calls, **on_device):
        result = found(name, device)
    if wanted is None:
        assert result is None
    else:
        assert_same(result, wanted)
