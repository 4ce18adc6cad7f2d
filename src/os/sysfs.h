#pragma once

#include "core/result.h"
#include "os/linux_calls.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::os {

struct EventCode {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint64_t config3 = 0;

  bool operator==(const EventCode&) const = default;
};

enum class PmuKind : unsigned char {
  Core,
  Task,        ///< counters that are not a core's, but can count a single task
  PerPackage,  ///< counters that several CPUs share, which cannot count a single task
};

/// A unit of the processor or kernel that counts events: /sys/bus/event_source/devices/NAME.
struct Pmu {
  std::string name;
  std::uint32_t type = 0;  ///< the kernel's number for this PMU; may change at each boot
  PmuKind kind = PmuKind::Core;
};

/// The places of a term's bits in a config word, the lowest bits first.
struct TermFormat {
  struct Bits {
    unsigned low = 0;
    unsigned high = 0;  ///< inclusive, at most 63
  };
  unsigned word_index = 0;  ///< 0: config, 1: config1, ...
  std::vector<Bits> bits{};
};

/// Parses a format such as "config:0-7,32-35"; nullopt if `text` is not a format.
std::optional<TermFormat> parse_format(std::string_view text);

/// Writes `value` to the bits of `code` that `format` names. Returns false, and changes nothing, if
/// `value` has too many bits.
bool put(EventCode& code, const TermFormat& format, std::uint64_t value);

class Sysfs {
 public:
  /// A part of an event's encoding, such as "umask=0x1".
  struct Term {
    std::string name;
    std::optional<std::uint64_t> value;  ///< nullopt: the user must give the value
  };

  explicit Sysfs(const LinuxCalls& calls) : calls_(calls) {}

  /// Returns the PMUs of the cores, sorted by name. Machines with several core kinds may have
  /// several.
  std::vector<Pmu> core_pmus() const;

  std::vector<Pmu> all_pmus() const;

  std::optional<Pmu> find(std::string_view pmu) const;

  std::vector<std::string> events(const Pmu& pmu) const;

  /// Returns the terms of an event ("event=0x3c,umask=0x1"); nullopt if the event does not exist.
  std::optional<std::string> read_terms(const Pmu& pmu, std::string_view event) const;

  /// Returns the number of slots per count of one of Intel's topdown events; 1 for any other event,
  /// or if unknown.
  std::uint64_t read_topdown_scale(const Pmu& pmu, std::string_view event) const;

  /// Encodes the text between the slashes of pmu/.../: events, terms and raw codes (rHEX),
  /// separated by commas. A later term replaces an earlier term with the same name.
  Result<EventCode> encode(const Pmu& pmu, std::string_view text) const;

 private:
  Result<std::vector<Term>> expand(const Pmu& pmu, std::string_view text) const;
  Result<TermFormat> find_format(const Pmu& pmu, std::string_view term) const;
  Error unknown_term(const Pmu& pmu, std::string_view name) const;
  std::optional<std::string> read(const Pmu& pmu, std::string_view folder,
                                  std::string_view file) const;

  const LinuxCalls& calls_;
  mutable std::optional<std::vector<Pmu>> cores_{};
};

}  // namespace lauka::os
