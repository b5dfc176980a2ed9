"""What ends a call early: Ctrl-C, whatever compiled code is doing, and of a task that nobody waits for it any more."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_LOOK = 0.25  # seconds

_stopped: ContextVar[threading.Event | None] = ContextVar("dask_graphgpu_stopped", default=None)


def interruptible(function: Callable[..., T], *arguments: Any) -> T:
    """What a function returns; ended by Ctrl-C at once.

    Python tells its main thread of Ctrl-C between two of its own steps, and a compiled kernel is one of them. So
    another thread works in its place, and the main thread waits, which Ctrl-C ends. The thread that works stops
    where `check` is called next. Elsewhere than in the main thread it is a plain call.

    Raises
    ------
    KeyboardInterrupt
    Exception
        What the function raises.
    """
    if threading.current_thread() is not threading.main_thread() or not callable(
        signal.getsignal(signal.SIGINT)
    ):
        return function(*arguments)
    stopped, working = threading.Event(), threading.Lock()
    ended: list[tuple[T | None, BaseException | None]] = []

    def work() -> None:
        try:
            with stopped_by(stopped):
                ended.append((function(*arguments), None))
        except BaseException as error:
            ended.append((None, error))
        finally:
            working.release()

    working.acquire()
    context = copy_context()
    thread = threading.Thread(target=context.run, args=(work,), name="graphgpu-call", daemon=True)
    try:
        thread.start()  # which waits too
        # Python hears of a signal that comes just before it waits when it has waited.
        while not working.acquire(timeout=_LOOK):
            pass
    except BaseException:  # Ctrl-C, or what else a handler of signals raises
        stopped.set()
        raise
    result, error = ended.pop()
    if error is not None:
        try:
            raise error
        finally:
            del error  # its traceback holds this frame, and with it arrays
    return result  # type: ignore[return-value]  # there was no error


@contextmanager
def stopped_by(event: threading.Event) -> Iterator[None]:
    """Have what goes on inside stop, by KeyboardInterrupt, where `check` is called next after the event is set."""
    token = _stopped.set(event)
    try:
        yield
    finally:
        _stopped.reset(token)


_while_wanted: list[Callable[[], AbstractContextManager[None]]] = []  # what looks after tasks


def elsewhere(while_wanted: Callable[[], AbstractContextManager[None]]) -> None:
    """Have the calls of a `stoppable` function run in a context that ends them where they are not wanted any more."""
    _while_wanted.append(while_wanted)


def stoppable(function: Callable[P, T]) -> Callable[P, T]:
    """A function as a task: it stops where `check` is called next after nobody waits for the task any more."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with _while_wanted[0]() if _while_wanted else nullcontext():
            return function(*args, **kwargs)

    return call


def stopping() -> threading.Event | None:
    """The event that is set when the call that goes on here is to stop, for threads that help it."""
    return _stopped.get()


def check(stopped: threading.Event | None) -> None:
    """Raise KeyboardInterrupt when the call that goes on is to stop."""
    if stopped is not None and stopped.is_set():
        raise KeyboardInterrupt
