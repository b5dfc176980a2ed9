"""Kinds of clusters that jobs start: local ones with the constructors of others, which note what they are given."""

from distributed import LocalCluster, Scheduler

MADE = []  # each that was started, the last one last


class _Noting(LocalCluster):
    """Workers are threads of this process; ``given`` is what the constructor was called with."""

    def __init__(self, n_workers, given):
        MADE.append(self)
        self.given, self.scaled = given, []
        super().__init__(n_workers=n_workers or 0, processes=False, dashboard_address=":0")


class Slurm(_Noting):
    """As dask_jobqueue.SLURMCluster."""

    def __init__(
        self,
        n_workers=0,
        job_cls=None,
        loop=None,
        security=None,
        shared_temp_directory=None,
        silence_logs="error",
        name=None,
        asynchronous=False,
        dashboard_address=None,
        host=None,
        scheduler_options=None,
        scheduler_cls=Scheduler,
        interface=None,
        protocol=None,
        config_name=None,
        **job_kwargs,
    ):
        if "cores" not in job_kwargs or "memory" not in job_kwargs:
            raise ValueError("You must specify how much cores and memory per job you want to use")
        super().__init__(n_workers, {"n_workers": n_workers, **job_kwargs})


class Kube(_Noting):
    """As dask_kubernetes.operator.KubeCluster."""

    def __init__(
        self,
        *,
        name=None,
        namespace=None,
        image=None,
        n_workers=None,
        resources=None,
        env=None,
        worker_command=None,
        port_forward_cluster_ip=None,
        create_mode=None,
        shutdown_on_close=None,
        idle_timeout=None,
        resource_timeout=None,
        scheduler_service_type=None,
        custom_cluster_spec=None,
        scheduler_forward_port=None,
        jupyter=False,
        loop=None,
        asynchronous=False,
        quiet=False,
        **kwargs,
    ):
        given = {"name": name, "image": image, "n_workers": n_workers, "resources": resources}
        super().__init__(n_workers, given)


class Gateway(_Noting):
    """As dask_gateway.GatewayCluster, which is told of workers afterwards only."""

    def __init__(
        self,
        address=None,
        proxy_address=None,
        public_address=None,
        auth=None,
        cluster_options=None,
        shutdown_on_close=True,
        asynchronous=False,
        loop=None,
        **kwargs,
    ):
        super().__init__(0, {"address": address, **kwargs})

    def scale(self, n, **kwargs):
        self.scaled.append(n)
        return super().scale(n)


class Hanging(_Noting):
    """Is interrupted while it starts."""

    def __init__(self):
        super().__init__(1, {})
        raise KeyboardInterrupt


class Unending(_Noting):
    """Cannot be closed."""

    def __init__(self, n_workers=None):
        super().__init__(n_workers, {})
        self.refuses = True

    def close(self, timeout=None):
        if self.refuses:
            self.refuses = False
            raise OSError("the batch system does not answer")
        return super().close(timeout)


class NoCluster:
    """Lacks what clusters have."""
