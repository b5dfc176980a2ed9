"""A server for the tests of this folder, and a folder in a bucket for each test."""

import secrets

import fsspec
import pytest
from object_places import Here
from object_server import BUCKET, server


@pytest.fixture(scope="session")
def s3_server():
    with server() as made:
        yield made


@pytest.fixture
def s3(s3_server, monkeypatch):
    """A new folder of the bucket; nothing in the environment says how to reach it."""
    for name in s3_server.environment:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    folder = f"s3://{BUCKET}/{secrets.token_hex(6)}"
    s3_server.faults()
    yield Here(folder, s3_server.options, s3_server.fs)
    s3_server.faults()


@pytest.fixture
def memory():
    folder = f"memory://{secrets.token_hex(6)}"
    fs = fsspec.filesystem("memory")
    yield Here(folder, None, fs)
    fs.rm(folder, recursive=True)


@pytest.fixture(params=["s3", "memory"])
def store(request):
    return request.getfixturevalue(request.param)
