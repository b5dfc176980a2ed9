"""Graphs as those of NetworkX's, their vertices, and pictures of them and of runs."""

import dask.dataframe as dd
import matplotlib.pyplot
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from strategies import partitioned

import dask_graphgpu as dg

matplotlib.use("Agg")

EDGES = pd.DataFrame(
    {"src": ["a", "b", "c", "a"], "dst": ["b", "c", "a", "d"], "weight": [1, 2, 3, 9]}
)
PAIRS = EDGES.assign(from_y=1, to_y=[1, 1, 1, 2])


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    matplotlib.pyplot.close("all")


KINDS = {
    "pandas": lambda frame: frame,
    "dask": lambda frame: partitioned(frame, 3),
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pandas,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"ranks": 2}, {"engine": "interpreted"}], ids=str)
def test_vertices_are_of_the_kind_that_came_in(kind, options):
    frame = KINDS[kind](EDGES)
    more = pd.DataFrame({"id": ["z", "a"], "colour": [1, 2]})
    found = dg.graph(frame, vertices=more, **options).vertices()
    assert isinstance(found, dd.DataFrame) == (kind == "dask")
    if kind not in ("pandas", "dask"):
        assert isinstance(found, type(frame))
    found = found.compute() if kind == "dask" else found
    assert list(pd.DataFrame(found.to_pandas() if kind in ("polars", "pyarrow") else found)["vertex"]) == [
        "a", "b", "c", "d", "z"
    ]  # fmt: skip


def test_vertices_of_two_columns_and_of_nothing():
    found = PAIRS.graph(source=["src", "from_y"], destination=["dst", "to_y"]).vertices()
    assert found.to_dict("list") == {"src": ["a", "b", "c", "d"], "from_y": [1, 1, 1, 2]}
    assert len(EDGES[:0].graph().vertices()) == 0


@pytest.mark.parametrize("place", ["frame", "dask", "persisted", "saved", "ranks"])
@pytest.mark.parametrize("directed", [True, False])
def test_to_networkx(place, directed, tmp_path):
    frame = partitioned(EDGES, 2) if place in ("dask", "saved") else EDGES
    graph = frame.graph(directed=directed, ranks=2 if place == "ranks" else 1)
    graph = graph.persist() if place == "persisted" else graph
    graph = dg.load(graph.save(tmp_path / "saved")) if place == "saved" else graph
    made = graph.to_networkx()
    kind = nx.DiGraph if directed else nx.Graph
    assert type(made) is kind
    expected = nx.from_pandas_edgelist(EDGES, "src", "dst", "weight", create_using=kind)
    assert nx.utils.graphs_equal(made, expected)
    assert all(type(weight) is int for _, _, weight in made.edges.data("weight"))


def test_to_networkx_of_ids_of_two_columns():
    options = {"source": ["src", "from_y"], "destination": ["dst", "to_y"]}
    made = PAIRS.graph(
        **options, vertices=pd.DataFrame({"src": ["z"], "from_y": [7]})
    ).to_networkx()
    assert set(made) == {("a", 1), ("b", 1), ("c", 1), ("d", 2), ("z", 7)}
    assert made[("a", 1)][("d", 2)] == {"weight": 9}


def test_to_networkx_of_repeated_edges():
    twice = pd.concat([EDGES, EDGES.assign(weight=100)])
    with pytest.raises(dg.errors.InvalidArgument, match=r"4 rows repeat edges.*duplicates='sum'"):
        twice.graph().to_networkx()
    assert twice.graph(duplicates="sum").to_networkx()["a"]["b"] == {"weight": 101}
    assert twice.graph(duplicates="min").to_networkx()["a"]["b"] == {"weight": 1}
    assert twice.graph(weight=None).to_networkx()["a"]["b"] == {}
    many = twice.graph(duplicates="keep").to_networkx()
    assert type(many) is nx.MultiDiGraph
    assert [data["weight"] for data in many["a"]["b"].values()] == [1, 100]


def test_to_networkx_has_a_limit():
    with pytest.raises(
        dg.errors.InvalidArgument, match=r"4 edges, and to_networkx\(\) takes at most 3.*limit=None"
    ):
        EDGES.graph().to_networkx(limit=3)
    assert len(EDGES.graph().to_networkx(limit=None)) == 4
    with pytest.raises(dg.errors.InvalidArgument, match="limit=-1; allowed"):
        EDGES.graph().to_networkx(limit=-1)


def test_looking_at_a_graph_is_no_run_of_the_user():
    graph = EDGES.graph()
    graph.core_number()
    graph.to_networkx()
    dg.draw(graph)
    assert dg.last_report().attrs["algorithm"] == "core_number"


def drawn(ax):
    """How many vertices each collection of points shows, and the texts beside them."""
    points = [
        each for each in ax.collections if isinstance(each, matplotlib.collections.PathCollection)
    ]
    return [len(each.get_offsets()) for each in points], [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_of_a_result(kind):
    near = dg.graph(KINDS[kind](EDGES)).ego("b", radius=2)
    ax = dg.draw(near)
    assert isinstance(ax, matplotlib.axes.Axes)
    points, labels = drawn(ax)
    assert points == [3]
    assert sorted(label for label in labels if label) == ["a", "b", "c"]
    ax.figure.canvas.draw()
    assert drawn(dg.draw(near, labels=False))[1] == []


def test_colours_by_texts_numbers_and_none():
    values = pd.DataFrame({"vertex": ["a", "b", "c", "x"], "group": ["one", "two", "one", "three"]})
    ax = dg.draw(EDGES, color="group", vertices=partitioned(values, 2))
    assert sorted(drawn(ax)[0]) == [1, 1, 2]  # d has no value
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == ["no value", "one", "two"]
    ranks = pl.DataFrame(EDGES).graph.pagerank()
    ax = dg.draw(EDGES, color="rank", vertices=ranks, layout="kamada_kawai")
    assert ax.figure.axes[1].get_ylabel() == "rank"
    flags = pd.DataFrame({"vertex": list("abcd"), "flag": [True, False, True, True]})
    assert sorted(drawn(dg.draw(EDGES, color="flag", vertices=flags))[0]) == [1, 3]


def test_labels_by_a_column_and_weights_beside_edges():
    names = pd.DataFrame({"vertex": ["a", "b", "c", "x"], "name": ["Ann", "$Bob", None, "Xi"]})
    texts = drawn(dg.draw(EDGES, labels="name", vertices=partitioned(names, 2)))[1]
    assert texts == ["Ann", r"\$Bob"], "nothing beside those that have no name"
    many = pd.DataFrame({"src": [0] * 61, "dst": range(1, 62)})
    assert drawn(dg.draw(many))[1] == []
    assert len(drawn(dg.draw(many, labels=True))[1]) == 62
    ranks = EDGES.graph().pagerank()
    ax = dg.draw(EDGES, color="rank", labels="rank", vertices=ranks)
    assert len(drawn(ax)[1]) == 4
    both = pd.concat(
        [EDGES, EDGES[3:], pd.DataFrame({"src": ["b"], "dst": ["a"], "weight": [0.5]})]
    )
    ax = dg.draw(both, labels=False, edge_labels=True)
    ax.figure.canvas.draw()
    assert sorted(drawn(ax)[1]) == ["0.5", "1", "18", "2", "3"]


def test_widths_are_by_weight_and_places_by_seed():
    def widths(ax):
        return [round(float(each.get_linewidth()), 2) for each in ax.patches]

    thin, wide = min(widths(dg.draw(EDGES))), max(widths(dg.draw(EDGES)))
    assert wide > 2 * thin
    assert len(set(widths(dg.draw(EDGES, weight=None)))) == 1
    places = [dg.draw(EDGES, seed=seed).collections[0].get_offsets() for seed in (1, 1, 2)]
    assert np.array_equal(places[0], places[1])
    assert not np.array_equal(places[0], places[2])
    odd = EDGES.assign(weight=[1.0, float("inf"), float("nan"), -2.0])
    assert len(widths(dg.draw(odd))) == 4
    twice = pd.concat([EDGES, EDGES])
    assert widths(dg.draw(twice)) == widths(dg.draw(EDGES))


@pytest.mark.parametrize("layout", ["spring", "kamada_kawai", "circular", "shell", "spectral"])
def test_layouts_of_graphs_that_are_hardly_any(layout):
    path = nx.to_pandas_edgelist(nx.path_graph(5)).rename(columns={"target": "destination"})
    for edges in (path, path[:1], path[:0]):
        ax = dg.draw(edges, layout=layout, directed=False)
        ax.figure.canvas.draw()
        assert sum(drawn(ax)[0]) == (0 if not len(edges) else len(edges) + 1)
    graph = path[:0].graph(vertices=pd.DataFrame({"vertex": [5]}))
    assert drawn(dg.draw(graph, layout=layout))[0] == [1]


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"layout": "nice"}, dg.errors.InvalidArgument, "layout='nice'; allowed are 'spring'"),
        ({"seed": -1}, dg.errors.InvalidArgument, "seed=-1"),
        ({"labels": 1}, dg.errors.InvalidArgument, "labels=1"),
        ({"color": "x"}, dg.errors.InvalidArgument, "give the frame and such a name, or neither"),
        ({"labels": "x"}, dg.errors.InvalidArgument, "give the frame and such a name, or neither"),
        ({"vertices": EDGES}, dg.errors.InvalidArgument, "give the frame and such a name, or neither"),
        ({"edge_labels": True, "weight": None}, dg.errors.InvalidArgument, "the edges have none"),
        ({"color": "x", "vertices": EDGES}, dg.errors.InvalidVertices, "has no column 'x'"),
        ({"color": "x", "vertices": [1]}, dg.errors.InvalidVertices, "vertices is a list"),
        (
            {"color": "x", "vertices": pd.DataFrame({"vertex": ["q"], "x": [1]})},
            dg.errors.InvalidVertices,
            "none of the 4 vertices that are drawn has a value of 'x'",
        ),
        ({"source": "nobody"}, dg.errors.InvalidEdges, "give both source= and destination="),
        (
            {"color": "x", "vertices": pd.DataFrame({"vertex": ["a"], "x": [pd.Timestamp(0)]})},
            dg.errors.InvalidVertices,
            "values of Timestamp; colours and labels are of texts",
        ),
        (
            {"color": "x", "vertices": pd.DataFrame({"vertex": ["a"], "x": [[1]]})},
            dg.errors.InvalidVertices,
            "values of list",
        ),
        ({"sauce": "src"}, TypeError, "did you mean source="),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn(wrong, error, says):
    with pytest.raises(error, match=says):
        dg.draw(EDGES, **wrong)
    assert not matplotlib.pyplot.get_fignums(), "no empty figure is left"


def test_large_graphs_are_not_drawn_nor_many_texts():
    rng = np.random.default_rng(0)
    many = pd.DataFrame({"src": rng.integers(0, 500, 2001), "dst": rng.integers(0, 500, 2001)})
    with pytest.raises(
        dg.errors.InvalidArgument, match=r"2,001 edges, and draw\(\) takes at most 2,000.*ego"
    ):
        dg.draw(many)
    path = pd.DataFrame({"src": range(25), "dst": range(1, 26)})
    texts = pd.DataFrame({"vertex": range(26), "name": list("abcdefghijklmnopqrstuvwxyz")})
    with pytest.raises(
        dg.errors.InvalidArgument, match="26 different texts, and a picture has colours for 20"
    ):
        dg.draw(path, color="name", vertices=texts)
    with pytest.raises(dg.errors.InvalidArgument, match="directed=: of a Graph"):
        dg.draw(EDGES.graph(), directed=False)


def test_names_are_shown_as_they_are():
    edges = pd.DataFrame({"src": ["$x_1$", "<b>"], "dst": ["<b>", "$x_1$ $"]})
    ax = dg.draw(edges)
    ax.figure.canvas.draw()  # no error of mathematics
    assert r"\$x_1\$" in drawn(ax)[1]


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_picture_of_a_run(ranks):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"src": rng.integers(0, 5000, 40_000), "dst": rng.integers(0, 5000, 40_000)}
    )
    frame.graph(ranks=ranks).bfs(0)
    report = dg.last_report()
    frontier, time = dg.plot_report()
    assert frontier.get_title() == "bfs"
    (line,) = frontier.lines
    assert list(line.get_ydata()[::2]) == report["frontier"].tolist()
    assert list(line.get_xdata()[::2]) == report["superstep"].tolist()
    said = [text.get_text() for text in frontier.get_legend().get_texts()]
    assert said == report["direction"].unique().tolist()
    parts = [label.get_text() for label in time.get_yticklabels()]
    of_ranks = ["rank 0", "rank 1"] if ranks == 2 else ["run"]
    assert parts == ["read", "build", "compile", *of_ranks]
    widths = [bar.get_width() for bar in time.patches]
    assert widths[:2] == [report.attrs["seconds"]["read"], report.attrs["seconds"]["build"]]
    frontier.figure.canvas.draw()
    axes = matplotlib.pyplot.subplots(2)[1]
    assert dg.plot_report(report, axes)[0] is axes[0]


def test_reports_that_cannot_be_drawn():
    EDGES.graph().degree()
    assert dg.plot_report()[0].texts[0].get_text() == "no supersteps"
    with pytest.raises(
        dg.errors.InvalidArgument, match="report is a DataFrame; give what last_report"
    ):
        dg.plot_report(dg.last_report().head())
    with pytest.raises(dg.errors.InvalidArgument, match="axes are 1; give two"):
        dg.plot_report(axes=matplotlib.pyplot.subplots()[1])


def test_without_the_packages(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "networkx", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for call in (EDGES.graph().to_networkx, lambda: dg.draw(EDGES)):
        with pytest.raises(
            dg.errors.MissingPackage, match=r"needs networkx.*pip install 'dask-graphgpu\[plot\]'"
        ):
            call()
    EDGES.graph().degree()
    with pytest.raises(ImportError, match="needs matplotlib"):
        dg.plot_report()
