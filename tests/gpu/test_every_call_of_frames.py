"""Every call that tests have, on cuDF frames: the rows of the CPU engine on pandas frames, in the memory of the GPU."""

from unittest import mock

import method_calls
import numpy as np
import pandas as pd
import pytest
from frames_on_device import assert_same, cudf
from method_calls import IN_PLACES, METHODS

from dask_graphgpu.errors import GraphError

pytestmark = pytest.mark.gpu

CALLS = {**METHODS, **IN_PLACES}
GIVEN = ("SOME", "FEW", "GROUPS")


def found(name, graph):
    """The rows, or the kind of error."""
    try:
        return CALLS[name](graph)
    except GraphError as error:
        return type(error)


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
    if isinstance(wanted, type):
        assert result is wanted
    elif name.startswith(("louvain", "leiden")):  # engines move vertices in other orders
        assert type(result) is cudf.DataFrame
        assert list(result.columns) == list(wanted.columns)
        assert len(result) == len(wanted) or "level" in wanted
    else:
        assert_same(result, wanted)
