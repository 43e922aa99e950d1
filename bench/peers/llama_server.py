"""llama-server as a peer: started for one model, asked for one token behind a prompt of token ids."""

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

# Stretches of at least so many tokens that stand elsewhere in the cache are moved instead of computed.
CACHE_REUSE = 64


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as reply:
        return json.load(reply)


@contextlib.contextmanager
def running(folder, model, threads):
    """Gives a function: token ids to milliseconds until their answer's first token is here."""
    port = free_port()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [str(folder / "llama-server"), "-m", str(model), "-t", str(threads), "-c", "8192", "-np", "1",
             "--cache-reuse", str(CACHE_REUSE), "--host", "127.0.0.1", "--port", str(port)],
            stdout=log, stderr=subprocess.STDOUT)
        url = f"http://127.0.0.1:{port}"

        def fail(what):
            log.seek(0)
            sys.exit(f"bench: llama-server {what}:\n{log.read()[-2000:].decode(errors='replace')}")

        try:
            for _ in range(600):
                if process.poll() is not None:
                    fail(f"ended with {process.returncode}")
                with contextlib.suppress(urllib.error.URLError, ConnectionError):
                    urllib.request.urlopen(f"{url}/health", timeout=5)
                    break
                time.sleep(0.1)
            else:
                fail("did not become ready")

            def ask(tokens):
                start = time.perf_counter()
                post(f"{url}/completion", {"prompt": tokens, "n_predict": 1, "temperature": 0, "cache_prompt": True})
                return 1000 * (time.perf_counter() - start)

            yield ask
        finally:
            process.terminate()
            process.wait()
