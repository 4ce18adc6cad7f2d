#pragma once

#include "core/result.h"
#include "os/linux_calls.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::os {

/// An event in the numbers of perf_event_open.
struct Code {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint64_t config3 = 0;

  bool operator==(const Code&) const = default;
};

enum class PmuKind : unsigned char {
  Core,        ///< the counters of processor cores
  Task,        ///< others that can count one task
  PerPackage,  ///< counts for a whole package: of no use for one task
};

/// A source of events: /sys/bus/event_source/devices/NAME.
struct Pmu {
  std::string name;
  std::uint32_t type = 0;  ///< type number of the PMU, which may differ after the next boot
  PmuKind kind = PmuKind::Core;
};

/// The bits of a term's value: bit ranges of one of the config words, the lowest bits first.
struct Format {
  struct Bits {
    unsigned low = 0;
    unsigned high = 0;  ///< inclusive, at most 63
  };
  unsigned word = 0;  ///< 0: config, 1: config1, ...
  std::vector<Bits> bits{};
};

/// Parses "config:0-7,32-35". nullopt if it is anything else or names a bit above 63.
std::optional<Format> parse_format(std::string_view text);

/// Puts `value` into the bits of `format`, replacing others. False if it is too wide.
bool put(Code& code, const Format& format, std::uint64_t value);

/// The PMUs and events of this machine, as the kernel describes them. Only the PMUs of the cores
/// are cached: other files are read on request.
class Sysfs {
 public:
  /// "umask=0x1": one part of an event.
  struct Term {
    std::string name;
    std::optional<std::uint64_t> value;  ///< nullopt: the user has to give it
  };

  explicit Sysfs(const LinuxCalls& calls) : calls_(calls) {}

  /// The PMUs of the cores: several on a machine with several kinds of core. Sorted by name.
  std::vector<Pmu> core_pmus() const;

  /// All PMUs, sorted by name.
  std::vector<Pmu> all_pmus() const;

  std::optional<Pmu> find(std::string_view pmu) const;

  /// The names of the PMU's events, sorted.
  std::vector<std::string> events(const Pmu& pmu) const;

  /// Returns the terms of an event ("event=0x3c,umask=0x1"); nullopt if there is no such event.
  std::optional<std::string> read_terms(const Pmu& pmu, std::string_view event) const;

  /// Returns the factor for the count of one of Intel's topdown events: cycles make slots.
  std::uint64_t read_scale(const Pmu& pmu, std::string_view event) const;

  /// Encodes the text between the slashes of pmu/.../: an event, terms, rHEX, or several with
  /// commas. A later term replaces an earlier one.
  Result<Code> encode(const Pmu& pmu, std::string_view text) const;

 private:
  Result<std::vector<Term>> expand(const Pmu& pmu, std::string_view text) const;
  Error unknown_term(const Pmu& pmu, std::string_view name) const;
  std::optional<std::string> read(const Pmu& pmu, std::string_view folder,
                                  std::string_view file) const;

  const LinuxCalls& calls_;
  mutable std::optional<std::vector<Pmu>> cores_{};  // each event is looked for in them
};

}  // namespace lauka::os
