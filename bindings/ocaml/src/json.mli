(** A reader of JSON (RFC 8259), enough for what [lauka --export-json] writes. *)

type t =
  | Null
  | Bool of bool
  | Number of float
  | String of string  (** UTF-8 *)
  | List of t list
  | Object of (string * t) list  (** in the order of the file *)

val parse : string -> (t, string) result
(** Reads one document, with nothing after it but blanks. The error names the byte. Lists and objects may be nested 200
    deep. *)

val member : string -> t -> t
(** Returns the value of a key; [Null] if it is missing or this is not an object. *)

val to_string : t -> string option
val to_number : t -> float option
val to_bool : t -> bool option

val to_list : t -> t list
(** Returns the elements; empty if this is not a list. *)
