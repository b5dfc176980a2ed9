"""On a cluster with TLS, ranks talk through TLS as well."""

import cluster_cases as cases
import pandas as pd
import pytest
from distributed.security import Security
from strategies import partitioned


@pytest.fixture(scope="module")
def security(certificate):
    key, cert = str(certificate / "key.pem"), str(certificate / "certificate.pem")
    names = {f"tls_{role}_{part}": path for role in ("client", "scheduler", "worker")
             for part, path in (("key", key), ("cert", cert))}  # fmt: skip
    return Security(tls_ca_file=cert, require_encryption=True, **names)


def test_ranks_talk_through_tls(security):
    with cases.started(2, security=security, protocol="tls") as client:
        workers = cases.addresses(client)
        assert all(worker.startswith("tls://") for worker in workers)
        future = client.submit(cases.led, workers, cases.channels, pure=False)
        assert future.result(30) == [{"TlsChannel"}, {"TlsChannel"}]
        edges = pd.DataFrame({"src": range(50), "dst": [(7 * i) % 50 for i in range(50)]})
        found = partitioned(edges, 3).graph(ranks=2).pagerank().compute()
        wanted = edges.graph(ranks=1).pagerank()
        assert abs(found["rank"].to_numpy() - wanted["rank"].to_numpy()).max() < 1e-12


def test_without_tls_they_do_not():
    with cases.started(2) as client:
        future = client.submit(cases.led, 2, cases.channels, pure=False)
        assert future.result(30) == [{"Channel"}, {"Channel"}]
