(* Tests of the library on the program that LAUKA names. *)

let failures = ref 0

let check name holds =
  if not holds then begin
    incr failures;
    Printf.printf "FAILED: %s\n" name
  end

let contains part text =
  let length = String.length part in
  let rec at i = i + length <= String.length text && (String.sub text i length = part || at (i + 1)) in
  at 0

(* Sessions *)

let session =
  {|{"results": [
  {"command": "old", "is_reference": true, "lauka": {"command_line": "./old", "failed_runs": 0, "metrics": {
    "wall_time": {"unit": "s", "runs": 2, "mean": 0.5, "stddev": 0.1, "median": 0.5, "min": 0.4, "max": 0.6, "at_most": null, "delta": null, "samples": [0.4, 0.6]},
    "cycles": {"unit": "1", "runs": 1, "mean": 1000, "stddev": null, "median": 1000, "min": 1000, "max": 1000, "at_most": null, "delta": null, "samples": [1000]},
    "ipc": {"unit": "ratio", "runs": 1, "mean": 1.9, "stddev": null, "median": 1.9, "min": 1.9, "max": 1.9, "at_most": null, "delta": null, "samples": [1.9]},
    "p_time": {"unit": "s", "runs": 1, "mean": 0.3, "stddev": null, "median": 0.3, "min": 0.3, "max": 0.3, "at_most": null, "delta": null, "samples": [0.3]},
    "e_time": {"unit": "s", "runs": 1, "mean": 0.1, "stddev": null, "median": 0.1, "min": 0.1, "max": 0.1, "at_most": null, "delta": null, "samples": [0.1]}}}},
  {"command": "new", "lauka": {"command_line": "./new", "failed_runs": 1, "metrics": {
    "wall_time": {"unit": "s", "runs": 2, "mean": 0.25, "stddev": 0, "median": 0.25, "min": 0.25, "max": 0.25, "at_most": null, "samples": [0.25, null], "detectable": 0.012,
      "delta": {"percent": -50, "low_percent": -60, "high_percent": null, "significant": true, "basis": "typical"}}}}}],
 "lauka": {"format": 2, "version": "9", "complete": true, "confidence": 0.95,
  "metrics": [{"name": "wall_time", "note": "", "better": "less", "event": null}, {"name": "cycles", "note": "", "better": "less", "event": 0},
    {"name": "ipc", "note": "", "better": "more", "event": null}, {"name": "p_time", "note": "", "better": "neither", "event": 1},
    {"name": "e_time", "note": "", "better": "neither", "event": 2}],
  "gates": [{"verdict": "inconclusive", "condition": "wall_time > 5%", "metric": "wall_time", "name": "new",
    "delta": {"percent": -50, "low_percent": null, "high_percent": 1, "significant": false, "basis": "mean"}}],
  "warnings": [{"text": "few runs"}], "notes": ["no counters"]}}|}

let test_of_json () =
  match Lauka.of_json session with
  | Error why -> check ("a session is read: " ^ why) false
  | Ok { commands = [ old; new_ ]; gates = [ gate ]; _ } as read ->
    check "counters are events that are counts" (Lauka.counters old = [ ("cycles", 1000.) ]);
    check "ipc" (Lauka.ipc old = Some 1.9);
    check "time by kind of core" (Lauka.time_by_kind old = [ ("p", 0.3); ("e", 0.1) ]);
    check "what was not measured is missing" (Lauka.counter "cycles" new_ = None && Lauka.ipc new_ = None);
    check "the reference has no delta" (Option.bind (Lauka.find "wall_time" old) (fun m -> m.Lauka.delta) = None);
    check "a run without a value has a place"
      (Option.map (fun m -> m.Lauka.samples) (Lauka.find "wall_time" new_) = Some [ Some 0.25; None ]);
    check "a delta has its interval"
      (Option.bind (Lauka.find "wall_time" new_) (fun m -> m.Lauka.delta)
      = Some { percent = Some (-50.); low = Some (-60.); high = None; significant = true; basis = Typical });
    check "a metric has the difference that would have been found"
      (Option.bind (Lauka.find "wall_time" new_) (fun m -> m.Lauka.detectable) = Some 0.012
      && Option.bind (Lauka.find "wall_time" old) (fun m -> m.Lauka.detectable) = None);
    check "units and directions are values"
      (Option.map (fun m -> (m.Lauka.unit_, m.Lauka.better)) (Lauka.find "ipc" old) = Some (Ratio, More));
    check "a verdict" (gate.verdict = Lauka.Inconclusive && gate.command = "new" && gate.delta.high = Some 1.);
    check "warnings and notes"
      (match read with Ok s -> s.warnings = [ "few runs" ] && s.notes = [ "no counters" ] | Error _ -> false)
  | Ok _ -> check "two commands and a gate are read" false

(* The session with more members of "lauka". *)
let session_with members =
  Str.global_replace (Str.regexp_string {|"notes": ["no counters"]|}) ({|"notes": ["no counters"], |} ^ members) session

let test_series () =
  let series = {|"series": {"file": "tries.jsonl", "number": 7, "level": 0.002, "decision": DECISION, "other_reference": true, "kept": 3}|} in
  let decision_of word =
    match Lauka.of_json (session_with (Str.global_replace (Str.regexp_string "DECISION") word series)) with
    | Ok { series = Some { file = "tries.jsonl"; number = 7; level = 0.002; decision; other_reference = true; kept = 3 }; _ } ->
      decision
    | _ -> Some Lauka.Pass
  in
  check "a candidate that was kept" (decision_of {|"kept"|} = Some Lauka.Kept);
  check "a candidate without a decision" (decision_of "null" = None);
  check "a session without a series" (match Lauka.of_json session with Ok { series = None; _ } -> true | _ -> false)

let race =
  {|"race": {"metric": "wall_time", "limit_percent": 1, "races": 1, "rounds": 40, "runs": 52, "runs_without_exits": 80,
    "end": "one_left", "left": [1], "exits": [{"command": 0, "rounds": 12, "better_command": 1}]}|}

let test_race () =
  (match Lauka.of_json (session_with race) with
   | Ok { race = Some race; commands = [ old; new_ ]; _ } ->
     check "those that are left are commands" (race.left = [ new_ ] && race.race_end = Lauka.One_left);
     check "those that left are, too" (race.exits = [ { command = old; rounds = 12; better_command = Some new_ } ]);
     check "runs of a race" (race.rounds = 40 && race.runs = 52 && race.runs_without_exits = 80)
   | _ -> check "a race is read" false);
  match Lauka.of_json (session_with (Str.global_replace (Str.regexp_string "[1]") "[2]" race)) with
  | Ok _ -> check "a race of other commands is refused" false
  | Error why -> check "a race of other commands is refused with the reason" (contains "indices" why)

let test_acceptance () =
  let accepted =
    {|"name": "new", "accepted": {"own_percent": 5, "own_bound": null, "own_bound_text": null, "reason": "new cache",
      "until": "2027-01-31", "entry": "accepted.toml:3", "expired": false, "use": "used"},|}
  in
  match Lauka.of_json (Str.global_replace (Str.regexp_string {|"name": "new",|}) accepted session) with
  | Ok { gates = [ { accepted = Some accepted; _ } ]; _ } ->
    check "an accepted regression"
      (accepted.own_percent = Some 5. && accepted.use = Some Lauka.Used && accepted.until = "2027-01-31")
  | _ -> check "an accepted regression is read" false

let refuses_session name text part =
  match Lauka.of_json text with
  | Ok _ -> check (name ^ " is refused") false
  | Error why -> check (Printf.sprintf "%s is refused with its reason, not '%s'" name why) (contains part why)

let test_other_files () =
  refuses_session "another format" {|{"lauka": {"format": 3}}|} "lauka.format is 3";
  refuses_session "hyperfine's file" {|{"results": []}|} "not written by lauka";
  refuses_session "a suite" {|{"lauka": {"format": 2, "benchmarks": []}}|} "of a suite";
  refuses_session "an unknown unit"
    {|{"results": [{"command": "a", "lauka": {"command_line": "a", "failed_runs": 0, "metrics": {"x": {"unit": "furlong", "runs": 1}}}}],
       "lauka": {"format": 2, "version": "9", "complete": true, "confidence": 0.95,
         "metrics": [{"name": "x", "note": "", "better": "less", "event": null}], "gates": [], "warnings": [], "notes": []}}|}
    "furlong";
  refuses_session "half a file" {|{"lauka": |} "not JSON";
  refuses_session "no file" "" "not JSON"

let test_large_session () =
  let many = String.concat "," (List.init 1_000_000 string_of_int) in
  let text = Str.global_replace (Str.regexp_string "\"samples\": [1000]") ("\"samples\": [" ^ many ^ "]") session in
  match Lauka.of_json text with
  | Ok { commands = [ old; _ ]; _ } ->
    check "a million samples are read"
      (Option.map (fun m -> List.length m.Lauka.samples) (Lauka.find "cycles" old) = Some 1_000_000)
  | Ok _ -> check "two commands are read" false
  | Error why -> check ("a large session is read: " ^ why) false

(* The program *)

let is_refused part = function Error (Lauka.Refused why) -> contains part why | _ -> false

let test_run () =
  (match Lauka.run ~runs:6 ~fail_if:[ "wall_time > 10" ] [ "sleep 0.01"; "sleep 0.04" ] with
   | Error error -> check (Lauka.string_of_error error) false
   | Ok { commands = [ short; long ]; gates = [ gate ]; confidence; _ } ->
     check "wall time" (match Lauka.wall_time long with Some s -> s >= 0.04 && s < 1. | None -> false);
     check "the reference comes first" (short.is_reference && not long.is_reference);
     check "a gate that failed is a verdict, not an error" (gate.verdict = Lauka.Fail);
     check "confidence" (confidence = 0.95);
     check "a delta with an interval"
       (match Lauka.find "wall_time" long with
        | Some { delta = Some { percent = Some at; low = Some low; significant = true; _ }; samples; _ } ->
          at > 50. && low <= at && List.length samples = 6
        | _ -> false)
   | Ok _ -> check "two commands and one gate" false);
  check "no command is refused" (is_refused "no command" (Lauka.run []));
  check "an event that does not exist is refused with the reason"
    (is_refused "no-such-event" (Lauka.run ~events:[ "no-such-event" ] [ "true" ]));
  check "an unknown option is refused" (is_refused "--no-such-option" (Lauka.run ~options:[ "--no-such-option" ] [ "true" ]));
  check "a command that fails is an error with the reason"
    (match Lauka.run ~runs:2 [ "false" ] with
     | Error (Lauka.Failed (why, Some { complete = false; _ })) -> contains "exited with status 1" why
     | _ -> false);
  check "a program that is not there is an error"
    (match Lauka.run ~program:"/no/such/lauka" [ "true" ] with
     | Error (Lauka.Not_started why) -> why <> ""
     | _ -> false);
  check "words are kept as they are"
    (match Lauka.run ~runs:2 [ Lauka.command_of_words [ "test"; "it's \"a\" $b"; "="; "it's \"a\" $b" ] ] with
     | Ok _ -> true
     | Error _ -> false);
  check "metrics are chosen"
    (match Lauka.run ~runs:2 ~metrics:[ "cpu_utilization" ] [ "true" ] with
     | Ok { commands = [ command ]; _ } -> Lauka.mean "cpu_utilization" command <> None
     | _ -> false)

let test_keeping () =
  let file = Filename.temp_file "lauka" ".jsonl" in
  Sys.remove file;
  let options = [ "--series"; file; "--keep-if-faster" ] in
  (match Lauka.run ~runs:12 ~options [ "sleep 0.01"; "sleep 0.04" ] with
   | Ok { gates = [ gate ]; series = Some series; _ } ->
     check "a candidate that is not kept is a verdict, not an error" (gate.verdict = Lauka.Worse);
     check "its place in the series" (series.number = 1 && series.decision = Some Lauka.Worse && series.kept = 0)
   | Ok _ -> check "a condition for keeping and a series" false
   | Error error -> check (Lauka.string_of_error error) false);
  Sys.remove file;
  match Lauka.run ~options:[ "--race"; "--max-runs"; "30" ] [ "sleep 0.03"; "sleep 0.005" ] with
  | Ok { race = Some { left = [ best ]; exits = [ gone ]; race_end; _ }; _ } ->
    check "a race names the best command" (best.name = "sleep 0.005" && race_end = Lauka.One_left);
    check "and the one that left" (gone.command.name = "sleep 0.03" && gone.better_command = Some best)
  | Ok _ -> check "a race of two commands" false
  | Error error -> check (Lauka.string_of_error error) false

let skipped what error = Printf.printf "skipped: %s: %s\n" what (Lauka.reason error)

let test_counters () =
  (match Lauka.run ~runs:2 ~events:[ "page-faults" ] [ "true" ] with
   | Ok { commands = [ command ]; _ } -> check "an event has a count" (Lauka.counter "page-faults" command <> None)
   | Ok _ -> check "one command" false
   | Error error -> skipped "counts" error);
  (match
     Lauka.run ~runs:3 ~events:[ "instructions" ] ~fail_if:[ "instructions > 1" ] ~options:[ "--engine"; "cachegrind" ]
       [ "true"; "ls /" ]
   with
   | Ok { commands = [ short; long ]; gates = [ gate ]; _ } ->
     check "simulated counts are counters" (Lauka.counter "instructions" long > Lauka.counter "instructions" short);
     check "no instructions per cycle without cycles" (Lauka.ipc long = None);
     check "simulated counts decide a gate" (gate.verdict = Lauka.Fail)
   | Ok _ -> check "two commands and a gate" false
   | Error error -> skipped "simulated counts" error);
  match Lauka.run ~runs:2 ~options:[ "--core-kinds"; "P=0,E=1" ] [ "true" ] with
  | Ok { commands = [ command ]; _ } ->
    let times = Lauka.time_by_kind command in
    if times = [] then print_endline "skipped: no times by kind of core here"
    else check "times by kind of core" (List.map fst times = [ "p"; "e" ] && List.exists (fun (_, time) -> time > 0.) times)
  | Ok _ -> check "one command" false
  | Error error -> skipped "times by kind of core" error

let test_region examples =
  let sorting = Filename.concat examples "sorting.exe" in
  (match Lauka.run ~runs:5 ~options:[ "--region" ] [ sorting ^ " list"; sorting ^ " array" ] with
   | Ok { commands; _ } ->
     List.iter
       (fun command ->
         check "a region takes a part of the run"
           (match (Lauka.mean "region_time" command, Lauka.wall_time command) with
            | Some region, Some wall -> region > 0. && region < wall
            | _ -> false);
         check "a region is entered once" (Lauka.mean "region_entries" command = Some 1.))
       commands
   | Error error -> check ("regions: " ^ Lauka.string_of_error error) false);
  check "without lauka a region is its function" (Lauka.region (fun () -> 42) = 42);
  check "an exception goes through" (match Lauka.region (fun () -> raise Exit) with _ -> false | exception Exit -> true)

let test_example examples =
  let output = Unix.open_process_in (Filename.quote (Filename.concat examples "counters.exe") ^ " sleep 0.01") in
  let rec lines () = match input_line output with line -> line :: lines () | exception End_of_file -> [] in
  let said = lines () in
  let begins_with part = List.exists (fun line -> contains part line) said in
  check "the example ends well" (Unix.close_process_in output = Unix.WEXITED 0);
  check "it shows the wall time" (begins_with "Wall time: 0.");
  check "it shows the counts, or why there are none" (begins_with "IPC: " || begins_with "Counters: ")

let test_bisection () =
  let text answer =
    Printf.sprintf
      {|{"lauka_bisect": "9", "metric": "cpu_time", "confidence": 0.95, "complete": true, "searches": [{
        "good": {"commit": "aa", "date": "2026-11-01", "subject": "one"}, "bad": {"commit": "dd", "date": "2026-11-04", "subject": "four"},
        "commits": 3, "ends": {"rounds": 30, "change": 0.05, "low": 0.04, "high": 0.06, "exact": false, "detectable": 0.008},
        "steps": [{"commit": "bb", "date": "2026-11-02", "subject": "two", "answer": "untestable", "reason": "does not build", "limit": 0.02, "from_good": null}],
        "answer": "%s", "suspects": [{"commit": "dd", "date": "2026-11-04", "subject": "four"}], "parent": null, "from_parent": null}]}|}
      answer
  in
  let answer_of text =
    match Lauka.Bisection.of_json text with
    | Ok { searches = [ search ]; _ } -> Some search.answer
    | Ok _ | Error _ -> None
  in
  let four = { Lauka.Bisection.id = "dd"; date = "2026-11-04"; subject = "four" } in
  check "the commit that lauka-bisect found" (answer_of (text "commit") = Some (Lauka.Bisection.Commit four));
  check "a range" (answer_of (text "range") = Some (Lauka.Bisection.Range [ four ]));
  check "no change" (answer_of (text "no_change") = Some Lauka.Bisection.No_change);
  check "another answer is refused" (answer_of (text "perhaps") = None);
  check "what is no bisection is refused" (Result.is_error (Lauka.Bisection.of_json session));
  match Lauka.Bisection.of_json (text "commit") with
  | Ok { searches = [ { steps = [ step ]; ends = Some ends; _ } ]; _ } ->
    check "a step says why it is untestable"
      (step.answer = Lauka.Bisection.Untestable && step.reason = Some "does not build" && step.from_good = None);
    check "a change has its interval" (ends.low = Some 0.04 && ends.rounds = 30 && ends.detectable = Some 0.008)
  | Ok _ | Error _ -> check "a search with a step is read" false

let () =
  let examples = if Array.length Sys.argv > 1 then Sys.argv.(1) else Filename.current_dir_name in
  test_of_json ();
  test_series ();
  test_race ();
  test_acceptance ();
  test_other_files ();
  test_large_session ();
  test_bisection ();
  (match Sys.getenv_opt "LAUKA" with
   | None | Some "" -> print_endline "skipped: what runs lauka: LAUKA does not name the program"
   | Some _ ->
     test_run ();
     test_keeping ();
     test_counters ();
     test_region examples;
     test_example examples);
  if !failures > 0 then begin
    Printf.printf "%d checks failed\n" !failures;
    exit 1
  end;
  print_endline "all checks passed"
