#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// The request of --tune. Names are not checked: the table of switches has them (tune/switches.h).
struct TuneRequest {
  struct Choice {
    std::string name;
    bool on = true;
  };
  std::vector<Choice> choices{};      ///< in the order typed; a later one wins
  std::vector<std::uint32_t> cpus{};  ///< ascending; empty: chosen by topology
  bool compares = false;              ///< a quarter of the runs is not tuned
};

/// A switch that was tuned for a session.
struct TunedSwitch {
  std::string name{};
  std::string before{};   ///< several values are joined by "; "
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

/// The state of a machine. What the system does not report is nullopt.
struct Vitals {
  std::optional<std::uint64_t> throttles{};     ///< of the commands' CPUs since they were started
  std::optional<double> celsius{};              ///< of the hottest thermal zone
  std::optional<std::uint64_t> stolen_ticks{};  ///< of the commands' CPUs, given to other machines
  std::optional<std::uint64_t> ticks{};         ///< of the commands' CPUs, all

  bool operator==(const Vitals&) const = default;
};

/// A change from untuned to tuned runs as a fraction, with its interval; nullopt if not defined.
struct TunedChange {
  std::optional<double> change{};
  std::optional<double> low{};
  std::optional<double> high{};

  bool operator==(const TunedChange&) const = default;
};

/// What --tune=compare found for a command, by its wall times.
struct TunedComparison {
  std::string benchmark{};  ///< empty if there is only one
  std::string command{};
  std::size_t tuned_runs = 0;
  std::size_t untuned_runs = 0;
  TunedChange stddev{};
  TunedChange width{};  ///< of its delta's interval at the same number of rounds; of its mean's, as
                        ///< `stddev`, if it is compared with no other; nothing for a reference
  TunedChange mean{};

  bool operator==(const TunedComparison&) const = default;
};

/// The changes of a session to its machine.
struct Tuning {
  std::vector<TunedSwitch> switched{};
  std::vector<UntunedSwitch> not_possible{};
  std::vector<std::uint32_t> cpus{};        ///< the commands' own; empty if not chosen
  Vitals before{};                          ///< the first run
  Vitals after{};                           ///< the last one
  std::vector<TunedComparison> compared{};  ///< by --tune=compare; one for each command
};

/// Names the settings in force in one word each: "cpus=1 governor=performance". Sessions with
/// different ones are not compared without a warning.
std::string settings_in_force(const Tuning& tuning);

}  // namespace lauka
