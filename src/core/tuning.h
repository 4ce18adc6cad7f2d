#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lauka {

/// What --tune asks for. Names are not checked: the table of switches has them (tune/switches.h).
struct TuneRequest {
  struct Choice {
    std::string name;
    bool on = true;
  };
  std::vector<Choice> choices{};      ///< in the order typed; a later one wins
  std::vector<std::uint32_t> cpus{};  ///< ascending; empty: chosen by topology
  bool compares = false;              ///< a quarter of the rounds runs untuned
};

/// A switch that was tuned for a session.
struct TunedSwitch {
  std::string name{};
  std::string before{};   ///< several values are joined by ", "
  std::string during{};   ///< likewise
  std::size_t files = 0;  ///< that have the setting: policies, IRQs, ...

  bool operator==(const TunedSwitch&) const = default;
};

/// A switch that could not be tuned.
struct UntunedSwitch {
  std::string name{};
  std::string why{};

  bool operator==(const UntunedSwitch&) const = default;
};

/// What a session changed of its machine.
struct Tuning {
  std::vector<TunedSwitch> switched{};
  std::vector<UntunedSwitch> not_possible{};
  std::vector<std::uint32_t> cpus{};  ///< the commands' own; empty: none were chosen
};

}  // namespace lauka
