"""What runs where: the table of the documentation, the declarations, the engines, and the errors."""

import ast
import pickle
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import dask.dataframe as dd
import pandas as pd
import pytest

import dask_graphgpu  # noqa: F401  puts .graph on frames
from dask_graphgpu import engine, errors, execute
from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.engine import HYBRID, TIERED

ROOT = Path(__file__).parents[2]
PLACES = ("cpu", "gpu", "hybrid", "ranks")
BEYOND = ("tiered", "paged")  # engines of edges beyond a limit of memory
EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
# The engine functions of methods in every form that they can be called in.
ARGUMENTS = {"source": 0, "predecessor": True, "k": 1}


def table():
    """Method -> the places that the documentation says yes to."""
    rows = {}
    for line in (ROOT / "docs/reference/where.md").read_text().splitlines():
        if line.startswith("| `"):
            names, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            places = zip((*PLACES, *BEYOND), cells, strict=True)
            said = tuple(place for place, cell in places if cell == "yes")
            rows |= dict.fromkeys(re.findall(r"`(\w+)`", names), said)
    return rows


def test_documentation_lists_every_method():
    runs_on = {name: (*kind.runs_on, *hybrid(name)) for name, kind in ALGORITHMS.items()}
    assert {name: set(places) - set(BEYOND) for name, places in table().items()} == {
        name: set(places) for name, places in runs_on.items()
    }


def hybrid(name):
    return ("hybrid",) if name in HYBRID else ()


def functions(place):
    """Names that an engine's module gives, read and not imported: not every machine has a GPU."""
    tree = ast.parse((ROOT / f"dask_graphgpu/engine/{place}/__init__.py").read_text())
    (names,) = (node.value for node in tree.body if isinstance(node, ast.Assign))
    return set(ast.literal_eval(names))


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_engines_have_what_methods_need(name):
    kind = ALGORITHMS[name]
    needed = needs(name, ARGUMENTS)
    places = {place for place in PLACES if needed <= functions(place)}
    assert places >= set(kind.runs_on)
    assert ("hybrid" in places) == (name in HYBRID)
    if {"gpu", "ranks"} <= set(kind.runs_on):
        assert needed <= functions("device_ranks")


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_engines_beyond_memory_have_what_the_documentation_says(name):
    needed = needs(name, ARGUMENTS)
    found = {place for place in BEYOND if needed <= functions(place)}
    assert found == set(table()[name]) & set(BEYOND)
    assert ("tiered" in found) == (name in TIERED)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_the_error_beyond_a_gpus_memory_names_what_runs_there(name, monkeypatch):
    asked, tiered = tuple(needs(name, ARGUMENTS)), SimpleNamespace()
    tiered.__dict__.update(
        dict.fromkeys(functions("tiered"))
    )  # the module is loaded with CuPy only
    monkeypatch.setitem(sys.modules, "dask_graphgpu.engine.tiered", tiered)
    if name in TIERED:
        assert engine.load_tiered(asked)
        return
    missing = sorted(set(asked) - functions("tiered"))
    with pytest.raises(errors.EngineUnavailable) as told:
        engine.load_tiered(asked)
    text = str(told.value)
    assert f"({', '.join(TIERED)} do): raise the limit, or use engine='cpu'" in text
    assert set(missing) <= set(re.search(r"which takes ([\w, ]+), does not", text)[1].split(", "))


def needs(name, arguments):
    """The engine functions of a method that is given some arguments."""
    kind = ALGORITHMS[name]
    task = object.__new__(kind)  # without the checks of arguments that do not matter here
    for field in getattr(kind, "__dataclass_fields__", {}):
        if field in arguments:
            object.__setattr__(task, field, arguments[field])
    return set(task.engine_functions())


def test_a_place_where_a_method_does_not_run_is_an_error_that_says_so(monkeypatch):
    """All of them run everywhere by now: one that does not is made."""
    monkeypatch.setattr(ALGORITHMS["degree"], "runs_on", ("cpu",))
    with pytest.raises(errors.EngineUnavailable, match=r"degree .* ranks, .* give ranks=1"):
        EDGES.graph(ranks=2).degree()
    task = object.__new__(ALGORITHMS["degree"])
    with pytest.raises(errors.EngineUnavailable, match=r"degree .* GPU .* use engine='cpu'"):
        execute._check_place(task, "gpu")


def test_ranks_that_are_threads_stay_in_their_process():
    lazy = dd.from_pandas(EDGES, npartitions=2).graph(ranks=2)
    with pytest.raises(errors.EngineUnavailable, match="or a cluster"):
        pickle.dumps(lazy.persist())
    with pytest.raises(errors.EngineUnavailable, match="Dask's scheduler 'threads'"):
        lazy.degree().compute(scheduler="processes")
    assert len(pickle.loads(pickle.dumps(lazy)).degree()) == 3
