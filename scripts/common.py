"""Shared by the Python scripts of check.d, bench.d and make.d, which scripts/check starts with their name in SCRIPT."""

import argparse
import concurrent.futures
import contextlib
import csv
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = os.environ["SCRIPT"]
RELEASE = ROOT / "build" / "release"
CHROMIUM = next((found for found in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if found), None)
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


class NotMeasured(Exception):
    """Why a row has no number."""


def give_up(text):
    sys.exit(f"{SCRIPT}: {text}")


def parser(description):
    return argparse.ArgumentParser(prog=SCRIPT, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def build_of(options, *programs):
    """The folder of the build to measure; ends if one of its programs is missing."""
    for program in programs:
        if not os.access(options.build / program, os.X_OK):
            give_up(f"{options.build / program} is missing; run scripts/build release first")
    return options.build.resolve()


def bench_parser(description):
    """With --build, which all benchmarks have."""
    made = parser(description)
    made.add_argument("--build", type=Path, default=RELEASE, help="the build to measure (build/release)")
    return made


def require_success(ended):
    """Raises NotMeasured, with the first line of its errors, if a program failed."""
    if ended.returncode != 0:
        lines = (ended.stderr.strip() or f"status {ended.returncode}").splitlines()
        raise NotMeasured(f"{Path(ended.args[0]).name}: {lines[0]}")


def output_of(words):
    """Standard output of a program that must succeed."""
    ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    require_success(ended)
    return ended.stdout


def elapsed_of(words):
    """Seconds from the start to the end of a program that must succeed."""
    begin = time.perf_counter()
    ended = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    elapsed = time.perf_counter() - begin
    require_success(ended)
    return elapsed


def children_of(pid):
    """Ids of a process's children; empty if it is gone."""
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def rows_of(path):
    """The rows of a CSV export."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Table:
    """Prints measurements next to what is required of them, and counts those that miss it."""
    WIDTHS = (58, 10, 10)

    def __init__(self):
        self.missed = 0
        self.line("what", "measured", "required", "")

    def line(self, *cells):
        text = [cells[0].ljust(self.WIDTHS[0])] + [c.rjust(w) for c, w in zip(cells[1:3], self.WIDTHS[1:])]
        print(("  ".join(text) + "  " + cells[3]).rstrip(), flush=True)

    def row(self, what, value, unit="", at_most=None, at_least=None):
        good = (at_most is None or value <= at_most) and (at_least is None or value >= at_least)
        self.missed += not good
        shown = lambda number: f"{number:.2f}{unit}" if unit else f"{number:.3f}"
        if at_most is not None and at_least is not None:
            required = f"{at_least:g}..{at_most:g}"
        elif at_most is not None:
            required = f"<= {shown(at_most)}"
        else:
            required = f">= {shown(at_least)}" if at_least is not None else ""
        self.line(what, shown(value), required, ("ok" if good else "MISSED") if required else "")

    def absent(self, what, reason, matters=True):
        self.missed += matters
        self.line(what, "-", "", f"not measured: {reason}")

    def finish(self):
        """The exit status, after a line that says it."""
        print("all requirements are met" if self.missed == 0 else f"{self.missed} missed")
        return 0 if self.missed == 0 else 1


def in_turn(pairs, first, second):
    """Yields both command lines `pairs` times, in alternating order."""
    for number in range(pairs):
        yield (first, second) if number % 2 else (second, first)


def marked_processes(mark, patience):
    """Processes with NAME=VALUE in their environment, by id; waits up to `patience` seconds for them to go."""
    until = time.monotonic() + patience
    while True:
        found = {}
        # Not by a pattern for files below the folders: pathlib fails if a process ends while it looks for its file.
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark.encode() in (process / "environ").read_bytes():
                    found[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.02)


def kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def failures_of(trial, inputs, jobs):
    """Runs `trial` for each of `inputs`, `jobs` at a time; prints what it returns of those that fail, and counts them."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for fault in pool.map(trial, inputs):
            if fault:
                failed += 1
                print(fault, flush=True)
    return failed


def browse(folder, size, *words):
    """What headless Chromium writes; `folder` gets its profile."""
    if CHROMIUM is None:
        give_up("Chromium is missing; run scripts/setup --ci")
    done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
                           "--disable-background-networking", "--disable-component-update", "--disable-sync",
                           f"--user-data-dir={folder}/profile", f"--window-size={size}", *words], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        give_up(f"Chromium ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout
