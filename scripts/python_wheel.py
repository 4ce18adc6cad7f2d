#!/usr/bin/env python3
"""Makes a Python wheel: the program lauka, which pip installs as it is, and the module of bindings/python.

    scripts/python_wheel.py PROGRAM FOLDER    from a program for this Linux; scripts/release makes those of a release
"""

import base64
import hashlib
import io
import os
import pathlib
import platform
import stat
import sys
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINDINGS = ROOT / "bindings/python"


def linux_platforms(processor):
    """The tags for a static program, which needs neither glibc nor musl: the oldest that Pythons with this module have, and
    musl 1.2, because `pip download --platform` compares names and not versions."""
    return [f"{libc}_{processor}" for libc in ("manylinux2014", "manylinux_2_17", "musllinux_1_1", "musllinux_1_2")]


def macos_platforms(oldest, processor):
    """The tag for macOS, in which the number after the point is always 0: for a program that needs macOS 13.3, 13.0."""
    return [f"macosx_{oldest.split('.')[0]}_0_{processor}"]


def metadata(project, expression, license_files):
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", project["name"]),
        ("Version", project["version"]),
        ("Summary", project["description"]),
        ("Author", ", ".join(author["name"] for author in project["authors"])),
        ("License-Expression", expression),
        *(("License-File", name) for name in license_files),
        ("Keywords", ",".join(project["keywords"])),
        *(("Classifier", name) for name in project["classifiers"]),
        *(("Project-URL", f"{name}, {address}") for name, address in project["urls"].items()),
        ("Requires-Python", project["requires-python"]),
        ("Description-Content-Type", "text/markdown"),
    ]
    head = "".join(f"{name}: {value}\n" for name, value in fields)
    return f"{head}\n{(BINDINGS / project['readme']).read_text(encoding='utf-8')}"


def expression_of(project, linked):
    """The SPDX expression for everything in the wheel."""
    several = sorted({license_name for license_name, _ in linked.values()} - {project["license"]})
    return " AND ".join([project["license"], *(f"({name})" if " OR " in name else name for name in several)])


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def archived(files, epoch):
    """A zip file of name → (bytes, mode), as bytes that depend on nothing else but the time."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.create_system = 3  # Unix, whose modes follow
            entry.external_attr = (stat.S_IFREG | mode) << 16
            target.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def make_wheel(program, platforms, linked, epoch, folder):
    """Writes the wheel into a folder, and returns its path. linked: name → (license, text) of what is linked into the program."""
    project = tomllib.loads((BINDINGS / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stem = f"{project['name']}-{project['version']}"
    info = f"{stem}.dist-info"
    licenses = {"LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8")}
    licenses |= {f"linked/{name}.txt": text for name, (_, text) in sorted(linked.items())}

    files = {}
    for path in sorted((BINDINGS / "lauka").iterdir()):
        if path.is_file():
            files[f"lauka/{path.name}"] = (path.read_bytes(), 0o644)
    files[f"{stem}.data/scripts/lauka"] = (pathlib.Path(program).read_bytes(), 0o755)

    tags = "".join(f"Tag: py3-none-{name}\n" for name in platforms)
    texts = {
        **{f"licenses/{name}": text for name, text in licenses.items()},
        "METADATA": metadata(project, expression_of(project, linked), licenses),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: lauka-scripts-release\nRoot-Is-Purelib: false\n{tags}",
    }
    files |= {f"{info}/{name}": (text.encode(), 0o644) for name, text in texts.items()}

    record = "".join(record_line(name, data) for name, (data, _) in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = (record.encode(), 0o644)

    wheel = pathlib.Path(folder) / f"{stem}-py3-none-{'.'.join(platforms)}.whl"
    wheel.write_bytes(archived(files, epoch))
    return wheel


def main():
    if len(sys.argv) != 3 or platform.system() != "Linux":
        sys.exit(__doc__)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    print(make_wheel(sys.argv[1], linux_platforms(platform.machine()), {}, epoch, sys.argv[2]))


if __name__ == "__main__":
    main()
