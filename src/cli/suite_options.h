#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// A benchmark of a suite: a session of its own, except for tables and exports.
struct Benchmark {
  std::string name;
  Options options{};
};

/// A suite, from its file and the command line.
struct Suite {
  Options session{};  ///< of all benchmarks: exports, looks, --fail-if-inconclusive
  std::vector<Benchmark> benchmarks{};  ///< selected by --only and --shard; may be empty
};

/// Reads `text`, the suite of `typed`, in which a benchmark's own options win over those that were
/// typed, and these over its [defaults]: an option cancels itself, and what contradicts it, in
/// weaker places. Refuses as on the command line, with the file, line, benchmark and option.
Result<Suite> read_suite(const Options& typed, std::string_view text);

/// A value of a suite's file: text, a number in digits, true or false, or a list.
struct SuiteValue {
  enum class Kind : unsigned char { Text, Number, Flag, List };

  Kind kind = Kind::Text;
  std::string text{};  ///< of a number, too
  bool flag = false;
  std::vector<SuiteValue> list{};
};

/// KEY = VALUE.
struct SuiteEntry {
  std::string key;
  std::size_t line = 0;  ///< from 1
  SuiteValue value{};
};

/// The entries of [defaults] or a [[benchmark]], in order.
struct SuiteTable {
  std::size_t line = 0;
  std::vector<SuiteEntry> entries{};
};

/// A suite's file, in its own order.
struct SuiteDocument {
  SuiteTable defaults{};
  std::vector<SuiteTable> benchmarks{};
};

/// Something wrong at a line of the file; 0: no certain one.
struct SuiteFault {
  std::size_t line = 0;
  Error error{};
};

/// The largest number of benchmarks in a file.
inline constexpr std::size_t kMostBenchmarks = 1000;

/// Reads TOML. Refused, with the fault filled in: what is not valid TOML, tables of other names,
/// values of other kinds (dates, tables), lists in lists in lists, too many benchmarks.
bool read_suite_file(std::string_view text, SuiteDocument& document, SuiteFault& fault);

}  // namespace lauka::cli
