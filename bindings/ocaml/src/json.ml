type t =
  | Null
  | Bool of bool
  | Number of float
  | String of string
  | List of t list
  | Object of (string * t) list

exception Refused of int * string

let deepest = 200

type source = { text : string; mutable at : int }

let refuse source what = raise (Refused (source.at, what))
let next source = if source.at < String.length source.text then source.text.[source.at] else '\000'
let step source = source.at <- source.at + 1

let rec skip_blanks source =
  match next source with
  | (' ' | '\t' | '\n' | '\r') when source.at < String.length source.text ->
    step source;
    skip_blanks source
  | _ -> ()

let expect source wanted =
  if next source <> wanted then refuse source (Printf.sprintf "'%c' is missing" wanted);
  step source

let word source text value =
  let length = String.length text in
  if source.at + length > String.length source.text || String.sub source.text source.at length <> text then
    refuse source "this is not a value";
  source.at <- source.at + length;
  value

let hex4 source =
  let digit c =
    match c with
    | '0' .. '9' -> Char.code c - Char.code '0'
    | 'a' .. 'f' -> Char.code c - Char.code 'a' + 10
    | 'A' .. 'F' -> Char.code c - Char.code 'A' + 10
    | _ -> refuse source "\\u takes four hexadecimal digits"
  in
  let code = ref 0 in
  for _ = 1 to 4 do
    code := (!code * 16) + digit (next source);
    step source
  done;
  !code

(* What is above 0xffff is written as two codes, the surrogates. *)
let unicode source =
  let first = hex4 source in
  let code =
    if first >= 0xd800 && first <= 0xdbff then begin
      expect source '\\';
      expect source 'u';
      let second = hex4 source in
      if second < 0xdc00 || second > 0xdfff then refuse source "half of a surrogate pair is missing";
      0x10000 + ((first - 0xd800) * 0x400) + (second - 0xdc00)
    end
    else first
  in
  if not (Uchar.is_valid code) then refuse source "half of a surrogate pair is missing";
  Uchar.of_int code

let string_of source =
  expect source '"';
  let buffer = Buffer.create 32 in
  let rec go () =
    if source.at >= String.length source.text then refuse source "the string does not end";
    let c = next source in
    step source;
    match c with
    | '"' -> Buffer.contents buffer
    | '\\' ->
      let escaped = next source in
      step source;
      (match escaped with
       | ('"' | '\\' | '/') as same -> Buffer.add_char buffer same
       | 'b' -> Buffer.add_char buffer '\b'
       | 'f' -> Buffer.add_char buffer '\012'
       | 'n' -> Buffer.add_char buffer '\n'
       | 'r' -> Buffer.add_char buffer '\r'
       | 't' -> Buffer.add_char buffer '\t'
       | 'u' -> Buffer.add_utf_8_uchar buffer (unicode source)
       | _ -> refuse source "there is no such escape");
      go ()
    | c when c < ' ' -> refuse source "a control character must be escaped"
    | c ->
      Buffer.add_char buffer c;
      go ()
  in
  go ()

(* float_of_string takes more than JSON does (0x1p3, 1_000, nan), so the characters are looked at first. *)
let number source =
  let first = source.at in
  let digits () =
    let before = source.at in
    while match next source with '0' .. '9' -> true | _ -> false do
      step source
    done;
    if source.at = before then refuse source "a digit is missing"
  in
  if next source = '-' then step source;
  if next source = '0' then step source else digits ();
  if next source = '.' then begin
    step source;
    digits ()
  end;
  (match next source with
   | 'e' | 'E' ->
     step source;
     (match next source with '+' | '-' -> step source | _ -> ());
     digits ()
   | _ -> ());
  float_of_string (String.sub source.text first (source.at - first))

let rec value source depth =
  if depth > deepest then refuse source "nested too deeply";
  skip_blanks source;
  match next source with
  | '{' -> Object (items source '}' (fun () -> pair source depth))
  | '[' -> List (items source ']' (fun () -> value source (depth + 1)))
  | '"' -> String (string_of source)
  | 't' -> word source "true" (Bool true)
  | 'f' -> word source "false" (Bool false)
  | 'n' -> word source "null" Null
  | '-' | '0' .. '9' -> Number (number source)
  | _ -> refuse source "this is not a value"

and pair source depth =
  skip_blanks source;
  let key = string_of source in
  skip_blanks source;
  expect source ':';
  (key, value source (depth + 1))

(* What stands between the brackets. A loop, since a session may have a million samples. *)
and items : 'a. source -> char -> (unit -> 'a) -> 'a list =
 fun source closing item ->
  step source;
  skip_blanks source;
  if next source = closing then begin
    step source;
    []
  end
  else begin
    let found = ref [ item () ] in
    skip_blanks source;
    while next source = ',' do
      step source;
      found := item () :: !found;
      skip_blanks source
    done;
    expect source closing;
    List.rev !found
  end

let parse text =
  let source = { text; at = 0 } in
  match
    let read = value source 0 in
    skip_blanks source;
    if source.at < String.length text then refuse source "something follows the document";
    read
  with
  | read -> Ok read
  | exception Refused (at, what) -> Error (Printf.sprintf "byte %d: %s" at what)

let member key = function
  | Object pairs -> (match List.assoc_opt key pairs with Some value -> value | None -> Null)
  | _ -> Null

let to_string = function String text -> Some text | _ -> None
let to_number = function Number value -> Some value | _ -> None
let to_bool = function Bool value -> Some value | _ -> None
let to_list = function List values -> values | _ -> []
