"""Tests of the module on the program that LAUKA names: python3 -m unittest discover -s tests"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import lauka  # noqa: E402

INCLUDE = HERE.parents[2] / "include"


def python(code: str) -> list[str]:
    """Returns a command that runs `code` with this module at hand."""
    return [sys.executable, "-c", f"import os, sys; sys.path.insert(0, {str(HERE.parent)!r})\nimport lauka\n{code}"]


def values(mean: float, **others: Any) -> dict[str, Any]:
    """Returns a metric of one run, as in the JSON."""
    same = {key: mean for key in ("mean", "median", "min", "max")}
    return {"unit": "1", "runs": 1, "stddev": None, "at_most": None, "delta": None, "samples": [mean], **same, **others}


ACCEPTED = """
[[accept]]
condition = "wall_time > 1000"
reason = "a longer sleep"
until = 2999-12-31
"""

DELTA = {"percent": -50, "low_percent": -60, "high_percent": None, "significant": True, "basis": "typical"}


def document() -> dict[str, Any]:
    def row(name: str, event: Any) -> dict[str, Any]:
        return {"name": name, "note": "", "better": "less", "event": event}

    old = {
        "wall_time": values(0.5, unit="s"),
        "cycles": values(1000),
        "ipc": values(1.9, unit="ratio"),
        "p_time": values(0.3, unit="s"),
        "e_time": values(0.1, unit="s"),
    }
    new = {"wall_time": values(0.25, unit="s", samples=[0.25, None], delta=DELTA, detectable=0.012)}

    def command(name: str, metrics: dict[str, Any]) -> dict[str, Any]:
        return {"command": name, "lauka": {"command_line": "./" + name, "failed_runs": 0, "metrics": metrics}}

    gate = {"verdict": "inconclusive", "condition": "wall_time > 5%", "metric": "wall_time", "name": "new", "delta": DELTA}
    return {
        "results": [command("old", old), command("new", new)],
        "lauka": {
            "format": 2,
            "version": "9",
            "complete": True,
            "confidence": 0.95,
            "metrics": [row("wall_time", None), row("cycles", 0), row("ipc", None), row("p_time", 1), row("e_time", 2)],
            "gates": [gate],
            "warnings": [{"text": "few runs"}],
            "notes": ["no counters"],
        },
    }


def load(text: str) -> lauka.Session:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "session.json")
        file.write_text(text)
        return lauka.load(file)


class Reading(unittest.TestCase):
    def test_a_session_is_read(self) -> None:
        session = load(json.dumps(document()))
        old, new = session.commands
        self.assertEqual(old.counters, {"cycles": 1000})
        self.assertEqual((old.ipc, old.wall_time), (1.9, 0.5))
        self.assertEqual(list(old.time_by_kind.items()), [("p", 0.3), ("e", 0.1)])
        self.assertIsNone(old.metrics["wall_time"].delta)
        self.assertEqual(new.metrics["wall_time"].delta, lauka.Delta(-50, -60, None, True, "typical"))
        self.assertIsNone(old.metrics["wall_time"].detectable)
        self.assertEqual(new.metrics["wall_time"].detectable, 0.012)
        self.assertEqual(new.metrics["wall_time"].samples, (0.25, None))
        self.assertIsNone(new.ipc)
        self.assertEqual([(gate.verdict, gate.command) for gate in session.gates], [("inconclusive", "new")])
        self.assertEqual((session.warnings, session.notes), (("few runs",), ("no counters",)))

    def test_an_accepted_regression_is_read(self) -> None:
        told = document()
        told["lauka"]["gates"][0]["accepted"] = {
            "own_percent": 5, "own_bound": None, "own_bound_text": None, "reason": "new cache", "until": "2027-01-31",
            "entry": "accepted.toml:3", "expired": False, "use": "used",
        }  # fmt: skip
        (gate,) = load(json.dumps(told)).gates
        self.assertEqual(gate.accepted, lauka.Acceptance(5, None, "new cache", "2027-01-31", "accepted.toml:3", False, "used"))
        self.assertIsNone(load(json.dumps(document())).gates[0].accepted)

    def test_a_candidate_of_a_series_is_read(self) -> None:
        told = document()
        place = {"file": "tries.jsonl", "number": 7, "level": 0.002, "decision": None, "other_reference": True, "kept": 0}
        told["lauka"]["series"] = place
        self.assertEqual(load(json.dumps(told)).series, lauka.Series("tries.jsonl", 7, 0.002, None, True, 0))
        self.assertIsNone(load(json.dumps(document())).series)

    def test_a_race_is_read_with_its_commands(self) -> None:
        told = document()
        told["lauka"]["race"] = {
            "metric": "wall_time", "limit_percent": 1, "races": 1, "rounds": 40, "runs": 52, "runs_without_exits": 80,
            "end": "one_left", "left": [1], "exits": [{"command": 0, "rounds": 12, "better_command": 1}],
        }  # fmt: skip
        session = load(json.dumps(told))
        old, new = session.commands
        exits = (lauka.RaceExit(old, 12, new),)
        self.assertEqual(session.race, lauka.Race("wall_time", 1, 40, 52, 80, "one_left", (new,), exits))
        self.assertIsNone(load(json.dumps(document())).race)
        told["lauka"]["race"]["left"] = [2]
        with self.assertRaisesRegex(lauka.Unreadable, "lacks"):
            load(json.dumps(told))

    def test_what_is_no_session_is_refused_with_the_reason(self) -> None:
        other, suite, broken = document(), document(), document()
        other["lauka"]["format"] = 3
        suite["lauka"]["benchmarks"] = []
        del broken["lauka"]["gates"]
        cases = {
            json.dumps(other): "lauka.format is 3",
            json.dumps(suite): "of a suite",
            json.dumps(broken): "gates",
            '{"results": []}': "not written by lauka",
            "[1]": "not written by lauka",
            '{"lauka": ': "not JSON",
            "[" * 100_000: "not JSON",
        }
        for text, reason in cases.items():
            with self.subTest(reason=reason), self.assertRaisesRegex(lauka.Unreadable, reason):
                load(text)

    def test_what_lauka_bisect_found_is_read(self) -> None:
        def commit(name: str) -> dict[str, Any]:
            return {"commit": name * 40, "date": "2026-11-02", "subject": f"change {name}"}

        change: dict[str, Any] = {"rounds": 30, "change": 0.04, "low": 0.03, "high": None, "exact": False}
        steps: list[dict[str, Any]] = [{**commit("b"), "answer": "untestable", "reason": "does not build", "limit": 0.02, "from_good": None}]
        search: dict[str, Any] = {"good": commit("a"), "bad": commit("d"), "commits": 3, "ends": change, "steps": steps,
                                  "answer": "commit", "suspects": [commit("d")], "parent": commit("c"), "from_parent": change}
        equal = {**search, "answer": "no_change", "suspects": [], "ends": {**change, "detectable": 0.008}}
        whole: dict[str, Any] = {"lauka_bisect": "9", "metric": "cpu_time", "confidence": 0.95, "complete": True,
                                 "searches": [search, {**search, "answer": "range"}, equal]}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "bisection.json")
            file.write_text(json.dumps(whole))
            found = lauka.load_bisection(file)
            for text, reason in {"{}": "not written by lauka-bisect", "[": "not JSON", '{"lauka_bisect": "9"}': "searches"}.items():
                file.write_text(text)
                with self.subTest(reason=reason), self.assertRaisesRegex(lauka.Unreadable, reason):
                    lauka.load_bisection(file)

        first, second, third = found.searches
        self.assertEqual(first.culprit, lauka.Commit("d" * 40, "2026-11-02", "change d"))
        self.assertEqual(first.from_parent, lauka.BisectChange(30, 0.04, 0.03, None, False))
        self.assertEqual([(step.answer, step.reason, step.from_good) for step in first.steps], [("untestable", "does not build", None)])
        self.assertIsNone(second.culprit)
        self.assertEqual(third.ends, lauka.BisectChange(30, 0.04, 0.03, None, False, 0.008))
        self.assertEqual((found.metric, found.version), ("cpu_time", "9"))

    def test_samples_become_a_table_of_pandas(self) -> None:
        try:
            import pandas  # type: ignore  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        table = load(json.dumps(document())).to_pandas()
        self.assertEqual(list(table.columns), ["command", "metric", "unit", "run", "value"])
        self.assertEqual(len(table), 6)
        self.assertEqual(table[table.metric == "wall_time"].groupby("command").value.mean().to_dict(), {"new": 0.25, "old": 0.5})


@unittest.skipUnless(os.environ.get("LAUKA"), "LAUKA does not name the program")
class Running(unittest.TestCase):
    def test_commands_are_compared(self) -> None:
        session = lauka.run("sleep 0.01", ["sleep", "0.04"], runs=6, fail_if=["wall_time > 10"])
        short, long = session.commands
        self.assertTrue(short.is_reference and not long.is_reference)
        wall_time = long.metrics["wall_time"]
        assert wall_time.mean is not None and wall_time.delta is not None and wall_time.delta.low is not None
        self.assertGreaterEqual(wall_time.mean, 0.04)
        self.assertEqual(len(wall_time.samples), 6)
        self.assertGreater(wall_time.delta.low, 50)
        self.assertEqual([gate.verdict for gate in session.gates], ["fail"])

    def test_a_candidate_that_is_not_kept_is_a_verdict(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder, "tries.jsonl"))
            options = ["--series", file, "--keep-if-faster"]
            session = lauka.run("sleep 0.01", "sleep 0.04", runs=12, options=options)
            again = lauka.run("sleep 0.04", "sleep 0.01", runs=20, options=options)
        assert session.series is not None and again.series is not None
        self.assertEqual([gate.verdict for gate in session.gates], ["worse"])
        self.assertEqual((session.series.number, session.series.decision, session.series.kept), (1, "worse", 0))
        self.assertEqual((again.series.number, again.series.decision, again.series.kept), (2, "kept", 1))

    def test_a_race_names_the_best_command(self) -> None:
        race = lauka.run("sleep 0.03", "sleep 0.005", options=["--race", "--max-runs", "30"]).race
        assert race is not None
        self.assertEqual([command.name for command in race.left], ["sleep 0.005"])
        (gone,) = race.exits
        self.assertEqual((gone.command.name, gone.better_command), ("sleep 0.03", race.left[0]))
        self.assertEqual(race.end, "one_left")

    def test_an_accepted_regression_passes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            accepted = Path(folder, "accepted.toml")
            accepted.write_text(ACCEPTED)
            session = lauka.run("sleep 0.01", "sleep 0.02", runs=8, fail_if="wall_time > 10", options=["--accept", accepted])
        (gate,) = session.gates
        assert gate.accepted is not None
        self.assertEqual((gate.verdict, gate.accepted.use, gate.accepted.own_percent), ("pass", "used", 10))

    def test_what_lauka_refuses_is_an_error_with_the_reason(self) -> None:
        with self.assertRaisesRegex(lauka.Refused, "no-such-event"):
            lauka.run("true", events=["no-such-event"])
        with self.assertRaisesRegex(lauka.Refused, "--no-such-option"):
            lauka.run("true", options=["--no-such-option"])
        with self.assertRaises(lauka.NotStarted):
            lauka.run("true", program="/no/such/lauka")

    def test_a_command_that_fails_is_an_error_with_the_reason(self) -> None:
        with self.assertRaisesRegex(lauka.Failed, "exited with status 1") as raised:
            lauka.run("false", runs=2)
        assert raised.exception.session is not None
        self.assertFalse(raised.exception.session.complete)

    def test_words_are_kept_as_they_are(self) -> None:
        lauka.run(["test", "it's \"a\" $b", "=", "it's \"a\" $b"], runs=2)

    def test_metrics_are_chosen(self) -> None:
        self.assertIsNotNone(lauka.run("true", metrics=["cpu_utilization"], runs=2).commands[0].mean("cpu_utilization"))

    def test_one_event_metric_or_condition_may_be_a_string(self) -> None:
        with self.assertRaisesRegex(lauka.Refused, "no-such-event"):
            lauka.run("true", events="no-such-event")
        session = lauka.run("true", "true", metrics="cpu_time", fail_if="cpu_time > 1000", options="--order interleaved", runs=2)
        self.assertEqual([gate.condition for gate in session.gates], ["cpu_time > 1000%"])

    def test_paths_are_commands_and_words_and_are_not_split(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "two words")
            program.symlink_to("/bin/true")
            session = lauka.run(program, [program, Path("/")], program=Path(os.environ["LAUKA"]), runs=2)
        self.assertEqual([shlex.split(command.command_line) for command in session.commands], [[str(program)], [str(program), "/"]])

    def test_no_command_is_refused(self) -> None:
        with self.assertRaisesRegex(lauka.Refused, "no command"):
            lauka.run()

    def counted(self, *commands: str, **others: Any) -> lauka.Session:
        try:
            return lauka.run(*commands, runs=3, **others)
        except lauka.Refused as refused:
            self.skipTest(str(refused))

    def test_simulated_counts_decide_a_gate(self) -> None:
        session = self.counted(
            "true", "ls /", events=["instructions"], fail_if=["instructions > 1"], options=["--engine", "cachegrind"]
        )
        true, ls = session.commands
        self.assertGreater(ls.counters["instructions"], true.counters["instructions"])
        self.assertEqual(ls.metrics["instructions"].note, "(simulated)")
        self.assertIsNone(ls.ipc)
        self.assertEqual([gate.verdict for gate in session.gates], ["fail"])

    def test_times_are_divided_by_kind_of_core(self) -> None:
        (command,) = self.counted("true", options=["--core-kinds", "P=0,E=1"]).commands
        if not command.time_by_kind:
            self.skipTest("no times by kind of core here")
        self.assertEqual(list(command.time_by_kind), ["p", "e"])
        self.assertGreater(sum(command.time_by_kind.values()), 0)


class Finding(unittest.TestCase):
    """Which program the module starts, in a copy of the module that is installed as pip would."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = Path(folder.name).resolve()
        self.site = self.prefix / "lib" / "site-packages"
        shutil.copytree(HERE.parent / "lauka", self.site / "lauka")

    def install(self, path: Path, record: str = "") -> None:
        """Makes a program that prints its own path, and the list of the wheel's files."""
        path.parent.mkdir(parents=True)
        path.write_text('#!/bin/sh\necho "$0" "$@"\n')
        path.chmod(0o755)
        info = self.site / "lauka-1.dist-info"
        info.mkdir()
        (info / "RECORD").write_text(f"lauka/__init__.py,,\n{record},,\n")

    def ran(self, **variables: str) -> str:
        """Returns what `python -m lauka a 'b c'` wrote."""
        environment = {**os.environ, "PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1", **variables}
        if "LAUKA" not in variables:
            environment.pop("LAUKA", None)
        line = [sys.executable, "-m", "lauka", "a", "b c"]
        ended = subprocess.run(line, cwd="/", env=environment, capture_output=True, text=True)
        return ended.stdout if ended.returncode == 0 else ended.stderr

    def test_the_program_of_the_wheel_is_found(self) -> None:
        self.install(self.prefix / "bin" / "lauka", "../../bin/lauka")
        self.assertEqual(self.ran(PATH="/usr/bin:/bin"), f"{self.prefix}/bin/lauka a b c\n")

    def test_the_program_of_the_wheel_is_found_where_pip_moved_both(self) -> None:
        self.install(self.site / "bin" / "lauka", "../../bin/lauka")
        self.assertEqual(self.ran(PATH="/usr/bin:/bin"), f"{self.site}/bin/lauka a b c\n")

    def test_a_variable_names_another_program(self) -> None:
        self.install(self.prefix / "bin" / "lauka", "../../bin/lauka")
        self.assertEqual(self.ran(LAUKA="/bin/echo"), "a b c\n")

    def test_a_module_alone_takes_the_program_on_the_path_or_says_what_to_do(self) -> None:
        self.install(self.prefix / "elsewhere" / "lauka")
        self.assertEqual(self.ran(PATH=f"{self.prefix}/elsewhere"), f"{self.prefix}/elsewhere/lauka a b c\n")
        self.assertRegex(self.ran(PATH="/nowhere"), "^lauka: lauka: No such file .*; install the program, or .* LAUKA\n$")


@unittest.skipUnless(os.environ.get("LAUKA"), "LAUKA does not name the program")
class Regions(unittest.TestCase):
    def region(self, *commands: list[str] | str, **others: Any) -> lauka.Command:
        return lauka.run(*commands, runs=3, options=["--region"], **others).commands[0]

    def test_the_region_alone_is_timed(self) -> None:
        command = self.region(python("import time; time.sleep(0.03)\nwith lauka.region(): time.sleep(0.02)"))
        time = command.mean("region_time")
        assert time is not None and command.wall_time is not None
        self.assertGreaterEqual(time, 0.02)
        self.assertGreaterEqual(command.wall_time, time + 0.03)
        self.assertEqual(command.mean("region_entries"), 1)

    def test_a_function_may_be_the_region_and_regions_are_nested(self) -> None:
        command = self.region(python("@lauka.region()\ndef f(n):\n  if n: f(n - 1)\nfor _ in range(10): f(5)"))
        self.assertEqual(command.mean("region_entries"), 10)

    def test_the_region_is_left_by_an_exception(self) -> None:
        self.region(python("try:\n  with lauka.region(): raise ValueError\nexcept ValueError: pass"))

    def test_events_are_those_of_the_region(self) -> None:
        touch = "  for i in range(0, len(m), 4096): m[i] = 1"
        code = f"import mmap\ndef touch(n):\n  m = mmap.mmap(-1, n * 4096); m.madvise(mmap.MADV_NOHUGEPAGE)\n{touch}"
        try:
            command = self.region(python(code + "\ntouch(3000)\nwith lauka.region(): touch(1000)"), events=["page-faults"])
        except lauka.Refused as refused:
            self.skipTest(str(refused))
        faults = command.counters["page-faults"]
        self.assertTrue(1000 <= faults < 1200, faults)

    def test_processes_of_python_and_c_share_the_lock(self) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler here")
        loop = "int main(void) { for (int i = 0; i < 50000; ++i) { lauka_region_begin(); lauka_region_end(); } }"
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "loop")
            source = f"#include <lauka/region.h>\n{loop}"
            line = [compiler, "-O1", "-I", str(INCLUDE), "-x", "c", "-o", str(program), "-"]
            subprocess.run(line, input=source, text=True, check=True)
            fork = "for _ in range(2): os.fork()\nfor _ in range(1000):\n  with lauka.region(): pass"
            both = f"import subprocess\nc = subprocess.Popen([{str(program)!r}], close_fds=False)\n{fork}\n"
            # The child of each fork ends when its loop has; the first process waits for all.
            wait = "try:\n  while True: os.wait()\nexcept ChildProcessError: pass"
            command = self.region(python(both + wait))
        self.assertIsNotNone(command.mean("region_time"))  # depth and entries added up, or lauka had refused the run

    def test_without_lauka_a_region_does_nothing(self) -> None:
        for value in ("", "7", "100", "no", "99999999999999999999"):
            environment = {**os.environ, "LAUKA_REGION": value}
            line = python("with lauka.region(): print('ran')")
            self.assertEqual(subprocess.run(line, env=environment, capture_output=True, text=True).stdout, "ran\n")

    def test_the_example_runs(self) -> None:
        path = f"PYTHONPATH={HERE.parent}"
        program = [sys.executable, str(HERE.parent / "examples" / "parsing.py")]
        session = lauka.run([*program, "json"], [*program, "literal"], runs=3, options=["--region", "--env", path])
        delta = session.commands[1].metrics["region_time"].delta
        assert delta is not None and delta.percent is not None
        self.assertGreater(delta.percent, 0)


if __name__ == "__main__":
    unittest.main()
