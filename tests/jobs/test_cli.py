"""Calls of the command line: what they compute, print and refuse."""

import dataclasses
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
from click.testing import CliRunner
from commands import ROOT, call, refused, result

import dask_graphgpu.jobs.step_graph
from dask_graphgpu import run_job
from dask_graphgpu.jobs.cli import ALGORITHMS, graph
from dask_graphgpu.jobs.method_options import algorithm_options

EDGES = pd.DataFrame({"src": [0, 0, 1, 2, -5], "dst": [1, 2, 3, 3, -6], "weight": [4, 1, 1, 7, 2]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with edges.parquet and names.parquet in it."""
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")
    names = {i: f"v{i}" for i in range(-6, 4)}
    pd.DataFrame({"a": EDGES["src"].map(names), "b": EDGES["dst"].map(names)}).to_parquet(
        "names.parquet"
    )
    return tmp_path


def distances(path="out"):
    frame = result(path).dropna(subset=["distance"])
    return dict(zip(frame["vertex"], frame["distance"], strict=True))


def test_entry_points_are_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for target in (project["scripts"]["dask-graph"], project["entry-points"]["dask_cli"]["graph"]):
        module, name = target.split(":")
        assert getattr(import_module(module), name) is graph


def test_result_is_that_of_the_method(folder):
    printed = call("pagerank", "edges.parquet", "--damping", 0.5, "--output", "out").stdout
    assert printed == ""
    pd.testing.assert_frame_equal(result(), EDGES.graph.pagerank(damping=0.5), check_dtype=False)


def test_on_ranks(folder):
    words = ["sssp", "edges.parquet", "--source", 0, "--predecessor", "--output"]
    call(*words, "one", "--ranks", 1)
    for ranks in (["--ranks", 3, "--partitioner", "random"], ["--ranks", "auto"]):
        call(*words, "out", *ranks)
        pd.testing.assert_frame_equal(result(), result("one"))
    call("degree", "edges.parquet", "--ranks", 2, "--report", "report.csv")
    assert "--ranks many; allowed are" in refused(*words, "out", "--ranks", "many", code=2)
    job = 'ranks = 2\nedges = "edges.parquet"\n[[step]]\nalgorithm = "degree"\noutput = "out"\n'
    (folder / "job.toml").write_text(job)
    call("run", "job.toml")
    pd.testing.assert_frame_equal(result(), EDGES.graph(ranks=1).degree(), check_dtype=False)


def test_values_of_vertices_are_numbers_paths_or_columns():
    """Options of arguments of type ``float | str | Any``."""

    @dataclasses.dataclass
    class Method:
        initial: float | str | Any = 0.0

    (option,) = algorithm_options(Method)
    read = [option.type(text) for text in ("3", "2.5", "./x.parquet", "column")]
    assert read == [3, 2.5, "./x.parquet", "column"]


def test_every_algorithm_has_its_options():
    listed = call("--help").stdout
    for name, algorithm in ALGORITHMS.items():
        assert re.search(rf"^  {name.replace('_', '-')}  ", listed, re.M)
        shown = call(name, "--help").stdout
        for field in dataclasses.fields(algorithm):
            option = re.search(rf"--{field.name.replace('_', '-')}\b.*?\n *--", shown, re.S)
            assert option, f"{name} has no option for {field.name}"
            assert len(option.group().split()) > 4, f"{name} {field.name} has no help"


def test_help_tells_commands_apart_and_names_choices_and_defaults():
    listed = call("--help").stdout
    firsts = [(a.__doc__ or "").strip().splitlines()[0] for a in ALGORITHMS.values()]
    assert len(set(firsts)) == len(firsts)
    assert max(map(len, firsts)) <= 60
    assert "..." not in listed.partition("Commands:")[2]
    shown = " ".join(call("pagerank", "--help").stdout.split())
    assert "--method [power|delta]" in shown
    assert "--dtype [float64|float32]" in shown
    assert "[0, 1). Default: 0.85." in shown
    assert "Default: when the graph has weights." in shown
    assert "Default: --normalized." in " ".join(
        call("betweenness-centrality", "--help").stdout.split()
    )
    assert "'pow' is not one of 'power', 'delta'" in refused(
        "pagerank", "edges.parquet", "--method", "pow", "--top", 1, code=2
    )


def test_version():
    assert call("--version").stdout == f"dask_graphgpu {dask_graphgpu.__version__}\n"


@pytest.mark.parametrize("name", ["weakly_connected_components", "core_number", "degree"])
def test_algorithms_without_arguments(folder, name):
    call(name, "edges.parquet", "--output", "out")
    pd.testing.assert_frame_equal(result(), getattr(EDGES.graph, name)(), check_dtype=False)


def test_k_core(folder):
    call("k_core", "edges.parquet", "--k", 1, "--output", "out")
    assert len(result()) == len(EDGES)


# Options of a traversal, and the distances they lead to.
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sssp edges.parquet --source 0", {0: 0, 1: 4, 2: 1, 3: 5}),
        ("sssp edges.parquet --source=-5", {-5: 0, -6: 2}),
        ("sssp edges.parquet --source -5", {-5: 0, -6: 2}),
        ("sssp edges.parquet --source 0 --cutoff 3", {0: 0, 2: 1}),
        ("sssp edges.parquet --source 0 --target 3 --target 1", {3: 5, 1: 4}),
        ("sssp edges.parquet --source 3 --undirected", {0: 5, 1: 1, 2: 6, 3: 0}),
        ("sssp edges.parquet --source 0 --weight dst", {0: 0, 1: 1, 2: 2, 3: 4}),
        ("bfs edges.parquet --source 0 --columns src,dst", {0: 0, 1: 1, 2: 1, 3: 2}),
        ("bfs edges.parquet --source 0 --columns dst,src", {0: 0}),
        ("bfs names.parquet --source v0 --columns a,b", {"v0": 0, "v1": 1, "v2": 1, "v3": 2}),
    ],
)
def test_traversals(folder, words, expected):
    if "weight dst" in words:
        EDGES.assign(dst=EDGES["dst"].abs()).to_parquet("edges.parquet")
    call(*words.split(), "--output", "out")
    assert distances() == expected


def test_several_sources_and_predecessors(folder):
    call("bfs", "edges.parquet", "--source", 0, "--source", 1, "--predecessor", "--output", "out")
    expected = EDGES.graph.bfs([0, 1], predecessor=True)
    pd.testing.assert_frame_equal(result(), expected, check_dtype=False)


def test_ids_of_several_columns(folder):
    frame = pd.DataFrame({"c": ["it", "it"], "n": [1, 2], "c2": ["it", "fr"], "n2": [2, 7]})
    frame.to_parquet("two.parquet")
    call("bfs", "two.parquet", "--columns", "c,n,c2,n2", "--source", "it,1", "--output", "out")
    rows = result().to_dict("list")
    assert rows == {"c": ["fr", "it", "it"], "n": [7, 1, 2], "distance": [2, 0, 1]}
    line = refused(
        "bfs", "two.parquet", "--columns", "c,n,c2,n2", "--source", "it", "--output", "o", code=2
    )
    assert "has 1 parts; an id has 2, for c,n" in line


def test_vertices_without_edges_are_kept(folder):
    pd.DataFrame({"vertex": [0, 99]}).to_parquet("vertices.parquet")
    call("degree", "edges.parquet", "--vertices", "vertices.parquet", "--output", "out")
    assert 99 in set(result()["vertex"])


def test_personalization_from_a_file(folder):
    jumps = pd.DataFrame({"vertex": [0], "p": [1.0]})
    jumps.to_parquet("jumps.parquet")
    call("pagerank", "edges.parquet", "--personalization", "jumps.parquet", "--output", "out")
    expected = EDGES.graph.pagerank(personalization=jumps)
    pd.testing.assert_frame_equal(result(), expected, check_dtype=False)


def test_communities_from_a_file(folder):
    """An earlier result, and a file of text with vertices that stay."""
    call("leiden", "edges.parquet", "--output", "before")
    call("leiden", "edges.parquet", "--initial", "./before", "--output", "out")
    graph = EDGES.graph()
    expected = graph.leiden(initial=graph.leiden())
    pd.testing.assert_frame_equal(result(), expected, check_dtype=False)
    given = pd.DataFrame({"vertex": [0, 1, 2], "team": [5, 5, 6], "stays": [True, True, False]})
    given.to_csv("teams.csv", index=False)
    call(
        "louvain", "edges.parquet", "--initial", "teams.csv", "--fixed", "stays", "--output", "out"
    )
    expected = graph.louvain(initial=given, fixed="stays")
    pd.testing.assert_frame_equal(result(), expected, check_dtype=False)


def test_personalization_is_a_path_or_a_column_by_its_form(folder):
    jumps = pd.DataFrame({"vertex": [0], "p": [1.0]})
    jumps.to_parquet("p")  # no path: the name of a column that there is too
    vertices = pd.DataFrame({"vertex": range(-6, 4), "p": 1.0})
    vertices.to_parquet("vertices.parquet")
    words = ["pagerank", "edges.parquet", "--vertices", "vertices.parquet", "--output", "out"]
    call(*words, "--personalization", "p")
    uniform = EDGES.graph(vertices=vertices).pagerank(personalization="p")
    pd.testing.assert_frame_equal(result(), uniform, check_dtype=False)
    call(*words, "--personalization", "./p")
    from_file = EDGES.graph(vertices=vertices).pagerank(personalization=jumps)
    pd.testing.assert_frame_equal(result(), from_file, check_dtype=False)
    assert not from_file.equals(uniform)
    line = refused(*words, "--personalization", "missing.parquet", code=1)
    assert "no file or folder missing.parquet" in line
    line = refused(*words, "--personalization", "nope", code=2)
    assert "no column 'nope'; it has ['vertex', 'p']; the path of a frame has a / in it" in line


@pytest.mark.parametrize("output", [(), ("--output", "out")])
def test_top(folder, output):
    dag = pd.DataFrame({"src": [0, 1, 0], "dst": [1, 3, 2], "weight": [9, 3, 1]})
    dag.to_parquet("dag.parquet")
    lines = call("core_number", "edges.parquet", "--top", 2, *output).stdout.splitlines()
    assert lines[0].split() == ["vertex", "core_number"]
    assert [int(line.split()[0]) for line in lines[1:]] == [0, 1]
    lines = call("sssp", "edges.parquet", "--source", 0, "--top", 3, *output).stdout.splitlines()
    assert [line.split() for line in lines[1:]] == [["0", "0"], ["2", "1"], ["1", "4"]]
    words = "longest_path", "dag.parquet", "--top", 2
    lines = call(*words, *output).stdout.splitlines()
    assert [line.split() for line in lines[1:]] == [["3", "12", "1"], ["1", "9", "0"]]
    for methods in ("longest_path", "longest_path,degree", "degree,longest_path"):
        words = "features", "dag.parquet", "--methods", methods, "--top", 2
        lines = call(*words, *output).stdout.splitlines()
        at = lines[0].split().index("distance")
        assert [line.split()[at] for line in lines[1:]] == ["12", "9"]
    words = "nearest", "edges.parquet", "--targets", 3, "--top", 2
    lines = call(*words, *output).stdout.splitlines()
    assert [line.split() for line in lines[1:]] == [["3", "1", "3", "0"], ["1", "1", "3", "1"]]
    words = "k_shortest_paths", "edges.parquet", "--source", 0, "--target", 3, "--k", 2, "--top", 4
    lines = call(*words, *output).stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [
        ["0", "0"],
        ["0", "1"],
        ["0", "2"],
        ["1", "0"],
    ]
    lines = call("weakly_connected_components", "edges.parquet", "--top", 1, *output).stdout
    assert [line.split() for line in lines.splitlines()] == [["component", "vertices"], ["0", "4"]]


@pytest.mark.parametrize("output", [(), ("--output", "out")])
def test_top_of_rows_that_nothing_ranks(folder, output):
    """They come as they are: of edges the first, of a hierarchy the largest groups of each level."""
    words = ["k_core", "edges.parquet", "--k", 1, "--top", 2, *output]
    shown = [line.split()[:2] for line in call(*words).stdout.splitlines()[1:]]
    first = EDGES.graph().k_core(1).astype(str).to_numpy()[:2, :2].tolist()
    assert shown == first
    words = ["closeness_centrality", "edges.parquet", "--top", 1, *output]
    best = EDGES.graph().closeness_centrality().nlargest(1, "closeness")["vertex"].item()
    assert call(*words).stdout.splitlines()[1].split()[0] == str(best)
    words = ["louvain", "edges.parquet", "--levels", "--top", 99, *output]
    levels = EDGES.graph().louvain(levels=True).groupby(["level", "community"]).size()
    shown = [[*map(int, line.split())] for line in call(*words).stdout.splitlines()[1:]]
    assert sorted(shown) == [[*key, size] for key, size in levels.items()]


def test_top_of_times_and_of_groups_of_edges(folder):
    at = pd.to_datetime([5, 3, 9, 9, 1], unit="D")
    EDGES.assign(at=at, day=at.date).to_parquet("dated.parquet")
    words = ["earliest_arrival", "dated.parquet", "--source", 0, "--top", 3, "--time"]
    for column in ("at", "day"):
        lines = call(*words, column).stdout.splitlines()
        assert [line.split()[0] for line in lines[2:]] == ["2", "1"]
    shown = call("biconnected_components", "edges.parquet", "--top", 1).stdout.splitlines()
    assert shown[0].split() == ["component", "edges"]
    sizes = EDGES.graph().biconnected_components()["component"].value_counts()
    assert shown[1].split()[1] == str(sizes.max())


def test_a_list_may_be_given_in_parts(folder):
    """The last part alone was taken."""
    words = ["weakly_connected_components", "edges.parquet", "--output", "out"]
    call(*words, "--thresholds", 1, "--thresholds", "2,3")
    assert result().columns.tolist() == ["vertex", *(f"component_{each}" for each in (1, 2, 3))]
    call(*words, "--thresholds", 1)
    assert result().columns.tolist() == ["vertex", "component"]
    call("features", "edges.parquet", "--output", "out", "--methods", "degree", "--methods", "hits")
    assert result().columns.tolist()[-3:] == ["degree", "hub", "authority"]
    call("degree", "edges.parquet", "--columns", "src", "--columns", "dst", "--output", "out")
    pd.testing.assert_frame_equal(result(), EDGES.graph().degree(), check_dtype=False)


def test_names_in_a_list(folder):
    """No statistic could be named on the command line, and no list of them in a job file."""
    values = pd.DataFrame({"vertex": [0, 1], "x": [0.5, 2.0]})
    values.to_parquet("values.parquet")
    words = ["neighbor_aggregate", "edges.parquet", "--values", "values.parquet", "--output", "out"]
    wanted = EDGES.graph().neighbor_aggregate(values, ["mean", "count"])
    for given in (["--statistics", "mean,count"], ["--statistics", '{"x": ["mean", "count"]}']):
        call(*words, *given)
        pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)
    step = {"algorithm": "neighbor_aggregate", "values": "values.parquet", "output": "out"}
    for statistics in (["mean", "count"], {"x": ["mean", "count"]}):
        run_job({"edges": "edges.parquet", **step, "statistics": statistics})
        pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)
    assert "allowed are 'mean', 'sum'" in refused(*words, "--statistics", "median", code=2)


def test_no_arguments_show_the_help():
    assert "Commands:" in CliRunner().invoke(graph, []).output


def test_report(folder):
    call("bfs", "edges.parquet", "--source", 0, "--output", "out", "--report", "report.csv")
    assert "direction" in pd.read_csv("report.csv").columns
    printed = call("bfs", "edges.parquet", "--source", 0, "--report", "-").stdout
    assert printed.splitlines()[0].startswith("superstep,direction")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("bfs edges.parquet --source 0", 2, "give --output, --top or --report"),
        ("bfs edges.parquet --output out", 2, "Missing option '--source'"),
        ("bfs edges.parquet --source x --output out", 2, "'x' is not an integer"),
        ("bfs edges.parquet --source 77 --output out", 1, "77"),
        (
            "bfs edges.parquet --source 0 --columns src --output out",
            2,
            "as many of the destination",
        ),
        (
            "bfs edges.parquet --source 0 --columns src,nope --output out",
            2,
            "columns names 'nope', and edges.parquet has ['src', 'dst', 'weight']",
        ),
        ("sssp edges.parquet --source 0 --weight nope --output out", 2, "weight names 'nope'"),
        ("bfs missing.parquet --source 0 --output out", 1, "no file or folder missing.parquet"),
        ("bfs empty --source 0 --output out", 1, "no file that ends in .parquet"),
        ("bfs cut.parquet --source 0 --output out", 1, "/cut.parquet: Parquet magic"),
        ("bfs folder --source 0 --output out", 1, "part.1.parquet: "),
        ("bfs edges.parquet --source 0 --output notes", 1, "it holds thesis.tex"),
        ("pagerank edges.parquet --damping 3 --output out", 2, "damping"),
        ("pagerank edges.parquet --damping x --output out", 2, "not a"),
        ("pagerank edges.parquet --damping-factor 3 --output out", 2, "No such option"),
        ("pagerank edges.parquet --max-iterations 1 --output out", 1, "residual"),
        (
            "ssnsp edges.parquet --source 0 --dtype x --output out",
            2,
            "not one of 'int64', 'float64'",
        ),
        ("pagerank edges.parquet --weight w --unweighted --output out", 2, "exclude each other"),
        ("sssp edges.parquet --source 0 --unweighted --output out", 2, "weight"),
        (
            "shortest edges.parquet --output out",
            2,
            "'shortest'. Did you mean k-shortest-paths or shortest-path?",
        ),
        (
            "components edges.parquet --output out",
            2,
            "Did you mean biconnected-components or strongly-connected-components or",
        ),
        ("pagernak edges.parquet --output out", 2, "'pagernak'. Did you mean pagerank?"),
        (
            "pagerank edges.parquet --max-iterations 0 --output out",
            2,
            "Error: --max-iterations 0; ",
        ),
        (
            "pagerank edges.parquet --max-iterations 1 --output out",
            1,
            "allow more by --max-iterations, or a larger --tolerance",
        ),
        ("hits edges.parquet --max-iterations 1 --output out", 1, "a larger --tolerance"),
        ("degree other.parquet --output out", 2, "name them with --columns from,to"),
        ("degree vague.parquet --output out", 2, "name them with --columns SRC,DST"),
        ("degree edges.parquet --vertices other.parquet --output out", 2, "has no id column"),
        ("sssp other.parquet --columns from,to --source 0 --output out", 2, "--weight COL"),
        ("degree edges.parquet --name degree --output out", 2, "give the column and its new name"),
        ("degree edges.parquet --name rank=n --output out", 2, "--name names 'rank', which is no"),
        (
            "degree edges.parquet --name degree=vertex --output out",
            2,
            "with --name vertex=NEW",
        ),
        (
            "betweenness_centrality edges.parquet --draw 1 --sources 2 --output out",
            2,
            "--draw and --sources exclude each other",
        ),
        ("betweenness_centrality edges.parquet --draw 99 --output out", 2, "--draw 99; the graph"),
        ("bfs edges.parquet --source 1_0 --output out", 2, "'1_0' is not an integer"),
        ("run missing.toml", 2, "missing.toml"),
        ("--bad", 2, "No such option '--bad'. See dask graph --help."),
        ("run --bad job.toml", 2, "No such option '--bad'. See dask graph run --help."),
    ],
)
def test_refusals(folder, words, code, message):
    Path("empty").mkdir()
    Path("notes").mkdir()
    Path("notes/thesis.tex").touch()
    Path("folder").mkdir()
    EDGES.to_parquet("folder/part.0.parquet")
    EDGES.set_axis(["from", "to", "km"], axis=1).to_parquet("other.parquet")
    EDGES.set_axis(["a", "b", "c"], axis=1).to_parquet("vague.parquet")
    content = Path("edges.parquet").read_bytes()
    for cut in ("cut.parquet", "folder/part.1.parquet"):
        Path(cut).write_bytes(content[:-20])
    assert message in refused(*words.split(), code=code)
    assert not Path("out").exists()


def test_traceback_on_request(folder):
    words = ["bfs", "edges.parquet", "--source", 77, "--output", "out"]
    assert "Traceback" not in call(*words, code=1).stderr
    assert "Traceback" in call(*words, "--traceback", code=1).stderr


def test_unforeseen_errors_fail_in_one_line_too(folder, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(dask_graphgpu.jobs.step_graph, "read_table", broken)
    assert (
        refused("degree", "edges.parquet", "--output", "out", code=1)
        == "Error: RuntimeError: two lines\n"
    )


def test_names_of_columns(folder):
    ids = {"source": ["a", "rank"], "destination": ["c", "d"]}
    frame = pd.DataFrame({"a": [0, 0, 1], "rank": [5, 6, 7], "c": [0, 1, 0], "d": [6, 7, 6]})
    frame.to_parquet("several.parquet")
    wanted = frame.graph(**ids).pagerank()
    words = ["pagerank", "several.parquet", "--columns", "a,rank,c,d", "--output", "out"]
    top = call(*words, "--top", 1).stdout.splitlines()
    pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)
    assert top[0].split() == ["a", "rank", "pagerank_rank"]
    assert top[1].split()[:2] == ["0", "6"]
    top = call(*words, "--top", 1, "--name", "rank=score").stdout.splitlines()
    assert top[0].split() == ["a", "rank", "score"]
    assert top[1].split()[:2] == ["0", "6"]
    Path("job.toml").write_text(
        'algorithm = "weakly-connected-components"\nedges = "several.parquet"\ntop = 1\noutput = "out"\n'
        'columns = ["a", "rank", "c", "d"]\nname = {component_rank = "cluster"}'
    )
    top = call("run", "job.toml").stdout.splitlines()
    assert top[0].split() == ["component_a", "cluster", "vertices"]
    assert list(result().columns) == ["a", "rank", "component_a", "cluster"]


def test_commands_may_be_written_with_hyphens(folder):
    call("core-number", "edges.parquet", "--output", "out")
    assert list(result().columns) == ["vertex", "core_number"]


def test_an_id_is_text_also_where_it_looks_like_a_number(folder):
    edges = pd.DataFrame(
        {"src": ["00", "01", "02", "02", "03"], "dst": ["01", "02", "03", "04", "05"]}
    )
    edges.to_parquet("codes.parquet")
    words = ["betweenness_centrality", "codes.parquet", "--output", "out"]
    call(*words, "--sources", "02")
    wanted = edges.graph.betweenness_centrality(["02"])
    pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)
    call(*words, "--draw", 2)
    wanted = edges.graph.betweenness_centrality(2)
    pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)
    assert "is not a vertex" in refused(*words, "--sources", "2", code=1)
    assert "is not a vertex" in refused(*words, "--sources", "\udcff", code=1)


def test_dask_finds_the_command(folder):
    """As Dask does it: the entry point is added to its own group."""
    from dask.cli import cli

    parent = click.Group(commands={**cli.commands, "graph": graph})
    done = CliRunner().invoke(parent, ["graph", "degree", "edges.parquet", "--top", "1"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].split()[0] == "vertex"
