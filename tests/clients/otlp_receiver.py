"""A receiver of OTLP over HTTP: `n8n-lens export` sends it the executions of a store, twice.

Each request must be an ExportTraceServiceRequest of opentelemetry-proto with nothing unknown in it, and the second export must send
the same spans as the first one.
"""
import base64
import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

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


server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
for _ in range(2):
    address = f"http://127.0.0.1:{server.server_port}"
    subprocess.run([os.environ["N8N_LENS"], "export", "--format", "otlp", "--store", os.environ["STORE"], "--to", address], check=True)
half = len(received) // 2
print(half, "spans")
assert half > 100 and len(set(received)) == half and received[:half] == received[half:]
