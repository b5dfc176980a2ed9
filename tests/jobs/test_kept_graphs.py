"""Jobs that keep a saved graph of their edges, and take only what is new: as if they had begun anew each night."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import call, refused, result

import dask_graphgpu as dg
from dask_graphgpu.io import output
from dask_graphgpu.store import manifest
from dask_graphgpu.store.source import inputs_of

METHOD = "weakly-connected-components"
COMPONENTS = (METHOD, "edges", "--saved", "graph", "--output", "out")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges").mkdir()
    return tmp_path


def night(number, rows=30, vertices=200, end="parquet"):
    """Edges of a night; ids grow, so that there are new vertices."""
    made = np.random.default_rng(number)
    low = 10 * number
    frame = pd.DataFrame(made.integers(low, low + vertices, (rows, 2)), columns=["src", "dst"])
    path = f"edges/night-{number:03d}.{end}"
    frame.to_parquet(path) if end == "parquet" else frame.to_csv(path, index=False)


def run(*words):
    """A job; the events of the graph, and of its end."""
    said = call(*words, "--log", "json")
    events = [json.loads(line) for line in said.stderr.splitlines()]
    graph = [event for event in events if event["event"] == "graph"]
    done = [event for event in events if event["event"] == "done"]
    return graph[0], done[0]


def in_full(method=METHOD, edges="edges", *more):
    call(method, edges, "--output", "full", *more)
    return result("full")


def groups_of(frame):
    return {tuple(sorted(ids)) for _, ids in frame.groupby("component")["vertex"]}


def test_thirty_nights_give_what_each_gives_alone_and_read_only_what_is_new(folder):
    for number in range(30):
        night(number)
        graph, done = run(*COMPONENTS)
        pd.testing.assert_frame_equal(result(), in_full())
        assert graph["generation"] == number
        assert graph["how"] == ("appended" if number else "built")
        assert graph["files"] == 1
        assert done.get("since") == (number - 1 if number else None)
    graph, done = run(*COMPONENTS)
    assert (graph["how"], graph["files"], done["since"]) == ("unchanged", 0, 29)
    pd.testing.assert_frame_equal(result(), in_full())


def test_ids_are_kept_from_night_to_night(folder):
    old = None
    for number in range(6):
        night(number)
        call(*COMPONENTS, "--keep-ids", "out")
        found = result()
        assert groups_of(found) == groups_of(in_full())
        if old is not None:
            both = old.merge(found, on="vertex", suffixes=("_old", "_new"))
            alone = both.groupby("component_new")["component_old"].nunique() == 1
            same = both[both["component_new"].map(alone)]
            split = same.groupby("component_old")["component_new"].nunique() > 1
            assert (same["component_old"] == same["component_new"]).all()
            assert not split.any()
        old = found


def test_what_is_not_only_new_is_built_anew_and_said(folder):
    night(0)
    night(1)
    assert run(*COMPONENTS)[0]["why"] == "there is none yet"
    night(1, rows=31)
    graph, done = run(*COMPONENTS)
    assert "night-001.parquet was written again" in graph["why"]
    assert done["in_full"] == "the earlier result is of a graph that was built anew since"
    (folder / "edges" / "night-000.parquet").unlink()
    assert "night-000.parquet is gone" in run(*COMPONENTS)[0]["why"]
    for more in (["--where", "src > 10"], ["--undirected"], ["--columns", "dst,src"]):
        assert "other edges, columns or options" in run(*COMPONENTS, *more)[0]["why"]
        pd.testing.assert_frame_equal(result(), in_full(METHOD, "edges", *more))
    call("build", "edges", "--output", "graph")
    assert "no job has kept it" in run(*COMPONENTS)[0]["why"]
    pd.DataFrame({"src": ["a"], "dst": ["b"]}).to_parquet("edges/night-002.parquet")
    (folder / "edges" / "night-001.parquet").unlink()
    assert run(*COMPONENTS)[0]["how"] == "built"
    path = folder / "graph" / manifest.NAME
    content = json.loads(path.read_text()) | {"version": 4}
    del content["checksum"]
    path.write_text(json.dumps(content | {"checksum": manifest.fingerprint(content)}))
    assert "format version 4" in run(*COMPONENTS)[0]["why"]
    pd.testing.assert_frame_equal(result(), in_full())


def test_the_conditions_and_the_partitions_of_folders_hold_for_new_files(folder):
    words = (*COMPONENTS, "--where", "day != 'b' and src > 15")
    for day in "abc":
        (folder / "edges" / f"day={day}").mkdir()
        night(1)
        (folder / "edges" / "night-001.parquet").rename(f"edges/day={day}/part.parquet")
        night(ord(day) % 7)
        name = f"night-{ord(day) % 7:03d}.parquet"
        (folder / "edges" / name).rename(f"edges/day={day}/more.parquet")
        graph, _ = run(*words)
        pd.testing.assert_frame_equal(result(), in_full(METHOD, "edges", *words[-2:]))
    assert graph["how"] == "appended"


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_rows_of_vertices_weights_and_text(folder, end):
    vertices = pd.DataFrame({"vertex": [1, 999]})
    vertices.to_parquet("vertices.parquet")
    words = ("--vertices", "vertices.parquet")
    for number in (0, 1):
        night(number, end=end)
        graph, _ = run(*COMPONENTS, *words)
        pd.testing.assert_frame_equal(result(), in_full(METHOD, "edges", *words))
    assert graph["how"] == "appended"
    pd.DataFrame({"vertex": [1, 998]}).to_parquet("vertices.parquet")
    assert run(*COMPONENTS, *words)[0]["why"] == "the vertices have changed"
    pd.testing.assert_frame_equal(result(), in_full(METHOD, "edges", *words))


def test_updates_by_hand_stay_and_are_taken_in(folder):
    night(0)
    run(*COMPONENTS)
    gone = pd.read_parquet("edges/night-000.parquet")[:9]
    gone.to_parquet("gone.parquet")
    call("update", "graph", "--remove", "gone.parquet")
    night(1)
    graph, done = run(*COMPONENTS)
    assert (graph["how"], graph["generation"], done["since"]) == ("appended", 2, 0)
    rows = dg.load("graph", stale="ignore").weakly_connected_components().compute()
    pd.testing.assert_frame_equal(result(), rows)
    call("update", "graph", "--compact")
    night(2)
    assert run(*COMPONENTS)[1]["since"] == 2


def test_methods_go_on_from_their_own_result_and_others_run_on_the_saved_graph(folder):
    for number in (0, 1):
        night(number)
        _, done = run("pagerank", "edges", "--saved", "graph", "--output", "ranks")
        assert done.get("since") == (0 if number else None)
        words = ("edges", "--saved", "graph", "--output", "cores")
        assert run("core-number", *words)[1].get("since") == (0 if number else None)
        pd.testing.assert_frame_equal(result("cores"), in_full("core-number"))
        for method in ("louvain", "leiden", "label-propagation"):
            words = ("edges", "--undirected", "--saved", "both", "--output", method)
            assert run(method, *words)[1].get("since") == (0 if number else None)
        _, done = run("degree", "edges", "--saved", "graph", "--output", "degrees")
        assert not {"since", "in_full"} & done.keys()
        pd.testing.assert_frame_equal(result("degrees"), in_full("degree"))
    found, wanted = result("ranks"), in_full("pagerank")
    assert np.allclose(found["rank"], wanted["rank"], atol=1e-5)


def test_columns_may_have_other_names(folder):
    for number in (0, 1):
        night(number)
        _, done = run(*COMPONENTS, "--name", "component=cluster")
    assert done["since"] == 0
    pd.testing.assert_frame_equal(result().rename(columns={"cluster": "component"}), in_full())


def test_a_result_of_anything_else_is_not_begun_with(folder):
    night(0)
    run(*COMPONENTS)
    assert run(*COMPONENTS, "--keep", "vertex > 60")[1]["in_full"] == "keep is given"
    assert "other options" in run(*COMPONENTS)[1]["in_full"]
    result().to_parquet("out/other.parquet")
    call(METHOD, "edges", "--output", "new")
    for path in folder.joinpath("out").iterdir():
        path.unlink()
    result("new").to_parquet("plain.parquet")
    assert "no earlier result" in run(*COMPONENTS)[1]["in_full"]
    assert output.about_result(folder / "out")["generation"] == 0
    assert output.about_result(folder / "new") is None
    dg.load("graph").compact().append(pd.read_parquet("edges")).compact()
    pd.testing.assert_frame_equal(result(), in_full())
    assert "put into the files" in run(*COMPONENTS)[1]["in_full"]


def test_steps_of_a_job_share_the_graph(folder):
    (folder / "job.toml").write_text(
        'edges = "edges"\nsaved = "graph"\n'
        '[[step]]\nalgorithm = "weakly_connected_components"\noutput = "out"\nkeep_ids = "out"\n'
        '[[step]]\nalgorithm = "pagerank"\noutput = "ranks"\n'
    )
    for number in (0, 1):
        night(number)
        done = call("run", "job.toml")
        assert done.stderr.count(" in graph") == 1
    assert "graph: 30 rows of 1 file appended" in done.stderr
    assert done.stderr.count("from the earlier result of generation 0") == 2
    assert groups_of(result()) == groups_of(in_full())
    assert len(inputs_of(dg.load("graph")._input.saved.source)["files"]) == 2


def test_what_cannot_be_is_refused_before_anything_is_done(folder):
    night(0)
    assert "ranks" in refused(*COMPONENTS, "--ranks", "2", code=2)
    assert "lies within" in refused(
        METHOD, "edges", "--saved", "edges/graph", "--output", "out", code=2
    )
    (folder / "other").mkdir()
    (folder / "other" / "file").touch()
    assert "not a saved graph" in refused(
        METHOD, "edges", "--saved", "other", "--output", "out", code=1
    )
    call("build", "edges", "--output", "built")
    said = refused(METHOD, "built", "--saved", "graph", "--output", "out", code=2)
    assert "leave saved out" in said
    assert not (folder / "out").exists()


def test_on_an_object_store(folder):
    store = f"memory://{folder.name}"
    for number in (0, 1, 2):
        night(number)
        name = f"night-{number:03d}.parquet"
        pd.read_parquet(f"edges/{name}").to_parquet(f"{store}/edges/{name}")
        words = (f"{store}/edges", "--saved", f"{store}/graph", "--output", f"{store}/out")
        graph, done = run(METHOD, *words)
        assert graph["how"] == ("appended" if number else "built")
        assert done.get("since") == (number - 1 if number else None)
        found = pd.read_parquet(f"{store}/out/result.parquet")
        pd.testing.assert_frame_equal(found, in_full())


def test_labels_of_a_generation_on_the_command_line(folder):
    night(0)
    call("build", "edges", "--output", "graph")
    call(METHOD, "graph", "--output", "old")
    night(1)
    call("update", "graph", "edges/night-001.parquet", "--remove", "edges/night-000.parquet")
    call(METHOD, "graph", "--labels", "old", "--since", "0", "--output", "out")
    pd.testing.assert_frame_equal(result(), in_full(METHOD, "graph"))
    assert "--since 7" in refused(
        METHOD, "graph", "--labels", "old/", "--since", "7", "--output", "out", code=2
    )
