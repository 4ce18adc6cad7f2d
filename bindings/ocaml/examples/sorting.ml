(* Measures sorting, and not the making of what is sorted:

     lauka --region -- 'sorting.exe list' 'sorting.exe array' *)

let () =
  Random.init 1;
  let numbers = List.init 200_000 (fun _ -> Random.bits ()) in
  let least =
    match Sys.argv with
    | [| _; "list" |] -> Lauka.region (fun () -> List.hd (List.sort compare numbers))
    | [| _; "array" |] ->
      let array = Array.of_list numbers in
      Lauka.region (fun () ->
          Array.sort compare array;
          array.(0))
    | _ ->
      prerr_endline "usage: sorting list|array";
      exit 2
  in
  Printf.printf "%d\n" least
