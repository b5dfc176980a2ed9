"""What notebooks show: tables, short errors, one output of progress; and the notebooks of the docs."""

import json
import pickle
import subprocess
import sys
import traceback
from html.parser import HTMLParser
from pathlib import Path

import dask
import executed_notebooks
import nbclient
import nbformat
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from strategies import partitioned

import dask_graphgpu as dg

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})
SCREEN = 20  # lines


class Cells(HTMLParser):
    """The cells of a table row by row; an error where a tag is not closed."""

    def __init__(self, text):
        super().__init__()
        self.rows, self._open, self.caption = [], [], ""
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1] == "caption":
            self.caption += data
        else:
            self.rows[-1][-1] += data


def test_a_report_is_a_frame_with_a_summary():
    wide = pd.DataFrame({"src": range(60), "dst": range(1, 61), "weight": 1})
    wide.graph(engine="interpreted").sssp(0)
    report = dg.last_report()
    assert isinstance(report, pd.DataFrame)
    assert type(report.head()) is type(report[report["edges"] > 0]) is pd.DataFrame
    shown = Cells(report._repr_html_())
    assert shown.rows[0] == report.columns.tolist()
    assert len(shown.rows) == 1 + 20 + 1
    assert shown.rows[-1][0] == f"{len(report) - 20} more rows"
    assert shown.caption.startswith(f"sssp: {report['supersteps'].sum()} supersteps, ")
    assert set(report.attrs["seconds"]) == {"read", "build", "compile", "run"}
    assert shown.caption == report.summary()
    again = pickle.loads(pickle.dumps(report))
    pd.testing.assert_frame_equal(again, report)
    assert again.summary() == report.summary()
    del report["bytes"]
    assert "superstep" in report._repr_html_()  # as of any frame


def test_tables_say_bytes_for_people_too():
    frame = pd.DataFrame({"src": range(5000), "dst": range(1, 5001)})
    kept = frame.graph().persist()
    rows = dict(Cells(kept.explain()._repr_html_()).rows)
    assert f"({kept.explain().bytes:,} bytes)" in rows["host memory"]
    assert "kiB (" in rows["host memory"]
    assert "kiB" not in str(kept.explain())


WRONG = {
    "pandas": lambda: EDGES.graph.bfs(17),
    "pandas on ranks": lambda: EDGES.graph(ranks=2).bfs(17),
    "lazy": lambda: partitioned(EDGES, 2).graph.bfs(17).compute(),
    "lazy on ranks": lambda: partitioned(EDGES, 2).graph(ranks=2).bfs(17).compute(),
    "values": lambda: partitioned(EDGES.assign(src=[0, None, 1]), 2).graph.bfs(0).compute(),
    "values in a task": lambda: partitioned(
        EDGES.assign(src=pd.array([0, None, 1], "Int64")), 2
    ).graph.bfs(0).compute(),
    "persisted": lambda: partitioned(EDGES, 2).graph().persist().bfs(17).compute(),
    "column": lambda: EDGES.graph(source="x", destination="dst"),
    "argument": lambda: EDGES.graph.pagerank(damping=3),
    "not converged": lambda: EDGES[:2].graph.pagerank(max_iterations=1),
    "folder": lambda: dg.load("nowhere"),
}  # fmt: skip


def lines_of(call):
    with pytest.raises(dg.errors.GraphError) as caught:
        call()
    text = "".join(traceback.format_exception(caught.value))
    return len(text.splitlines())


@pytest.mark.parametrize("name", WRONG)
def test_an_error_of_the_user_fits_the_screen(name):
    short = lines_of(WRONG[name])
    assert short <= SCREEN
    with dask.config.set({"graphgpu.tracebacks": "full"}):
        assert lines_of(WRONG[name]) > short


def test_an_error_keeps_what_another_package_has_raised(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no")
    import dask.dataframe as dd

    EDGES.to_parquet(tmp_path / "a.parquet")
    edges = dd.read_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(dg.errors.GraphError) as caught:
        edges.graph.degree().compute()
    assert len("".join(traceback.format_exception(caught.value)).splitlines()) <= 2 * SCREEN


SCRIPT = """
import sys
import pandas as pd, dask.dataframe as dd, dask_graphgpu
edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})
dd.from_pandas(edges, npartitions=2).graph.bfs(17).compute()
"""


def test_an_error_of_a_script_fits_the_screen():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert len(lines) <= SCREEN
    assert lines[-1].startswith("dask_graphgpu.errors.UnknownVertex: 17 is not a vertex")


@pytest.mark.cluster
@pytest.mark.parametrize("ranks", [1, 2])
def test_an_error_on_a_cluster_fits_the_screen(ranks):
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster),
    ):  # fmt: skip
        assert lines_of(partitioned(EDGES, 2).graph(ranks=ranks).bfs(17).compute) <= SCREEN


def test_what_is_private_is_not_offered():
    public = {name for name in dir(dg.Graph) if not name.startswith("_")}
    assert {"vertices", "num_vertices", "num_edges", "to_networkx", "explain"} <= public
    own = {name for kind in dg.Graph.__mro__[:-1] for name in vars(kind)}
    assert public == {name for name in own if not name.startswith("_")}
    graph = EDGES.graph()
    assert {name for name in dir(graph) if not name.startswith("_")} == public
    assert {"vertices", "num_edges", "to_networkx", "bfs"} <= set(dir(EDGES.graph))
    assert EDGES.graph.num_vertices() == 3


# -- in a kernel ------------------------------------------------------------------------------------


def stored(path):
    return json.loads(path.read_text())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_with_what_came_of_them(path):
    cells = [cell for cell in stored(path)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert "error" not in {output["output_type"] for output in outputs}
    assert not any(output.get("name") == "stderr" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert path.stat().st_size < 150_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path):
    ran = executed_notebooks.executed(path, tmp_path)
    assert not list(tmp_path.iterdir())
    for before, now in zip(stored(path)["cells"], ran.cells, strict=True):
        kinds = [sorted(each.get("data", [])) for each in before.get("outputs", [])]
        assert [sorted(each.get("data", [])) for each in now.get("outputs", [])] == kinds


PROGRESS = """
import pandas as pd, dask.dataframe as dd, dask_graphgpu as dg
from dask_graphgpu.report import Report
edges = dd.from_pandas(pd.DataFrame({"src": range(2000), "dst": range(1, 2001)}), npartitions=4)
with dg.ProgressBar(dt=0.01):
    edges.graph().persist()
    report = Report("slow", limit=4)
    for frontier in (3, 2, 1, 0):
        made = {"frontier": frontier, "edges": 1, "bytes": 1, "seconds": 0.0}
        report.advance("push", supersteps=1, **made)
        import time; time.sleep(0.1)
    report.end()
    edges.graph.degree().compute()
"""


def test_progress_is_one_output_of_a_notebook(tmp_path):
    cells = [
        nbformat.v4.new_code_cell(text) for text in (PROGRESS, "edges.graph.bfs(-1).compute()")
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=100, kernel_name="python3", allow_errors=True
    ).execute()
    (shown,) = notebook.cells[0].outputs
    assert shown.output_type == "display_data"
    bars = shown.data["text/html"].split("</div>")[:-1]
    assert [bar.partition("<code>")[2].partition(" |")[0] for bar in bars] == [
        "slow superstep 4",
        "degree",
    ]
    assert all('value="1.000"' in bar for bar in bars)
    assert [line[:50] for line in shown.data["text/plain"].splitlines()] == 2 * [
        "[" + 40 * "#" + "] | 100% "
    ]
    (error,) = notebook.cells[1].outputs
    assert len("\n".join(error.traceback).splitlines()) <= 30
