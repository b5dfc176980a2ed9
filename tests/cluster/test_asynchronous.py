"""A client of coroutines: nothing is waited for in its thread."""

import asyncio

import numpy as np
import pandas as pd
import pytest
from distributed import Client
from strategies import partitioned

from dask_graphgpu import errors


@pytest.mark.parametrize("ranks", [1, 2])
def test_methods_and_persist_do_not_wait(tmp_path, ranks):
    rng = np.random.default_rng(0)
    source, destination = rng.integers(0, 50, (2, 200))
    edges = pd.DataFrame({"src": source, "dst": destination, "weight": rng.random(200)})
    wanted = edges.graph().sssp(0)
    graph = partitioned(edges, 3).graph(ranks=ranks)

    async def run():
        options = {"n_workers": 2, "processes": False, "dashboard_address": ":0"}
        async with Client(asynchronous=True, **options) as client:
            kept = graph.persist()
            found = [await client.compute(each.sssp(0)) for each in (graph, kept, kept)]
            waiting = {
                "save": lambda: graph.save(tmp_path / "saved"),
                **{name: getattr(kept, name) for name in ("explain", "num_vertices", "num_edges")},
            }
            for name, call in waiting.items():
                told = rf"^{name}\(\) waits .*without asynchronous="
                with pytest.raises(errors.EngineUnavailable, match=told):
                    call()
            assert not (tmp_path / "saved").exists()
            return found

    for found in asyncio.run(run()):
        pd.testing.assert_frame_equal(found, wanted)
