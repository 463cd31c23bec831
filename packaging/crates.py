#!/usr/bin/env python3
"""Describes what is linked into the binaries, for every package. Needs cargo and its registry.

    packaging/crates.py notices   the licences of others, as text
    packaging/crates.py sbom      the bill of materials, as CycloneDX 1.5

The crates are those that Cargo.lock names, for all targets of a release; the texts are the files in the crates. Equal
input makes equal output. deny.toml says which licences are allowed.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

TARGETS = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-pc-windows-gnu",
]

NOTICE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
# Files with such names that are not texts.
CODE = {".c", ".h", ".js", ".json", ".py", ".rs", ".toml", ".yml"}

# Crates without a licence file, and their authors. All of them may be used under the MIT licence.
HOLDERS = {
    "objc2-core-foundation": ["Copyright (c) Mads Marquart and the objc2 contributors"],
    "objc2-system-configuration": ["Copyright (c) Mads Marquart and the objc2 contributors"],
    "refinery-core": ["Copyright (c) Katharina Fey and João Oliveira"],
    "winapi-i686-pc-windows-gnu": ["Copyright (c) 2015-2018 The winapi-rs Developers"],
    "winapi-x86_64-pc-windows-gnu": ["Copyright (c) 2015-2018 The winapi-rs Developers"],
}

# Linked parts that are not crates.
OTHERS = {
    "the vocabulary of o200k_base (from tiktoken-rs)": [
        "Copyright (c) Roger Zurawicki",
        "Copyright (c) 2022 OpenAI, Shantanu Jain",
    ],
    "the Rust standard library": ["Copyright (c) The Rust Project Contributors"],
    "musl (in the static binaries for Linux)": ["Copyright (c) 2005-2020 Rich Felker, et al."],
}

HEADING = """\
n8n-lens contains the work of others, listed here with their licences. SQLite, which it contains as well, is in the
public domain."""


class Crates:
    """The crates that are linked for any target."""

    def __init__(self) -> None:
        self.packages: dict[str, dict] = {}
        self.dependencies: dict[str, set[str]] = {}
        for target in TARGETS:
            self._add(target)

    def _add(self, target: str) -> None:
        command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
        metadata = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
        packages = {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        self.root = metadata["resolve"]["root"]
        todo, seen = [self.root], {self.root}
        while todo:
            crate = todo.pop()
            # Not the dependencies of builds or tests only.
            linked = {it["pkg"] for it in nodes[crate]["deps"] if any(kind["kind"] is None for kind in it["dep_kinds"])}
            self.packages[crate] = packages[crate]
            self.dependencies.setdefault(crate, set()).update(linked)
            todo += linked - seen
            seen |= linked

    def others(self) -> list[dict]:
        """All but n8n-lens itself, by name and version."""
        others = [package for id, package in self.packages.items() if id != self.root]
        return sorted(others, key=lambda package: (package["name"], package["version"]))


def mit(holders: list[str]) -> str:
    """The text of the MIT licence for these holders."""
    own = (ROOT / "LICENSE").read_text(encoding="utf-8")
    return re.sub(r"^Copyright .*$", "\n".join(holders), own, count=1, flags=re.MULTILINE)


def texts_of(package: dict) -> list[str]:
    """The licence texts of a crate, and of the sources that it contains."""
    folder = Path(package["manifest_path"]).parent
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and NOTICE.match(path.name)]
    files = [path for path in files if path.suffix.lower() not in CODE]
    # If there is a choice, MIT, whose text is the shorter one.
    if " OR " in expression(package) and any("MIT" in path.name for path in files if path.parent == folder):
        files = [path for path in files if path.parent != folder or "APACHE" not in path.name.upper()]
    if files:
        return [path.read_text(encoding="utf-8", errors="replace") for path in files]
    if package["name"] not in HOLDERS or "MIT" not in package["license"]:
        sys.exit(f"packaging/crates.py: {package['name']} has no licence file: add its holders to HOLDERS")
    return [mit(HOLDERS[package["name"]])]


def expression(package: dict) -> str:
    """The licence as SPDX has it: older crates write a slash for OR."""
    return package["license"].replace("/", " OR ")


def notices(crates: Crates) -> str:
    """The licence texts, each once, below the crates that it is for."""
    names: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    for package in crates.others():
        for text in texts_of(package):
            key = " ".join(text.split())
            shown.setdefault(key, "\n".join(line.rstrip() for line in text.strip().splitlines()))
            title = f"{package['name']} {package['version']} ({expression(package)})"
            if title not in names.setdefault(key, []):
                names[key].append(title)
    for other, holders in OTHERS.items():
        shown[other], names[other] = mit(holders).strip(), [other]
    sections = ["\n".join([*names[key], "", shown[key]]) for key in names]
    return f"\n\n{'=' * 80}\n\n".join([HEADING, *sections])


def checksums() -> dict[tuple[str, str], str]:
    """The SHA-256 of each crate, by name and version."""
    lock = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    entry = re.compile(r'^name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"$', re.MULTILINE)
    return {(name, version): checksum for name, version, checksum in entry.findall(lock)}


def purl(package: dict) -> str:
    """The address of a crate, as bills of materials and databases of vulnerabilities write it."""
    return f"pkg:cargo/{package['name']}@{package['version'].replace('+', '%2B')}"


def component(package: dict, kind: str) -> dict:
    """A crate in a bill of materials."""
    return {
        "type": kind,
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "licenses": [{"expression": expression(package)}],
        "purl": purl(package),
    }


def sbom(crates: Crates) -> str:
    """The bill of materials: no time and no random number, so that equal crates make equal text."""
    known, components = checksums(), []
    for package in crates.others():
        checksum = known[package["name"], package["version"]]
        components.append(component(package, "library") | {"hashes": [{"alg": "SHA-256", "content": checksum}]})
    edges = {
        purl(crates.packages[crate]): sorted(purl(crates.packages[it]) for it in dependencies)
        for crate, dependencies in crates.dependencies.items()
    }
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(crates.packages[crates.root], "application")},
        "components": components,
        "dependencies": [{"ref": crate, "dependsOn": edges[crate]} for crate in sorted(edges)],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    kinds = {"notices": notices, "sbom": sbom}
    if len(sys.argv) != 2 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    print(kinds[sys.argv[1]](Crates()))
