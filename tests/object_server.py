"""An S3 server on the loopback, moto's in a process of its own, whose requests can fail, wait or kill who asks.

    with server() as s3:
        s3.faults(fail={"method": "PUT", "path": "commit-", "times": 1})

Requests are answered one at a time, so that what is to be one step of the store is one.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

KEY, SECRET = "key-of-tests", "secret-of-tests-5up3r"
BUCKET = "data"
_CONTROL = "/_faults"


class Faulty:
    """A WSGI application between those who ask and moto.

    Rules, by names: ``kill`` (pid, at: number of a request, after: whether it is answered first, who: a text in the
    user agent of requests that count), ``fail`` (method, path: a pattern, times, status, after), ``slow`` (method,
    path, seconds) and ``gate`` (method, path, count), where each request waits until there are so many.
    """

    def __init__(self, app):
        self.app, self.lock = app, threading.Lock()
        self.rules, self.asked, self.waiting = {}, [], threading.Semaphore(0)

    def __call__(self, environ, start_response):
        if environ["PATH_INFO"] == _CONTROL:
            return self.control(environ, start_response)
        what = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        if self.matches("slow", what):
            time.sleep(self.rules["slow"]["seconds"])
        if self.matches("gate", what):
            gate = self.rules["gate"]
            with self.lock:
                gate["count"] -= 1
                if not gate["count"]:
                    self.waiting.release(1000)
            self.waiting.acquire(timeout=120)
        with self.lock:
            kill = self.rules.get("kill", {})
            counts = kill.get("who", "") in environ.get("HTTP_USER_AGENT", "")
            if counts:
                self.asked.append(what)
            kills = counts and kill.get("at") == len(self.asked)
            if kills and not kill["after"]:
                os.kill(kill["pid"], signal.SIGKILL)
                return self.error(start_response, 500)
            fails = self.matches("fail", what) and self.rules["fail"]["times"] > 0
            if fails:
                self.rules["fail"]["times"] -= 1
                if not self.rules["fail"].get("after"):
                    return self.error(start_response, self.rules["fail"].get("status", 500))
            said = []
            answer = b"".join(self.app(environ, lambda *words: said.append(words)))
            if kills:
                os.kill(kill["pid"], signal.SIGKILL)
            if fails:
                return self.error(start_response, self.rules["fail"].get("status", 500))
        start_response(*said[-1])
        return [answer]

    def matches(self, name, what):
        rule = self.rules.get(name)
        if rule is None:
            return False
        method, _, path = what.partition(" ")
        return rule.get("method", method) == method and bool(re.search(rule["path"], path))

    def control(self, environ, start_response):
        text = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        with self.lock:
            asked, self.asked, self.rules = self.asked, [], json.loads(text)
            self.waiting = threading.Semaphore(0)
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(asked).encode()]

    @staticmethod
    def error(start_response, status):
        code = {403: "AccessDenied", 404: "NoSuchKey"}.get(status, "InternalError")
        start_response(f"{status} {code}", [("Content-Type", "application/xml")])
        return [f"<Error><Code>{code}</Code><Message>We have failed.</Message></Error>".encode()]


class Server:
    """What tests know of a server: its address, options of storage for it, and a file system."""

    def __init__(self, address):
        self.address = address
        self.options = {"key": KEY, "secret": SECRET, "endpoint_url": address}

    @property
    def environment(self):
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": self.address,
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    @property
    def fs(self):
        import s3fs

        return s3fs.S3FileSystem(**self.options, use_listings_cache=False)

    def names(self, path):
        """All objects below a path, without it."""
        return sorted(name.removeprefix(f"{path}/") for name in self.fs.find(path))

    def faults(self, **rules):
        """Set the rules for the next requests, and forget the former; gives what was asked since the last time."""
        request = urllib.request.Request(self.address + _CONTROL, json.dumps(rules).encode())
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


@contextlib.contextmanager
def server():
    """Start one, with an empty bucket; it ends with the block, or with this process."""
    call = [sys.executable, str(Path(__file__).resolve())]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            made = Server(f"http://127.0.0.1:{int(child.stdout.readline())}")
            made.fs.mkdir(BUCKET)
            yield made
        finally:
            child.stdin.close()  # which it waits for


def serve():
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, *_):
            pass

    app = Faulty(DomainDispatcherApplication(create_backend_app))
    made = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    print(made.server_port, flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve()
