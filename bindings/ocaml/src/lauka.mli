(** Runs the program lauka to compare commands, and marks regions of this program that [lauka --region] measures.

    {[
      match Lauka.run ~events:[ "cycles"; "instructions" ] [ "./old"; "./new -O2" ] with
      | Ok session -> List.iter show session.commands
      | Error error -> prerr_endline (Lauka.string_of_error error)
    ]} *)

(** {1 What was measured}

    Values are in base units: seconds, bytes, joules, counts, fractions. *)

type unit_ = Seconds | Bytes | Count | Ratio | Fraction | Joules
type better = Less | More | Neither

(** The quantity whose change a delta is: the typical round, the mean, a percentile, or the mean over layouts
    ([--layouts]). *)
type basis = Typical | Mean | Quantile | Layouts

(** The difference from the reference, in percent of the reference. A value is [None] if it is undefined, or if the
    interval has no such bound. *)
type delta = {
  percent : float option;
  low : float option;  (** lower end of the interval, at the session's confidence *)
  high : float option;  (** upper end of the interval *)
  significant : bool;  (** true if the interval does not contain 0 *)
  basis : basis;
}

type metric = {
  name : string;
  unit_ : unit_;
  note : string;  (** the note in the table, such as ["(simulated)"] or ["(region)"]; may be empty *)
  better : better;
  event : bool;  (** true if an engine counted this metric *)
  runs : int;  (** number of runs that have a value *)
  mean : float option;  (** [None] if no run has a value, or if only a bound is known *)
  stddev : float option;
  median : float option;
  min : float option;
  max : float option;
  at_most : float option;  (** a bound that no run exceeds, if nothing else is known *)
  samples : float option list;  (** the value of each run; [None] for a run without a value *)
  delta : delta option;  (** [None] for the reference *)
  detectable : float option;
      (** the smallest increase, as a fraction of the reference, that four of five such sessions would have found;
          [None] if lauka cannot say, for example because gates ended the session *)
}

type command = {
  name : string;  (** the name that lauka shows *)
  command_line : string;
  is_reference : bool;
  failed_runs : int;  (** number of failed runs that [--ignore-failure] kept *)
  metrics : metric list;
}

type verdict =
  | Pass
  | Fail
  | Inconclusive
  | Kept  (** of [--keep-if]: the command is kept; the next three are not *)
  | Worse  (** shown to be worse than the reference *)
  | Equal  (** shown not to reach the limit *)
  | Undecided

(** What a verdict says about the entry of [--accept]. [Unneeded]: the whole interval is within the gate's own limit.
    [Exceeded]: the gate fails by the accepted limit. [Use_undecided]: the gate is inconclusive. *)
type acceptance_use = Used | Unneeded | Exceeded | Use_undecided | Expired

(** The entry of [--accept] for a gate. Unless it has expired, the gate tested the accepted limit instead of its own. *)
type acceptance = {
  own_percent : float option;  (** the gate's own limit, in percent; [None] if that is a value *)
  own_bound : float option;
      (** the gate's own limit as a value, in the unit of the metric; [None] if it is in percent *)
  reason : string;
  until : string;  (** the last day, in UTC, such as ["2027-01-31"] *)
  entry : string;  (** the file and the line of the entry *)
  expired : bool;
  use : acceptance_use option;
}

type gate = {
  verdict : verdict;
  condition : string;  (** such as ["wall_time > 5%"] *)
  metric : string;
  command : string;  (** name of the command that the gate judged *)
  delta : delta;
  accepted : acceptance option;  (** [None] if [--accept] has no entry for the gate *)
}

(** The place of a session in a series of candidates ([--series]). *)
type series = {
  file : string;
  number : int;  (** number of the candidate, from 1 *)
  level : float;  (** the probability with which the candidate may be kept although it is useless *)
  decision : verdict option;
      (** the decision that the file has. Only [Kept] keeps the candidate. [Fail] and [Inconclusive]: the conditions for
          keeping hold, but a gate did not pass. [None]: no decision could be made or written, so that the candidate is
          not kept *)
  other_reference : bool;  (** true if the reference was not the last candidate that was kept *)
  kept : int;  (** number of candidates that were kept so far, this one included; 0 without a decision *)
}

(** The reason why a race ended. Only [One_left] and [All_equal] mean that it was decided. *)
type race_end = One_left | All_equal | Max_runs | Duration | Cut_short

(** A command that left a race. *)
type race_exit = {
  command : command;
  rounds : int;  (** number of timed rounds that the command took part in *)
  better_command : command option;
      (** the command that was shown to be better; [None] if no run of this one gave the metric *)
}

(** The result of a race ([--race]). *)
type race = {
  metric : string;
  limit_percent : float;  (** difference within which commands count as equally good *)
  rounds : int;  (** number of timed rounds of the commands that are left *)
  runs : int;  (** number of timed runs of all commands *)
  runs_without_exits : int;  (** number of timed runs if no command had left *)
  race_end : race_end;
  left : command list;  (** the commands that are left, the best first *)
  exits : race_exit list;  (** the other commands, in the order in which they left *)
}

type t = {
  commands : command list;
  gates : gate list;
  confidence : float;  (** confidence of every interval, as a fraction *)
  complete : bool;  (** false if the session ended early, because a run failed or was interrupted *)
  warnings : string list;
  notes : string list;  (** for example, why something was not measured *)
  version : string;  (** version of the program lauka *)
  json : Yojson.Safe.t;  (** the whole document, which contains more than these fields (docs/schema.json) *)
  series : series option;  (** [None] without [--series] *)
  race : race option;  (** [None] without [--race] *)
}

val find : string -> command -> metric option
(** Returns the metric with that name, such as ["wall_time"], ["peak_rss"] or ["instructions"]. *)

val mean : string -> command -> float option
(** Returns the mean of a metric. *)

val counters : command -> (string * float) list
(** Returns the mean of each event that was counted. *)

val counter : string -> command -> float option
val ipc : command -> float option
(** Returns instructions per cycle, if both were counted. *)

val wall_time : command -> float option

val time_by_kind : command -> (string * float) list
(** Returns the CPU time on each kind of core, the fastest first: [[("p", 0.9); ("e", 0.1)]]. Returns an empty list if
    there is only one kind of core, or if the kinds are unknown. *)

(** {1 Running lauka} *)

type error =
  | Not_started of string  (** the program lauka could not be started *)
  | Refused of string
      (** lauka ran nothing, for example because an event cannot be counted here or an option does not exist *)
  | Failed of string * t option
      (** a command failed, something could not be measured, or lauka was interrupted; contains what lauka had measured *)
  | Unreadable of string  (** what lauka wrote is not a session that this library can read *)

val reason : error -> string
(** Returns the message of lauka, without its warnings. *)

val string_of_error : error -> string

val command_of_words : string list -> string
(** Returns a command line with exactly these words. *)

val run :
  ?program:string ->
  ?events:string list ->
  ?metrics:string list ->
  ?runs:int ->
  ?fail_if:string list ->
  ?options:string list ->
  string list ->
  (t, error) result
(** Measures commands. The first one is the reference. Each command is a command line. lauka splits it into words as a
    shell would, but runs it without a shell; see {!command_of_words}. The result contains the verdicts of the gates
    ([fail_if], such as ["wall_time > 5"]). A gate that failed is not an error, nor is a
    candidate that is not kept ([--keep-if], exit status 5). Without commands the result is [Refused].

    @param program the program lauka; by default the one that the variable [LAUKA] names, or else [lauka] on the path
    @param events the events to count; if one cannot be counted, the result is an error with the reason
    @param metrics the rows, as [--metrics] accepts them; some metrics are measured only if you name them ([["default"; "mpki"]])
    @param runs the exact number of timed runs of each command
    @param options further options of lauka, word by word: [["--engine"; "cachegrind"]] *)

val of_json : string -> (t, string) result
(** Reads the text of a file that [--export-json] wrote. Refuses the file of a suite ([--suite]). *)

(** {1 The commit that made it slower} *)

(** What [lauka-bisect] found. Changes are fractions: 0.04 is 4 percent more. *)
module Bisection : sig
  type commit = { id : string;  (** all digits of the hash *) date : string; subject : string }

  type change = {
    rounds : int;
    change : float option;
    low : float option;  (** the ends of the interval *)
    high : float option;
    exact : bool;
    detectable : float option;
        (** the increase that four of five such sessions would have found, if the ends do not differ significantly *)
  }

  type step_answer =
    | Before  (** at most half of the change is there *)
    | After
    | Undecided
    | Untestable  (** the commit does not build, or cannot be measured *)

  type step = {
    commit : commit;
    answer : step_answer;
    reason : string option;  (** why the commit is untestable *)
    from_good : change option;
  }

  type answer =
    | No_change  (** the ends do not differ significantly *)
    | Commit of commit
    | Range of commit list  (** one of them made the change *)

  type search = {
    good : commit;
    bad : commit;
    answer : answer;
    ends : change option;  (** from [good] to [bad] *)
    parent : commit option;  (** parent with which the commit was compared *)
    from_parent : change option;  (** what is claimed about the commit *)
    steps : step list;
  }

  type t = {
    metric : string;
    confidence : float;
    complete : bool;  (** false if the call ended before its answer *)
    searches : search list;  (** the first one is between GOOD and BAD; [--all] adds more *)
    version : string;
    json : Yojson.Safe.t;  (** the whole document (docs/bisect.schema.json) *)
  }

  val of_json : string -> (t, string) result
  (** Reads the text of a file that [lauka-bisect --export-json] wrote. *)
end

(** {1 Regions}

    These functions are for programs that you measure with [lauka --region]. Without it they do nothing. *)

external region_begin : unit -> unit = "lauka_region_begin_stub" [@@noalloc]
external region_end : unit -> unit = "lauka_region_end_stub" [@@noalloc]

val region : (unit -> 'a) -> 'a
(** Calls a function inside the region, and leaves the region when the function returns or raises. *)
