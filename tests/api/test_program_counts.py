"""How many messages a vertex of a program got: of directed graphs, of parts of the vertices that send, anywhere."""

import dask
import numpy as np
import pandas as pd
import pytest
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors

N, ROWS = 1000, 60_000
RANDOM = np.random.default_rng(5)
# Repeated edges, loops, and vertices to which many send.
EDGES = pd.DataFrame(
    {"src": RANDOM.integers(0, N, ROWS), "dst": (N * RANDOM.random(ROWS) ** 3).astype(np.int64)}
)
VERTICES = pd.DataFrame({"vertex": range(N), "x": RANDOM.integers(0, 50, N).astype(np.float64)})

PLACES = {
    "one": {},
    "interpreted": {"engine": "interpreted"},
    "by degree": {"order": "degree"},
    "ranks": {"ranks": 2},
    "pages": {},
}
DIRECTIONS = ("auto", "pull", "notify-pull", "push")

# Pages are pulled, and the interpreter knows no direction.
DIRECTED = [
    (place, direction)
    for place in PLACES
    for direction in {"interpreted": DIRECTIONS[:1], "pages": DIRECTIONS[:3]}.get(place, DIRECTIONS)
]


def ends(edges):
    """Senders and receivers of all messages that may be sent."""
    src, dst = EDGES["src"].to_numpy(), EDGES["dst"].to_numpy()
    if edges == "both":
        return np.append(src, dst), np.append(dst, src)
    return (src, dst) if edges == "out" else (dst, src)


def in_pages(tmp_path):
    """Settings under which these edges lie in pages on disk."""
    return {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path)],
    }


def found(place, program, tmp_path, **arguments):
    frame = partitioned(EDGES, 3) if place == "ranks" else EDGES
    with dask.config.set(in_pages(tmp_path) if place == "pages" else {}):
        graph = frame.graph(vertices=VERTICES, duplicates="keep", **PLACES[place])
        result = graph.run(program, **arguments)
        result = result if isinstance(result, pd.DataFrame) else result.compute()
        assert (dg.last_report().attrs["disk_bytes"] > 0) == (place == "pages")
        return result


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("edges", ["out", "in", "both"])
def test_the_mean_of_neighbours(place, edges, tmp_path):
    program = dg.VertexProgram(
        state={
            "mean": dg.Field("float64", initial=0.0),
            "x": dg.Field("float64", vertices="x"),
        },
        compute=lambda source_x: source_x,
        combine="sum",
        apply=lambda message, num_messages: message / max(num_messages, 1),
        stop=lambda superstep: superstep >= 1,
        edges=edges,
    )
    senders, receivers = ends(edges)
    sums, counts = np.zeros(N), np.zeros(N)
    np.add.at(sums, receivers, VERTICES["x"].to_numpy()[senders])
    np.add.at(counts, receivers, 1)
    result = found(place, program, tmp_path)
    np.testing.assert_allclose(result["mean"], sums / np.maximum(counts, 1), rtol=1e-12)


def some_send(combine, edges):
    """Vertices with x below 10 send first, then those that got an odd number of messages."""
    return dg.VertexProgram(
        state={
            "value": dg.Field("int64", initial=0),
            "got": dg.Field("int64", initial=0),
            "x": dg.Field("float64", vertices="x"),
        },
        compute=lambda source_x: int(source_x) if source_x > 0 else 1,
        combine=combine,
        apply=lambda value, message, got, num_messages: {
            "value": value + (message if num_messages > 0 else 0),
            "got": got + num_messages,
        },
        active=lambda superstep, num_messages, x: (
            x < 10 if superstep == 1 else num_messages % 2 == 1
        ),
        aggregates={"in_all": dg.Sum(lambda num_messages: num_messages)},
        stop=lambda superstep, in_all: superstep >= 4 or in_all == 0,
        edges=edges,
    )


def in_numpy(combine, edges):
    senders, receivers = ends(edges)
    x = VERTICES["x"].to_numpy()
    sent = np.where(x > 0, x, 1).astype(np.int64)
    value, got, active = np.zeros(N, np.int64), np.zeros(N, np.int64), np.ones(N, bool)
    for superstep in range(1, 5):
        chosen = active[senders]
        counts = np.bincount(receivers[chosen], minlength=N)
        start = {"sum": 0, "min": np.iinfo(np.int64).max, "max": np.iinfo(np.int64).min}[combine]
        message = np.full(N, start)
        ufunc = {"sum": np.add, "min": np.minimum, "max": np.maximum}[combine]
        ufunc.at(message, receivers[chosen], sent[senders[chosen]])
        value += np.where(counts > 0, message, 0)
        got += counts
        active = x < 10 if superstep == 1 else counts % 2 == 1
        if not counts.sum():
            break
    return value, got


@pytest.mark.parametrize(("place", "direction"), DIRECTED)
@pytest.mark.parametrize(("combine", "edges"), [("sum", "out"), ("min", "in"), ("max", "both")])
def test_where_only_some_send(place, combine, edges, direction, tmp_path):
    value, got = in_numpy(combine, edges)
    with dask.config.set({"graphgpu.direction": direction}):
        result = found(place, some_send(combine, edges), tmp_path)
    assert result["got"].tolist() == got.tolist()
    assert result["value"].tolist() == value.tolist()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_of_any_message_all_are_counted_from_a_source_on(direction, tmp_path):
    program = dg.VertexProgram(
        state={"level": dg.Field("int64", at_source=0), "got": dg.Field("int64", initial=0)},
        compute=lambda source_level: source_level + 1,
        combine="any",
        apply=lambda level, got, message, received, num_messages, superstep: {
            "level": message if superstep == 1 else level,
            "got": num_messages if received else got,
        },
        stop=lambda superstep: superstep >= 1,
    )
    with dask.config.set({"graphgpu.direction": direction}):
        result = found("one", program, tmp_path, source=0)
    counts = EDGES[EDGES["src"] == 0].groupby("dst").size()
    reached = result[result["vertex"].isin(counts.index)]
    assert reached["got"].tolist() == counts.tolist()


def test_a_name_of_the_users_own_is_what_is_meant(tmp_path):
    program = dg.VertexProgram(
        state={"num_messages": dg.Field("int64", initial=3)},
        compute=lambda source_num_messages: source_num_messages,
        combine="max",
        apply=lambda num_messages, message: max(num_messages, message),
        stop=lambda superstep: superstep >= 1,
    )
    assert found("one", program, tmp_path)["num_messages"].tolist() == [3] * N


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"compute": lambda source_num_messages: source_num_messages}, "'source_num_messages' is unk"),
        ({"active": lambda num_messages: num_messages > 1, "monotone": True}, "num_messages as a par"),
        (
            {
                "combine": "sum",
                "apply": lambda message, num_messages: message / num_messages,
                "active": lambda new_x: new_x > 0,
                "accumulative": True,
            },
            "num_messages as a parameter of apply",
        ),
    ],
)  # fmt: skip
def test_where_no_messages_can_be_counted(given, told):
    program = {
        "state": {"x": dg.Field("float64", initial=0.0)},
        "compute": lambda source_x: source_x,
        "combine": "min",
    }
    with pytest.raises(errors.ProgramError, match=told):
        dg.VertexProgram(**(program | given))
