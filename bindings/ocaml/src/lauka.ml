type unit_ = Seconds | Bytes | Count | Ratio | Fraction | Joules
type better = Less | More | Neither
type basis = Typical | Mean | Quantile | Layouts

type delta = {
  percent : float option;
  low : float option;
  high : float option;
  significant : bool;
  basis : basis;
}

type metric = {
  name : string;
  unit_ : unit_;
  note : string;
  better : better;
  event : bool;
  runs : int;
  mean : float option;
  stddev : float option;
  median : float option;
  min : float option;
  max : float option;
  at_most : float option;
  samples : float option list;
  delta : delta option;
  detectable : float option;
}

type command = {
  name : string;
  command_line : string;
  is_reference : bool;
  failed_runs : int;
  metrics : metric list;
}

type verdict = Pass | Fail | Inconclusive | Kept | Worse | Equal | Undecided

type acceptance_use = Used | Unneeded | Exceeded | Use_undecided | Expired

type acceptance = {
  own_percent : float option;
  own_bound : float option;
  reason : string;
  until : string;
  entry : string;
  expired : bool;
  use : acceptance_use option;
}

type gate = {
  verdict : verdict;
  condition : string;
  metric : string;
  command : string;
  delta : delta;
  accepted : acceptance option;
}

type series = {
  file : string;
  number : int;
  level : float;
  decision : verdict option;
  other_reference : bool;
  kept : int;
}

type race_end = One_left | All_equal | Max_runs | Duration | Cut_short

type race_exit = {
  command : command;
  rounds : int;
  better_command : command option;
}

type race = {
  metric : string;
  limit_percent : float;
  rounds : int;
  runs : int;
  runs_without_exits : int;
  race_end : race_end;
  left : command list;
  exits : race_exit list;
}

type t = {
  commands : command list;
  gates : gate list;
  confidence : float;
  complete : bool;
  warnings : string list;
  notes : string list;
  version : string;
  json : Yojson.Safe.t;
  series : series option;
  race : race option;
}

(* Reading *)

exception Missing of string

(* What is missing or of another type is told by lauka's own messages, so these return options. *)
module Json = struct
  let member key = function
    | `Assoc pairs -> Option.value (List.assoc_opt key pairs) ~default:`Null
    | _ -> `Null

  let to_string = function `String text -> Some text | _ -> None
  let to_bool = function `Bool value -> Some value | _ -> None
  let to_list = function `List values -> values | _ -> []

  let to_number = function
    | `Int value -> Some (float_of_int value)
    | `Intlit digits -> float_of_string_opt digits
    | `Float value -> Some value
    | _ -> None
end

let get convert what key json =
  match convert (Json.member key json) with
  | Some value -> value
  | None -> raise (Missing (Printf.sprintf "'%s' must be %s" key what))

let string_at key = get Json.to_string "a string" key
let number_at key = get Json.to_number "a number" key
let bool_at key = get Json.to_bool "true or false" key
let integer_at key json = int_of_float (number_at key json)

(* What [read] makes of the value of that key; None where there is no such value. *)
let option_at key read json = match Json.member key json with `Null -> None | value -> Some (read value)

(* The value that stands for the word of that key. *)
let choice_at key values json =
  let word = string_at key json in
  match List.assoc_opt word values with
  | Some value -> value
  | None -> raise (Missing (Printf.sprintf "'%s' is '%s', and this library knows %s" key word (String.concat ", " (List.map fst values))))

let unit_at =
  choice_at "unit"
    [ ("s", Seconds); ("B", Bytes); ("1", Count); ("ratio", Ratio); ("fraction", Fraction); ("J", Joules) ]

let better_at = choice_at "better" [ ("less", Less); ("more", More); ("neither", Neither) ]
let basis_at = choice_at "basis" [ ("typical", Typical); ("mean", Mean); ("quantile", Quantile); ("layouts", Layouts) ]

let verdict_at key =
  choice_at key
    [
      ("pass", Pass);
      ("fail", Fail);
      ("inconclusive", Inconclusive);
      ("kept", Kept);
      ("worse", Worse);
      ("equal", Equal);
      ("undecided", Undecided);
    ]

let acceptance_use_at key =
  choice_at key
    [
      ("used", Used);
      ("unneeded", Unneeded);
      ("exceeded", Exceeded);
      ("undecided", Use_undecided);
      ("expired", Expired);
    ]

let race_end_at key =
  choice_at key
    [
      ("one_left", One_left);
      ("equal", All_equal);
      ("max_runs", Max_runs);
      ("duration", Duration);
      ("cut_short", Cut_short);
    ]

let number_or_none key json = Json.to_number (Json.member key json)

let delta_of json =
  {
    percent = number_or_none "percent" json;
    low = number_or_none "low_percent" json;
    high = number_or_none "high_percent" json;
    significant = bool_at "significant" json;
    basis = basis_at json;
  }

(* [told] is the session's row on the metric: what it is; [json] the command's values. *)
let metric_of told json =
  {
    name = string_at "name" told;
    unit_ = unit_at json;
    note = string_at "note" told;
    better = better_at told;
    event = number_or_none "event" told <> None;
    runs = integer_at "runs" json;
    mean = number_or_none "mean" json;
    stddev = number_or_none "stddev" json;
    median = number_or_none "median" json;
    min = number_or_none "min" json;
    max = number_or_none "max" json;
    at_most = number_or_none "at_most" json;
    (* List.map before OCaml 5.1 takes stack for each of what may be a million. *)
    samples = List.rev (List.rev_map Json.to_number (Json.to_list (Json.member "samples" json)));
    delta = option_at "delta" delta_of json;
    detectable = number_or_none "detectable" json;
  }

let command_of told json =
  let own = Json.member "lauka" json in
  let values = Json.member "metrics" own in
  let metric row =
    match Json.member (string_at "name" row) values with
    | `Null -> None
    | found -> Some (metric_of row found)
  in
  {
    name = string_at "command" json;
    command_line = string_at "command_line" own;
    is_reference = Json.member "is_reference" json = `Bool true;
    failed_runs = integer_at "failed_runs" own;
    metrics = List.filter_map metric told;
  }

let acceptance_of json =
  {
    own_percent = number_or_none "own_percent" json;
    own_bound = number_or_none "own_bound" json;
    reason = string_at "reason" json;
    until = string_at "until" json;
    entry = string_at "entry" json;
    expired = bool_at "expired" json;
    use = option_at "use" (fun _ -> acceptance_use_at "use" json) json;
  }

let gate_of json =
  {
    verdict = verdict_at "verdict" json;
    condition = string_at "condition" json;
    metric = string_at "metric" json;
    command = string_at "name" json;
    delta = delta_of (Json.member "delta" json);
    accepted = option_at "accepted" acceptance_of json;
  }

let series_of json =
  {
    file = string_at "file" json;
    number = integer_at "number" json;
    level = number_at "level" json;
    decision = option_at "decision" (fun _ -> verdict_at "decision" json) json;
    other_reference = bool_at "other_reference" json;
    kept = integer_at "kept" json;
  }

let race_of commands json =
  let command_at place =
    match Option.bind (Json.to_number place) (fun place -> List.nth_opt commands (int_of_float place)) with
    | Some command -> command
    | None -> raise (Missing "a race must have indices into 'results'")
  in
  let exit_of json =
    {
      command = command_at (Json.member "command" json);
      rounds = integer_at "rounds" json;
      better_command = option_at "better_command" command_at json;
    }
  in
  {
    metric = string_at "metric" json;
    limit_percent = number_at "limit_percent" json;
    rounds = integer_at "rounds" json;
    runs = integer_at "runs" json;
    runs_without_exits = integer_at "runs_without_exits" json;
    race_end = race_end_at "end" json;
    left = List.map command_at (Json.to_list (Json.member "left" json));
    exits = List.map exit_of (Json.to_list (Json.member "exits" json));
  }

let format_that_is_read = 2.

let session_of json =
  let session = Json.member "lauka" json in
  if session = `Null then raise (Missing "it was not written by lauka --export-json");
  let format = number_at "format" session in
  if format <> format_that_is_read then
    raise (Missing (Printf.sprintf "lauka.format is %g, and this library reads %g" format format_that_is_read));
  if Json.member "benchmarks" session <> `Null then raise (Missing "it is of a suite, which this library does not read");
  let list key = Json.to_list (Json.member key session) in
  let told = list "metrics" in
  let commands = List.map (command_of told) (Json.to_list (Json.member "results" json)) in
  {
    commands;
    gates = List.map gate_of (list "gates");
    confidence = number_at "confidence" session;
    complete = bool_at "complete" session;
    warnings = List.map (string_at "text") (list "warnings");
    notes = List.filter_map Json.to_string (list "notes");
    version = string_at "version" session;
    json;
    series = option_at "series" series_of session;
    race = option_at "race" (race_of commands) session;
  }

let read_json of_value text =
  match Yojson.Safe.from_string text with
  | exception Yojson.Json_error why -> Error ("this is not JSON: " ^ why)
  | json -> ( match of_value json with value -> Ok value | exception Missing why -> Error why)

let of_json = read_json session_of

module Bisection = struct
  type commit = { id : string; date : string; subject : string }

  type change = {
    rounds : int;
    change : float option;
    low : float option;
    high : float option;
    exact : bool;
    detectable : float option;
  }

  type step_answer = Before | After | Undecided | Untestable
  type step = { commit : commit; answer : step_answer; reason : string option; from_good : change option }
  type answer = No_change | Commit of commit | Range of commit list

  type search = {
    good : commit;
    bad : commit;
    answer : answer;
    ends : change option;
    parent : commit option;
    from_parent : change option;
    steps : step list;
  }

  type t = {
    metric : string;
    confidence : float;
    complete : bool;
    searches : search list;
    version : string;
    json : Yojson.Safe.t;
  }

  let commit_of json = { id = string_at "commit" json; date = string_at "date" json; subject = string_at "subject" json }

  let change_of json =
    {
      rounds = int_of_float (number_at "rounds" json);
      change = number_or_none "change" json;
      low = number_or_none "low" json;
      high = number_or_none "high" json;
      exact = bool_at "exact" json;
      detectable = number_or_none "detectable" json;
    }

  let optional convert key json = match Json.member key json with `Null -> None | value -> Some (convert value)

  let step_answer_at =
    choice_at "answer"
      [ ("before", Before); ("after", After); ("undecided", Undecided); ("untestable", Untestable) ]

  let step_of json =
    {
      commit = commit_of json;
      answer = step_answer_at json;
      reason = Json.to_string (Json.member "reason" json);
      from_good = optional change_of "from_good" json;
    }

  let answer_of json =
    let suspects = List.map commit_of (Json.to_list (Json.member "suspects" json)) in
    match (choice_at "answer" [ ("no_change", `No_change); ("commit", `Commit); ("range", `Range) ] json, suspects) with
    | `No_change, _ -> No_change
    | `Commit, commit :: _ -> Commit commit
    | `Commit, [] -> raise (Missing "'suspects' must have the commit")
    | `Range, suspects -> Range suspects

  let search_of json =
    {
      good = commit_of (Json.member "good" json);
      bad = commit_of (Json.member "bad" json);
      answer = answer_of json;
      ends = optional change_of "ends" json;
      parent = optional commit_of "parent" json;
      from_parent = optional change_of "from_parent" json;
      steps = List.map step_of (Json.to_list (Json.member "steps" json));
    }

  let bisection_of json =
    if Json.member "lauka_bisect" json = `Null then raise (Missing "it was not written by lauka-bisect --export-json");
    {
      metric = string_at "metric" json;
      confidence = number_at "confidence" json;
      complete = bool_at "complete" json;
      searches = List.map search_of (Json.to_list (Json.member "searches" json));
      version = string_at "lauka_bisect" json;
      json;
    }

  let of_json = read_json bisection_of
end

(* Looking *)

let find name command = List.find_opt (fun (metric : metric) -> metric.name = name) command.metrics
let mean name command = Option.bind (find name command) (fun metric -> metric.mean)
let is_counter metric = metric.event && metric.unit_ = Count

let counters command =
  List.filter_map
    (fun (metric : metric) ->
      match metric.mean with
      | Some mean when is_counter metric -> Some (metric.name, mean)
      | _ -> None)
    command.metrics

let counter name command = List.assoc_opt name (counters command)
let ipc = mean "ipc"
let wall_time = mean "wall_time"

(* p_time, e_time: what a user named with --core-kinds has another name, but the same ending. *)
let time_by_kind command =
  let kind_of (metric : metric) =
    match metric.mean with
    | Some mean when metric.event && metric.unit_ = Seconds && Filename.check_suffix metric.name "_time" ->
      Some (Filename.chop_suffix metric.name "_time", mean)
    | _ -> None
  in
  List.filter_map kind_of command.metrics

(* Running *)

type error =
  | Not_started of string
  | Refused of string
  | Failed of string * t option
  | Unreadable of string

let reason = function Not_started why | Refused why | Failed (why, _) | Unreadable why -> why

let string_of_error error =
  match error with
  | Not_started why -> "lauka could not be started: " ^ why
  | Refused why -> "lauka refused: " ^ why
  | Failed (why, _) -> "lauka failed: " ^ why
  | Unreadable why -> "lauka's results cannot be read: " ^ why

let command_of_words words = String.concat " " (List.map Filename.quote words)

let read_file path =
  let file = open_in_bin path in
  Fun.protect
    ~finally:(fun () -> close_in_noerr file)
    (fun () -> really_input_string file (in_channel_length file))

let starts_with prefix text =
  String.length text >= String.length prefix && String.sub text 0 (String.length prefix) = prefix

(* What lauka wrote to standard error, without notes and warnings. *)
let reason_in said =
  let meant line = not (line = "" || starts_with "lauka: note:" line || starts_with "lauka: warning:" line) in
  let without_name line =
    let name = "lauka: " in
    if starts_with name line then
      String.sub line (String.length name) (String.length line - String.length name)
    else line
  in
  String.concat "\n" (List.map without_name (List.filter meant (String.split_on_char '\n' said)))

let rec wait pid = try snd (Unix.waitpid [] pid) with Unix.Unix_error (Unix.EINTR, _, _) -> wait pid

let opened path flags use =
  let descriptor = Unix.openfile path (Unix.O_CLOEXEC :: flags) 0o600 in
  Fun.protect ~finally:(fun () -> Unix.close descriptor) (fun () -> use descriptor)

(* Files, not pipes: nothing has to be read while lauka runs. *)
let start program arguments ~errors =
  opened "/dev/null" [ Unix.O_RDWR ] (fun null ->
      opened errors [ Unix.O_WRONLY; Unix.O_TRUNC ] (fun said ->
          Unix.create_process program (Array.of_list (program :: arguments)) null null said))

let outcome status ~exported ~said =
  let session = if exported = "" then None else Some (of_json exported) in
  let why otherwise = match reason_in said with "" -> otherwise | reason -> reason in
  match (status, session) with
  | Unix.WEXITED 127, None -> Error (Not_started (why "there is no such program"))
  | Unix.WEXITED 2, None -> Error (Refused (why "the command line"))
  | Unix.WEXITED code, Some (Ok session) when code <> 1 && session.complete -> Ok session
  | Unix.WEXITED code, Some (Ok session) ->
    Error (Failed (why (Printf.sprintf "exit status %d" code), Some session))
  | Unix.WEXITED 0, Some (Error why) -> Error (Unreadable why)
  | Unix.WEXITED 0, None -> Error (Unreadable "it wrote none")
  | Unix.WEXITED code, _ -> Error (Failed (why (Printf.sprintf "exit status %d" code), None))
  | (Unix.WSIGNALED _ | Unix.WSTOPPED _), _ -> Error (Failed (why "it was ended by a signal", None))

let arguments ~events ~metrics ~runs ~fail_if ~options ~json commands =
  let listed option = function [] -> [] | names -> [ option; String.concat "," names ] in
  List.concat
    [
      [ "--quiet"; "--no-progress"; "--color"; "never"; "--export-json"; json ];
      listed "--event" events;
      listed "--metrics" metrics;
      (match runs with None -> [] | Some runs -> [ "--runs"; string_of_int runs ]);
      List.concat_map (fun condition -> [ "--fail-if"; condition ]) fail_if;
      options;
      "--" :: commands;
    ]

let default_program () = match Sys.getenv_opt "LAUKA" with None | Some "" -> "lauka" | Some program -> program

let measure ?program ~events ~metrics ~runs ~fail_if ~options commands =
  let program = match program with Some program -> program | None -> default_program () in
  let json = Filename.temp_file "lauka" ".json" in
  let errors = Filename.temp_file "lauka" ".txt" in
  let remove path = try Sys.remove path with Sys_error _ -> () in
  Fun.protect
    ~finally:(fun () ->
      remove json;
      remove errors)
    (fun () ->
      match start program (arguments ~events ~metrics ~runs ~fail_if ~options ~json commands) ~errors with
      | pid ->
        let status = wait pid in
        outcome status ~exported:(read_file json) ~said:(read_file errors)
      | exception Unix.Unix_error (code, _, _) ->
        Error (Not_started (Printf.sprintf "%s: %s" program (Unix.error_message code))))

let run ?program ?(events = []) ?(metrics = []) ?runs ?(fail_if = []) ?(options = []) commands =
  if commands = [] then Error (Refused "no command to measure")
  else measure ?program ~events ~metrics ~runs ~fail_if ~options commands

(* Regions *)

external region_begin : unit -> unit = "lauka_region_begin_stub" [@@noalloc]
external region_end : unit -> unit = "lauka_region_end_stub" [@@noalloc]

let region work =
  region_begin ();
  Fun.protect ~finally:region_end work
