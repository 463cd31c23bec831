#!/usr/bin/env python3
"""Drives n8n-lens with the official Python SDK: over stdio and Streamable HTTP, in both eras of the protocol.

Prints a line for each check and exits 1 at the first that fails. What it creates in n8n it deletes again.

    N8N_LENS             the binary: the stdio half
    N8N_LENS_MCP_URL     the endpoint of a running server: the HTTP half
    N8N_LENS_MCP_TOKEN   its --auth-token, if it has one
    N8N_URL N8N_API_KEY  n8n, for the stdio half
    EXECUTION_ID         an execution that n8n has, small enough to be quick
    NODE_NAME            one of its nodes

The slow n8n that progress, timeouts and cancellation need is made here; with both halves, an HTTP server on it as well.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import asynccontextmanager, nullcontext
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}

INVALID_PARAMS = -32602
REQUEST_TIMEOUT = -32001


class Failed(Exception):
    """A check did not hold."""


def effects():
    """What each default tool does to n8n by the binary's own table: reads, adds or overwrites; `None` without it."""
    if "N8N_LENS" not in os.environ:
        return None
    table = subprocess.run([os.environ["N8N_LENS"], "tools", "--markdown"], capture_output=True, text=True, check=True)
    rows = [[cell.strip(" `") for cell in line.split("|")] for line in table.stdout.splitlines()[2:]]
    return {row[1]: row[3] for row in rows}


class Report:
    """Prints a line for each check of one connection."""

    def __init__(self, transport):
        self.transport = transport

    def check(self, what, holds, seen=None):
        if not holds:
            raise Failed(f"{self.transport:<23} {what}: {seen!r}")
        print(f"ok   {self.transport:<23} {what}", flush=True)


# Calls


def text_of(result):
    """The single text of an answer."""
    if len(result.content) != 1 or result.content[0].type != "text" or result.structured_content is not None:
        raise Failed(f"not one text: {result!r}")
    return result.content[0].text


async def data_of(client, tool, **arguments):
    """The `data` of a successful call."""
    result = await client.call_tool(tool, arguments)
    text = text_of(result)
    if result.is_error:
        raise Failed(f"{tool}({arguments}): {text}")
    answer = json.loads(text)
    if answer["success"] is not True or not answer["message"]:
        raise Failed(f"{tool}({arguments}): {text}")
    return answer["data"]


async def error_of(client, tool, **arguments):
    """The text of a call that the tool refuses."""
    result = await client.call_tool(tool, arguments)
    if not result.is_error:
        raise Failed(f"{tool}({arguments}) succeeded: {text_of(result)}")
    return text_of(result)


# What a client sees before it calls


async def surface(client, report, era):
    report.check(f"protocol {era}", client.protocol_version == era, client.protocol_version)
    report.check("server n8n-lens", client.server_info and client.server_info.name == "n8n-lens", client.server_info)
    capabilities = client.server_capabilities.model_dump(exclude_none=True)
    expected = {"tools", "prompts"}
    report.check("capabilities: only existing ones", set(capabilities) == expected, capabilities)
    prompts = (await client.list_prompts()).prompts
    report.check("one prompt", [prompt.name for prompt in prompts] == ["explain_execution"], prompts)
    prompt = await client.get_prompt("explain_execution", {"id": "42"})
    report.check("the prompt names the execution", "execution 42" in prompt.messages[0].content.text, prompt)
    instructions = client.instructions or ""
    report.check("instructions name the first tool", "list_executions" in instructions, instructions)

    listed = await client.list_tools()
    names = [tool.name for tool in listed.tools]
    known = effects()
    report.check("the tools in order", known is None or names == list(known), names)
    report.check("a single page", listed.next_cursor is None, listed.next_cursor)
    for tool in listed.tools:
        hints = tool.annotations and (
            tool.annotations.read_only_hint,
            tool.annotations.destructive_hint,
            tool.annotations.idempotent_hint,
            tool.annotations.open_world_hint,
        )
        # MCP: the hints between mean something only of a tool that writes.
        explicit = bool(hints) and None not in (hints[0], hints[3]) and all((hint is None) == hints[0] for hint in hints[1:3])
        report.check(f"annotations of {tool.name} are explicit", explicit, hints)
        if known:
            effect = known[tool.name]
            holds = (hints[0], bool(hints[1])) == (effect == "reads", effect == "overwrites")
            report.check(f"annotations of {tool.name}: it {effect}", holds, hints)
    strict = [tool.name for tool in listed.tools if tool.input_schema.get("additionalProperties") is not False]
    report.check("every input schema refuses unknown arguments", not strict, strict)
    outputs = [tool.name for tool in listed.tools if tool.output_schema is not None]
    report.check("no output schema", not outputs, outputs)
    node = next(tool for tool in listed.tools if tool.name == "get_execution_by_node")
    chars = (node.meta or {}).get("anthropic/maxResultSizeChars")
    report.check("a node's answer can be long", chars == 120_000, node.meta)


async def executions(client, report):
    execution, node = os.environ["EXECUTION_ID"], os.environ["NODE_NAME"]
    data = await data_of(client, "list_executions", limit=2)
    report.check("list_executions", 1 <= data["count"] == len(data["executions"]) <= 2, data)
    data = await data_of(client, "get_execution", id=execution)
    report.check("get_execution", data["id"] == execution and data["statistics"]["totalNodes"] > 0, data)
    data = await data_of(client, "get_execution", id=int(execution))
    report.check("get_execution with a number", data["id"] == execution, data)
    data = await data_of(client, "get_execution_by_node", id=execution, nodeName=node)
    report.check("get_execution_by_node", (data["executionId"], data["nodeName"]) == (execution, node), data)

    seen = []

    async def one():
        seen.append((await data_of(client, "get_execution", id=execution))["id"])

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(one)
    report.check("eight calls at once", seen == [execution] * 8, seen)


def workflow(name, nodes):
    """A chain of nodes that do nothing."""
    names = ["Start", *(f"Step {step}" for step in range(1, nodes))]
    return {
        "name": name,
        "nodes": [
            {
                "id": str(uuid.uuid4()),
                "name": node,
                "type": "n8n-nodes-base.noOp" if place else "n8n-nodes-base.manualTrigger",
                "typeVersion": 1,
                "position": [200 * place, 0],
                "parameters": {},
            }
            for place, node in enumerate(names)
        ],
        "connections": {
            source: {"main": [[{"node": target, "type": "main", "index": 0}]]} for source, target in pairwise(names)
        },
    }


async def workflows(client, report, folder):
    name = f"n8n-lens client {uuid.uuid4()}"
    created = []
    try:
        data = await data_of(client, "list_workflows", limit=1)
        report.check("list_workflows", data["count"] == len(data["workflows"]) <= 1, data)

        data = await data_of(client, "create_workflow", **workflow(name, nodes=2))
        created.append(identifier := data["id"])
        report.check("create_workflow", (data["name"], data["active"]) == (name, False), data)
        data = await data_of(client, "list_workflows", name=name)
        report.check("list_workflows by name", [found["id"] for found in data["workflows"]] == [identifier], data)
        data = await data_of(client, "get_workflow", id=identifier)
        report.check("get_workflow", (data["id"], data["name"], data["nodeCount"]) == (identifier, name, 2), data)
        data = await data_of(client, "get_workflow_connections", id=identifier)
        graph = [(node["node"], node["inputs"], node["outputs"]) for node in data["graph"]]
        report.check("get_workflow_connections", graph == [("Start", [], ["Step 1"]), ("Step 1", ["Start"], [])], data)

        data = await data_of(client, "update_workflow", id=identifier, name=f"{name} renamed")
        report.check("update_workflow", data == {"id": identifier, "name": f"{name} renamed"}, data)
        data = await data_of(client, "set_workflow_active", id=identifier, active=False)
        report.check("set_workflow_active", data["active"] is False, data)
        data = await data_of(client, "get_workflow", id=identifier)
        kept = (data["name"], data["nodeCount"]) == (f"{name} renamed", 2)
        report.check("an update keeps other members", kept, data)

        file = Path(folder, f"{uuid.uuid4()}.json")
        file.write_text(json.dumps(workflow(f"{name} file", nodes=3)))
        data = await data_of(client, "create_workflow_from_file", filePath=str(file))
        created.append(from_file := data["id"])
        report.check("create_workflow_from_file", (data["name"], data["active"]) == (f"{name} file", False), data)
        file.write_text(json.dumps({**workflow(f"{name} again", nodes=4), "id": "ignored"}))
        data = await data_of(client, "replace_workflow_from_file", id=from_file, filePath=str(file))
        report.check("replace_workflow_from_file", data == {"id": from_file, "name": f"{name} again"}, data)
        data = await data_of(client, "get_workflow", id=from_file)
        report.check("a replacement replaces all", (data["name"], data["nodeCount"]) == (f"{name} again", 4), data)
        text = await error_of(client, "replace_workflow_from_file", id="nope", filePath=str(file))
        report.check("replace_workflow_from_file: unknown id", text == "Workflow 'nope' not found.", text)
        file.unlink()
        text = await error_of(client, "create_workflow_from_file", filePath=str(file))
        report.check("create_workflow_from_file: missing file", file.name in text, text)

        for gone in list(created):
            data = await data_of(client, "delete_workflow", id=gone)
            created.remove(gone)
            report.check("delete_workflow", data == {"id": gone}, data)
        text = await error_of(client, "get_workflow", id=identifier)
        report.check("a deleted workflow is gone", text == f"Workflow '{identifier}' not found.", text)
    finally:
        with anyio.move_on_after(10, shield=True):
            for left in created:
                await client.call_tool("delete_workflow", {"id": left})


async def refusals(client, report):
    for tool in ["get_workflow", "get_workflow_connections", "delete_workflow"]:
        text = await error_of(client, tool, id="nope")
        report.check(f"{tool}: unknown id", text == "Workflow 'nope' not found.", text)
    text = await error_of(client, "update_workflow", id="nope", name="never")
    report.check("update_workflow: unknown id", text == "Workflow 'nope' not found.", text)
    text = await error_of(client, "get_execution", id="999999999")
    report.check("get_execution: unknown id", text == "Execution '999999999' not found.", text)
    text = await error_of(client, "get_execution", id="1", color="red")
    report.check("an unknown argument is a result that names it", "color" in text, text)
    try:
        seen = await client.call_tool("no_such_tool", {})
    except MCPError as error:
        seen = error
    report.check("an unknown tool is a protocol error", getattr(seen, "code", None) == INVALID_PARAMS, seen)
    report.check("the connection survives", (await client.list_tools(cache_mode="bypass")).tools)


# Slow n8n


class SlowN8n:
    """An n8n with endless bodies that counts the current downloads."""

    LENGTH = 1_000_000_000
    HEAD = {"id": "1", "workflowId": "slow", "status": "success", "startedAt": "2026-01-01T00:00:00.000Z"}
    RUN_DATA = ',"data":{"resultData":{"runData":{"Slow":[{"data":{"main":[[{"json":{}}'

    def __init__(self):
        self.begun = 0
        self.reading = 0

    @classmethod
    @asynccontextmanager
    async def start(cls):
        n8n = cls()
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, n8n.answer)
            n8n.url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
            yield n8n
            group.cancel_scope.cancel()

    async def answer(self, stream):
        async with stream:
            request = b""
            try:
                while b"\r\n\r\n" not in request:
                    request += await stream.receive()
                if b"includeData=true" in request.split(b"\r\n")[0]:
                    await self.body(stream)
                else:
                    head = json.dumps(self.HEAD).encode()
                    await stream.send(self.headers(len(head)) + head)
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                pass

    async def body(self, stream):
        self.begun += 1
        self.reading += 1
        try:
            head = json.dumps(self.HEAD).removesuffix("}") + self.RUN_DATA
            await stream.send(self.headers(self.LENGTH) + head.encode())
            while True:
                await stream.send(b',{"json":{}}' * 1000)
                await anyio.sleep(0.02)
        finally:
            self.reading -= 1

    @staticmethod
    def headers(length):
        lines = ["HTTP/1.1 200 OK", "Content-Type: application/json", f"Content-Length: {length}", "Connection: close"]
        return "\r\n".join([*lines, "", ""]).encode()

    async def free_within(self, seconds):
        with anyio.move_on_after(seconds):
            while self.reading:
                await anyio.sleep(0.01)
        return not self.reading


async def patience(client, report, n8n):
    notes = []

    async def note(progress, total, message):
        notes.append((progress, total, message))

    begun = n8n.begun
    try:
        seen = await client.call_tool("get_execution", {"id": "1"}, read_timeout_seconds=2, progress_callback=note)
    except MCPError as error:
        seen = error
    report.check("a timeout", getattr(seen, "code", None) == REQUEST_TIMEOUT and n8n.begun > begun, seen)
    report.check("a timeout ends the download within a second", await n8n.free_within(1), n8n.reading)
    values = [progress for progress, _, _ in notes]
    report.check("progress, at most four a second", 2 <= len(notes) <= 9, notes)
    report.check("progress only grows", all(a < b for a, b in pairwise(values)), values)
    report.check("progress has a total and a message", notes[-1][1] == n8n.LENGTH and notes[-1][2], notes[-1])

    begun = n8n.begun
    with anyio.move_on_after(1) as scope:
        await client.call_tool("get_execution", {"id": "1"})
    report.check("a cancelled call", scope.cancelled_caught and n8n.begun > begun)
    report.check("a cancel ends the download within a second", await n8n.free_within(1), n8n.reading)
    text = await error_of(client, "get_execution", id="x")
    report.check("the connection survives", "id" in text, text)


# Transports


def stdio(n8n_url, api_key):
    env = {"N8N_URL": n8n_url, "N8N_API_KEY": api_key, "LOG_LEVEL": "off", "N8N_LENS_FILES_ROOT": "/"}
    return StdioServerParameters(command=os.environ["N8N_LENS"], env=env)


@asynccontextmanager
async def connect(server, mode):
    """A client of a command or a URL, with a timeout of a minute."""
    if not isinstance(server, str):
        async with Client(server, mode=mode, read_timeout_seconds=60) as client:
            yield client
        return
    token = os.environ.get("N8N_LENS_MCP_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(10, read=60), trust_env=False) as http:
        transport = streamable_http_client(server, http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=60) as client:
            yield client


@asynccontextmanager
async def http_server(n8n_url):
    """The binary as an HTTP server on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [os.environ["N8N_LENS"], "--transport", "http", "--host", "127.0.0.1", "--port", str(port)]
    env = {**os.environ, "N8N_URL": n8n_url, "N8N_API_KEY": "slow"}
    child = subprocess.Popen(command, env=env)
    try:
        async with httpx2.AsyncClient(trust_env=False) as http:
            for _ in range(100):
                try:
                    if (await http.get(f"http://127.0.0.1:{port}/health")).is_success:
                        break
                except httpx2.TransportError:
                    pass
                if child.poll() is not None:
                    raise Failed(f"{command} ended with {child.returncode}")
                await anyio.sleep(0.1)
            else:
                raise Failed(f"{command}: no /health in ten seconds")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


async def everything(server, transport, folder):
    for mode, era in ERAS.items():
        report = Report(f"{transport} {mode}")
        async with connect(server, mode) as client:
            await surface(client, report, era)
            await executions(client, report)
            await refusals(client, report)
            await workflows(client, report, folder)
            closing = time.monotonic()
        closing = time.monotonic() - closing
        # The SDK sends SIGTERM to a process that outlives its standard input by two seconds.
        report.check("ends by itself", closing < 1.5, closing)


async def token_is_required(url):
    report = Report("http")
    try:
        async with Client(streamable_http_client(url), read_timeout_seconds=10) as client:
            seen = client.server_info
    except (MCPError, ExceptionGroup) as error:
        seen = error
    report.check("no client without the token", isinstance(seen, Exception), seen)


async def slowly(transport, serve):
    for mode in ERAS:
        report = Report(f"{transport} {mode}, slow n8n")
        async with SlowN8n.start() as n8n, serve(n8n.url) as server, connect(server, mode) as client:
            await patience(client, report, n8n)


async def main():
    binary, url = os.environ.get("N8N_LENS"), os.environ.get("N8N_LENS_MCP_URL")
    if not (binary or url):
        sys.exit("set N8N_LENS or N8N_LENS_MCP_URL")
    print(f"mcp {version('mcp')}, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        if binary:
            await everything(stdio(os.environ["N8N_URL"], os.environ["N8N_API_KEY"]), "stdio", folder)
            await slowly("stdio", lambda n8n_url: nullcontext(stdio(n8n_url, "slow")))
        if url and os.environ.get("N8N_LENS_MCP_TOKEN"):
            await token_is_required(url)
        if url:
            await everything(url, "http", folder)
        if binary and url:
            await slowly("http", http_server)
    print("all checks hold")


def causes(error):
    """The errors in a group of errors."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from causes(inner)
    else:
        yield str(error) if isinstance(error, Failed) else f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    try:
        anyio.run(main)
    except Exception as error:
        for cause in causes(error):
            print(f"FAIL {cause}", flush=True)
        sys.exit(1)
