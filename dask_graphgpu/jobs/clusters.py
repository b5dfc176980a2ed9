"""Where a job runs: on a cluster that is there, or on one that is started for it and ended with it."""

from __future__ import annotations

import json
import logging
import pkgutil
import re
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed import Client
from distributed.client import AllExit, FutureCancelledError
from distributed.comm.addressing import get_address_host_port
from distributed.security import Security

from dask_graphgpu import __version__
from dask_graphgpu.errors import ClusterUnavailable, InvalidArgument
from dask_graphgpu.jobs.own_cluster import OwnCluster

_PORT = re.compile(r".*:\d+")
_LOOK = 0.1  # seconds between two looks at who has come
_TORN = 20  # such looks at a file that is being written
_QUIETLY = 5.0  # seconds to wait before that is said
_CLOSING = 30.0  # seconds that a connection has to end


@dataclass(frozen=True)
class ClusterOptions:
    """Which cluster computes a job.

    Attributes
    ----------
    scheduler
        Address of a scheduler that runs, or a scheduler file.
    kind
        What is started for the job: "local", "cuda" or "module:Class".
    arguments
        Of its constructor.
    workers
        How many have to be there before the job begins, and are asked for where a cluster is started.
    wait
        Seconds that a scheduler file has to come, and then the workers.
    """

    scheduler: str | None = None
    kind: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    workers: int | None = None
    wait: float = 300.0


@contextmanager
def on_cluster(
    options: ClusterOptions,
    client: Client | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Client | None]:
    """Have what is computed in a block computed by a cluster, if a client, the options or Dask's settings name one.

    Parameters
    ----------
    options
        What the job says.
    client
        Used in place of what the options name. Default: that, else the active client, else the address in Dask's
        setting ``scheduler-address``, else no cluster.
    tell
        Is told in a line what is waited for.

    Yields
    ------
    Client or None
        That of the cluster; None: this process computes.

    Raises
    ------
    InvalidArgument
        The address, the class or its arguments are not what they have to be; the client is asynchronous or closed.
    ClusterUnavailable
        It cannot be reached or started, too few workers have come, or they lack this package.

    Notes
    -----
    What was made for the block ends with it, also by Ctrl-C: a cluster, and the connection to one. A client that was
    given stays, and so does the cluster behind an address.
    """
    waiting = _Waiting(options.wait, tell)
    with ExitStack() as closing:
        least = options.workers or 0
        found: Client | None
        if client is not None:
            found = checked(client)
        elif options.kind is not None:
            own = OwnCluster(options.kind, tell)
            closing.callback(own.close)
            own.start(options.arguments, options.workers)
            found = waiting.for_scheduler(own.cluster, f"the cluster {options.kind}", closing)
            least = max(least, 1)
        else:
            found = _client_named(options.scheduler, waiting, closing)
        if found is not None:
            for name in ("asyncio", "distributed.client"):
                logging.getLogger(name).addFilter(_is_news)
            closing.enter_context(found.as_current())
            waiting.for_workers(found, least)
            _check_package(found)
        elif least:
            raise InvalidArgument(
                f"workers={least} needs a cluster: name one with scheduler= or cluster="
            )
        try:
            yield found
        except FutureCancelledError as error:
            raise ClusterUnavailable(
                f"the cluster is gone, or has dropped the job: {error}"
            ) from error


def _client_named(scheduler: str | None, waiting: _Waiting, closing: ExitStack) -> Client | None:
    """A client of the scheduler at an address or in a file; the active one; that of Dask's settings; None."""
    if scheduler is not None:
        address = scheduler
        if not _is_address(scheduler):
            address = waiting.for_file(Path(scheduler).expanduser())
        return waiting.for_scheduler(address, scheduler, closing)
    try:
        active = Client.current()
    except ValueError:  # there is none
        active = None
    if active is not None:
        return checked(active)
    address = dask.config.get("scheduler-address", None)
    if not address:
        return None
    return waiting.for_scheduler(address, f"{address}, Dask's scheduler-address,", closing)


def checked(client: Any) -> Client:
    """A client of somebody else, which has to be one that can be waited for."""
    if not isinstance(client, Client):
        raise InvalidArgument(f"client is a {type(client).__name__}; give a distributed.Client")
    if client.asynchronous:
        raise InvalidArgument(
            "the client is asynchronous, and a job waits for each of its steps: give a Client without "
            "asynchronous=True"
        )
    if client.status != "running":
        raise InvalidArgument(f"the client is {client.status}: give one that is connected")
    return client


def _is_address(text: str) -> bool:
    """Whether a text is an address, and not the path of a scheduler file."""
    return "://" in text or bool(_PORT.fullmatch(text))


class _Waiting:
    """Waits for a scheduler file, for a scheduler and for workers, so many seconds each at most."""

    def __init__(self, seconds: float, tell: Callable[[str], None] | None) -> None:
        self._seconds, self._tell = seconds, tell

    def _looks(self, what: str) -> Iterator[None]:
        """Moments to look in, until the time is over; what is waited for is said once."""
        began, said = time.monotonic(), self._tell is None
        while (waited := time.monotonic() - began) < self._seconds:
            yield
            if waited > _QUIETLY and not said:
                said = True
                assert self._tell is not None
                self._tell(f"Waiting for {what}")
            time.sleep(_LOOK)
        yield

    def for_file(self, path: Path) -> str:
        """The address in a scheduler file, as soon as it is there."""
        torn = 0  # looks at a file that is not whole, as its scheduler is writing it
        for _ in self._looks(f"the scheduler file {path}"):
            try:
                return str(json.loads(path.read_text())["address"])
            except FileNotFoundError:
                continue
            except (OSError, ValueError, KeyError, TypeError) as error:
                torn += 1
                if torn > _TORN or not isinstance(error, json.JSONDecodeError):
                    raise InvalidArgument(
                        f"scheduler {path} is neither an address, such as tcp://host:8786, nor a file that a "
                        f"scheduler has written: {type(error).__name__}: {error}"
                    ) from error
        raise ClusterUnavailable(
            f"there is no scheduler file {path}, and none has come in {self._seconds:g} s: start the scheduler with "
            "--scheduler-file, or give an address, such as tcp://host:8786"
        )

    def for_scheduler(self, address: Any, what: str, closing: ExitStack) -> Client:
        """A client of a scheduler or of a cluster, which is closed with the block."""
        usual = parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))
        timeout = min(usual, self._seconds)
        if isinstance(address, str):
            _check_address(address)
        try:
            client = Client(address, timeout=timeout, set_as_default=False)
        except (OSError, RuntimeError) as error:
            raise ClusterUnavailable(
                f"no scheduler answers at {what} within {timeout:g} s: {error}"
            ) from error
        closing.callback(_disconnect, client)
        return client

    def for_workers(self, client: Client, least: int) -> None:
        """Wait until so many workers are there and run."""
        if not least:
            return
        there = 0
        for _ in self._looks("1 worker" if least == 1 else f"{least} workers"):
            there = len(_running(client))
            if there >= least:
                return
        raise ClusterUnavailable(
            f"{there} of {least} workers have come in {self._seconds:g} s: start more, ask for fewer, or wait longer"
        )


def _disconnect(client: Client) -> None:
    with suppress(OSError, TimeoutError):  # the scheduler is gone
        client.close(timeout=_CLOSING)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a message tells of more than that nobody waits any longer for what the cluster was asked for."""
    return not (record.exc_info and record.exc_info[0] in (AllExit, CancelledError))


def _check_address(address: str) -> None:
    """Raise where a text is no address, or one that Dask's configuration has no certificates for."""
    try:
        get_address_host_port(address)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(
            f"scheduler {address} is no address, such as tcp://host:8786: {error}"
        ) from error
    if address.startswith("tls://"):
        if Security().get_connection_args("client").get("ssl_context") is None:
            raise ClusterUnavailable(
                f"{address} is an address of TLS, and Dask's configuration names no certificates: set "
                "distributed.comm.tls.ca-file, and cert and key of distributed.comm.tls.client"
            )


def _running(client: Client) -> list[str]:
    """Addresses of the workers that run."""
    assert client.scheduler is not None  # of one that runs
    # `Client.scheduler_info` may be from a look without workers, which the client takes every two seconds.
    known = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    return [address for address, each in known.items() if each["status"] == "running"]


def _check_package(client: Client) -> None:
    """Raise where the scheduler or a worker lacks this package, or has another version of it."""
    wanted = "dask_graphgpu:__version__"
    found = client.run(pkgutil.resolve_name, wanted, on_error="return")
    try:
        found["the scheduler"] = client.run_on_scheduler(pkgutil.resolve_name, wanted)
    except (ImportError, AttributeError) as error:
        found["the scheduler"] = error
    for who, version in found.items():
        if isinstance(version, ImportError | AttributeError):
            raise ClusterUnavailable(
                f"dask_graphgpu {__version__} cannot be imported on {who}: {version}; install it where "
                "scheduler and workers run"
            )
        if isinstance(version, str) and version != __version__:
            raise ClusterUnavailable(
                f"dask_graphgpu is {version} on {who} and {__version__} here: install the same version"
            )
