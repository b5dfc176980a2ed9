"""Names that a graph or a store does not know: what may have been meant, and nothing else is the worse for it."""

import copy
import pickle

import pandas as pd
import pytest

from dask_graphgpu.io.objects.object_folder import ObjectFolder

FRAME = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})


@pytest.mark.parametrize("of", [FRAME.graph, FRAME.graph()])
def test_methods(of):
    with pytest.raises(AttributeError, match=r"no method 'page_rank'\. Did you mean pagerank\?"):
        _ = of.page_rank
    with pytest.raises(AttributeError, match=r"mean .*weakly_connected_components\?"):
        _ = of.connected_components
    assert not hasattr(of, "page_rank")
    assert getattr(of, "zzz", None) is None
    assert "pagerank" in dir(of)


def test_copies():
    graph = FRAME.graph()
    with pytest.raises(AttributeError, match=r"no method '_hidden'\.$"):
        _ = graph._hidden
    for other in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert len(other.degree()) == 3
        assert "page_rank" not in dir(other)


def test_options_of_a_store():
    options = {"endpoint": "http://localhost:9", "key": "a", "secret": "do not show"}
    with pytest.raises(OSError, match=r"'endpoint'.*Did you mean endpoint_url\?") as told:
        ObjectFolder.of("s3://bucket/out", "output", options).sizes()
    assert "do not show" not in str(told.value)
