"""Graph neural networks that learn from samples in files, with torch and with PyG, where these are installed."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dask_graphgpu  # noqa: F401  puts .graph on frames

pytestmark = pytest.mark.filterwarnings("default")  # torch's own

GROUPS, EACH, WIDTH = 3, 30, 8


def written(folder):
    """Batches of a graph of groups, in files; features that say little alone, and the group of each vertex."""
    made = nx.random_partition_graph([EACH] * GROUPS, 0.3, 0.01, seed=1)
    frame = nx.to_pandas_edgelist(made, "src", "dst")
    label = np.repeat(np.arange(GROUPS), EACH)
    rng = np.random.default_rng(2)
    features = rng.normal(size=(len(label), WIDTH)).astype(np.float32)
    features[np.arange(len(label)), label] += 1
    seeds = pd.DataFrame({"vertex": rng.permutation(len(label))})
    graph = frame.graph(directed=False, vertices=pd.DataFrame({"vertex": range(len(label))}))
    graph.neighbor_sample(seeds, fanout=[5, 5], batch_size=16).to_parquet(
        folder, partition_cols=["batch"]
    )
    return seeds["vertex"].to_numpy(), features, label


def batch(folder, number, seeds):
    """Vertices of a batch, its seeds first, and its edges between their places, source above destination."""
    edges = pd.read_parquet(folder, filters=[("batch", "==", number)])
    mine = pd.Series(seeds[16 * number : 16 * (number + 1)])
    numbers, vertices = pd.factorize(pd.concat([mine, edges["src"], edges["dst"]]))
    return vertices, numbers[len(mine) :].reshape(2, -1), len(mine)


def plain_layer(torch):
    """The mean of neighbours beside the vertex itself, as in GraphSAGE."""

    class Mean(torch.nn.Module):
        def __init__(self, width, out):
            super().__init__()
            self.both = torch.nn.Linear(2 * width, out)

        def forward(self, x, edge_index):
            source, destination = edge_index
            total = torch.zeros_like(x).index_add(0, destination, x[source])
            over = torch.bincount(destination, minlength=len(x)).clamp(min=1)[:, None]
            return self.both(torch.cat([x, total / over], dim=1))

    return Mean


@pytest.mark.parametrize("package", ["torch", "torch_geometric"])
def test_a_network_learns_from_the_files(package, tmp_path):
    torch = pytest.importorskip("torch")
    found = pytest.importorskip(package)
    if package == "torch":
        layer = plain_layer(torch)
    else:
        import torch_geometric.nn

        assert found.__name__ == "torch_geometric"
        layer = torch_geometric.nn.SAGEConv
    seeds, features, label = written(tmp_path)
    torch.manual_seed(3)
    layers = torch.nn.ModuleList([layer(WIDTH, 16), layer(16, GROUPS)])
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.02)
    batches = [batch(tmp_path, number, seeds) for number in range(-(-len(seeds) // 16))]
    held = batches.pop()
    assert [len(b[0]) > b[2] for b in batches] == [True] * len(batches)

    def out(vertices, edge_index, number):
        index = torch.as_tensor(edge_index)
        hidden = layers[0](torch.as_tensor(features[vertices]), index).relu()
        return layers[1](hidden, index)[:number], torch.as_tensor(label[vertices[:number]])

    for _ in range(30):
        for each in batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(*out(*each)).backward()
            optimizer.step()
    with torch.no_grad():
        scores, wanted = out(*held)
    assert (scores.argmax(1) == wanted).float().mean() > 0.8
