"""Requests that fail, objects that are missing, jobs that write to one place at a time: old or new, and plain words."""

import pickle
import sys
import threading

import click
import pandas as pd
import pytest
from commands import call, refused
from object_places import EDGES, is_result, same

import dask_graphgpu as dg
from dask_graphgpu.io.claims import LostRace
from dask_graphgpu.io.objects import object_result
from dask_graphgpu.io.objects.storage_options import StorageOptions, redacted
from dask_graphgpu.io.output import check_destination, write_parquet
from dask_graphgpu.io.place import place_of
from dask_graphgpu.jobs.options import parameters_of, step_of
from dask_graphgpu.jobs.run import run
from dask_graphgpu.store import checkpoint

DEGREE = EDGES.graph().degree()
OTHER = EDGES.assign(dst=EDGES["src"][::-1].to_numpy()).graph().degree()


def read(s3):
    return pd.read_parquet(f"{s3.url}/out", storage_options=s3.options)


def written(s3, frame=DEGREE):
    return write_parquet(frame, f"{s3.url}/out", s3.options)


@pytest.mark.parametrize("path", ["commit-", "_result$"])
def test_a_request_fails_and_is_tried_again(s3, s3_server, path):
    written(s3)
    s3_server.faults(fail={"method": "PUT", "path": path, "times": 1})
    written(s3, OTHER)
    same(read(s3), OTHER)
    assert is_result(s3)


def test_a_commit_counts_whose_answer_was_lost(s3, s3_server):
    s3_server.faults(fail={"method": "PUT", "path": "commit-", "times": 1, "after": True})
    written(s3)  # asked again, the store says that there is such an object
    same(read(s3), DEGREE)
    assert is_result(s3)


@pytest.mark.parametrize("path", ["/_result", "commit-", "probe"])
def test_the_store_denies_a_request(s3, s3_server, path):
    written(s3)
    frame, before = OTHER, s3.names()
    s3_server.faults(fail={"method": "PUT", "path": path, "times": 99, "status": 403})
    object_result.commits._exclusive.clear()
    with pytest.raises(
        dg.errors.OutputError, match=r"access to s3://.* is denied \(We have failed"
    ) as told:
        written(s3, frame)
    assert "Traceback" not in str(told.value)
    same(read(s3), DEGREE)
    s3_server.faults()
    if (
        path != "commit-"
    ):  # whether that is there nobody knows: what it names stays until the next job
        assert s3.names() == before
    written(s3, frame)
    same(read(s3), OTHER)
    assert is_result(s3)


def test_a_result_that_is_not_put_in_place(s3, s3_server):
    written(s3)
    s3_server.faults(fail={"method": "PUT", "path": "out/result", "times": 99, "status": 403})
    with pytest.raises(dg.errors.OutputError, match="the next job with this output does that"):
        written(s3, OTHER)
    same(read(s3), DEGREE)
    s3_server.faults()
    place = check_destination(f"{s3.url}/out", s3.options)
    with pytest.raises(ZeroDivisionError):  # the next job, which fails itself
        write_parquet(_Failing(), place)
    same(read(s3), OTHER)


class _Failing:
    npartitions = 1

    @property
    def iloc(self):
        raise ZeroDivisionError


def test_a_part_is_missing(s3, s3_server):
    EDGES.graph().save(f"{s3.url}/saved", storage_options=s3.options)
    graph = dg.load(f"{s3.url}/saved", storage_options=s3.options)
    (gone, *_) = (name for name in s3.names("saved") if "neighbours" in name)
    s3.fs.rm_file(f"{s3.url}/saved/{gone}")
    with pytest.raises(dg.errors.InvalidSavedGraph, match="is torn: given-neighbours"):
        dg.load(f"{s3.url}/saved", storage_options=s3.options)
    with pytest.raises(dg.errors.InvalidSavedGraph, match="is torn: given-neighbours"):
        pickle.loads(pickle.dumps(graph)).degree().compute()


def test_a_saved_graph_that_was_replaced(s3):
    options = {"storage_options": s3.options}
    EDGES.graph().save(f"{s3.url}/saved", **options)
    graph = dg.load(f"{s3.url}/saved", **options)
    EDGES[:50].graph().save(f"{s3.url}/saved", **options)
    with pytest.raises(dg.errors.InvalidSavedGraph, match="was replaced by another graph"):
        pickle.loads(pickle.dumps(graph)).degree().compute()


# -- two at a time -----------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [None, "degree"])
def test_of_two_jobs_one_wins(s3, s3_server, by):
    """Both have looked before one has written; whoever comes second says so and leaves nothing."""
    s3_server.faults(gate={"method": "PUT", "path": "_result.$", "count": 2})
    words = [f"{s3.url}/edges", "--output", f"{s3.url}/out", *s3.words]
    words += ["--partition-by", by] if by else []
    given = click.Command("degree", params=parameters_of("degree")).make_context("", words).params
    came = []

    def job():
        try:
            run([step_of("degree", given)])
            came.append("done")
        except dg.errors.OutputError as error:
            came.append(str(error))

    threads = [threading.Thread(target=job) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(came)[1] == "done"
    assert sorted(came)[0].startswith(f"another job has written to {s3.url}/out meanwhile")
    assert is_result(s3)
    wanted = DEGREE.sort_values(by, kind="stable", ignore_index=True) if by else DEGREE
    same(read(s3), wanted)


def test_slow_answers(s3, s3_server):
    s3_server.faults(slow={"path": "", "seconds": 0.05})
    written(s3)
    same(read(s3), DEGREE)


@pytest.mark.parametrize("when", ["before", "meanwhile", "after the next"])
def test_the_slower_one_loses(s3, when):
    slow = check_destination(f"{s3.url}/out", s3.options)

    def others():
        written(s3, OTHER)
        if when == "after the next":  # the commit that the slow one would make is free again
            written(s3, OTHER)

    if when == "before":
        others()
        with pytest.raises(LostRace):
            write_parquet(DEGREE, slow)
    else:
        encode = object_result.encoding_of
        with pytest.MonkeyPatch.context() as patch:

            def meanwhile(table):
                patch.setattr(object_result, "encoding_of", encode)
                others()
                return encode(table)

            patch.setattr(object_result, "encoding_of", meanwhile)
            with pytest.raises(LostRace, match="nothing of this job is kept"):
                write_parquet(DEGREE, slow)
    same(read(s3), OTHER)
    assert is_result(s3)


def test_a_writer_that_lives_is_not_swept(s3):
    """It has begun from the number that counts, and could still win."""
    slow = check_destination(f"{s3.url}/out", s3.options)
    log = object_result.log_of(slow)
    (log / f"{0:020d}-{1:016x}" / "_part-00000").write(b"of one that still writes")
    with pytest.raises(ZeroDivisionError):
        write_parquet(_Failing(), slow)
    assert any("_part-00000" in name for name in s3.names())
    written(s3)
    assert is_result(s3)


def test_two_runs_with_one_checkpoint(s3, s3_server):
    kept = {"checkpoint": dg.Checkpoint(f"{s3.url}/kept", None, 1, s3.options)}
    place = kept["checkpoint"].place

    def other(*_):
        patch.undo()
        with pytest.raises(dg.errors.NotConverged):
            EDGES.graph().pagerank(tolerance=1e-9, max_iterations=3, **kept)
        return write(*_)

    write = checkpoint.write
    patch = pytest.MonkeyPatch()
    patch.setattr(checkpoint, "write", other)
    with pytest.raises(dg.errors.OutputError, match="another job has written to s3://"):
        EDGES.graph().pagerank(tolerance=1e-9, **kept)
    assert checkpoint.read(place).content["superstep"] == 3
    assert len(s3.names("kept")) == 3


# -- words -------------------------------------------------------------------------------------------


def test_missing(s3):
    words = ["--output", f"{s3.url}/out", *s3.words]
    assert "There is no object or folder s3://data/nope." in refused(
        "degree", "s3://data/nope", *words, code=1
    )
    line = refused("degree", f"{s3.url}/no-*.parquet", *words, code=1)
    assert f"There is no object or folder {s3.url}/no-*.parquet" in line
    line = refused("degree", f"{s3.url}/edges", "--output", "s3://nowhere/out", *s3.words, code=1)
    assert "there is no object or folder s3://nowhere/" in line
    line = refused("run", f"{s3.url}/job.toml", *s3.words, code=2)
    assert f"the job file {s3.url}/job.toml cannot be read: there is no object or folder" in line
    with pytest.raises(dg.errors.InvalidSavedGraph, match=f"there is no folder {s3.url}/saved"):
        dg.load(f"{s3.url}/saved", storage_options=s3.options)


def test_nobody_answers(s3):
    options = ["key=abcdef", "secret=ghijkl", "endpoint_url=http://127.0.0.1:1"]
    words = [f"--storage-options={option}" for option in options]
    words += ['--storage-options={"config_kwargs": {"retries": {"max_attempts": 1}}}']
    line = refused("degree", "s3://data/edges", "--top", "1", *words, code=1)
    assert "the store of s3://data/edges does not answer" in line
    assert "ghijkl" not in line


def test_a_package_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    line = refused("degree", "gs://data/edges", "--top", "1", code=1)
    assert "gcsfs is not installed: pip install 'dask-graphgpu[gcs]'" in line
    with pytest.raises(dg.errors.OutputError, match=r"pip install 'dask-graphgpu\[gcs\]'"):
        EDGES.graph().save("gs://data/saved")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://host/out", "is a URL of 'http'; allowed are s3, s3a, gs"),
        ("s3://bucket", "names no folder"),
        ("s3://bucket//out", "without \\* and //"),
        ("s3://bucket/*", "without \\* and //"),
        ("simplecache::s3://bucket/out", "is a URL of 'simplecache::s3'"),
    ],
)
def test_urls_that_cannot_be_written_to(url, message):
    with pytest.raises(dg.errors.InvalidArgument, match=message):
        EDGES.graph().save(url)


def test_options_for_a_local_path(tmp_path):
    with pytest.raises(dg.errors.InvalidArgument, match="is a local path: leave them out"):
        EDGES.graph().save(tmp_path / "saved", storage_options={"key": "abc"})
    with pytest.raises(dg.errors.InvalidArgument, match="storage_options is a str; give a dict"):
        EDGES.graph().save("s3://bucket/saved", storage_options="key")


# -- credentials -------------------------------------------------------------------------------------


def test_credentials_are_not_shown(s3, s3_server):
    secret = s3.options["secret"]
    words = ["degree", f"{s3.url}/edges", *s3.words]
    parsed = click.Command("degree", params=parameters_of("degree")).make_context(
        "x", [*words[1:], "--top", "1"]
    )
    step = step_of("degree", parsed.params)
    assert step.graph.storage_options["secret"] == secret
    shown = [repr(step), repr(StorageOptions(s3.options)), repr(place_of(s3.url, "x", s3.options))]
    shown.append(repr(dg.Checkpoint(s3.url, storage_options=s3.options)))
    graph = dg.load(
        EDGES.graph().save(f"{s3.url}/saved", storage_options=s3.options),
        storage_options=s3.options,
    )
    graph.degree().compute()
    shown += [
        repr(graph),
        str(graph.explain()),
        repr(graph.degree()),
        str(graph.degree().dask.keys()),
    ]
    shown.append(str(dg.last_report()))
    call(*words, "--output", f"{s3.url}/out")
    shown += [s3.fs.cat(f"{s3.url}/{name}").decode("latin") for name in s3.names()]
    s3_server.faults(fail={"path": "", "times": 99, "status": 403})
    shown.append(refused(*words, "--output", f"{s3.url}/out", code=1))
    shown.append(
        refused(*words, "--output", f"{s3.url}/out", "--storage-options", f"{secret} x", code=2)
    )
    assert all(secret not in text for text in shown)


def test_urls_are_shown_without_a_login():
    assert redacted("s3://user:pass@bucket/a@b") == "s3://***@bucket/a@b"
    assert (
        redacted("cannot read https://h/x?X-Amz-Signature=abc&y=1")
        == "cannot read https://h/x?X-Amz-Signature=***&y=1"
    )
    line = refused("degree", "s3://me:pa55word@bucket/edges", "--output", "out", code=1)
    assert "pa55word" not in line
    with pytest.raises(dg.errors.InvalidArgument) as told:
        EDGES.graph().save("ftp://me:pa55word@host/saved")
    assert "pa55word" not in str(told.value)


def test_options_are_told_apart():
    one, other = StorageOptions({"key": "a"}), StorageOptions({"key": "b"})
    assert one != other
    assert {one, StorageOptions({"key": "a"})} == {one}
    assert one.without_secrets("key a of /abc") == "key a of /abc"  # too short to be one
    assert StorageOptions({"c": {"token": "abcd"}}).without_secrets("abcd.") == "***."
