#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lauka::darwin {

/// One row of a chip's table of events. Bit i of `mask`: the event may sit on counter PMCi.
struct ChipEvent {
  std::string name;
  std::uint16_t number = 0;
  std::uint16_t mask = 0;
  bool fixed = false;
  bool listed = true;  ///< macOS 15.4 has it in its list for the board
};

/// A processor of the model.
struct Chip {
  std::string name;            ///< "m1"
  std::string marketing_name;  ///< "Apple M1"
  std::string database;        ///< of kpep: "a14"
  std::uint32_t family = 0;    ///< hw.cpufamily
  unsigned performance_cpus = 0;
  unsigned efficiency_cpus = 0;
  std::uint16_t selector_bits = 0xffff;  ///< of a configuration word
  std::uint16_t unforced = 0x3fc;  ///< configurable counters that the power manager leaves free
  std::vector<ChipEvent> events{};

  unsigned cpus() const { return performance_cpus + efficiency_cpus; }

  /// The configurable event with that selector; null if the chip has none.
  const ChipEvent* event(std::uint16_t number) const;
  /// Of some event that every macOS takes.
  std::uint16_t any_selector() const;
  /// True if macOS 15.4 takes that selector.
  bool lists(std::uint16_t number) const;
};

/// Returns "m1" to "m5", with the events of `tables`/NAME.tsv. Throws std::runtime_error for other
/// names.
Chip chip_named(const std::string& name, const std::string& tables);

}  // namespace lauka::darwin
