"""A certificate for tests of TLS."""

import shutil
import subprocess

import pytest


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
