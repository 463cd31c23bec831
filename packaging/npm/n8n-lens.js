#!/usr/bin/env node
// Starts the binary of this platform's package, and exits as it exits.
"use strict";

const { spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { constants } = require("node:os");
const { optionalDependencies } = require("./package.json");

const isWindows = process.platform === "win32";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

/** The packages with a binary that may run here, best first. */
function candidates() {
  const name = `@n8n-lens/cli-${process.platform}-${process.arch}`;
  // An npm that does not support `libc` installs both. The static binary runs on every Linux.
  return [`${name}-musl`, name].filter((candidate) => candidate in optionalDependencies);
}

/** The path of the binary; undefined if its package is not installed. */
function installedBinary() {
  for (const name of candidates()) {
    try {
      return require.resolve(`${name}/${isWindows ? "n8n-lens.exe" : "n8n-lens"}`);
    } catch {
      // npm has left this one out.
    }
  }
}

function fail(message) {
  console.error(`n8n-lens: ${message}`);
  process.exit(1);
}

/** Explains why there is no binary, and what to do. */
function reportMissing() {
  const names = candidates();
  if (names.length === 0) {
    const platforms = Object.keys(optionalDependencies).map((name) => name.replace("@n8n-lens/cli-", ""));
    fail(
      `there is no binary for ${process.platform}-${process.arch}, only for ${platforms.join(", ")}. ` +
        "Build it with Rust: cargo install --git https://github.com/n8n-lens/n8n-lens",
    );
  }
  fail(
    `the package with the binary (${names.join(" or ")}) is not installed. ` +
      "Install n8n-lens again on this system, with optional dependencies (without --omit=optional and --no-optional).",
  );
}

function run(binary) {
  let child;
  // A Windows console also sends its signals to the binary.
  const pass = isWindows ? () => {} : (signal) => child.kill(signal);
  // From now on, signals wait until the binary runs.
  SIGNALS.forEach((signal) => process.on(signal, pass));
  child = spawn(binary, process.argv.slice(2), {
    stdio: "inherit",
    // With the process id, the binary notices when this process is killed.
    env: { ...process.env, N8N_LENS_LAUNCHER: "npx", N8N_LENS_LAUNCHER_PID: String(process.pid) },
  });

  child.on("error", (error) => {
    const libc = error.code === "ENOENT" ? " It needs another C library than this system has." : "";
    fail(`${binary} cannot be started (${error.code}).${libc} Install n8n-lens again on this system.`);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) {
      process.exit(code);
    }
    SIGNALS.forEach((name) => process.removeListener(name, pass));
    process.exitCode = 128 + constants.signals[signal];
    process.kill(process.pid, signal);
  });
  if (process.env.npm_command === "exec" && !isWindows) {
    endWithNpx(child);
  }
}

/** Ends the binary when npx is killed, which npx cannot forward. */
function endWithNpx(child) {
  const parent = process.ppid;
  const npx = behindShell(parent);
  setInterval(() => (process.ppid === parent && behindShell(parent) === npx) || child.kill(), 1000).unref();
}

/** The process id of npx: the parent of the shell in which npx starts commands, if that shell is still there. */
function behindShell(parent) {
  try {
    const shell = /^\d+ \(sh\) \S (\d+) /.exec(readFileSync(`/proc/${parent}/stat`, "latin1"));
    return shell ? Number(shell[1]) : parent;
  } catch {
    // Not Linux. On macOS the command replaces the shell.
    return parent;
  }
}

const binary = installedBinary();
if (binary) {
  run(binary);
} else {
  reportMissing();
}
