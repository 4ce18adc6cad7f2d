(** Compares commands by running the program lauka, and marks regions of this program that [lauka --region] measures.

    {[
      match Lauka.run ~events:[ "cycles"; "instructions" ] [ "./old"; "./new -O2" ] with
      | Ok session -> List.iter show session.commands
      | Error error -> prerr_endline (Lauka.string_of_error error)
    ]} *)

(** {1 What was measured}

    Values are in base units: seconds, bytes, joules, counts, fractions. *)

type unit_ = Seconds | Bytes | Count | Ratio | Fraction | Joules
type better = Less | More | Neither

(** What a delta is the change of: the typical round, the mean, a percentile, or the mean over layouts ([--layouts]). *)
type basis = Typical | Mean | Quantile | Layouts

(** The difference from the reference, in percent of it. [None]: undefined or unbounded. *)
type delta = {
  percent : float option;
  low : float option;  (** of the interval, at the session's confidence *)
  high : float option;
  significant : bool;  (** the interval leaves out 0 *)
  basis : basis;
}

type metric = {
  name : string;
  unit_ : unit_;
  note : string;  (** as in the table: ["(simulated)"], ["(region)"], or empty *)
  better : better;
  event : bool;  (** counted by an engine *)
  runs : int;  (** that have a value *)
  mean : float option;  (** [None]: no run has a value, or only a bound is known *)
  stddev : float option;
  median : float option;
  min : float option;
  max : float option;
  at_most : float option;  (** bound that no run exceeds, if no more is known *)
  samples : float option list;  (** one for each run of that kind *)
  delta : delta option;  (** [None] for the reference *)
}

type command = {
  name : string;  (** as shown *)
  command_line : string;
  is_reference : bool;
  failed_runs : int;  (** kept under [--ignore-failure] *)
  metrics : metric list;
}

type verdict = Pass | Fail | Inconclusive

type gate = {
  verdict : verdict;
  condition : string;  (** ["wall_time > 5%"] *)
  metric : string;
  command : string;  (** name of the command that was judged *)
  delta : delta;
}

type t = {
  commands : command list;
  gates : gate list;
  confidence : float;  (** of every interval, a fraction *)
  complete : bool;  (** false: a run failed, or the user interrupted *)
  warnings : string list;
  notes : string list;  (** why something was not measured, for example *)
  version : string;  (** of the program lauka *)
  json : Yojson.Safe.t;  (** the whole document, for what has no field here (docs/schema.json) *)
}

val find : string -> command -> metric option
(** Returns the metric of that name: ["wall_time"], ["peak_rss"], ["instructions"], ... *)

val mean : string -> command -> float option
(** Returns a metric's mean. *)

val counters : command -> (string * float) list
(** Returns the mean of each event that was counted. *)

val counter : string -> command -> float option
val ipc : command -> float option
(** Returns instructions per cycle, if both were counted. *)

val wall_time : command -> float option

val time_by_kind : command -> (string * float) list
(** Returns the CPU time on each kind of core, the fastest first: [[("p", 0.9); ("e", 0.1)]]. Empty if the cores are of one
    kind, or the system does not say. *)

(** {1 Running lauka} *)

type error =
  | Not_started of string  (** the program lauka could not be started *)
  | Refused of string  (** nothing was run: an event that cannot be counted here, an option that does not exist *)
  | Failed of string * t option
      (** a command failed, something could not be measured, or lauka was interrupted; with what was measured before *)
  | Unreadable of string  (** what lauka wrote is not a session that this library can read *)

val reason : error -> string
(** Returns what lauka said, without its warnings. *)

val string_of_error : error -> string

val command_of_words : string list -> string
(** Quotes each word, so that the command has exactly these arguments. *)

val run :
  ?program:string ->
  ?events:string list ->
  ?metrics:string list ->
  ?runs:int ->
  ?fail_if:string list ->
  ?options:string list ->
  string list ->
  (t, error) result
(** Measures commands, of which the first is the reference. Each is a command line that lauka splits into words as a shell
    does and runs without one; see {!command_of_words}. The result says what gates ([fail_if], such as ["wall_time > 5"])
    found; a gate that failed is not an error. Without commands the result is [Refused].

    @param program the program lauka (default: the environment's [LAUKA], else [lauka] on the path)
    @param events what to count; an event that cannot be counted is an error with the reason
    @param metrics rows to choose, as [--metrics] takes them; what is measured by name only needs them ([["default"; "mpki"]])
    @param runs exactly so many timed runs of each command
    @param options further options of lauka, word by word: [["--engine"; "cachegrind"]] *)

val of_json : string -> (t, string) result
(** Reads the text of an [--export-json]. The files of a suite ([--suite]) are refused. *)

(** {1 Regions}

    For programs that are measured with [lauka --region]; without it these do nothing. *)

external region_begin : unit -> unit = "lauka_region_begin_stub" [@@noalloc]
external region_end : unit -> unit = "lauka_region_end_stub" [@@noalloc]

val region : (unit -> 'a) -> 'a
(** Calls a function in the region, and leaves the region when it returns or raises. *)
