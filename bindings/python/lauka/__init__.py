"""Runs the program lauka to compare commands, and marks regions of this program that `lauka --region` measures.

    session = lauka.run("./old", ["./new", "-O2"], events=["cycles", "instructions"])
    for command in session.commands:
        print(command.name, command.wall_time, command.ipc, command.metrics["wall_time"].delta)

    with lauka.region():
        work()

Values are in base units: seconds, bytes, joules, counts, fractions.
"""

from __future__ import annotations

import contextlib
import csv
import ctypes
import fcntl
import glob
import importlib
import json as _json
import mmap
import os
import platform
import shlex
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Literal, Mapping, Optional, Sequence, Union

__all__ = [
    "Acceptance", "BisectChange", "BisectSearch", "BisectStep", "Bisection", "Command", "Commit", "Delta", "Error", "Failed", "Gate",
    "Metric", "NotStarted", "Race", "RaceExit", "Refused", "Series", "Session", "Unreadable", "load", "load_bisection", "region",
    "region_begin", "region_end", "run",
]


# What was measured


@dataclass(frozen=True)
class Delta:
    """The difference from the reference, in percent of the reference.

    A value is None if it is undefined, or if the interval has no such bound.
    """

    percent: Optional[float]
    low: Optional[float]  # lower end of the interval, at the session's confidence
    high: Optional[float]  # upper end of the interval
    significant: bool  # True if the interval does not contain 0
    basis: Literal["typical", "mean", "quantile", "layouts"]


@dataclass(frozen=True)
class Metric:
    """The values of one metric of one command."""

    name: str
    unit: str  # "s", "B", "1", "ratio", "fraction" or "J"
    note: str  # the note in the table, such as "(simulated)" or "(region)"; may be empty
    better: Literal["less", "more", "neither"]
    is_event: bool  # True if an engine counted this metric
    runs: int  # number of runs that have a value
    mean: Optional[float]  # None if no run has a value, or if only a bound is known
    stddev: Optional[float]
    median: Optional[float]
    min: Optional[float]
    max: Optional[float]
    at_most: Optional[float]  # a bound that no run exceeds, if nothing else is known
    samples: tuple[Optional[float], ...]  # the value of each run; None for a run without a value
    delta: Optional[Delta]  # None for the reference
    # The smallest increase, as a fraction of the reference, that four of five such sessions would have found.
    # None if lauka cannot say, for example because gates ended the session.
    detectable: Optional[float]


@dataclass(frozen=True)
class Command:
    """A command that lauka measured."""

    name: str  # the name that lauka shows
    command_line: str
    is_reference: bool
    failed_runs: int  # number of failed runs that --ignore-failure kept
    metrics: Mapping[str, Metric] = field(repr=False)

    def mean(self, name: str) -> Optional[float]:
        """Returns the mean of a metric, or None if it was not measured."""
        metric = self.metrics.get(name)
        return None if metric is None else metric.mean

    @property
    def wall_time(self) -> Optional[float]:
        return self.mean("wall_time")

    @property
    def ipc(self) -> Optional[float]:
        """Instructions per cycle, if both were counted."""
        return self.mean("ipc")

    @property
    def counters(self) -> dict[str, float]:
        """Mean of each event that was counted."""
        return {m.name: m.mean for m in self.metrics.values() if m.is_event and m.unit == "1" and m.mean is not None}

    @property
    def time_by_kind(self) -> dict[str, float]:
        """CPU time on each kind of core, the fastest first: {"p": 0.9, "e": 0.1}.

        Empty if there is only one kind of core, or if the kinds are unknown.
        """
        ending = "_time"  # p_time, e_time: what a user named with --core-kinds has the same ending
        return {
            m.name[: -len(ending)]: m.mean
            for m in self.metrics.values()
            if m.is_event and m.unit == "s" and m.name.endswith(ending) and m.mean is not None
        }


@dataclass(frozen=True)
class Acceptance:
    """The entry of --accept for a gate. Unless it has expired, the gate tested the accepted limit instead of its own."""

    own_percent: Optional[float]  # the gate's own limit, in percent; None if that is a value
    own_bound: Optional[float]  # the gate's own limit as a value, in the unit of the metric; None if it is in percent
    reason: str
    until: str  # the last day, in UTC, such as "2027-01-31"
    entry: str  # the file and the line of the entry
    expired: bool
    # unneeded: the whole interval is within the gate's own limit; exceeded: the gate fails by the accepted limit.
    use: Optional[Literal["used", "unneeded", "exceeded", "undecided", "expired"]]


@dataclass(frozen=True)
class Gate:
    """A condition of --fail-if or --keep-if, and its verdict. Only a condition of --keep-if has the last four verdicts."""

    verdict: Literal["pass", "fail", "inconclusive", "kept", "worse", "equal", "undecided"]
    condition: str  # such as "wall_time > 5%"
    metric: str
    command: str  # name of the command that the gate judged
    delta: Delta
    accepted: Optional[Acceptance]  # None if --accept has no entry for the gate


@dataclass(frozen=True)
class Series:
    """The place of a session in a series of candidates (--series)."""

    file: str
    number: int  # number of the candidate, from 1
    level: float  # the probability with which the candidate may be kept although it is useless
    # The decision that the file has. Only "kept" keeps the candidate. "fail" and "inconclusive": the conditions for keeping
    # hold, but a gate did not pass. None: no decision could be made or written, so that the candidate is not kept.
    decision: Optional[Literal["kept", "worse", "equal", "undecided", "fail", "inconclusive"]]
    other_reference: bool  # True if the reference was not the last candidate that was kept
    kept: int  # number of candidates that were kept so far, this one included; 0 without a decision


@dataclass(frozen=True)
class RaceExit:
    """A command that left a race."""

    command: Command
    rounds: int  # number of timed rounds that the command took part in
    better_command: Optional[Command]  # the command that was shown to be better; None if no run of this one gave the metric


@dataclass(frozen=True)
class Race:
    """The result of a race (--race)."""

    metric: str
    limit_percent: float  # difference within which commands count as equally good
    rounds: int  # number of timed rounds of the commands that are left
    runs: int  # number of timed runs of all commands
    runs_without_exits: int  # number of timed runs if no command had left
    # The reason why the race ended. Only "one_left" and "equal" mean that it was decided.
    end: Literal["one_left", "equal", "max_runs", "duration", "cut_short"]
    left: tuple[Command, ...]  # the commands that are left, the best first
    exits: tuple[RaceExit, ...]  # the other commands, in the order in which they left


@dataclass(frozen=True)
class Session:
    """What one call of lauka measured."""

    commands: tuple[Command, ...]
    gates: tuple[Gate, ...]
    confidence: float  # confidence of every interval, as a fraction
    complete: bool  # False if the session ended early, because a run failed or was interrupted
    warnings: tuple[str, ...]
    notes: tuple[str, ...]  # for example, why something was not measured
    version: str  # version of the program lauka
    json: Mapping[str, Any] = field(repr=False)  # the whole document (docs/schema.json)
    series: Optional[Series] = None  # None without --series
    race: Optional[Race] = None  # None without --race

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame with one row for each sample. Its columns are command, metric, unit, run and value."""
        rows = [
            (command.name, metric.name, metric.unit, run, value)
            for command in self.commands
            for metric in command.metrics.values()
            for run, value in enumerate(metric.samples)
            if value is not None
        ]
        return importlib.import_module("pandas").DataFrame(rows, columns=["command", "metric", "unit", "run", "value"])


# What lauka-bisect found


@dataclass(frozen=True)
class Commit:
    id: str  # all digits of the hash
    date: str  # such as 2026-11-28
    subject: str


@dataclass(frozen=True)
class BisectChange:
    """A change of the metric from one commit to another, as a fraction: 0.04 is 4 percent more."""

    rounds: int
    change: Optional[float]
    low: Optional[float]
    high: Optional[float]
    exact: bool
    detectable: Optional[float] = None  # increase that four of five such sessions would have found, if nothing changed


@dataclass(frozen=True)
class BisectStep:
    commit: Commit
    answer: Literal["before", "after", "undecided", "untestable"]
    reason: Optional[str]  # why the commit is untestable
    from_good: Optional[BisectChange]


@dataclass(frozen=True)
class BisectSearch:
    """The search between two commits."""

    good: Commit
    bad: Commit
    answer: Literal["no_change", "commit", "range"]
    suspects: tuple[Commit, ...]  # one of them made the change: for the answer "commit", there is only one
    parent: Optional[Commit]  # parent with which the only suspect was compared
    ends: Optional[BisectChange]  # from good to bad
    from_parent: Optional[BisectChange]  # what is claimed about the commit
    steps: tuple[BisectStep, ...]

    @property
    def culprit(self) -> Optional[Commit]:
        """The commit that made the change; None for the other answers."""
        return self.suspects[0] if self.answer == "commit" else None


@dataclass(frozen=True)
class Bisection:
    """What one call of lauka-bisect found."""

    metric: str
    confidence: float
    complete: bool  # False if the call ended before its answer
    searches: tuple[BisectSearch, ...]  # the first one is between GOOD and BAD; --all adds more
    version: str
    json: Mapping[str, Any] = field(repr=False)  # the whole document (docs/bisect.schema.json)


# Running lauka


class Error(Exception):
    """There are no results. The text is the message of lauka, without its warnings."""


class NotStarted(Error):
    """The program lauka could not be started."""


class Refused(Error):
    """lauka ran nothing, for example because an event cannot be counted here or an option does not exist."""


class Failed(Error):
    """A command failed, something could not be measured, or lauka was interrupted."""

    def __init__(self, reason: str, session: Optional[Session]):
        super().__init__(reason)
        self.session = session  # what lauka had measured; None if that is nothing


class Unreadable(Error):
    """The file is not a session that this module can read."""


_FORMAT = 2


def _delta(json: Mapping[str, Any]) -> Delta:
    return Delta(json["percent"], json["low_percent"], json["high_percent"], json["significant"], json["basis"])


def _metric(told: Mapping[str, Any], json: Mapping[str, Any]) -> Metric:
    return Metric(
        name=told["name"],
        unit=json["unit"],
        note=told["note"],
        better=told["better"],
        is_event=told.get("event") is not None,
        runs=json["runs"],
        mean=json["mean"],
        stddev=json["stddev"],
        median=json["median"],
        min=json["min"],
        max=json["max"],
        at_most=json["at_most"],
        samples=tuple(json["samples"]),
        delta=None if json["delta"] is None else _delta(json["delta"]),
        detectable=json.get("detectable"),
    )


def _command(told: Sequence[Mapping[str, Any]], json: Mapping[str, Any]) -> Command:
    own = json["lauka"]
    values = own["metrics"]
    metrics = {row["name"]: _metric(row, values[row["name"]]) for row in told if row["name"] in values}
    return Command(json["command"], own["command_line"], json.get("is_reference", False), own["failed_runs"], metrics)


def _acceptance(json: Mapping[str, Any]) -> Acceptance:
    keys = ("own_percent", "own_bound", "reason", "until", "entry", "expired", "use")
    return Acceptance(**{key: json[key] for key in keys})


def _gate(json: Mapping[str, Any]) -> Gate:
    accepted = None if "accepted" not in json else _acceptance(json["accepted"])
    return Gate(json["verdict"], json["condition"], json["metric"], json["name"], _delta(json["delta"]), accepted)


def _series(json: Mapping[str, Any]) -> Series:
    keys = ("file", "number", "level", "decision", "other_reference", "kept")
    return Series(**{key: json[key] for key in keys})


def _race(json: Mapping[str, Any], commands: Sequence[Command]) -> Race:
    def exit_of(one: Mapping[str, Any]) -> RaceExit:
        better = one["better_command"]
        return RaceExit(commands[one["command"]], one["rounds"], None if better is None else commands[better])

    keys = ("metric", "limit_percent", "rounds", "runs", "runs_without_exits", "end")
    return Race(
        **{key: json[key] for key in keys},
        left=tuple(commands[place] for place in json["left"]),
        exits=tuple(map(exit_of, json["exits"])),
    )


def _session(text: str) -> Session:
    try:
        json = _json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"this is not JSON: {error}") from None

    try:
        if not isinstance(json, dict) or "lauka" not in json:
            raise Unreadable("it was not written by lauka --export-json")
        session = json["lauka"]
        if session["format"] != _FORMAT:
            raise Unreadable(f"lauka.format is {session['format']}, and this module reads {_FORMAT}")
        if "benchmarks" in session:
            raise Unreadable("it is of a suite, which this module does not read")

        commands = tuple(_command(session["metrics"], result) for result in json["results"])
        return Session(
            commands=commands,
            gates=tuple(map(_gate, session["gates"])),
            confidence=session["confidence"],
            complete=session["complete"],
            warnings=tuple(warning["text"] for warning in session["warnings"]),
            notes=tuple(session["notes"]),
            version=session["version"],
            json=json,
            series=_series(session["series"]) if "series" in session else None,
            race=_race(session["race"], commands) if "race" in session else None,
        )
    except (IndexError, KeyError, TypeError) as error:
        raise Unreadable(f"it lacks what lauka writes: {error}") from None


def load(path: Union[str, os.PathLike[str]]) -> Session:
    """Reads a file that --export-json wrote. Raises Unreadable, also for the file of a suite (--suite)."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return _session(file.read())


def _commit(json: Mapping[str, Any]) -> Commit:
    return Commit(json["commit"], json["date"], json["subject"])


def _bisect_change(json: Optional[Mapping[str, Any]]) -> Optional[BisectChange]:
    if json is None:
        return None
    return BisectChange(json["rounds"], json["change"], json["low"], json["high"], json["exact"], json.get("detectable"))


def _bisect_search(json: Mapping[str, Any]) -> BisectSearch:
    return BisectSearch(
        good=_commit(json["good"]),
        bad=_commit(json["bad"]),
        answer=json["answer"],
        suspects=tuple(_commit(suspect) for suspect in json["suspects"]),
        parent=None if json["parent"] is None else _commit(json["parent"]),
        ends=_bisect_change(json["ends"]),
        from_parent=_bisect_change(json["from_parent"]),
        steps=tuple(
            BisectStep(_commit(step), step["answer"], step["reason"], _bisect_change(step["from_good"])) for step in json["steps"]
        ),
    )


def load_bisection(path: Union[str, os.PathLike[str]]) -> Bisection:
    """Reads a file that lauka-bisect --export-json wrote. Raises Unreadable."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    try:
        json = _json.loads(text)
        if not isinstance(json, dict) or "lauka_bisect" not in json:
            raise Unreadable("it was not written by lauka-bisect --export-json")
        searches = tuple(_bisect_search(search) for search in json["searches"])
        return Bisection(json["metric"], json["confidence"], json["complete"], searches, json["lauka_bisect"], json)
    except (KeyError, TypeError) as error:
        raise Unreadable(f"it lacks what lauka-bisect writes: {error}") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"this is not JSON: {error}") from None


def _reason(said: str) -> str:
    name = "lauka: "
    lines = [line for line in said.splitlines() if line and not line.startswith((name + "note:", name + "warning:"))]
    return "\n".join(line[len(name):] if line.startswith(name) else line for line in lines)


_Word = Union[str, "os.PathLike[str]"]


def _command_line(command: Union[_Word, Sequence[_Word]]) -> str:
    if isinstance(command, str):
        return command
    return shlex.join(os.fspath(word) for word in ([command] if isinstance(command, os.PathLike) else command))


def _own_program() -> Optional[str]:
    """Returns the program that a wheel installed together with this module; None if the module was installed alone."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files = []
    for record in glob.glob(os.path.join(glob.escape(site), "lauka-*.dist-info", "RECORD")):
        with open(record, encoding="utf-8", newline="") as rows:
            files += [row[0] for row in csv.reader(rows) if row]
    # pip install --target moves the program to another folder than RECORD says.
    candidates = [file for file in files if os.path.basename(file) == "lauka"] + [os.path.join("bin", "lauka")]
    paths = [os.path.normpath(os.path.join(site, file)) for file in candidates]
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def _find_program() -> str:
    """Returns the program that the variable LAUKA names, or else this module's own one, or else lauka on the path."""
    return os.environ.get("LAUKA") or _own_program() or "lauka"


def _names(names: Union[str, Sequence[str]]) -> Sequence[str]:
    """Returns the names; a string is one name, or several with commas between them, and not a sequence of letters."""
    return [names] if isinstance(names, str) else names


def run(
    *commands: Union[_Word, Sequence[_Word]],
    events: Union[str, Sequence[str]] = (),
    metrics: Union[str, Sequence[str]] = (),
    runs: Optional[int] = None,
    fail_if: Union[str, Sequence[str]] = (),
    options: Union[str, Sequence[_Word]] = (),
    program: Optional[_Word] = None,
) -> Session:
    """Measures commands. The first one is the reference.

    A command is a string, a path or a sequence of words. lauka splits a string into words as a shell would, but runs it without
    a shell. It does not split a path.

    events: the events to count. If one cannot be counted, that is an error with the reason.
    metrics: the rows, as --metrics accepts them.
    runs: the exact number of timed runs of each command.
    fail_if: conditions such as "wall_time > 5". A gate that failed is a verdict, not an error. Neither is a candidate that is
    not kept (--keep-if, exit status 5).
    options: further options of lauka, as words or as a string that is split as a shell would.
    program: the program lauka. By default it is the one that the variable LAUKA names, or else the one that was installed
    together with this module, or else lauka on the path.

    A single event, metric or condition may be a string. Raises NotStarted, Refused, Failed or Unreadable, which are all Error.
    """
    if not commands:
        raise Refused("no command to measure")
    program = os.fspath(program or _find_program())
    with tempfile.TemporaryDirectory(prefix="lauka") as folder:
        target = os.path.join(folder, "session.json")
        line = [program, "--quiet", "--no-progress", "--color", "never", "--export-json", target]
        line += ["--event", ",".join(_names(events))] if events else []
        line += ["--metrics", ",".join(_names(metrics))] if metrics else []
        line += ["--runs", str(runs)] if runs is not None else []
        for condition in _names(fail_if):
            line += ["--fail-if", condition]
        line += [os.fspath(word) for word in (shlex.split(options) if isinstance(options, str) else options)]
        line += ["--", *map(_command_line, commands)]
        null = subprocess.DEVNULL
        try:
            ended = subprocess.run(line, stdin=null, stdout=null, stderr=subprocess.PIPE, errors="replace", check=False)
        except OSError as error:
            raise NotStarted(f"{program}: {error.strerror}") from None
        if ended.returncode == 2 and not os.path.exists(target):
            raise Refused(_reason(ended.stderr))
        why = _reason(ended.stderr) or f"exit status {ended.returncode}"
        if not os.path.exists(target):
            raise Failed(why, None)
        session = load(target)
    if ended.returncode == 1 or not session.complete:
        raise Failed(why, session)
    return session


# Regions: what include/lauka/region.h does


class _Page(ctypes.Structure):
    """struct lauka_region_page_"""

    _fields_ = [
        ("magic", ctypes.c_uint64),
        ("version", ctypes.c_uint32),
        ("counters", ctypes.c_uint32),
        ("descriptors", ctypes.c_int32 * 16),
        ("lock", ctypes.c_uint32),
        ("depth", ctypes.c_uint32),
        ("began_ns", ctypes.c_uint64),
        ("time_ns", ctypes.c_uint64),
        ("entries", ctypes.c_uint64),
        ("stray", ctypes.c_uint64),
        ("failures", ctypes.c_uint64),
        ("counts_threads", ctypes.c_uint32),
        ("uncounted", ctypes.c_uint32),
        ("instructions", ctypes.c_uint64),
        ("cycles", ctypes.c_uint64),
    ]


_MAGIC = 0x4C41554B41524547
_VERSION = 2
_BYTES = ctypes.sizeof(_Page) + 64 * 32  # and struct lauka_region_thread_ of 64 threads
_ON_MACOS = sys.platform == "darwin"


def _taker(page: _Page) -> Callable[[], bool]:
    """Returns a function that takes the lock if it is free. Other processes and C share it, so it has to be one atomic
    step, which Python lacks and these libraries export."""
    word = ctypes.byref(page, _Page.lock.offset)
    if _ON_MACOS:
        swap = ctypes.CDLL(None).OSAtomicCompareAndSwap32Barrier
        swap.restype = ctypes.c_bool
        return lambda: bool(swap(0, 1, word))
    libraries = {"libstdc++.so.6": "_ZN9__gnu_cxx18__exchange_and_addEPVii", "libatomic.so.1": "__atomic_fetch_add_4"}
    for library, name in libraries.items():
        with contextlib.suppress(OSError, AttributeError):
            add = getattr(ctypes.CDLL(library), name)
            return lambda: bool(add(word, 1, 5) == 0)  # whatever is not 0 is taken; 5: sequentially consistent
    raise RuntimeError(f"lauka.region needs a lock that processes share; install one of {', '.join(libraries)}")


class _Region:
    """The region of this run."""

    def __init__(self, memory: mmap.mmap):
        self.page = _Page.from_buffer(memory)
        self.take = _taker(self.page)

    @contextlib.contextmanager
    def locked(self) -> Iterator[_Page]:
        deadline = time.monotonic() + 1.0  # whoever is killed inside never gives it back
        while not self.take():
            if time.monotonic() > deadline:
                self.page.failures += 1
                break
            time.sleep(0)
        try:
            yield self.page
        finally:
            self.page.lock = 0

    @staticmethod
    def now() -> int:
        # macOS: CLOCK_UPTIME_RAW, as lauka
        return time.clock_gettime_ns(8 if _ON_MACOS else time.CLOCK_MONOTONIC)

    # _IO('$', which) of Linux, which some processors mark as a call without data
    NO_DATA = 1 << 29 if platform.machine().startswith(("alpha", "mips", "ppc", "sparc")) else 0

    def switch(self, page: _Page, which: int) -> None:
        for i in range(min(page.counters, len(page.descriptors))):
            try:
                fcntl.ioctl(page.descriptors[i], self.NO_DATA | ord("$") << 8 | which, 0)
            except OSError:
                page.failures += 1

    def begin(self) -> None:
        with self.locked() as page:
            # macOS counts threads that ask for their counts in here; this module does not, and says so.
            page.uncounted += 1 if page.counts_threads else 0
            page.depth += 1
            if page.depth == 1:
                page.entries += 1
                page.began_ns = self.now()
                self.switch(page, 0)  # PERF_EVENT_IOC_ENABLE; last, so that little of this is counted

    def end(self) -> None:
        with self.locked() as page:
            if page.depth == 0:
                page.stray += 1
                return
            if page.depth == 1:
                self.switch(page, 1)  # PERF_EVENT_IOC_DISABLE; first, likewise
                page.time_ns += self.now() - page.began_ns
            page.depth -= 1


def _attach() -> Optional[_Region]:
    """Returns the region that LAUKA_REGION names; None if lauka did not ask, or the descriptor is not its memory."""
    text = os.environ.get("LAUKA_REGION", "")
    if not text.isdigit() or int(text) <= 2 or os.getuid() != os.geteuid() or os.getgid() != os.getegid():
        return None
    descriptor = int(text)
    try:
        file = os.fstat(descriptor)
        has_size = _BYTES <= file.st_size <= 65536 if _ON_MACOS else file.st_size == _BYTES
        if not has_size or not (stat.S_ISREG(file.st_mode) or (_ON_MACOS and stat.S_IFMT(file.st_mode) == 0)):
            return None
        memory = mmap.mmap(descriptor, _BYTES)
    except (OSError, ValueError, OverflowError):
        return None
    page = _Page.from_buffer_copy(memory)
    if page.magic != _MAGIC or page.version != _VERSION:
        return None
    return _Region(memory)


_known: Optional[_Region] = None
_is_known = False


def _find() -> Optional[_Region]:
    global _known, _is_known
    if not _is_known:
        _known = _attach()
        _is_known = True
    return _known


def region_begin() -> None:
    """Opens the region that `lauka --region` measures. Without lauka it does nothing."""
    found = _find()
    if found is not None:
        found.begin()


def region_end() -> None:
    """Closes the region that region_begin opened."""
    found = _find()
    if found is not None:
        found.end()


class region(contextlib.ContextDecorator):
    """Marks a part of this program, with `with lauka.region():` or with `@lauka.region()` before a function."""

    def __enter__(self) -> region:
        region_begin()
        return self

    def __exit__(self, *_: object) -> None:
        region_end()
