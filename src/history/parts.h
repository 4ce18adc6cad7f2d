#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "history/database.h"
#include "history/record.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace lauka::history {

/// What makes the class of a machine, as JSON; and back.
std::string parts_of(const Machine& machine);
Machine machine_of_parts(std::string_view parts);

/// A machine in a few words: "AMD EPYC 7B13, 8 CPUs, Linux 6.1.0".
std::string words_of(const Machine& machine);

/// What tells one series of points from another, but for the metric: a text.
std::string variant_key(const BenchmarkRecord& result, std::string_view machine_class);

/// The date, or date and time, that `text` is: "2026-11-22", "2026-11-22T18:00:00Z"; UTC.
Result<TimeOfDay> time_in_words(const std::string& text);

/// The number of the one commit that is called so, or begins so, among the sessions there. The
/// error is a predicate of the database.
Result<std::int64_t> commit_number(Database& database, const std::string& commit);

}  // namespace lauka::history
