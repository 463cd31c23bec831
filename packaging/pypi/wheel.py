#!/usr/bin/env python3
"""Packs one binary into a wheel that installs it as a script; prints the wheel's path.

    wheel.py VERSION TAG BINARY FOLDER LICENCE...

TAG is the wheel's platform, such as manylinux_2_17_x86_64 or win_amd64; several are joined by dots.
"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

PACKAGING = Path(__file__).parents[1]

METADATA = """\
Metadata-Version: 2.4
Name: n8n-lens
Version: {version}
Summary: MCP server and command line: debug n8n executions of any size and edit workflows, always within a token budget.
License-Expression: MIT
{licences}
Author: n8n-lens
Keywords: mcp,mcp-server,n8n,workflow,debugging
Classifier: Environment :: Console
Classifier: Topic :: Software Development :: Debuggers
Project-URL: Homepage, https://github.com/n8n-lens/n8n-lens
Project-URL: Documentation, https://github.com/n8n-lens/n8n-lens#readme
Project-URL: Issues, https://github.com/n8n-lens/n8n-lens/issues
Project-URL: Repository, https://github.com/n8n-lens/n8n-lens
Project-URL: Changelog, https://github.com/n8n-lens/n8n-lens/blob/main/CHANGELOG.md
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{description}"""


def wheel_file(tags: list[str]) -> str:
    """The file WHEEL."""
    lines = ["Wheel-Version: 1.0", "Generator: n8n-lens packaging", "Root-Is-Purelib: false"]
    return "\n".join(lines + [f"Tag: py3-none-{tag}" for tag in tags]) + "\n"


def record_line(name: str, data: bytes) -> str:
    """The line of a file in RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def pack(version: str, tag: str, binary: Path, folder: Path, licences: list[Path]) -> Path:
    """Writes the wheel; the same input makes the same bytes."""
    info = f"n8n_lens-{version}.dist-info"
    description = (PACKAGING / "description.md").read_text(encoding="utf-8")
    names = "\n".join(f"License-File: {licence.name}" for licence in licences)
    metadata = METADATA.format(version=version, licences=names, description=description)
    files = {
        f"n8n_lens-{version}.data/scripts/{binary.name}": binary.read_bytes(),
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": wheel_file(tag.split(".")).encode(),
    }
    files.update({f"{info}/licenses/{licence.name}": licence.read_bytes() for licence in licences})
    record = "".join(record_line(name, data) for name, data in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    wheel = folder / f"n8n_lens-{version}-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            archive.writestr(entry, data)
    return wheel


if __name__ == "__main__":
    version, tag, binary, folder, *licences = sys.argv[1:]
    print(pack(version, tag, Path(binary), Path(folder), [Path(licence) for licence in licences]))
