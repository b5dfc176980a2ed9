"""Teams of processes that are connected by a mesh, for tests that kill and stop some of them."""

import contextlib
import os
import secrets
import signal
import ssl
import threading
import time

import fork_server

from dask_graphgpu.exchange.mesh import Listener, Mesh

PATIENCE = 30  # seconds after which a test gives up


def tls_contexts(folder):
    """For connections made and accepted: each side asks for a certificate that `folder` signed."""
    if folder is None:
        return None
    found = []
    for purpose in (ssl.Purpose.SERVER_AUTH, ssl.Purpose.CLIENT_AUTH):
        context = ssl.create_default_context(purpose, cafile=folder / "certificate.pem")
        context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        found.append(context)
    return tuple(found)


def _member(pipe, rank, token, function, arguments, tls, options):
    """What a process does: join, call the function, tell what came of it and when."""
    listener = Listener("127.0.0.1")
    pipe.send(listener.address)
    table = pipe.recv()
    try:
        with Mesh(listener, rank, table, token, tls=tls_contexts(tls), **options) as ranks:
            pipe.send("joined")
            value = function(ranks, *arguments)
        pipe.send((value, None, time.monotonic()))
    except BaseException as error:
        pipe.send((None, error, time.monotonic()))


class Team:
    """Processes that run ``function(ranks, *arguments)`` each; as a context it leaves none behind."""

    def __init__(self, size, function, *arguments, tls=None, **options):
        fork_server.ready()
        token = secrets.token_bytes(32)
        self.pipes, self.processes = [], []
        for rank in range(size):
            here, there = fork_server.CONTEXT.Pipe()
            process = fork_server.CONTEXT.Process(
                target=_member,
                args=(there, rank, token, function, arguments, tls, options),
                daemon=True,
            )
            process.start()
            there.close()
            self.pipes.append(here)
            self.processes.append(process)
        self.table = [self.hear(rank) for rank in range(size)]
        for pipe in self.pipes:
            pipe.send(self.table)
        for rank in range(size):
            said = self.hear(rank)
            assert said == "joined", said

    def hear(self, rank):
        """What a process says next; at the end (value, error, time)."""
        assert self.pipes[rank].poll(PATIENCE), f"rank {rank} hangs"
        return self.pipes[rank].recv()

    def values(self):
        """What every rank returned; raises what the first one has raised."""
        found = [self.hear(rank) for rank in range(len(self.pipes))]
        for _, error, _ in found:
            if error is not None:
                raise error
        return [value for value, _, _ in found]

    def signal(self, rank, number):
        """Send a signal; when that was."""
        now = time.monotonic()
        os.kill(self.processes[rank].pid, number)
        return now

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            process.join(PATIENCE)
        for pipe in self.pipes:
            pipe.close()


class Threads:
    """A mesh between threads of this process. Options are lists, an entry a rank."""

    def __init__(self, size, function, **options):
        token = secrets.token_bytes(32)
        listeners = [Listener("127.0.0.1") for _ in range(size)]
        table = [listener.address for listener in listeners]
        self.values, self.errors = [None] * size, [None] * size

        def work(rank):
            own = {name: value[rank] for name, value in options.items()}
            try:
                with Mesh(listeners[rank], rank, table, own.pop("token", token), **own) as ranks:
                    self.values[rank] = function(ranks)
            except BaseException as error:
                self.errors[rank] = error

        self.threads = [
            threading.Thread(target=work, args=(j,), name=f"rank {j}", daemon=True)
            for j in range(size)
        ]
        for thread in self.threads:
            thread.start()

    def join(self):
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "a rank hangs"
        return self.errors
