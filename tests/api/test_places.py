"""Answers are the same for every order of rows and vertices, number of ranks, partitioner and place.

The graphs have what answers could depend on: edges of weight 0, paths of one length, repeated rows.
"""

import dask
import numpy as np
import pandas as pd
import pytest
from engine_programs import LABELS
from engines import RANKS, on_one_cpu
from hypothesis import given
from hypothesis import strategies as st
from strategies import partitioned

import dask_graphgpu as dg

BELOW = dg.VertexProgram(  # along edges to a larger id of the user's
    state={"below": dg.Field("int64", initial=0), "last": dg.Field("id", initial=0)},
    compute=lambda source_below, source_id, destination_id: (
        source_below + 1 if source_id < destination_id else 0
    ),
    combine="max",
    apply=lambda message, received, id: {"below": message if received else 0, "last": id},  # noqa: A006
    stop=lambda superstep: superstep >= 4,
)

CALLS = {
    "bfs": lambda g, a, b: g.bfs(a, predecessor=True),
    "bfs from two": lambda g, a, b: g.bfs([a, b], predecessor=True),
    "sssp": lambda g, a, b: g.sssp(a, predecessor=True),
    "sssp to a target": lambda g, a, b: g.sssp(a, target=[b, a], predecessor=True),
    "sswp": lambda g, a, b: g.sswp(a),
    "ssnsp": lambda g, a, b: g.ssnsp(a),
    "hops": lambda g, a, b: g.shortest_path(a, b, weighted=False),
    "path": lambda g, a, b: g.shortest_path(a, b),
    "distances": lambda g, a, b: g.distances([a, b], [b, a, b]),
    "nearest": lambda g, a, b: g.nearest([b, a], 2),
    "k-core": lambda g, a, b: g.k_core(3 if len(g.core_number()) < 100 else 30),
    "ego": lambda g, a, b: g.ego(a),
    "cores": lambda g, a, b: g.core_number(),
    "trusses": lambda g, a, b: g.k_truss(),
    "bridges": lambda g, a, b: g.bridges(),
    "blocks": lambda g, a, b: g.biconnected_components(),
    "components": lambda g, a, b: g.weakly_connected_components(),
    "strong components": lambda g, a, b: g.strongly_connected_components(),
    "labels": lambda g, a, b: g.label_propagation(4),
    "forest": lambda g, a, b: g.minimum_spanning_forest(),
    "smallest id": lambda g, a, b: g.run(LABELS),
    "larger ids": lambda g, a, b: g.run(BELOW),
}

# The part of the graph that paths can go through has to fit in memory.
IN_MEMORY = {"paths": lambda g, a, b: g.k_shortest_paths(a, b, 12)}


def edges_of(seed, *, vertices, rows, far=None):
    """Repeated rows with weights of 0, 1 and perhaps 2, a tenth of them among few vertices.

    ``far`` : how far apart two ends are at most.
    """
    rng = np.random.default_rng(seed)
    source = rng.integers(0, vertices, rows)
    destination = rng.integers(0, vertices, rows)
    if far is not None:
        destination = (source + rng.integers(0, far, rows)) % vertices
    dense, few = slice(rows // 10), vertices // 50 + 2
    source[dense], destination[dense] = source[dense] % few, destination[::-1][dense] % few
    weight = rng.integers(0, 2 + seed % 2, rows)
    edges = pd.DataFrame({"src": source**2, "dst": destination**2, "weight": weight})
    return edges, edges.iloc[rng.permutation(rows)], (int(source[0]) ** 2, int(source[-1]) ** 2)


def answer(call, graph, ends):
    """The frame, or which error it is."""
    try:
        found = call(graph, *ends)
        found = found.compute() if hasattr(found, "compute") else found
    except (dg.errors.NoPath, dg.errors.IntegerOverflow) as error:
        return str(error)
    return found.reset_index(drop=True)


def assert_same(call, graph, ends, wanted, name):
    found = answer(call, graph, ends)
    if isinstance(wanted, str):
        assert found == wanted
        return
    pd.testing.assert_frame_equal(found, wanted, obj=name, check_exact=True)


@given(
    seed=st.integers(0, 2**32 - 1),
    vertices=st.integers(2, 40),
    directed=st.booleans(),
    persisted=st.booleans(),
    options=st.fixed_dictionaries(
        {
            "ranks": st.sampled_from(RANKS),
            "order": st.sampled_from(["auto", "input", "degree"]),
            "partitioner": st.sampled_from(["balanced", "random", "biased_random"]),
            "layout": st.sampled_from(["rows", "layered"]),
        }
    ),
)
def test_in_memory(seed, vertices, directed, persisted, options):
    edges, shuffled, ends = edges_of(seed, vertices=vertices, rows=3 * vertices)
    one = edges.graph(directed=directed, ranks=1, order="input").persist()
    other = partitioned(shuffled, 3).graph(directed=directed, **options)
    other = other.persist() if persisted else other
    for name, call in (CALLS | IN_MEMORY).items():
        if options["layout"] == "rows" or name in ("bfs", "sssp", "sswp", "smallest id"):
            assert_same(call, other, ends, answer(call, one, ends), name)


@on_one_cpu
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("far", [None, 10])
def test_on_disk(directed, far, tmp_path):
    """In pages, and by turns saved, saved in another order, and saved from pages: each call in every way."""
    turn = 2 * directed + (far is None)
    edges, shuffled, ends = edges_of(5, vertices=1500, rows=22_500, far=far)
    limited = {
        "graphgpu.host-memory-limit": 330_000,
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "pages")],
    }
    one = edges.graph(directed=directed, order="input").persist()
    graph = shuffled.graph(directed=directed)
    saved = [
        dg.load(graph.save(tmp_path / "saved")),
        dg.load(shuffled.graph(directed=directed, order="degree").save(tmp_path / "by degree")),
    ]
    with dask.config.set(limited):
        saved.append(dg.load(graph.save(tmp_path / "saved from pages")))
    for number, (name, call) in enumerate(CALLS.items()):
        wanted = answer(call, one, ends)
        assert_same(call, saved[(number + turn) % len(saved)], ends, wanted, name)
        with dask.config.set(limited):
            assert_same(call, graph, ends, wanted, name)
            assert (dg.last_report().attrs["disk_bytes"] > 0) is (
                name != "components"
            )  # need no rows
