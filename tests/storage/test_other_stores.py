"""Google Cloud Storage and Azure, by emulators on the loopback, where these are installed.

They are ``gcp-storage-emulator`` of PyPI, with gcsfs, and ``azurite`` of npm, with adlfs.
"""

import importlib.util
import secrets
import shutil
import socket
import subprocess
import sys
import time

import fsspec
import pandas as pd
import pytest
from commands import call, refused
from object_places import EDGES, Here, is_result, same

import dask_graphgpu as dg
from dask_graphgpu.errors import OutputError
from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.output import check_destination, write_parquet

# That of Azurite's documentation, the same for everybody.
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_ADDRESS = "127.0.0.1"


def free_port():
    with socket.socket() as one:
        one.bind((_ADDRESS, 0))
        return one.getsockname()[1]


def answers(port):
    with socket.socket() as one:
        return one.connect_ex((_ADDRESS, port)) == 0


@pytest.fixture(params=["gs", "abfs"], scope="module")
def store(request, tmp_path_factory):
    kind, port, patch = request.param, free_port(), pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp(kind)
    if kind == "gs":
        # Else gcsfs asks by gRPC what kind of bucket it is, which no emulator answers; it looks when it is imported.
        patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
        pytest.importorskip("gcsfs")
        if importlib.util.find_spec("gcp_storage_emulator") is None:
            pytest.skip("gcp-storage-emulator is not installed")
        main = "from gcp_storage_emulator.__main__ import main; main()"
        line = [sys.executable, "-c", main, "start", "--host", _ADDRESS, "--port", str(port)]
        options = {"endpoint_url": f"http://{_ADDRESS}:{port}", "token": "anon"}
    else:
        pytest.importorskip("adlfs")
        if shutil.which("azurite-blob") is None:
            pytest.skip("azurite is not installed")
        line = ["azurite-blob", "--silent", "--skipApiVersionCheck", "--location", str(folder)]
        line += ["--blobHost", _ADDRESS, "--blobPort", str(port)]
        endpoint = f"http://{_ADDRESS}:{port}/devstoreaccount1"
        account = f"AccountName=devstoreaccount1;AccountKey={_KEY}"
        text = f"DefaultEndpointsProtocol=http;{account};BlobEndpoint={endpoint};"
        options = {"connection_string": text}
    with subprocess.Popen(
        line, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        try:
            until = time.monotonic() + 60
            while not answers(port):
                assert child.poll() is None, "it has ended"
                assert time.monotonic() < until, "it does not answer"
                time.sleep(0.05)
            fs = fsspec.filesystem(kind, **options)
            fs.mkdir("data")
            made = Here(f"{kind}://data/{secrets.token_hex(6)}", options, fs)
            made.folder = folder
            yield made
        finally:
            child.terminate()
            patch.undo()


@pytest.fixture
def whole(store):
    """A store that refuses to create what is there."""
    if store.url.startswith("gs:"):
        pytest.skip("the emulator ignores conditions, which Google Cloud Storage does not")
    return store


def test_edges_are_read(store):
    done = call("degree", f"{store.url}/edges", "--output", store.folder / "out", *store.words)
    same(pd.read_parquet(store.folder / "out"), EDGES.graph().degree())
    assert "400 edges" in done.stderr


def test_a_store_without_conditions_is_not_written_to(store):
    if not store.url.startswith("gs:"):
        pytest.skip("it has conditions")
    line = refused(
        "degree", f"{store.url}/edges", "--output", f"{store.url}/no", *store.words, code=1
    )
    assert "writes over an object that it is asked to create" in line
    assert not [name for name in store.names() if not name.startswith("edges/")]


def test_jobs_replace_results(whole):
    for name in ("in_degree", "out_degree"):
        words = ["--where", "src < 30"] if name == "in_degree" else []
        call("degree", f"{whole.url}/edges", "--output", f"{whole.url}/out", *words, *whole.words)
        edges = EDGES[EDGES["src"] < 30] if words else EDGES
        same(
            pd.read_parquet(f"{whole.url}/out", storage_options=whole.options),
            edges.graph().degree(),
        )
        assert is_result(whole)


def test_graphs_and_checkpoints(whole):
    options = {"storage_options": whole.options}
    EDGES.graph().save(f"{whole.url}/saved", **options)
    graph = dg.load(f"{whole.url}/saved", **options)
    more = EDGES[:7].assign(src=1000)
    expected = pd.concat([EDGES, more], ignore_index=True).graph().pagerank()
    graph = graph.update(more)
    kept = dg.Checkpoint(f"{whole.url}/kept", supersteps=2, **options)
    with pytest.raises(dg.errors.NotConverged):
        graph.pagerank(checkpoint=kept, max_iterations=4).compute()
    assert any(name.startswith("kept/") for name in whole.names())
    same(graph.pagerank(checkpoint=kept, resume=True).compute(), expected)
    assert not any(name.startswith("kept/") for name in whole.names())


def test_of_two_writers_one_wins(whole):
    first, second = (check_destination(f"{whole.url}/both", whole.options) for _ in range(2))
    write_parquet(EDGES.graph().degree(), first)
    with pytest.raises(OutputError, match="another"):
        write_parquet(EDGES[:50].graph().degree(), second)
    same(
        pd.read_parquet(f"{whole.url}/both", storage_options=whole.options), EDGES.graph().degree()
    )
    once = ObjectFolder.of(f"{whole.url}/one/object", "it", whole.options)
    once.create(b"1")
    with pytest.raises(FileExistsError):
        once.create(b"2")
    assert once.read() == b"1"
