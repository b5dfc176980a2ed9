"""The algorithms from the command line give what the methods give."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner
from engines import on_one_cpu

from dask_graphgpu.jobs.cli import graph

EDGES = pd.DataFrame(
    {
        "src": [0, 0, 1, 2, 3],
        "dst": [1, 2, 3, 3, 4],
        "weight": [0.25, 0.5, 0.25, 0.125, 0.25],
        "alike": [0.55, 0.5, 0.45, 0.55, 0.5],
    }
)
VALUES = pd.DataFrame({"vertex": [0, 4], "value": [0.75, 0.25]})
VERTICES = pd.DataFrame({"vertex": range(5), "p": [0.5, 0.75, 0.5, 0.25, 0.5]})
VERTICES["volt"] = [1, None, None, None, 0]
VERTICES["q"] = 1 - VERTICES["p"]
COUPLING = [[0.125, -0.125], [-0.125, 0.125]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")
    VALUES.to_parquet("values.parquet")
    VALUES[["vertex"]].to_parquet("some.parquet")
    VERTICES.to_parquet("vertices.parquet")


CALLS = {
    "sswp": ("sswp --source 0 --source 1 --cutoff 0.2", {"source": [0, 1], "cutoff": 0.2}),
    "ssnsp": ("ssnsp --source 0 --target 3 --dtype float64", {"source": 0, "target": 3, "dtype": "float64"}),
    "delta": ("pagerank --method delta", {"method": "delta"}),
    "path": ("shortest_path --source 0 --target 4 --no-weighted", {"source": 0, "target": 4, "weighted": False}),
    "betweenness": (
        "betweenness_centrality --draw 3 --weighted --seed 7",
        {"sources": 3, "weighted": True, "seed": 7},
    ),
    "edge betweenness": (
        "edge_betweenness_centrality --sources 0 --sources 2 --no-normalized",
        {"sources": [0, 2], "normalized": False},
    ),
    "number": (
        "belief_propagation --priors values.parquet --homophily 0.55",
        {"priors": VALUES, "homophily": 0.55},
    ),
    "edge column": (
        "belief_propagation --priors p --homophily alike --no-echo-cancellation",
        {"priors": "p", "homophily": "alike", "echo_cancellation": False},
    ),
    "coupling": (
        ["belief_propagation", "--priors", "p,q", "--coupling", json.dumps(COUPLING)],
        {"priors": ["p", "q"], "coupling": COUPLING},
    ),
    "network": (
        "neural_network --initial values.parquet --bias 0.1 --strength alike --tolerance 0 --max-iterations 10",
        {"initial": VALUES, "bias": 0.1, "strength": "alike", "tolerance": 0, "max_iterations": 10},
    ),
    "heat": (
        "heat_simulation --initial values.parquet --step 0.5 --tolerance 0 --max-iterations 3",
        {"initial": VALUES, "step": 0.5, "tolerance": 0, "max_iterations": 3},
    ),
    "circuit": (
        "circuit_simulation --terminals volt --initial 0.5",
        {"terminals": "volt", "initial": 0.5},
    ),
}  # fmt: skip


# Of methods that run on the CPU engine on one rank only.
MORE = {
    "triangles": ("triangle_count", {}),
    "clustering": ("clustering_coefficient", {}),
    "two-hop": ("jaccard", {}),
    "similar": ("similar --metric cosine --top-k 1", {"metric": "cosine", "top_k": 1}),
    "similar to some": ("similar --between some.parquet", {"between": VALUES[["vertex"]]}),
    "pairs": ("jaccard --pairs ./edges.parquet", {"pairs": EDGES}),
    "hits": ("hits --tolerance 0 --max-iterations 5", {"tolerance": 0, "max_iterations": 5}),
    "louvain": ("louvain --resolution 0.5 --seed 3", {"resolution": 0.5, "seed": 3}),
    "leiden": ("leiden --max-iterations 1 --no-weighted", {"max_iterations": 1, "weighted": False}),
    "ego": ("ego --center 1 --radius 2", {"center": 1, "radius": 2}),
    "labels": ("label_propagation --max-iterations 2", {"max_iterations": 2}),
}


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        *(pytest.param(*call, id=name) for name, call in CALLS.items()),
        *(pytest.param(*call, id=name, marks=on_one_cpu) for name, call in MORE.items()),
    ],
)
def test_result_is_that_of_the_method(folder, words, arguments):
    words = words.split() if isinstance(words, str) else words
    words = [words[0], "edges.parquet", *words[1:], "--vertices", "vertices.parquet"]
    top = (
        [] if {"--coupling", "--center"} & {*words} else ["--top", "2"]
    )  # several beliefs: no order
    done = CliRunner().invoke(graph, [*words, "--output", "out", *top])
    assert done.exit_code == 0, (done.stderr, done.exception)
    method = getattr(EDGES.graph(vertices=VERTICES), words[0])
    expected = method(**arguments)
    found = pd.read_parquet("out").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert not top or any(column in done.stdout for column in expected.columns[1:])
