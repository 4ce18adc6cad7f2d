#pragma once

#include "fakes/darwin/host.h"

#include <memory>
#include <string>

namespace lauka::darwin {

/// The machine that a scenario describes. JSON; every key may be left out:
///
/// - chip "m1".."m5"; tables: the folder of their .tsv; os "15.4"; timebase [125, 3]
/// - root (true), virtual, neighbours, few_pids, leftovers, cpmu_busy, force_taken,
///   forcing_frees_nothing: bools; tracer {pid, name, background}
/// - refused_selector, dead_mask: numbers; self_counts "told" "zero" "refused": what
///   thread_selfcounts does
/// - frameworks: false, or an array of the symbols that are missing
/// - fail {CALL: {error, from, times}}; interrupt {call, signal}
/// - lose_in_run, silent_in_run, wrapped_in_run, words_change_in_run: counted from 1, lauka's own
///   trial included; loss_argument 0 or 1
/// - report: the file that make_report goes to when the program ends
///
/// Throws std::exception if it cannot be read.
std::unique_ptr<Host> host_of(const std::string& scenario);

/// Returns the errno of that name; 0 for "". Throws std::out_of_range for names that nothing uses.
int error_named(const std::string& name);

/// The scenario's `report`; empty: none.
std::string report_file_of(const std::string& scenario);

/// JSON: `held` (not given back), the number of `calls`, and of each of the `runs` its work: `own`
/// and `tree` with threads, cycles, instructions, events; `kernel` with the totals of the process.
std::string make_report(const Host& host);

}  // namespace lauka::darwin
