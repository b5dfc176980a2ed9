"""Saved graphs that are damaged, mixed or made up: the right answer or an error that names the folder."""

import shutil

import numpy as np
import pandas as pd
import pytest
from fuzz_answers import METHODS, OF_SOURCE, OPTIONS, answer, difference
from fuzz_children import Wrong, outcome, run
from fuzz_damage import commanded, copied, damage, files_under, misplaced
from fuzz_manifests import changed_value, forged_file, rewritten

import dask_graphgpu as dg
from dask_graphgpu.errors import InvalidSavedGraph

CASES = 250


def edges(seed):
    made = np.random.default_rng(seed)
    ends = {name: made.integers(0, 12, 50) for name in ("src", "dst")}
    return pd.DataFrame({**ends, "weight": made.integers(1, 9, 50), "toll": made.random(50)})


def named(frame):
    return frame.assign(**{c: "v" + frame[c].astype(str) for c in ("src", "dst")})


VERTICES = pd.DataFrame({"vertex": range(13), "prior": 1.0})
SHAPES = [
    (lambda frame: frame, {}),
    (lambda frame: frame, {"vertices": VERTICES, "layout": "layered"}),
    (named, {"order": "degree", "directed": False}),
    (
        lambda frame: frame.astype({"src": "int8", "dst": "Int16", "weight": "float32"}),
        {"order": "degree"},
    ),
    (lambda frame: named(frame).astype({"src": "category"}), {"duplicates": "sum"}),
    (
        lambda frame: frame.drop(columns="weight").drop_duplicates(["src", "dst"]),
        {"directed": False},
    ),
]


def prepared(folder):
    """Two saved graphs of each shape, with their rows: (path, rows, directed, vertices)."""
    made = []
    for number, (shape, options) in enumerate(SHAPES):
        for seed in range(2):
            frame = shape(edges(seed))
            columns = () if "duplicates" in options else "toll"
            path = frame.graph(**options).save(folder / f"{number}-{seed}", columns=columns)
            weights = frame["weight"] if "weight" in frame else [1] * len(frame)
            rows = list(zip(*(map(list, (frame["src"], frame["dst"], weights))), strict=True))
            vertices = {v for row in rows for v in row[:2]}
            vertices |= set(range(13)) if "vertices" in options else set()
            made.append((path, rows, options.get("directed", True), sorted(vertices), options))
    return made


def swapped(path, rng, graphs):
    """A file of another saved graph in the place of one."""
    file = rng.choice(sorted(path.iterdir()))
    other = rng.choice(graphs)[0]
    theirs = other / file.name
    if not theirs.exists() or rng.random() < 0.2:
        theirs = rng.choice(sorted(other.iterdir()))
    shutil.copy(theirs, file)
    return f"{file.name} from {other.name}"


def added(path, rng):
    name = rng.choice(["x", "given-more.arrow", ".hidden", "manifest.json.old", "sub"])
    if name == "sub":
        (path / name).mkdir()
    else:
        (path / name).write_bytes(rng.randbytes(20))
    return f"{name} added"


def harm(path, rng, graphs):
    """Do something to a saved graph. What, and whether its answers may be those of another graph then."""
    file = rng.choice(sorted(path.glob("*.arrow")))
    kind = rng.choice(
        ["file"] * 4 + ["manifest", "swap", "place", "add", "value", "made up", "forged"]
    )
    if kind == "file":
        other = rng.choice(sorted(rng.choice(graphs)[0].iterdir()))
        return f"{damage(file, rng, other.read_bytes())} of {file.name}", False
    if kind == "manifest":
        return f"{damage(path / 'manifest.json', rng)} of the manifest", False
    if kind == "swap":
        return swapped(path, rng, graphs), True
    if kind == "place":
        file = rng.choice([file, path / "manifest.json"])
        return f"{misplaced(file, rng)} for {file.name}", False
    if kind == "add":
        return added(path, rng), False
    if kind == "forged":
        forged_file(path, rng, file)
        return f"forged {file.name}", True
    rewritten(path, rng, changed_value, honest=kind == "value")
    return f"{kind} manifest", kind == "made up"


def case(rng, folder, graphs):
    whole, rows, directed, vertices, options = rng.choice(graphs)
    path = copied(whole, folder / "home" / "saved")
    (folder / "home" / "mine.txt").write_text("mine")
    name = rng.choice(list(METHODS))
    if name == "sssp" and (all(row[2] == 1 for row in rows) or "duplicates" in options):
        name = "bfs"  # there are no weights, or they are of sums
    source = [rng.choice(vertices)] if name in OF_SOURCE else []
    what, other = harm(path, rng, graphs)
    outside = {p: c for p, c in files_under(folder).items() if path not in p.parents}
    way = rng.choice(["load", "load", "load", "verify", "command", "save"])
    text = f"{way} {name}({source}) of {whole.name}: {what}"
    options = OPTIONS.get(name, {})
    if way == "save":
        found, error = outcome(lambda: edges(3).graph().save(path))
        error = None if error is None else str(error)
        if error is None:
            found, _ = outcome(lambda: dg.load(path).degree().compute())
            name, source = "degree", []
            rows, directed, vertices = three(), True, sorted(ends(three()))
    elif way == "command":
        words = [name, path, *[f"--source={source[0]}" for _ in source]]
        words += [f"--{key.replace('_', '-')}={value}" for key, value in options.items()]
        found, error = commanded(words, folder / "out")
    else:

        def call():
            graph = dg.load(path, verify=way == "verify")
            return getattr(graph, name)(*source, **options).compute()

        found, error = outcome(call)
        if error is not None:
            if not other and not isinstance(error, InvalidSavedGraph):
                raise Wrong(f"{type(error).__name__}: {error}: {text}")
            error = str(error)
    left = {p: c for p, c in files_under(folder).items() if path not in p.parents}
    left = {
        p: c for p, c in left.items() if folder / "out" not in p.parents and ".kept" not in str(p)
    }
    if left != outside:
        raise Wrong(
            f"files beside it are not what they were, {left.keys() ^ outside.keys()}: {text}"
        )
    if error is not None:
        if str(path) not in error and not other:
            raise Wrong(f"an error without the folder: {error}: {text}")
        return "an error"
    if not other and (
        wrong := difference(name, found, answer(name, rows, directed, vertices, *source))
    ):
        raise Wrong(f"{wrong}: {text}")
    return "an answer" if other else "right"


def three():
    frame = edges(3)
    return list(zip(*(frame[c].tolist() for c in ("src", "dst", "weight")), strict=True))


def ends(rows):
    return {v for row in rows for v in row[:2]}


@pytest.mark.timeout(0)
def test_saved_graphs(fuzz_cases, tmp_path):
    for name in ("graphs", "cases"):
        (tmp_path / name).mkdir()
    graphs = prepared(tmp_path / "graphs")
    counts = run(case, fuzz_cases, tmp_path / "cases", graphs)
    assert counts["right"] > fuzz_cases / 10
    assert counts["an error"] > fuzz_cases / 4
