"""Clusters for tests, and what these call on workers and on the scheduler; importable there."""

import logging
import os
import time
from contextlib import contextmanager

import dask
import dask.dataframe as dd
import fork_server
import numpy as np
from distributed import Client, LocalCluster, get_worker

import dask_graphgpu  # noqa: F401
from dask_graphgpu.cluster.gang import lead


@contextmanager
def started(workers, **options):
    """A client of a new cluster of worker processes with a thread each."""
    with started_cluster(workers, **options) as cluster, Client(cluster) as client:
        yield client


@contextmanager
def started_cluster(workers, **options):
    """A new cluster of worker processes with a thread each, and no client.

    A cluster gives a worker up that happens to be down so many seconds after it was down before,
    though its nanny starts it again: tests that kill workers over and over would run out of them.
    """
    fork_server.ready()
    options = {"threads_per_worker": 1, "dashboard_address": ":0", **options}
    options.setdefault("silence_logs", logging.CRITICAL)
    settings = {
        "distributed.deploy.lost-worker-timeout": "1 hour",
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    with dask.config.set(settings), LocalCluster(n_workers=workers, **options) as cluster:
        yield cluster


def addresses(client):
    """Of the workers, ascending."""
    # What `Client.scheduler_info` returns may be from a look without workers, which it takes every two seconds.
    return tuple(sorted(client.sync(client.scheduler.identity, n_workers=-1)["workers"]))


def statuses(client):
    """Of the workers, as the scheduler knows them."""
    known = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    return [each["status"] for each in known.values()]


def executing(dask_worker):
    """How many tasks a worker computes."""
    return dask_worker.state.executing_count


def pause(status, dask_worker):
    dask_worker.memory_manager.memory_pause_fraction = False  # or it would go on by itself
    dask_worker.status = type(dask_worker.status)[status]


class Slow:
    """A partitioner that takes its time as long as there is a file."""

    def __init__(self, path):
        self.path = path

    def __call__(self, numbers, degrees, ranks):
        while os.path.exists(self.path):
            time.sleep(0.02)
        return numbers % ranks


def lock_state(dask_scheduler):
    """Who holds workers, or waits for them."""
    locks = dask_scheduler.extensions["multi_locks"]
    return [*locks.requests, *locks.events]


def task_names(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks]


def led(workers, function, arguments=(), idle=60.0):
    """The task that leads a run of ``function(ranks, *arguments)`` on each worker."""
    _, results = lead("toy", workers, function, lambda w: [arguments] * len(w), (60.0, idle))
    return results


# What ranks do.


def where(ranks):
    return ranks.rank, get_worker().address


def steps(ranks, number, pause=0.0):
    """Steps, each with a pause; the microseconds of one, and that nobody else took one meanwhile."""
    start = time.perf_counter()
    for i in range(number):
        _, every = ranks.step([np.full(8, i)] * ranks.size, np.array([i]))
        assert (every == i).all()
        if pause:
            time.sleep(pause)
    return (time.perf_counter() - start) / max(number, 1) * 1e6


def alone(ranks, seconds):
    """When this rank was at work on its worker."""
    ranks.barrier()
    start = time.time()
    time.sleep(seconds)
    ranks.barrier()
    return os.getpid(), start, time.time()


def fails(ranks, who, error):
    for i in range(10):
        if i == 5 and ranks.rank == who:
            raise error
        ranks.barrier()


def fails_last(ranks, who, error):
    """Only after all steps, so that the other ranks have ended well."""
    ranks.barrier()
    if ranks.rank == who:
        time.sleep(0.3)
        raise error


def stuck(ranks, who):
    """One rank computes without a step; the others wait for it."""
    if ranks.rank == who:
        time.sleep(2.5)
    ranks.barrier()
    return ranks.rank


def hoards(ranks, who):
    """One rank takes memory until its nanny ends it."""
    kept = []
    for _ in range(200):
        if ranks.rank == who:
            kept.append(np.ones(1 << 21))
            time.sleep(0.05)
        ranks.barrier()


def channels(ranks):
    """Kinds of connections to the other ranks."""
    ranks.barrier()
    return {type(channel).__name__ for channel in ranks._order}


# What a task does that computes graphs itself.


def distances(edges, ranks, scheduler, partitions):
    """Of a frame, and of a graph that is kept; a frame in partitions is computed by ``scheduler``."""
    frame = dd.from_pandas(edges, npartitions=partitions) if partitions else edges
    with dask.config.set(scheduler=scheduler):
        graph = frame.graph(ranks=ranks)
        made = [each.bfs(0) for each in (graph, graph.persist())]
        return [each.compute() if partitions else each for each in made]


def while_there(path):
    """Work of somebody else that goes on as long as there is a file."""
    while os.path.exists(path):
        time.sleep(0.05)
