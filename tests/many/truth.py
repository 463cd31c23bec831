#!/usr/bin/env python3
"""Asks about the executions that make.py has made, on the command line and over MCP, and compares each answer with what is planted.

    make.py --sqlite FILE --truth TRUTH.json [--seed N] [--n8n 1.123] [--journal DELETE] [--postgres URL] [sizes]
    TEST_BINARY=target/release/n8n-lens truth.py FILE-or-URL TRUTH.json [values groups changes quiet]
"""
import json
import os
import re
import resource
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta, timezone

BINARY = os.environ.get("TEST_BINARY", "target/debug/n8n-lens")
STORE, TRUTH = sys.argv[1], json.load(open(sys.argv[2]))
DAY = timedelta(days=1)
ALL = {"startedAfter": "2026-01-01T00:00:00Z", "limit": 100, "maxTokens": 25000}
# What moves because it is planted: a slow node, one that reads nothing, and those at which a kind of failure begins on a day.
PLANTED = {(TRUTH["slower"]["workflowId"], TRUTH["slower"]["node"], "slower"), *[(TRUTH["empty"]["workflowId"], TRUTH["empty"]["node"], what) for what in ("empty", "fewerItems")],
           *[(group["workflowId"], group["node"], "failing") for group in TRUTH["groups"] if group["kind"] in ("ship_500", "price_undefined", "shop_dns")]}


class Cli:
    """Commands, each a process of its own."""
    COMMANDS = {"find_executions": ("find", "text"), "group_failures": ("failures", None), "workflow_trend": ("trend", "workflowId"), "get_execution": ("summary", "id")}
    OPTIONS = {"workflowId": "workflow", "nodeName": "node"}

    def ask(self, tool, **arguments):
        command, positional = self.COMMANDS[tool]
        place = [arguments.pop(positional)] if positional in arguments else []
        option = lambda name: "--" + re.sub("[A-Z]", lambda capital: "-" + capital.group().lower(), self.OPTIONS.get(name, name))
        given = [part for name, value in arguments.items() for part in (option(name), str(value))]
        done = subprocess.run([BINARY, command, "--json", "--locale", "en", "--store", STORE, *given, "--", *place], capture_output=True, text=True)
        assert done.returncode == 0, (done.args, done.stderr)
        return json.loads(done.stdout)["data"]

    def peak(self):
        """The most memory that a command took, bytes."""
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


class Mcp:
    """One server, over its standard input and output."""
    def __init__(self):
        self.server = subprocess.Popen([BINARY, "--locale", "en", "--store", STORE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.id = 0
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "truth", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def request(self, method, parameters):
        self.id += 1
        self.send({"id": self.id, "method": method, "params": parameters})
        for line in self.server.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.id:
                return answer["result"]
        raise EOFError("the server ended")

    def ask(self, tool, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        return json.loads(result["content"][0]["text"])["data"]

    def peak(self):
        return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{self.server.pid}/status").read()).group(1)) * 1024


class Questions:
    def __init__(self, who):
        self.who, self.ask, self.right, self.wrong = type(who).__name__, who.ask, 0, []

    def equal(self, what, found, expected):
        if found == expected:
            self.right += 1
        else:
            self.wrong.append(what)
            print(f"{self.who}: {what}: {found} instead of {expected}")

    def found(self, **asked):
        """The ids and the number of hits of all pages; how many executions were searched, and what was not."""
        found, searched, not_searched, page = [], 0, Counter(), self.ask("find_executions", **asked)
        while True:
            found += [(one["id"], one["hits"]) for one in page["executions"]]
            searched += page["searched"]["executions"]
            not_searched.update(page.get("notSearched", {}))
            if "nextCursor" not in page:
                return found, (searched, dict(not_searched))
            page = self.ask("find_executions", cursor=page["nextCursor"])

    def values(self):
        needles, newest = TRUTH["needles"], lambda ids: sorted(ids, key=int, reverse=True)
        text, order = TRUTH["needle"], {"path": "order", "equals": "4711"}
        of = lambda **asked: [id for id, _ in self.found(limit=100, **asked)[0]]
        self.equal("found", self.found(text=text)[0], [(id, 1) for id in newest(TRUTH["found"]["text"])])
        self.equal("with a capital", of(text=text.capitalize()), [needles["capital"]])
        self.equal("digits at a path", of(**order), newest(TRUTH["found"]["number"] + TRUTH["found"]["digits"]))
        if self.who == "Mcp":  # On the command line each value is a text.
            self.equal("a number", of(path="order", equals=4711), TRUTH["found"]["number"])
        self.equal("a name is no value", [id for id in TRUTH["found"]["notAHit"] if id in of(text=text)], [])
        digits, planted = of(text="4711"), TRUTH["found"]["text"] + TRUTH["found"]["number"] + TRUTH["found"]["digits"]
        self.equal("digits", [id for id in planted if id not in digits], [])
        self.equal("digits that are redacted", [id for id in TRUTH["found"]["redacted"] if id in digits], [])
        redacted = len(TRUTH["found"]["redacted"])
        for asked in ({"text": text}, order, {"text": "4711"}, {"text": "nowhere to be found"}):
            whole, counts = self.found(limit=100, **asked)
            self.equal(f"counted: {asked}", counts, (TRUTH["executions"] - redacted, {"redacted": redacted}))
            self.equal(f"page by page: {asked}", self.found(limit=1, **asked), (whole, counts))

    def groups(self):
        has_versions = any("edited" in group for group in self.ask("group_failures", **ALL)["groups"])
        answer = self.ask("group_failures", **ALL)
        edge = lambda group, name: group.get(name, {}).get("id")
        found = [[group["workflowId"], group["node"], group["count"], edge(group, "first"), edge(group, "last"), edge(group, "goodBefore"), group.get("edited")] for group in answer["groups"]]

        def planted(group):
            versions = [group["lastGoodVersion"], group["firstVersion"]]
            is_edited = has_versions and versions[0] and versions[0] != versions[1]
            return [*(group[name] for name in ("workflowId", "node", "count", "first", "last", "lastGood")), [version[:8] for version in versions] if is_edited else None]

        self.equal("groups", sorted(found, key=str), sorted(map(planted, TRUTH["groups"]), key=str))
        self.equal("failures", (answer["failures"], answer["canceled"]), (TRUTH["failures"], 6))

    def first_day(self, id):
        """The end of the day on which an execution started."""
        started = datetime.fromisoformat(self.ask("get_execution", id=id)["startedAt"].replace("Z", "+00:00"))
        return started.replace(hour=0, minute=0, second=0, microsecond=0) + DAY

    def moved(self, workflow, until, period="24h"):
        return self.ask("workflow_trend", workflowId=workflow, until=f"{until:%Y-%m-%dT%H:%M:%SZ}", period=period)["moved"]

    def changes(self):
        ship = next(group for group in TRUTH["groups"] if group["kind"] == "ship_500")
        slower, empty = TRUTH["slower"], TRUTH["empty"]
        for workflow, node, what, first, since in [
            (slower["workflowId"], slower["node"], "slower", slower["first"], range(1)),
            (empty["workflowId"], empty["node"], "empty", empty["firstPossible"], range(60)),
            (ship["workflowId"], ship["node"], "failing", ship["first"], range(-60, 60)),
        ]:
            moved = self.moved(workflow, self.first_day(first))
            self.equal(f"{what} on its first day", [(one["node"], one["what"]) for one in moved], [(node, what)])
            away = int(moved[0]["since"]["id"]) - int(first) if moved else None
            print(f"{self.who}: {what} since {away} ids after the planted {first}, {moved[0].get('edited')}")
            self.equal(f"{what} since", away in since, True)
            if what == "slower" and "edited" in moved[0]:
                self.equal("the edit", moved[0]["edited"][1], slower["version"][:8])

    def quiet(self):
        """Each workflow at the end of each day, for three lengths of the period: nothing moved but what is planted."""
        start = datetime(2026, 10, 24, tzinfo=timezone.utc)
        busy = ["OrdersWorkflow01", "InvoicesFlow0002", "StockSyncFlow003"] if self.who == "Mcp" else []
        for workflow in [*TRUTH["quiet"], *busy]:
            alarms = [(f"{start + DAY * day:%d.%m.}", period, one["node"], one["what"]) for day in range(30) for period in ("24h", "48h", "72h")
                      for one in self.moved(workflow, start + DAY * day, period) if (workflow, one["node"], one["what"]) not in PLANTED]
            self.equal(f"alarms of {workflow}", alarms, [])


wrong = 0
for who in (Cli(), Mcp()):
    questions = Questions(who)
    for name in sys.argv[3:] or ("values", "groups", "changes", "quiet"):
        getattr(questions, name)()
    print(f"{questions.who}: {questions.right} right, {len(questions.wrong)} wrong; {who.peak() / 1e6:.1f} MB at the peak")
    wrong += len(questions.wrong)
sys.exit(wrong > 0)
