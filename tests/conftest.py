"""Settings of the whole suite, and where the graphs with known answers are."""

import gc
import os
import shutil
import signal
import subprocess
from pathlib import Path

import dask
import pytest
from hypothesis import HealthCheck, settings

from dask_graphgpu.engine import driver

pytest_plugins = ["places"]

# The first example of a test compiles kernels; how long an example takes says nothing. A failing
# example is printed as a line that repeats it. Examples differ from run to run, so a few each time will do.
for _name, _examples in {"suite": 15, "long": 300}.items():
    settings.register_profile(
        _name,
        deadline=None,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
settings.load_profile("suite")  # not with --hypothesis-profile long

# A shell has what it runs in the background ignore Ctrl-C, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--engine", choices=("cpu", "gpu"), help="that of graphs with engine='auto'")
    parser.addoption(
        "--ranks", type=int, help="of graphs with ranks='auto': threads of this process"
    )
    parser.addoption("--fuzz-cases", type=int, help="how many cases each test of tests/fuzz makes")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the options
def pytest_cmdline_main(config):
    """The whole suite is shared by as many processes as there are cores, up to 8; -n 0: by none.

    Not where pytest-xdist is missing, nor on a GPU, which processes would take from each other.
    """
    whole = config.args_source == pytest.Config.ArgsSource.TESTPATHS
    worker = hasattr(config, "workerinput")
    if whole and not worker and config.pluginmanager.has_plugin("xdist") and driver.missing():
        if config.option.numprocesses is None:
            config.option.numprocesses = min(dask.system.CPU_COUNT, 8)
        if config.option.dist == "no" and config.option.numprocesses != 0:
            config.option.dist = "loadfile"  # a file's tests share clusters, and what is compiled
            config.option.loadscopereorder = False  # but as below


def pytest_collection_modifyitems(config, items):
    """Of processes that share the suite none is to begin a long file when the others have ended.

    Files with slow tests come first, then those with the most.
    """
    if not hasattr(config, "workerinput"):
        return
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)

    def late(tests):
        slow = any(test.get_closest_marker(name) for test in tests for name in ("slow", "cluster"))
        return not slow, -len(tests)

    items[:] = [item for tests in sorted(files.values(), key=late) for item in tests]


def pytest_collection_finish():
    """Python's collector passes over what collecting has left, for good: some 700,000 objects that stay."""
    gc.collect()
    gc.freeze()


def pytest_configure(config):
    engine = config.getoption("engine")
    if engine is not None:
        dask.config.set({"graphgpu.engine": engine})
    ranks = config.getoption("ranks")
    if ranks is not None:
        dask.config.set({"graphgpu.ranks": ranks})


_GRAPHS = "DASK_GRAPHGPU_GRAPHS"


@pytest.fixture(scope="session")
def graphs():
    """Folder of graphs with published answers, which are not part of this repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "graphs"
    folder = Path(os.environ.get(_GRAPHS, beside))
    if not folder.is_dir():
        pytest.skip(f"no graphs with known answers: there is no folder {folder} (set {_GRAPHS})")
    return folder


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """Folder with certificate.pem, which has signed itself, and key.pem."""
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command, which makes a certificate, is not installed")
    folder = tmp_path_factory.mktemp("certificate")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ranks"
    files = ["-keyout", "key.pem", "-out", "certificate.pem"]
    subprocess.run(["openssl", *words.split(), *files], cwd=folder, check=True, capture_output=True)
    return folder
