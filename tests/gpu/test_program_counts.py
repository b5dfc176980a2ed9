"""`num_messages` on engines of the GPU: as on the CPU where all vertices send, an error where not."""

import numpy as np
import pandas as pd
import pytest

import dask_graphgpu as dg
from dask_graphgpu.errors import EngineUnavailable

pytestmark = pytest.mark.gpu

RANDOM = np.random.default_rng(3)
EDGES = pd.DataFrame({"src": RANDOM.integers(0, 60, 400), "dst": RANDOM.integers(0, 60, 400)})


def mean(edges, **more):
    return dg.VertexProgram(
        state={"mean": dg.Field("float64", initial=lambda out_degree: out_degree)},
        compute=lambda source_mean: source_mean,
        combine="sum",
        apply=lambda message, num_messages: message / max(num_messages, 1),
        aggregates={"most": dg.Max(lambda num_messages: num_messages)},
        stop=lambda superstep, most: superstep >= 3 or most < 1,
        edges=edges,
        **more,
    )


@pytest.mark.parametrize("engine", ["gpu", "hybrid"])
@pytest.mark.parametrize("edges", ["out", "in", "both"])
def test_the_mean_of_neighbours(engine, edges):
    wanted = EDGES.graph(duplicates="keep").run(mean(edges))
    found = EDGES.graph(duplicates="keep", engine=engine).run(mean(edges))
    assert found["vertex"].tolist() == wanted["vertex"].tolist()
    np.testing.assert_allclose(found["mean"], wanted["mean"], rtol=1e-12)


@pytest.mark.parametrize("engine", ["gpu", "hybrid"])
def test_where_only_some_send(engine):
    program = mean("out", active=lambda new_mean: new_mean > 6)
    with pytest.raises(EngineUnavailable, match="names num_messages"):
        EDGES.graph(engine=engine).run(program)
    with pytest.raises(EngineUnavailable, match="names num_messages"):
        EDGES.graph(engine=engine).run(mean("out"), source=3)
