(* The example of the article on mperf ("Quick Hardware Performance Counters on macOS ARM64"), on this library: instructions
   per cycle, wall time and TLB misses of a command. Where the counters cannot be had, it shows why, and the times.

     dune exec examples/counters.exe -- ./my_benchmark --size 10000 *)

let events = [ "cycles"; "instructions"; "l1d-tlb-misses"; "branch-misses" ]

let show (command : Lauka.command) =
  Option.iter (Printf.printf "IPC: %.2f\n") (Lauka.ipc command);
  Option.iter (Printf.printf "Wall time: %.3f s\n") (Lauka.wall_time command);
  Option.iter (Printf.printf "TLB misses: %.0f\n") (Lauka.counter "l1d-tlb-misses" command);
  List.iter (fun (kind, time) -> Printf.printf "Time on %s cores: %.3f s\n" kind time) (Lauka.time_by_kind command)

let give_up error =
  Printf.eprintf "Error: %s\n" (Lauka.string_of_error error);
  exit 1

let () =
  let words = match List.tl (Array.to_list Sys.argv) with [] -> [ "ls"; "-l"; "/" ] | words -> words in
  let commands = [ Lauka.command_of_words words ] in
  match Lauka.run ~events ~runs:10 commands with
  | Ok session -> List.iter show session.commands
  | Error (Lauka.Refused why) -> (
    Printf.printf "Counters: %s\n" why;
    match Lauka.run ~runs:10 commands with
    | Ok session -> List.iter show session.commands
    | Error error -> give_up error)
  | Error error -> give_up error
