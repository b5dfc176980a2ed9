"""A cluster that is started for a job: of which class, and how it ends."""

from __future__ import annotations

import inspect
import logging
import re
import signal
import threading
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from multiprocessing import resource_tracker
from types import ModuleType
from typing import Any

from distributed.utils import LoopRunner

from dask_graphgpu.errors import ClusterUnavailable, InvalidArgument

_NAMED = {"local": "distributed:LocalCluster", "cuda": "dask_cuda:LocalCUDACluster"}
# Of clusters of this machine, where a job says nothing else: no port of two jobs is the same, and errors are one line.
_QUIET = {"dashboard_address": "localhost:0", "silence_logs": logging.CRITICAL}
_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_CLOSING = 30.0  # seconds that a cluster has to end


def class_of(kind: str) -> Any:
    """The class of clusters of a kind.

    Raises
    ------
    InvalidArgument
        It cannot be imported, or is no class of clusters.
    """
    where = _NAMED.get(kind, kind)
    if not _CLASS.fullmatch(where):
        raise InvalidArgument(
            f"cluster is {kind!r}; allowed are {', '.join(_NAMED)} and the name of a class, such as "
            "dask_jobqueue:SLURMCluster"
        )
    module, name = where.split(":")
    try:
        found = getattr(_imported(module), name)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise InvalidArgument(
            f"cluster {kind} needs {where}, which cannot be imported: {error}; pip install {package}, or "
            "correct the name"
        ) from error
    except AttributeError:
        raise InvalidArgument(f"cluster {kind}: {module} has no {name}; correct the name") from None
    lacking = [each for each in ("scale", "close") if not callable(getattr(found, each, None))]
    if not isinstance(found, type) or lacking:
        raise InvalidArgument(
            f"cluster {kind} is no class of clusters: it "
            + (f"lacks {' and '.join(lacking)}" if lacking else "is no class")
        )
    return found


def _imported(module: str) -> ModuleType:
    """A module. What Ctrl-C does stays as it is: importing dask_jobqueue would make it a wordless end."""
    before = signal.getsignal(signal.SIGINT)
    try:
        return import_module(module)
    finally:
        if signal.getsignal(signal.SIGINT) is not before:
            signal.signal(signal.SIGINT, before)


def _deaf_loop() -> LoopRunner:
    """A loop whose thread does not hear Ctrl-C, nor do the processes that it starts.

    A terminal sends it to all processes of a job, and those of a cluster are for the cluster to end.
    """
    resource_tracker.ensure_running()  # which has the thread that needs it first hear again
    runner = LoopRunner()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        runner.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return runner


class OwnCluster:
    """A cluster that is started for a job; `close` may be called at any time."""

    def __init__(self, kind: str, tell: Callable[[str], None] | None) -> None:
        self._kind, self._class, self._tell = kind, class_of(kind), tell
        # Made in two steps: Ctrl-C in the second one finds what is to be ended.
        self.cluster = self._class.__new__(self._class)
        self._begun = self._whole = False
        self._refused = ""  # what its constructor said
        self._runner = _deaf_loop() if kind in _NAMED else None

    def start(self, arguments: Mapping[str, Any], workers: int | None) -> None:
        """Start it, with so many workers.

        Raises
        ------
        InvalidArgument
            It is to be asynchronous.
        ClusterUnavailable
            Its constructor raises.
        """
        given = dict(arguments)
        if self._runner is not None:
            given = {**_QUIET, "loop": self._runner.loop, **given}
        if given.get("asynchronous"):
            raise InvalidArgument(
                "asynchronous is true, and a job waits for its cluster: leave it out"
            )
        takes_number = "n_workers" in inspect.signature(self._class).parameters
        if workers is not None and takes_number:
            given.setdefault("n_workers", workers)
        self._begun = True
        try:
            self._class.__init__(self.cluster, **given)
            self._whole = True
            if workers is not None and not takes_number:
                self.cluster.scale(workers)
        except Exception as error:
            self._refused = str(error)
            said = ", ".join(arguments)  # not what they are: that may be a password
            raise ClusterUnavailable(
                f"the cluster {self._kind} cannot be started{f' with {said}' if said else ''}: {error}"
                + (f": {error.__cause__}" if error.__cause__ else "")
            ) from error

    def close(self) -> None:
        """End it, however far it has come, in the time that it has for that; Ctrl-C ends the wait for it."""
        if not self._begun:
            if self._runner is not None:
                self._runner.stop()
            return
        left: list[str] = [f"it has not ended in {_CLOSING:g} s"]

        def close() -> None:
            try:
                self.cluster.close()
                if self._runner is not None:
                    self._runner.stop()
                left.clear()
            except Exception as error:
                left[:] = [f"{type(error).__name__}: {error}"]
                # One that was refused before it was anything lacks what is to be closed, or says the same again.
                nothing = isinstance(error, AttributeError) or str(error) == self._refused
                if nothing and not self._whole:
                    left.clear()

        thread = threading.Thread(target=close, name="graphgpu-closing", daemon=True)
        thread.start()
        try:
            thread.join(_CLOSING)
        finally:
            if left:
                text = (
                    f"the cluster {self._kind} may still run ({left[0]}): end its workers yourself"
                )
                if self._tell is None:
                    warnings.warn(text, stacklevel=2)
                else:
                    self._tell(f"Warning: {text}")
