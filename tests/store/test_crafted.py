"""What a manifest says is checked before it is acted on, whoever has written it."""

import json
import os
import shutil

import dask
import numpy as np
import pandas as pd
import pytest
from crafted_manifests import wrong_manifests

from dask_graphgpu import Checkpoint, load
from dask_graphgpu.checkpoint import CheckpointKeeper
from dask_graphgpu.errors import InvalidCheckpoint, InvalidSavedGraph, OutputError
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.store import checkpoint, manifest

RNG = np.random.default_rng(0)
EDGES = pd.DataFrame(
    {
        "src": RNG.integers(0, 9, 40),
        "dst": RNG.integers(0, 9, 40),
        "weight": RNG.integers(1, 9, 40),
        "toll": RNG.random(40),
    }
)
VERTICES = pd.DataFrame({"vertex": range(9), "prior": 1.0})
NAMED = EDGES.assign(src="v" + EDGES["src"].astype(str), dst="v" + EDGES["dst"].astype(str))
GRAPHS = {
    "integers, layered": (EDGES, {"vertices": VERTICES, "layout": "layered"}),
    "strings, by degree": (NAMED, {"order": "degree", "directed": False}),
}


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=GRAPHS)
def saved(request, tmp_path):
    frame, options = GRAPHS[request.param]
    return frame.graph(**options).save(tmp_path / "saved", columns="toll")


def answers(path):
    graph = load(path)
    source = graph.degree().compute()["vertex"].iloc[0]
    source = source if isinstance(source, str) else int(source)
    calls = [("sssp", {"source": source}), ("pagerank", {})]
    return [getattr(graph, name)(**given).compute().to_csv(index=False) for name, given in calls]


def outcome(function, kind):
    """What a function gives and None, or None and what its error of a kind says."""
    try:
        return function(), None
    except kind as error:
        return None, str(error)


def test_saved_graphs(saved):
    wanted = answers(saved)
    refused = 0
    for what in wrong_manifests(saved):
        found, error = outcome(lambda: answers(saved), InvalidSavedGraph)
        assert found == wanted if error is None else str(saved) in error, what
        refused += error is not None
    assert refused > 500


def test_a_link_is_no_file_of_a_saved_graph(saved, tmp_path):
    (saved / "given-offsets.arrow").rename(tmp_path / "elsewhere.arrow")
    (saved / "given-offsets.arrow").symlink_to(tmp_path / "elsewhere.arrow")
    with pytest.raises(
        InvalidSavedGraph, match=r"torn: given-offsets\.arrow cannot be read .is a link"
    ):
        load(saved)
    with pytest.raises(OutputError, match=r"holds given-offsets\.arrow"):
        EDGES.graph().save(saved)
    (saved / "manifest.json").rename(tmp_path / "elsewhere.json")
    (saved / "manifest.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(InvalidSavedGraph, match=r"cannot read .*manifest\.json: is a link"):
        load(saved)
    (saved / "manifest.json").unlink()
    os.mkfifo(saved / "manifest.json")
    with pytest.raises(InvalidSavedGraph, match="is no plain file"):
        load(saved)


def test_a_damaged_graph_is_not_saved_again(saved, tmp_path):
    file = next(path for path in saved.glob("given-column-*.arrow"))
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.write_bytes(whole)
    with pytest.raises(InvalidSavedGraph, match="it is not what was written"):
        load(saved).save(tmp_path / "again", columns="toll")
    assert not (tmp_path / "again").exists()


# -- checkpoints ------------------------------------------------------------------------------

N = 9


class Ids:
    position = None


def keeper(path, resume):
    made = CheckpointKeeper(
        Checkpoint(path), resume=resume, call="sssp", ids=Ids(), numbers=None, num_owned=N
    )
    rows = from_edges(N, EDGES["src"].to_numpy(), EDGES["dst"].to_numpy())
    state = {"distance": np.zeros(N, np.int64)}
    return made, made.begin("program", rows, "source", state)


@pytest.fixture
def kept(tmp_path):
    made, _ = keeper(tmp_path / "kept", False)
    columns = {"state distance": np.arange(N), "reached": np.ones(N, np.uint8)}
    made.write(7, columns, {"residual": 0.5})
    return tmp_path / "kept"


def resumed(path):
    """What an engine takes of a checkpoint."""
    _, found = keeper(path, True)
    return found and (found.columns["state distance"], found.columns["reached"])


def test_checkpoints(kept, tmp_path):
    mine = tmp_path / "x"
    mine.write_text("mine")
    part = (kept / "part.00000.parquet").read_bytes()
    refused = 0
    for what in wrong_manifests(kept):
        _, error = outcome(lambda: resumed(kept), (InvalidCheckpoint, OutputError))
        assert error is None or str(kept) in error, what
        refused += error is not None
        _, error = outcome(lambda: checkpoint.remove(kept), InvalidCheckpoint)
        assert error is None or str(kept) in error, what
        assert mine.read_text() == "mine", what
        kept.mkdir(exist_ok=True)
        (kept / "part.00000.parquet").write_bytes(part)
    assert refused > 50


def test_a_planted_manifest_deletes_nothing_elsewhere(tmp_path):
    mine = tmp_path / "home" / "part.00000.parquet"
    mine.parent.mkdir()
    mine.write_text("years of work")
    shared = tmp_path / "shared"
    for names in (["../home/part.00000.parquet"], [str(mine)], ["part.00000.parquet"]):
        shutil.rmtree(shared, ignore_errors=True)
        shared.mkdir()
        files = {name: {"bytes": 13, "rows": 1, "sha256": "0" * 64} for name in names}
        content = {"format": "dask_graphgpu checkpoint", "version": 1, "files": files}
        for name in (manifest.NAME, "removed.json"):
            content["checksum"] = manifest.fingerprint(
                {key: value for key, value in content.items() if key != "checksum"}
            )
            (shared / name).write_text(json.dumps(content))
        if names == ["part.00000.parquet"]:
            (shared / names[0]).symlink_to(mine)
        said = outcome(
            lambda: EDGES.graph().pagerank(checkpoint=shared), (OutputError, UserWarning)
        )[1]
        assert "holds" in said or "is not removed" in said
        assert mine.read_text() == "years of work"
