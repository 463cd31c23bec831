"""A receiver of OTLP over HTTP: `n8n-lens export` sends it the executions of a store, twice.

Each request must be an ExportTraceServiceRequest of opentelemetry-proto with nothing unknown in it, and the second export must send
the same spans as the first one. Then a collector, Rotel, must print these spans.
"""
import base64
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

IDS = ("traceId", "spanId", "parentSpanId")
received = []


def as_protobuf(value):
    """OTLP writes ids in hexadecimal, where protobuf's JSON has base64."""
    if isinstance(value, list):
        return [as_protobuf(part) for part in value]
    if not isinstance(value, dict):
        return value
    encode = lambda text: base64.b64encode(bytes.fromhex(text)).decode()
    return {name: encode(part) if name in IDS else as_protobuf(part) for name, part in value.items()}


def spans(text):
    request = json_format.ParseDict(as_protobuf(json.loads(text)), ExportTraceServiceRequest(), ignore_unknown_fields=False)
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) in (0, 8), span
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span
                yield span.SerializeToString(deterministic=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        assert (self.path, self.headers["content-type"]) == ("/v1/traces", "application/json")
        received.extend(spans(body))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")


def export(port):
    to = f"http://127.0.0.1:{port}"
    subprocess.run([os.environ["N8N_LENS"], "export", "--format", "otlp", "--store", os.environ["STORE"], "--to", to], check=True)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(what, holds):
    for _ in range(100):
        if holds():
            return
        time.sleep(0.1)
    raise TimeoutError(what)


def is_open(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def collector_prints(expected):
    """Whether the ids of spans that Rotel prints are these; the program needs the library of Python that its package is for."""
    agent = next(Path(sys.prefix).glob("lib/python*/site-packages/rotel/rotel-agent"), None)
    if not agent or subprocess.run([agent, "version"], capture_output=True).returncode != 0:
        return print("skipped: Rotel does not run with this Python")
    port, log = free_port(), tempfile.NamedTemporaryFile()
    options = ["--exporter", "blackhole", "--debug-log", "traces", "--debug-log-verbosity", "detailed", "--otlp-grpc-endpoint", f"127.0.0.1:{free_port()}"]
    rotel = subprocess.Popen([agent, "start", "--otlp-http-endpoint", f"127.0.0.1:{port}", *options], stdout=log, stderr=log)
    printed = lambda: sorted(re.findall(r"^ {4}ID +: (\w{16})$", Path(log.name).read_text(), re.M))
    try:
        wait_for("Rotel listens", lambda: is_open(port))
        export(port)
        wait_for("Rotel prints the spans", lambda: len(printed()) >= len(expected))
    finally:
        rotel.kill()
    assert printed() == expected, Path(log.name).read_text()[:2000]
    print(len(expected), "spans in Rotel")


server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
for _ in range(2):
    export(server.server_port)
half = len(received) // 2
print(half, "spans")
assert half > 100 and len(set(received)) == half and received[:half] == received[half:]
collector_prints(sorted(Span.FromString(one).span_id.hex() for one in received[:half]))
