"""Whatever is given as an argument: an answer, an error of the package, or Python's error of a wrong call."""

import inspect
import random
import signal

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from odd_values import odd

import dask_graphgpu as dg
from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.arguments import said
from dask_graphgpu.config import DEFAULTS
from dask_graphgpu.errors import GraphError

EDGES = pd.DataFrame(
    {"src": [0, 1, 2, 3], "dst": [1, 2, 0, 0], "weight": [1, 2, 3, 4], "toll": [0.5] * 4}
)
NAMES = EDGES.assign(src=EDGES["src"].astype(str), dst=EDGES["dst"].astype(str))
TWO = EDGES.assign(a=["x", "x", "y", "z"], b=["x", "y", "z", "x"])
GRAPHS = [
    lambda: EDGES.graph(),
    lambda: EDGES.graph(directed=False),
    lambda: EDGES.graph(weight=None),
    lambda: EDGES.graph(ranks=2),
    lambda: EDGES.graph(layout="layered"),
    lambda: EDGES.iloc[:0].graph(),
    lambda: NAMES.graph(),
    lambda: TWO.graph(source=["a", "src"], destination=["b", "dst"]),
    lambda: dd.from_pandas(EDGES, npartitions=2).graph(),
]
PROGRAM = dg.VertexProgram(
    state={"h": dg.Field("int64", initial=None, at_source=0)},
    compute=lambda source_h, step: source_h + step,
    combine="min",
    constants={"step": 1},
)
NEEDED = {
    "source": 0,
    "sources": [0, 1],
    "target": 2,
    "targets": [2],
    "time": "weight",
    "max_length": 3,
    "k": 1,
    "center": 0,
    "priors": pd.DataFrame({"vertex": [0], "p": [0.7]}),
    "initial": 0.5,
    "terminals": pd.DataFrame({"vertex": [0, 1], "v": [0.0, 1.0]}),
    "program": PROGRAM,
    "length": 3,
    "fanout": 2,
    "side": "source",
    "values": pd.DataFrame({"vertex": [0], "p": [0.7]}),
    "communities": pd.DataFrame({"vertex": [0, 1], "community": [5, 5]}),
}
CASES = 500
SECONDS = 20  # that one case may take


def shown(given):
    return ", ".join(f"{name}={said(value)}" for name, value in given.items())


def required(function):
    return [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]


def of_method(rng):
    """A method with one to three odd arguments."""
    name = rng.choice(sorted(ALGORITHMS))
    kind = ALGORITHMS[name]
    given = {each: NEEDED[each] for each in required(kind)}
    if name == "belief_propagation":
        given["homophily"] = 0.6
    parameters = [*inspect.signature(kind).parameters, "checkpoint", "resume"]
    for each in rng.sample(parameters, rng.randint(1, min(3, len(parameters)))):
        given[each] = odd(rng)
    graph = rng.choice(GRAPHS)

    def call():
        found = getattr(graph(), name)(**given)
        return found.compute() if hasattr(found, "compute") else found

    return f"{name}({shown(given)})", call


def of_graph(rng):
    """`.graph(...)` with one or two odd options, and a method."""
    names = [n for n in inspect.signature(dg.Graph).parameters if n != "frame"]
    given = {each: odd(rng) for each in rng.sample(names, rng.randint(1, 2))}
    if "root" in given:
        given.setdefault("layout", "layered")
    if "source" in given or "destination" in given:
        given = {"source": "src", "destination": "dst", **given}
    return f"graph({shown(given)})", lambda: EDGES.graph(**given).degree()


def of_others(rng):
    """What else takes arguments."""
    what = rng.choice(["frame", "persist", "save", "load", "checkpoint", "setting"])
    value, other = odd(rng), odd(rng)
    if what == "frame":
        return f"Graph({said(value)})", lambda: dg.Graph(value).degree()
    if what == "persist":
        given = rng.choice([{"columns": value}, {"ranks": value}])
        return f"persist({shown(given)})", lambda: EDGES.graph().persist(**given)
    if what == "save":
        return f"save({said(value)}, {said(other)})", lambda: EDGES.graph().save(
            value, columns=other
        )
    if what == "load":
        name = rng.choice(["path", "npartitions", "verify", "stale", "engine"])
        given = {"path": "saved", name: value}
        return f"load({shown(given)})", lambda: dg.load(**given).degree().compute()
    if what == "checkpoint":
        name = rng.choice(["path", "seconds", "supersteps"])
        given = {"path": "kept", name: value}
        return f"Checkpoint({shown(given)})", lambda: dg.Checkpoint(**given)
    name = rng.choice(["engine", "order", "ranks", "partitioner", "direction", "dense-id-bits"])
    assert name in DEFAULTS

    def call():
        with dask.config.set({f"graphgpu.{name}": value}):
            return EDGES.graph().bfs(0)

    return f"graphgpu.{name}={said(value)}", call


def of_program(rng):
    """A vertex program with one odd part; few, since what is not refused is compiled."""
    parts = {
        "state": {"h": dg.Field("int64", initial=None, at_source=0)},
        "compute": lambda source_h: source_h + 1,
        "combine": "min",
    }
    names = [
        *inspect.signature(dg.VertexProgram).parameters,
        "a field",
        "a constant",
        "an aggregate",
    ]
    name, value = rng.choice(names), odd(rng)
    field = rng.choice(["dtype", "initial", "at_source", "vertices"])

    def call():
        if name == "a field":
            given = {"dtype": "int64", "initial": None, "at_source": 0, field: value}
            parts["state"] = {"h": dg.Field(**given)}
        elif name == "a constant":
            parts["constants"] = {"c": value}
        elif name == "an aggregate":
            parts["aggregates"] = {"a": rng.choice([dg.Sum(value), value])}
        else:
            parts[name] = value
        return dg.VertexProgram(**parts)

    return f"VertexProgram({name}, {field}: {said(value)})", call


KINDS = [of_method] * 6 + [of_graph] * 3 + [of_others] * 2 + [of_program] * 2


class TooSlow(Exception):
    """A case has taken longer than it may."""


def outcome(call):
    """What is wrong with a call; None: nothing."""

    def late(*_):
        raise TooSlow

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        call()
    except GraphError as error:
        return None if str(error).strip() else "an error without a text"
    except TypeError as error:
        wrong_call = "it is called as" in str(error)
        return None if wrong_call else f"TypeError: {error}"
    except TooSlow:
        return f"more than {SECONDS} s"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return None


@pytest.mark.timeout(0)
def test_odd_arguments(fuzz_cases, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EDGES.graph().save("saved")
    wrong = []
    for seed in range(fuzz_cases):
        rng = random.Random(seed)
        text, call = rng.choice(KINDS)(rng)
        if found := outcome(call):
            wrong.append(f"seed {seed}: {text[:300]}: {found[:300]}")
    assert not wrong, f"{len(wrong)} of {fuzz_cases} cases\n" + "\n".join(wrong)
