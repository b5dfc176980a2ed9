"""Random frames of edges, however made and wherever computed: the answers of NetworkX and igraph."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask import delayed
from fuzz_answers import METHODS as NAMES
from fuzz_answers import OF_SOURCE, OPTIONS, WEIGHTED, answer, difference
from fuzz_children import Wrong, run

import dask_graphgpu as dg

CASES = 60
WORDS = [
    "",
    "a",
    "A",
    "a ",
    "aa",
    "b",
    "ç",
    "zß",
    "Ω",
    "中文",
    "🦊",
    "\x00",
    "1",
    "02",
    "-1",
    "nan",
    "x" * 300,
]
SMALL, LARGE = range(-6, 9), [-(2**63), -(2**40), -1, 0, 1, 2**31, 2**53, 2**53 + 1, 2**63 - 1]
TOP = [0, 1, 2**53, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]

# The dtypes of columns of ids, and what ids they may hold.
IDS = {
    "int8": SMALL,
    "int32": SMALL,
    "int64": LARGE,
    "uint64": TOP,
    "Int64": LARGE,
    "UInt16": range(14),
    "category": WORDS,
    "integer category": LARGE,
    "object": WORDS,
    "integer object": LARGE,
    "str": WORDS,
    "string": WORDS,
    "string[python]": WORDS,
    pd.ArrowDtype(pa.int32()): SMALL,
    pd.ArrowDtype(pa.uint64()): TOP,
    pd.ArrowDtype(pa.string()): WORDS,
    pd.ArrowDtype(pa.large_string()): WORDS,
    pd.ArrowDtype(pa.string_view()): WORDS,
    pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())): WORDS,
}
WEIGHTS = ["int64", "uint8", "Int32", "float64", "float32", "Float64", pd.ArrowDtype(pa.int16())]


def ids_as(values, kind):
    """A column of ids."""
    if kind == "integer category":
        return pd.Series(values, dtype="int64").astype("category")
    if kind == "category":
        return pd.Series(values, dtype="str").astype("category")
    return pd.Series(values, dtype="object" if kind == "integer object" else kind)


def edges(rng, many):
    """A frame, what is wrong with its weights ("": nothing), and a column of vertices.

    ``many`` : more rows than go into MEMORY.
    """
    kinds = rng.choices(list(IDS), k=1) * 2
    if rng.random() < 0.2:  # the two ends of different types
        alike = [k for k in IDS if IDS[k] is IDS[kinds[0]] and k != "integer object"]
        kinds = rng.choices(alike, k=2)
    pool = list(IDS[kinds[0]])
    vertices = rng.sample(pool, rng.randint(1, min(12, len(pool))))
    number = rng.choice([0, 1, 2, 5, 12, 40])
    if many:
        vertices, kinds, number = list(range(400)), ["int32", "int64"], 6000
    values = [0, 1, 2, 3, 7] if rng.random() < 0.7 else [1, 5]
    rows = [(rng.choice(vertices), rng.choice(vertices), rng.choice(values)) for _ in range(number)]
    if rng.random() < 0.3:  # some in both directions, some repeated
        rows += [(v, u, w) for u, v, w in rng.sample(rows, len(rows) // 2)]
        rows += rng.sample(rows, len(rows) // 3)
    frame = pd.DataFrame(
        {
            "src": ids_as([r[0] for r in rows], kinds[0]),
            "dst": ids_as([r[1] for r in rows], kinds[1]),
        }
    )
    bad, kind = "", rng.choice([None, *WEIGHTS])
    if kind is not None:
        weights = pd.Series([r[2] for r in rows], dtype="float64")
        if rows and rng.random() < 0.15:
            bad = rng.choice(["negative", "missing"])
            weights[rng.randrange(len(rows))] = -1 if bad == "negative" else np.nan
            kind = rng.choice(["float64", "Float64"])
        frame["weight"] = weights.astype(kind)
    return frame, bad, ids_as(vertices, kinds[0])


def rows_of(frame):
    """Rows of a pandas frame, as it says them itself."""
    weights = frame["weight"].tolist() if "weight" in frame else [1] * len(frame)
    return list(zip(frame["src"].tolist(), frame["dst"].tolist(), weights, strict=True))


def same(piece):
    return piece


# Dask frames of the rows of a pandas frame.


def cut(frame, rng):
    bounds = sorted(rng.choices(range(len(frame) + 1), k=rng.randint(0, 4)))
    pairs = zip([0, *bounds], [*bounds, len(frame)], strict=True)
    return [frame.iloc[a:b] for a, b in pairs]


def from_map(frame, rng):
    return dd.from_map(same, cut(frame, rng), meta=frame.iloc[:0])


def from_delayed(frame, rng):
    return dd.from_delayed([delayed(piece) for piece in cut(frame, rng)], meta=frame.iloc[:0])


def from_pandas(frame, rng):
    return dd.from_pandas(frame, npartitions=rng.randint(1, 5), sort=rng.random() < 0.5)


def concatenated(frame, rng):
    middle = len(frame) // 2
    parts = frame.iloc[:middle], frame.iloc[middle:]
    return dd.concat([from_map(part, rng) for part in parts])


def filtered(frame, rng):
    more = pd.concat([frame.assign(keep=True), frame.iloc[::2].assign(keep=False)])
    made = from_map(more.reset_index(drop=True), rng)
    return made[made["keep"]]


def renamed(frame, rng):
    made = from_map(frame.rename(columns={"src": "a"}), rng)
    return made.rename(columns={"a": "src"}).map_partitions(same)


def merged(frame, rng):
    numbered = frame.reset_index(names="row")
    left, right = numbered[["row", "src"]], numbered.drop(columns="src")
    return from_map(left, rng).merge(from_map(right, rng), on="row")


def indexed(frame, rng):
    made = dd.from_pandas(frame.assign(at=range(len(frame))), npartitions=3)
    return made.set_index("at", sorted=True) if len(frame) > 3 else made.set_index("at")


def repartitioned(frame, rng):
    return from_pandas(frame, rng).repartition(npartitions=rng.randint(1, 6))


def persisted(frame, rng):
    return from_map(frame, rng).persist()


MAKERS = [
    lambda frame, rng: frame,
    lambda frame, rng: frame.set_index(pd.Index([7] * len(frame))),
    from_map,
    from_delayed,
    from_pandas,
    concatenated,
    filtered,
    renamed,
    merged,
    indexed,
    repartitioned,
    persisted,
]
IN_PAGES = MAKERS[:2]  # whose rows are known
MEMORY = "300kB"
PLACES = {
    "here": {},
    "two ranks": {"ranks": 2},
    "three ranks": {"ranks": 3, "partitioner": "random"},
    "by degree": {"order": "degree"},
    "layered": {"layout": "layered"},
    "persisted": {},
    "saved": {},
    "pages": {},
}


def placed(place, graph, folder):
    """The graph, built where it is to be."""
    if place == "persisted":
        return graph.persist()
    if place == "saved":
        return dg.load(graph.save(folder / "saved"), verify=True)
    return graph


def case(rng, folder, _):
    place = rng.choice(list(PLACES))
    made = rng.choice(MAKERS if place != "pages" else IN_PAGES)
    try:
        frame, bad, vertices = edges(rng, place == "pages")
        given = made(frame, rng)
        computed = given.compute() if given is not frame and hasattr(given, "compute") else given
    except Exception:  # there is no such frame; the package has not been asked yet
        return "no frame"
    rows = rows_of(computed)
    used = {v for row in rows for v in row[:2]}
    options = {**PLACES[place], "directed": rng.random() < 0.5}
    if rng.random() < 0.3:
        options["vertices"] = pd.DataFrame({"vertex": vertices})
        used |= set(vertices.tolist())
    name = rng.choice(list(NAMES))
    name = {"sssp": "sssp" if "weight" in frame else "bfs"}.get(name, name)
    if place == "pages" and name == "triangle_count":
        name = "core_number"  # which pages have
    mixed = len({type(v) for v in used}) > 1
    used = sorted(used, key=lambda v: (isinstance(v, str), v))
    source = [rng.choice(used or vertices.tolist())] if name in OF_SOURCE else []
    settings = {}
    if place == "pages":
        settings = {
            "graphgpu.host-memory-limit": MEMORY,
            "graphgpu.page-bytes": 4096,
            "graphgpu.spill-directories": [str(folder)],
        }
    kinds = {column: str(kind) for column, kind in frame.dtypes.items()}
    given_as = {**options, "vertices": vertices.tolist() if "vertices" in options else None}
    text = f"{name}({source}) {place} {given_as} {made.__name__} {kinds} {rows[:50]}"
    try:
        with dask.config.set(settings):
            graph = placed(place, given.graph(**options), folder)
            found = getattr(graph, name)(*source, **OPTIONS.get(name, {}))
            found = found.compute() if hasattr(found, "compute") else found
    except dg.errors.GraphError as error:
        read = name in WEIGHTED or place in ("saved", "persisted")
        if (bad and read) or mixed or (not used and (source or place == "saved")):
            return "an error"
        raise Wrong(f"{type(error).__name__}: {error}: {text}") from error
    except Exception as error:
        raise Wrong(f"{type(error).__name__}: {error}: {text}") from error
    if mixed or (bad and name in WEIGHTED):
        raise Wrong(f"no error of {bad} weights, or ids of two types: {text}")
    wanted = answer(name, rows, options["directed"], used, *source)
    if wrong := difference(name, found, wanted):
        raise Wrong(f"{wrong}: {text}")
    return "right"


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_frames(fuzz_cases, tmp_path):
    assert run(case, fuzz_cases, tmp_path)["right"] > fuzz_cases / 2
