"""Checkpoints that are damaged, mixed, made up, or of killed runs: a right answer, or an error naming the folder."""

import os
import shutil
import signal
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from fuzz_answers import answer, difference
from fuzz_children import Wrong, outcome, run
from fuzz_damage import copied, damage, files_under, misplaced
from fuzz_manifests import changed_value, forged_file, rewritten
from kept_runs import Cut, cutting

from dask_graphgpu import Checkpoint
from dask_graphgpu.errors import InvalidCheckpoint, OutputError

CASES = 60
N = 40


def edges(seed):
    """A path with short cuts, so that methods take several rounds."""
    made = np.random.default_rng(seed)
    chords = made.integers(0, N, (2, 30))
    source = np.concatenate([np.arange(N - 1), chords[0]])
    destination = np.concatenate([np.arange(1, N), chords[1]])
    weight = made.integers(1, 9, len(source))
    return pd.DataFrame({"src": source, "dst": destination, "weight": weight})


FRAMES = [edges(0), edges(1)]
CALLS = [
    ("pagerank", {"tolerance": 1e-9, "max_iterations": 2000}),
    ("pagerank", {"tolerance": 1e-9, "max_iterations": 2000, "method": "delta"}),
    ("sssp", {"source": 0}),
]


def called(number, call, path, ranks, resume, every=1):
    name, options = CALLS[call]
    graph = FRAMES[number].graph(ranks=ranks)
    keep = Checkpoint(path, supersteps=every)
    return getattr(graph, name)(**options, checkpoint=keep, resume=resume)


def wanted(number, call):
    name, options = CALLS[call]
    frame = FRAMES[number]
    rows = list(zip(*(frame[c].tolist() for c in ("src", "dst", "weight")), strict=True))
    return answer(
        name, rows, True, list(range(N)), *[options[key] for key in options if key == "source"]
    )


def prepared(folder):
    """Checkpoints of runs that were cut short: (path, frame, call)."""
    made = []
    for number in range(2):
        for call in range(len(CALLS)):
            for ranks in (1, 2):
                path = folder / f"{number}-{call}-{ranks}"
                with pytest.raises(Cut), cutting(2):
                    called(number, call, path, ranks, False)
                assert (path / "manifest.json").is_file()
                made.append((path, number, call))
    return made


def killed(path, number, call, ranks, resume, operation):
    """Run in a process that is killed at one of its operations on files near a folder. Whether it was."""
    child = os.fork()
    if child == 0:
        count = 0

        def look(event, given):
            nonlocal count
            if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.scandir"):
                place = given[0] if isinstance(given[0], str | bytes | os.PathLike) else ""
                if str(path) in os.fsdecode(place):
                    count += 1
                    if count == operation:
                        os.kill(os.getpid(), signal.SIGKILL)

        code = 1
        try:
            sys.addaudithook(look)
            called(number, call, path, ranks, resume)
            code = 0
        finally:
            os._exit(code)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended not in (0, -signal.SIGKILL):
        raise Wrong(f"a run that is to be killed ended with {ended}")
    return ended != 0


def harm(path, rng, kept):
    """Do something to a checkpoint. What, and whether its values may be others then."""
    if rng.random() < 0.15:
        return "nothing", False
    file = rng.choice(sorted(path.glob("*.parquet")))
    other = rng.choice(kept)[0]
    kind = rng.choice(
        ["part"] * 3 + ["manifest", "swap", "place", "add", "value", "made up", "forged"]
    )
    if kind == "part":
        return f"{damage(file, rng, (other / 'part.00000.parquet').read_bytes())} of a part", False
    if kind == "manifest":
        theirs = (other / "manifest.json").read_bytes()
        return f"{damage(path / 'manifest.json', rng, theirs)} of the manifest", False
    if kind == "swap":
        theirs = rng.choice(sorted(other.iterdir()))
        shutil.copy(theirs, rng.choice([file, path / theirs.name]))
        return f"{theirs.name} of {other.name}", False
    if kind == "place":
        file = rng.choice([file, path / "manifest.json"])
        return f"{misplaced(file, rng)} for {file.name}", False
    if kind == "add":
        name = rng.choice(
            ["x", "part.00009.parquet", "removed.json", ".hidden", "manifest.json.old"]
        )
        (path / name).write_bytes(rng.choice([b"", b"{}", (path / "manifest.json").read_bytes()]))
        return f"{name} added", False
    if kind == "forged":
        forged_file(path, rng, file)
        return f"forged {file.name}", True
    rewritten(path, rng, changed_value, honest=kind == "value")
    return f"{kind} manifest", kind == "made up"


def case(rng, folder, kept):
    home = folder / "home"
    home.mkdir()
    (home / "mine.txt").write_text("mine")
    path, ranks, resume = home / "kept", rng.choice([1, 1, 2]), rng.random() < 0.8
    other = False
    if rng.random() < 0.3:
        number, call = rng.randrange(2), rng.randrange(len(CALLS))
        what = "killed"
        for _ in range(rng.randint(1, 3)):
            operation = rng.randint(1, 60)
            what += f" at {operation}"
            if not killed(path, number, call, rng.choice([1, 2]), resume, operation):
                break
    else:
        whole, number, call = rng.choice(kept)
        copied(whole, path)
        what, other = harm(path, rng, kept)
        if rng.random() < 0.1:
            call, what = rng.randrange(len(CALLS)), what + ", another call"
        if rng.random() < 0.1:
            number, what = rng.randrange(2), what + ", another frame"
    text = f"{CALLS[call]} on frame {number}, {ranks} ranks, resume={resume}: {what}"
    before = {p: c for p, c in files_under(folder).items() if path not in p.parents}
    before = {p: c for p, c in before.items() if ".kept" in str(p) or "kept." not in p.parent.name}
    inside = {p.name: c for p, c in files_under(path).items()} if path.is_dir() else {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found, error = outcome(
            lambda: called(number, call, path, ranks, resume, every=10),
            (InvalidCheckpoint, OutputError),
        )
    after = {p: c for p, c in files_under(folder).items() if path not in p.parents}
    if after != before:
        raise Wrong(
            f"files beside it are not what they were: {before.keys() ^ after.keys()}: {text}"
        )
    if error is not None:
        if what.startswith("killed"):
            raise Wrong(f"{type(error).__name__} after a kill: {error}: {text}")
        if str(path) not in str(error):
            raise Wrong(f"an error without the folder: {error}: {text}")
        if {p.name: c for p, c in files_under(path).items()} != inside:
            raise Wrong(f"an error, and the folder is not what it was: {error}: {text}")
        return "an error"
    if path.exists() and not told:
        raise Wrong(f"a checkpoint is left without a word: {text}")
    wrong = difference(CALLS[call][0], found, wanted(number, call))
    if wrong and not other:
        raise Wrong(f"{wrong}: {text}")
    return (
        "an answer" if other else f"right, {'killed' if what.startswith('killed') else 'damaged'}"
    )


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_checkpoints(fuzz_cases, tmp_path):
    for name in ("kept", "cases"):
        (tmp_path / name).mkdir()
    counts = run(case, fuzz_cases, tmp_path / "cases", prepared(tmp_path / "kept"))
    assert counts["right, killed"] > fuzz_cases / 10
    assert counts["right, damaged"] > fuzz_cases / 40
    assert counts["an error"] > fuzz_cases / 10
