#!/usr/bin/env python3
"""Many executions, as n8n stores them: five workflows, planted failures, changes and needles; equal on every run.

    make.py --sqlite FILE [--postgres URL] [--truth FILE.json] [--executions 5000] [--large 20] [--large-bytes 20000000]
            [--middle-bytes 200000] [--seed 1] [--n8n 2.41|1.123] [--journal WAL|DELETE]

The texts are `flatted`, breadth first, as npm `flatted` 3.4.2 writes them. PostgreSQL gets the same rows through `psql` (n8n's tables and the indexes that matter; existing ones are dropped).
`--truth` says what is planted: what each question must answer. 5,000 executions are 0.87 GB of text and take a minute on a free core; with --middle-bytes 3000 --large-bytes 50000 it is 30 MB and seconds.
"""
import argparse
import json
import math
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from json.encoder import encode_basestring as quote
from pathlib import Path

NEEDLE = "order 4711"
START, DAYS = datetime(2026, 10, 23, tzinfo=timezone.utc), 30
TOKEN = "5eed" * 16
PLAIN = (None, True, False)


def flatted(root):
    """The text of a value: strings shared by value, containers by identity, numbered when they are first met, breadth first."""
    queue, strings, seen, keys, out = [root], {}, {id(root): 0}, {}, []
    for value in queue:
        if type(value) is str:
            out.append(quote(value))
            continue
        is_list = type(value) is list
        parts = []
        for key, part in enumerate(value) if is_list else value.items():
            kind = type(part)
            if kind is str:
                at = strings.get(part)
                if at is None:
                    at = strings[part] = len(queue)
                    queue.append(part)
                text = f'"{at}"'
            elif kind is dict or kind is list:
                at = seen.get(id(part))
                if at is None:
                    at = seen[id(part)] = len(queue)
                    queue.append(part)
                text = f'"{at}"'
            else:
                text = "null" if part is None else "true" if part is True else "false" if part is False else repr(part)
            if is_list:
                parts.append(text)
            else:
                name = keys.get(key)
                if name is None:
                    name = keys[key] = quote(key) + ":"
                parts.append(name + text)
        out.append(f"[{','.join(parts)}]" if is_list else f"{{{','.join(parts)}}}")
    return f"[{','.join(out)}]"


def number(value):
    """A number that Python writes as JavaScript does."""
    value = round(value, 2)
    return int(value) if value == int(value) else value


def money(rng, low, high):
    return number(rng.randrange(int(low * 100), int(high * 100)) / 100)


def uuid(rng):
    text = f"{rng.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def version(workflow, number):
    return uuid(random.Random(f"version/{workflow}/{number}"))


WORDS = "alpha brick cloud delta ember forge glass harbor iron jade kiln lumen mango north olive pearl quartz river stone tulip".split()
CITIES = ["Berlin", "Paris", "Lyon", "Wien", "Zürich", "東京", "São Paulo", "Kraków"]


def text(rng, words):
    return " ".join(rng.choices(WORDS, k=words))


def customer(rng):
    name = rng.choice(WORDS).title()
    return {"id": f"C-{rng.randrange(1, 400):05d}", "name": f"{name} {rng.choice(['GmbH', 'Ltd', 'SARL'])}", "email": f"{name.lower()}{rng.randrange(90)}@example.com",
            "address": {"city": rng.choice(CITIES), "zip": f"{rng.randrange(10000, 99999)}"}}


def line(rng, n):
    return {"line": n, "sku": f"SKU-{rng.randrange(100000):05d}", "title": text(rng, 3), "quantity": rng.randrange(1, 9), "price": money(rng, 1, 400),
            "tax": {"rate": rng.choice([0.07, 0.19]), "code": rng.choice(["A", "B"])}, "remark": text(rng, rng.randrange(2, 9))}


# The nodes of each workflow: name, type, the median of its milliseconds, the spread (sigma of the logarithm).
WORKFLOWS = {
    "OrdersWorkflow01": ("Orders", "webhook", [("Webhook", "webhook", 1, .3), ("Fetch order", "httpRequest", 180, .4), ("Lines", "splitOut", 6, .3),
                                               ("Price", "code", 25, .3), ("Ship", "httpRequest", 320, .5)]),
    "InvoicesFlow0002": ("Invoices", "trigger", [("Schedule", "scheduleTrigger", 1, .3), ("List open", "postgres", 40, .4), ("Only due", "filter", 2, .3),
                                                 ("Mail", "emailSend", 210, .5)]),
    "StockSyncFlow003": ("Sync stock", "trigger", [("Schedule", "scheduleTrigger", 1, .3), ("Read stock", "httpRequest", 260, .4), ("Map", "set", 8, .3),
                                                   ("Update shop", "httpRequest", 400, .5)]),
    "NightlyExport004": ("Nightly export", "trigger", [("Schedule", "scheduleTrigger", 1, .3), ("Read rows", "postgres", 2400, .3), ("Transform", "code", 900, .3),
                                                       ("Write file", "readWriteFile", 700, .4)]),
    "ContactForm00005": ("Contact form", "webhook", [("Form", "webhook", 1, .3), ("Score", "code", 9, .4), ("CRM", "httpRequest", 240, .5)]),
}
SHARE = {"OrdersWorkflow01": 34, "InvoicesFlow0002": 24, "StockSyncFlow003": 16, "ContactForm00005": 26}
# From which day on a version runs.
VERSIONS = {"OrdersWorkflow01": [0, 9, 21], "InvoicesFlow0002": [0, 12], "StockSyncFlow003": [0, 18], "NightlyExport004": [0], "ContactForm00005": [0]}
SLOWER = ("StockSyncFlow003", "Update shop", 18, 2.5)  # with version 2, at once
EMPTY = ("InvoicesFlow0002", "List open", 22, 0.7)  # no edit: seven of ten read nothing from this day on

# kind: workflow, node, error class, message, description, HTTP code, weight, first day (None: always)
FAILURES = {
    "ship_500": ("OrdersWorkflow01", "Ship", "NodeApiError", "The service was not able to process your request",
                 lambda r: f"Label service: parcel {uuid(r)} of order no. {r.randrange(10000, 99999)} was refused after {r.randrange(900, 31000)} ms", "500", 30, 21),
    "ship_timeout": ("OrdersWorkflow01", "Ship", "NodeApiError", "The connection timed out, consider setting the 'Retry on Fail' option in the node settings", "timeout of 30000ms exceeded", None, 5, None),
    "fetch_404": ("OrdersWorkflow01", "Fetch order", "NodeApiError", "The resource you are requesting could not be found",
                  lambda r: f"404 - {{\"error\":\"no order {r.randrange(10000, 99999)}\"}}", "404", 14, None),
    "price_undefined": ("OrdersWorkflow01", "Price", "TypeError", lambda r: f"Cannot read properties of undefined (reading 'rate') [line {r.choice([12, 12, 12, 14])}, for item {r.randrange(0, 60)}]", None, None, 12, 9),
    "price_no_tax": ("OrdersWorkflow01", "Price", "Error", lambda r: f"Customer {uuid(r)} has no tax rate (order {r.randrange(100000, 999999)}, {money(r, 10, 900)} EUR) [line 31]", None, None, 6, None),
    "list_relation": ("InvoicesFlow0002", "List open", "NodeOperationError", lambda r: f'relation "tmp_{r.randrange(10000, 99999)}" does not exist', None, None, 5, None),
    "mail_rejected": ("InvoicesFlow0002", "Mail", "NodeApiError", lambda r: f"Can't send mail - all recipients were rejected: 550 5.1.1 <{r.choice(WORDS)}{r.randrange(90)}@example.com>: Recipient address rejected: User unknown", None, None, 8, None),
    "shop_429": ("StockSyncFlow003", "Update shop", "NodeApiError", "The service is receiving too many requests from you", lambda r: f"Retry after {r.randrange(1, 60)} seconds (request id req_{r.getrandbits(64):016x})", "429", 9, None),
    "shop_refused": ("StockSyncFlow003", "Update shop", "NodeApiError", "The service refused the connection - perhaps it is offline",
                     lambda r: f"connect ECONNREFUSED 10.0.{r.randrange(1, 9)}.{r.randrange(1, 250)}:443", None, 4, None),
    "shop_dns": ("StockSyncFlow003", "Update shop", "NodeApiError", "The connection cannot be established, this usually occurs due to an incorrect host (domain) value", lambda r: f"getaddrinfo ENOTFOUND shop-{r.randrange(1, 9)}.example.com", None, 3, 25),
    "disk_full": ("NightlyExport004", "Write file", "NodeOperationError", lambda r: f"ENOSPC: no space left on device, write '/data/export/2026-11-{r.randrange(1, 21):02d}/part-{r.randrange(0, 99):05d}.csv'", None, None, 0, None),
    "crm_json": ("ContactForm00005", "CRM", "NodeApiError", lambda r: f"Unexpected token '<', \"<html><hea\"... is not valid JSON at position {r.randrange(1, 9000)}", None, None, 4, None),
}


def values_of(kind, rng):
    workflow, node, name, message, description, code, _, _ = FAILURES[kind]
    made = [part(rng) if callable(part) else part for part in (message, description)]
    return node, name, made[0], made[1], code


class Execution:
    def __init__(self, number, workflow, started, options):
        self.id, self.workflow, self.started, self.options = number, workflow, started, options
        self.rng = random.Random(f"{options.seed}/{number}")
        self.day = (started - START) / timedelta(days=1)
        self.version = sum(1 for day in VERSIONS[workflow] if day <= self.day)
        self.failure, self.status, self.needle, self.large = None, "success", None, False
        self.redacted = False

    @property
    def version_id(self):
        return version(self.workflow, self.version)

    def milliseconds(self, node, median, sigma):
        factor = SLOWER[3] if (self.workflow, node) == SLOWER[:2] and self.version == 2 else 1
        return int(median * factor * math.exp(self.rng.gauss(0, sigma)))

    def items(self, node, before):
        """What a node sends, from what it received."""
        rng, size = self.rng, self.options.middle_bytes
        item = lambda json, n: {"json": json, "pairedItem": {"item": n}}
        if node in ("Webhook", "Form"):
            body = {"orderId": rng.randrange(10000, 99999)} if node == "Webhook" else {"name": text(rng, 2), "email": f"{rng.choice(WORDS)}@example.com", "message": text(rng, rng.randrange(5, 60))}
            return [{"json": {"headers": {"content-type": "application/json", "host": "n8n.example.com"}, "params": {}, "query": {}, "body": body,
                              "webhookUrl": f"https://n8n.example.com/webhook/{self.workflow}", "executionMode": "production"}}]
        if node == "Schedule":
            return [{"json": {"timestamp": self.started.isoformat(timespec="milliseconds"), "Timezone": "Europe/Berlin"}}]
        if node == "Fetch order":
            count = max(2, int(size / 445 * rng.uniform(.6, 1.4)))
            order = {"number": f"O-{rng.randrange(10000, 99999)}", "createdAt": (self.started - timedelta(seconds=rng.randrange(9999))).isoformat(timespec="seconds"), "customer": customer(rng),
                     "lines": [line(rng, n + 1) for n in range(count)], "history": [{"at": n, "remarks": [{"by": rng.choice(WORDS), "text": text(rng, 6)}]} for n in range(4)]}
            return [item(order, 0)]
        if node == "Lines":
            return [item(one, 0) for one in before[0]["json"]["lines"]]  # the same objects
        if node == "Price":
            return [item({**one["json"], "total": number(one["json"]["quantity"] * one["json"]["price"]), "currency": "EUR"}, n) for n, one in enumerate(before)]
        if node in ("Ship", "CRM", "Mail", "Update shop"):
            return [item({"ok": True, "id": uuid(rng), "ms": rng.randrange(20, 90)}, n) for n in range(len(before) if node != "Ship" else 1)]
        if node == "List open":
            is_empty = self.day >= EMPTY[2] and rng.random() < EMPTY[3] and not self.failure
            return [] if is_empty else [item({"invoice": f"I-{rng.randrange(10000, 99999)}", "amount": money(rng, 20, 900), "due": f"2026-11-{rng.randrange(1, 29):02d}", "customer": customer(rng)}, 0) for _ in range(rng.randrange(8, 25))]
        if node == "Only due":
            return [item(one["json"], n) for n, one in enumerate(before) if n % 4 != 3]
        if node == "Read stock":
            return [item({"sku": f"SKU-{n:05d}", "stock": rng.randrange(900), "place": rng.choice(CITIES), "note": text(rng, 4)}, 0) for n in range(max(2, int(size / 433 * rng.uniform(.7, 1.3))))]
        if node in ("Map", "Transform"):
            return [item({**one["json"], "at": self.started.isoformat(timespec="seconds"), "key": f"{one['json'].get('sku') or one['json'].get('row')}-{n}"}, n) for n, one in enumerate(before)]
        if node == "Read rows":
            count = int((self.options.large_bytes if self.large else size) / 827)
            pad = text(rng, 60)
            return [item({"row": f"R{n:07d}", "name": f"{rng.choice(WORDS)} {n}", "amount": money(rng, 1, 9000), "country": rng.choice(CITIES), "payload": f"{n:x} {pad} {rng.getrandbits(64):016x}",
                          "details": {"batch": n // 100, "flags": [n % 2 == 0, None, n % 7]}}, 0) for n in range(count)]
        if node == "Write file":
            return [item({"file": f"/data/export/{self.started:%Y-%m-%d}.csv", "rows": len(before)}, 0)]
        if node == "Score":
            return [item({**before[0]["json"]["body"], "score": rng.randrange(100)}, 0)]
        raise KeyError(node)

    def plant(self, node, items):
        kind = self.needle
        if kind == "nested" and node == "Fetch order":
            items[0]["json"]["history"][2]["remarks"][0]["text"] = f"the customer asks about {NEEDLE} again"
        elif kind in ("escaped", "redacted") and node == "Score":
            items[0]["json"]["message"] = f"Where is {NEEDLE}? ☎ \"urgent\""
        elif kind == "key" and node == "Score":
            items[0]["json"][NEEDLE] = True
        elif kind == "number" and node == "Score":
            items[0]["json"]["order"] = 4711
        elif kind == "digits" and node == "Score":
            items[0]["json"]["order"] = "4711"
        elif kind == "capital" and node == "Score":
            items[0]["json"]["message"] = NEEDLE.replace("order", "Order") + " is late"
        elif kind == "nested_json" and node == "Score":
            items[0]["json"]["message"] = json.dumps({"note": NEEDLE + " (inside JSON)"})

    def data(self):
        """The run data, and how long it took."""
        name, mode, nodes = WORKFLOWS[self.workflow]
        at = int(self.started.timestamp() * 1000) + 5
        run_data, items, before, error, last = {}, [], None, None, None
        stack = []
        for index, (node, kind, median, sigma) in enumerate(nodes):
            took = self.milliseconds(node, median, sigma)
            source = [{"previousNode": before, "previousNodeOutput": 0, "previousNodeRun": 0}] if before else []
            run = {"startTime": at, "executionIndex": index, "source": source, "hints": [], "executionTime": took, "executionStatus": "success"}
            last = node
            if self.failure and FAILURES[self.failure][1] == node:
                error = self.error(kind, at + took)
                run |= {"executionStatus": "error", "error": dict(error)}
                run_data[node] = [run]
                stack = [{"node": error["node"], "data": {"main": [items]}, "source": {"main": source}}]
                at += took
                break
            items = self.items(node, items)
            self.plant(node, items)
            run["data"] = {"main": [items]}
            run_data[node] = [run]
            before, at = node, at + took + 1
            if not items:
                break
        result = {"error": error} if error else {}
        result |= {"runData": run_data, "pinData": {}, "lastNodeExecuted": last}
        redaction = {"version": 2, "production": self.redacted, "manual": False}
        context = {"node:Score": {"noItemsLeft": True, "note": NEEDLE}} if self.needle == "context" else {}
        return {"version": 1, "startData": {}, "resultData": result,
                "executionData": {"contextData": context, "nodeExecutionStack": stack, "metadata": {}, "waitingExecution": {}, "waitingExecutionSource": {},
                                  "runtimeData": {"version": 1, "establishedAt": int(self.started.timestamp() * 1000), "source": mode, "redaction": redaction}},
                "resumeToken": TOKEN}, at

    def error(self, kind, at):
        node, name, message, description, code = values_of(self.failure, self.rng)
        made = {"level": "warning", "tags": {}, "timestamp": at, "context": {"itemIndex": 0, "data": {}}, "functionality": "regular", "name": name,
                "node": self.node(node, kind), "messages": [], "message": message,
                "stack": f"{name}: {message}\n    at ExecuteContext.execute (/usr/local/lib/node_modules/n8n-nodes-base/nodes/{kind}/{kind}.node.ts:{892}:16)\n"
                         "    at WorkflowExecute.executeNode (/usr/local/lib/node_modules/n8n-core/src/execution-engine/workflow-execute.ts:1129:8)"}
        if description:
            made["description"] = description
        if code:
            made["httpCode"] = code
        return made

    def node(self, name, kind):
        parameters = {"url": f"https://api.example.com/{name.lower().replace(' ', '-')}", "version": self.version, "options": {"timeout": 30000 + self.version}} if kind == "httpRequest" else {"mode": "default", "version": self.version}
        return {"id": uuid(random.Random(f"node/{self.workflow}/{name}")), "name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion": 2, "position": [0, 0], "parameters": parameters}

    def workflow_data(self):
        name, _, nodes = WORKFLOWS[self.workflow]
        names = [node[0] for node in nodes]
        connections = {one: {"main": [[{"node": other, "type": "main", "index": 0}]]} for one, other in zip(names, names[1:])}
        return json.dumps({"id": self.workflow, "name": name, "nodes": [self.node(node, kind) for node, kind, _, _ in nodes], "connections": connections,
                           "settings": {"executionOrder": "v1"}, "nodeGroups": []}, ensure_ascii=False, separators=(",", ":"))

    def row(self):
        """The columns, the workflow and the text."""
        data, end = self.data()
        written = flatted(data)
        if self.needle == "escaped":
            # Not how n8n writes it, but the same JSON: other programs write databases, too.
            assert written.count(NEEDLE) == 1
            written = written.replace(NEEDLE, "\\u006frder\\u0020\\u0034711")
        flow = self.workflow_data()
        stopped = datetime.fromtimestamp(end / 1000, timezone.utc)
        status = "error" if self.failure else self.status
        return {"id": self.id, "workflowId": self.workflow, "finished": status == "success", "mode": WORKFLOWS[self.workflow][1], "status": status,
                "createdAt": self.started - timedelta(milliseconds=5), "startedAt": self.started, "stoppedAt": stopped,
                "jsonSizeBytes": len(written.encode()) + len(flow.encode()) + 36, "workflowVersionId": self.version_id}, flow, written


def plan(options):
    """All executions, oldest first, with what is planted into which."""
    rng = random.Random(options.seed)
    names = rng.choices(list(SHARE), weights=list(SHARE.values()), k=options.executions)
    for place in range(options.large):  # one a night, the newest nights
        names[(place * 2 + 1) * options.executions // (2 * options.large)] = "NightlyExport004"
    step = timedelta(days=DAYS) / options.executions
    made = [Execution(1001 + n, name, START + step * n + timedelta(milliseconds=rng.randrange(0, int(step.total_seconds() * 900))), options) for n, name in enumerate(names)]
    large = [execution for execution in made if execution.workflow == "NightlyExport004"]
    for execution in large:
        execution.large = True
    total, wanted = sum(kind[6] for kind in FAILURES.values()), round(options.executions * .08) - 2
    for kind, (workflow, *_, weight, first) in FAILURES.items():
        candidates = [e for e in made if e.workflow == workflow and e.day >= (first or 0) and not e.failure]
        for execution in rng.sample(candidates, min(len(candidates), round(wanted * weight / total))):
            execution.failure = kind
    for execution in large[-2:]:
        execution.failure = "disk_full"
    for execution in rng.sample([e for e in made if not e.failure and not e.large], 6):
        execution.status = "canceled"
    spare = [e for e in made if e.workflow == "ContactForm00005" and not e.failure and e.status == "success"]
    orders = [e for e in made if e.workflow == "OrdersWorkflow01" and not e.failure and e.status == "success"]
    orders[len(orders) // 3].needle = "nested"
    kinds = ["escaped", "redacted", "key", "number", "digits", "capital", "context", "nested_json"]
    for n, kind in enumerate(kinds):
        spare[(n + 1) * len(spare) // (len(kinds) + 1)].needle = kind
    for execution in made:
        execution.redacted = execution.needle == "redacted"
    return made


def truth(made):
    """What the questions must answer."""
    needles = {e.needle: str(e.id) for e in made if e.needle}
    groups = []
    for kind, (workflow, node, *_) in FAILURES.items():
        failed = [e for e in made if e.failure == kind]
        if not failed:
            continue
        good = [e for e in made if e.workflow == workflow and not e.failure and e.status == "success" and e.id < failed[0].id]
        groups.append({"kind": kind, "workflowId": workflow, "node": node, "count": len(failed), "first": str(failed[0].id), "last": str(failed[-1].id), "firstVersion": failed[0].version_id,
                       "lastGood": str(good[-1].id) if good else None, "lastGoodVersion": good[-1].version_id if good else None})
    slower = [e for e in made if e.workflow == SLOWER[0] and e.version == 2]
    empty = [e for e in made if e.workflow == EMPTY[0] and e.day >= EMPTY[2]]
    return {"executions": len(made), "needle": NEEDLE,
            "found": {"text": [needles[k] for k in ("nested", "escaped", "capital", "nested_json") if k in needles], "redacted": [needles["redacted"]], "notAHit": [needles["key"], needles["context"]],
                      "number": [needles["number"]], "digits": [needles["digits"]]}, "needles": needles,
            "groups": sorted(groups, key=lambda g: -g["count"]), "failures": sum(1 for e in made if e.failure),
            "slower": {"workflowId": SLOWER[0], "node": SLOWER[1], "factor": SLOWER[3], "first": str(slower[0].id), "version": slower[0].version_id},
            "empty": {"workflowId": EMPTY[0], "node": EMPTY[1], "firstDay": EMPTY[2], "firstPossible": str(empty[0].id), "share": EMPTY[3], "versionChanged": False},
            "quiet": ["ContactForm00005", "NightlyExport004"]}


TABLES = '''
CREATE TABLE "workflow_entity" ("id" varchar(36) PRIMARY KEY NOT NULL, "name" varchar(128) NOT NULL, "active" boolean NOT NULL, "nodes" text, "connections" text NOT NULL, "settings" text);
CREATE TABLE "migrations" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "timestamp" bigint NOT NULL, "name" varchar NOT NULL);
CREATE TABLE "execution_entity" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "workflowId" varchar(36) NOT NULL, "finished" boolean NOT NULL, "mode" varchar NOT NULL, "retryOf" varchar, "retrySuccessId" varchar, "startedAt" datetime, "stoppedAt" datetime, "waitTill" datetime, "status" varchar NOT NULL, "deletedAt" datetime(3), "createdAt" datetime(3) NOT NULL DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')), "storedAt" varchar(2) NOT NULL DEFAULT 'db' CHECK("storedAt" IN ('db','fs','s3','az')), "tracingContext" text, "deduplicationKey" varchar(255), "jsonSizeBytes" BIGINT NOT NULL DEFAULT 0, "workflowVersionId" VARCHAR(36) DEFAULT NULL, "binaryDataSizeBytes" BIGINT NOT NULL DEFAULT 0, "usedPrivateCredentials" BOOLEAN NOT NULL DEFAULT FALSE, FOREIGN KEY("workflowId") REFERENCES "workflow_entity"("id") ON DELETE CASCADE);
CREATE TABLE "execution_data" ("executionId" int PRIMARY KEY NOT NULL, "workflowData" text NOT NULL, "data" text NOT NULL, "workflowVersionId" VARCHAR(36), FOREIGN KEY("executionId") REFERENCES "execution_entity" ("id") ON DELETE CASCADE);
CREATE TABLE "execution_metadata" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "executionId" integer NOT NULL, "key" varchar(255) NOT NULL, "value" text NOT NULL);
'''
NEW = ("storedAt", "jsonSizeBytes", "workflowVersionId")
# Not in 1.123.
ABSENT = (*NEW, "tracingContext", "deduplicationKey", "binaryDataSizeBytes", "usedPrivateCredentials")


def tables(version):
    """n8n's tables that have to do with executions."""
    if version != "1.123":
        return TABLES
    absent = "|".join(ABSENT)
    return re.sub(rf', "({absent})" (?:[^,()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*(?=, "|, FOREIGN|\))', "", TABLES)


class Sqlite:
    def __init__(self, path, options):
        self.path = Path(path)
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute(f"PRAGMA journal_mode={options.journal}")
        self.db.execute("PRAGMA synchronous=OFF")
        self.db.executescript(tables(options.n8n))
        self.db.execute("CREATE INDEX stopped ON execution_entity(stoppedAt)")
        self.db.execute("INSERT INTO migrations(timestamp,name) VALUES(?,'Newest')", (1784000000004 if options.n8n == "1.123" else 1789995003141,))
        # so that rowid and executionId differ, as in a real one
        self.db.execute("INSERT INTO execution_data(executionId,workflowData,data) VALUES(999999,'{}','[]')")
        self.db.execute("DELETE FROM execution_data")
        self.old = options.n8n == "1.123"

    def add(self, row, flow, written):
        time = lambda value: value.strftime("%Y-%m-%d %H:%M:%S.") + f"{value.microsecond // 1000:03d}"
        row = {name: time(value) if isinstance(value, datetime) else value for name, value in row.items() if not (self.old and name in NEW)}
        self.db.execute("BEGIN")
        self.db.execute("INSERT OR IGNORE INTO workflow_entity(id,name,active,connections) VALUES(?,?,1,'{}')", (row["workflowId"], json.loads(flow)["name"]))
        self.db.execute(f"INSERT INTO execution_entity({','.join(row)}) VALUES({','.join('?' * len(row))})", tuple(row.values()))
        self.db.execute("INSERT INTO execution_data(executionId,workflowData,data) VALUES(?,?,?)", (row["id"], flow, '[{"version":1}]'))
        self.db.execute("COMMIT")
        self.db.execute("UPDATE execution_data SET data=? WHERE executionId=?", (written, row["id"]))

    def close(self):
        if self.db.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.close()


POSTGRES = '''
DROP TABLE IF EXISTS execution_metadata, execution_data, execution_entity, migrations, workflow_entity;
CREATE TABLE workflow_entity (id varchar(36) PRIMARY KEY, name varchar(128) NOT NULL, active boolean NOT NULL);
CREATE TABLE migrations (id serial PRIMARY KEY, "timestamp" bigint NOT NULL, name varchar NOT NULL);
CREATE TABLE execution_entity (id serial PRIMARY KEY, finished boolean NOT NULL, mode varchar NOT NULL, "retryOf" varchar, "retrySuccessId" varchar, "startedAt" timestamptz(3), "stoppedAt" timestamptz(3),
 "waitTill" timestamptz(3), status varchar NOT NULL, "workflowId" varchar(36) NOT NULL, "deletedAt" timestamptz(3), "createdAt" timestamptz(3) NOT NULL DEFAULT now(), "storedAt" varchar(2) NOT NULL DEFAULT 'db',
 "tracingContext" json, "deduplicationKey" varchar(255), "jsonSizeBytes" bigint NOT NULL DEFAULT 0, "workflowVersionId" varchar(36), "binaryDataSizeBytes" bigint NOT NULL DEFAULT 0, "usedPrivateCredentials" boolean NOT NULL DEFAULT false);
CREATE TABLE execution_data ("executionId" integer PRIMARY KEY REFERENCES execution_entity(id) ON DELETE CASCADE, "workflowData" json NOT NULL, data text NOT NULL, "workflowVersionId" varchar(36));
CREATE TABLE execution_metadata (id serial PRIMARY KEY, "executionId" integer NOT NULL REFERENCES execution_entity(id) ON DELETE CASCADE, key varchar(255) NOT NULL, value text NOT NULL);
CREATE INDEX ON execution_entity ("workflowId", status, id);
CREATE INDEX ON execution_entity ("stoppedAt");
INSERT INTO migrations("timestamp", name) VALUES (1789995003141, 'Newest');
'''


class Postgres:
    """Through `psql`: the small tables are sent at the end, the texts as they come."""
    def __init__(self, url, options):
        self.url = url
        self.psql(POSTGRES.encode())
        self.rows, self.flows = [], {}
        self.spool = tempfile.NamedTemporaryFile("wb", dir=options.spool, suffix=".copy")

    def psql(self, script):
        subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", self.url], input=script, stdout=subprocess.DEVNULL, check=True)

    def add(self, row, flow, written):
        escaped = lambda value: value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
        self.flows[row["workflowId"]] = json.loads(flow)["name"]
        self.rows.append("\t".join("\\N" if v is None else ("t" if v is True else "f" if v is False else v.isoformat() if isinstance(v, datetime) else str(v)) for v in row.values()))
        self.names = list(row)
        self.spool.write(f"{row['id']}\t{escaped(flow)}\t{escaped(written)}\n".encode())

    def close(self):
        for name, value in self.flows.items():
            self.psql(f"INSERT INTO workflow_entity VALUES ('{name}', '{value}', true)".encode())
        columns = ",".join(f'"{name}"' for name in self.names)
        self.psql(f"COPY execution_entity({columns}) FROM STDIN;\n".encode() + "\n".join(self.rows).encode() + b"\n\\.\n")
        self.spool.flush()
        self.psql(f"\\copy execution_data(\"executionId\",\"workflowData\",data) FROM '{self.spool.name}'\n"
                  "SELECT setval('execution_entity_id_seq', (SELECT max(id) FROM execution_entity));\nANALYZE;\n".encode())
        self.spool.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sqlite"), parser.add_argument("--postgres"), parser.add_argument("--truth"), parser.add_argument("--spool")
    for name, default in (("executions", 5000), ("large", 20), ("large-bytes", 20_000_000), ("middle-bytes", 200_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--n8n", choices=["2.41", "1.123"], default="2.41"), parser.add_argument("--journal", choices=["WAL", "DELETE"], default="WAL")
    options = parser.parse_args()
    made = plan(options)
    writers = [kind(place, options) for kind, place in ((Sqlite, options.sqlite), (Postgres, options.postgres)) if place]
    bytes_ = 0
    for execution in made:
        row, flow, written = execution.row()
        bytes_ += len(written)
        for writer in writers:
            writer.add(row, flow, written)
    for writer in writers:
        writer.close()
    if options.truth:
        Path(options.truth).write_text(json.dumps(truth(made) | {"textBytes": bytes_}, indent=1))
    print(f"{len(made)} executions, {bytes_:,} characters of text", file=sys.stderr)


if __name__ == "__main__":
    main()
