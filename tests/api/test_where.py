"""What runs where: the table of the documentation, the engines, and the errors."""

import pickle
import re
import runpy
from importlib import import_module
from pathlib import Path

import dask.dataframe as dd
import pandas as pd
import pytest

import dask_graphgpu  # noqa: F401  puts .graph on frames
from dask_graphgpu import errors, where
from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.engine import shortcuts
from dask_graphgpu.engine.contract import Engine

ROOT = Path(__file__).parents[2]
EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
EVERYWHERE = ("cpu", "gpu", "ranks", "ranks, gpu")
BEYOND = ("hybrid", "host memory", "disk", "disk, gpu", "disk, hybrid")


def test_the_table_of_the_documentation_is_that_of_the_engines():
    made = runpy.run_path(str(ROOT / "docs/what_runs_where.py"))
    assert made["PAGE"].read_text() == made["page"](), "run python docs/what_runs_where.py"


def test_what_the_page_says_of_hybrid_runs_on_disk():
    (said,) = re.findall(
        r'On disk it runs the methods marked "yes" except ([^.]*)\.',
        (ROOT / "docs/reference/where.md").read_text(),
    )
    missing = {*where.methods("hybrid")} - {*where.methods("disk, hybrid")}
    assert {*re.findall(r"`(\w+)`", said)} == missing


def test_every_method_runs_on_every_engine_in_memory():
    for place in EVERYWHERE:
        assert where.methods(place) == list(ALGORITHMS), place


@pytest.mark.parametrize("place", ["cpu", "ranks", "disk", "interpreted"])
def test_what_an_engine_says_that_it_has_is_there(place):
    name = where._MODULES[place].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    module = import_module(f"dask_graphgpu.engine.{name}")
    there = {name: getattr(module, name, None) for name in dir(Engine) if name[0] != "_"}
    own = {name for name, each in there.items() if each is not getattr(shortcuts, name, None)}
    assert where.functions(place) == own
    assert all(callable(each) for each in there.values() if each is not None)


@pytest.mark.parametrize("place", BEYOND)
@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_predecessors_are_found_wherever_searches_run(name, place):
    """Which is asked of a method with its arguments: the table has methods without."""
    assert where.runs(ALGORITHMS[name](0, predecessor=True), place)


@pytest.fixture
def degree_runs_nowhere(monkeypatch):
    """All methods run in most places by now: one that does not is made."""
    monkeypatch.setattr(ALGORITHMS["degree"], "engine_functions", lambda self: ("degrees",))


@pytest.mark.parametrize("place", BEYOND)
def test_the_error_names_what_is_missing_and_what_runs_there(place, degree_runs_nowhere):
    where.check(ALGORITHMS["bfs"](0), place)
    with pytest.raises(errors.EngineUnavailable) as told:
        where.check(ALGORITHMS["degree"](), place, "gpu")
    text = str(told.value)
    assert "degrees" in text
    if not place.startswith("disk"):
        assert f"({', '.join(where.methods(place))}" in text
    assert any(way in text for way in ("raise the limit", "use engine='gpu' or engine='cpu'"))


def test_a_place_where_a_method_does_not_run_is_an_error_that_says_so(degree_runs_nowhere):
    with pytest.raises(errors.EngineUnavailable, match=r"degree .* ranks, .* give ranks=1"):
        EDGES.graph(ranks=2).degree()
    with pytest.raises(errors.EngineUnavailable, match=r"degree .* GPU .* use engine='cpu'"):
        where.check(ALGORITHMS["degree"](), "gpu")


def test_ranks_that_are_threads_stay_in_their_process():
    lazy = dd.from_pandas(EDGES, npartitions=2).graph(ranks=2)
    with pytest.raises(errors.EngineUnavailable, match="or a cluster"):
        pickle.dumps(lazy.persist())
    with pytest.raises(errors.EngineUnavailable, match="Dask's scheduler 'threads'"):
        lazy.degree().compute(scheduler="processes")
    assert len(pickle.loads(pickle.dumps(lazy)).degree()) == 3
