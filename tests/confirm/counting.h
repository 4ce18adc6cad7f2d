#pragma once

#include "confirm/confirm.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/strategy.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::confirm {

enum class Way : unsigned char { AtExit, Pet, Machine };

/// "exit", "pet" or "cpu".
std::string_view name_of(Way way);

/// An event on a counter of one's own choice, allowed or not.
struct Placed {
  unsigned counter = 0;
  std::uint16_t number = 0;
};

/// The counts of one run.
struct Counts {
  std::uint64_t instructions = 0;             ///< of the command and its descendants
  std::vector<std::uint64_t> configurable{};  ///< in the order asked for
  std::optional<double> coverage{};           ///< of the command's own instructions
};

/// The counters, taken until it is destroyed, and runs counted with one strategy after the other.
class Counting {
 public:
  explicit Counting(const Setting& setting);

  Result<void> take();

  /// From here on runs are counted this way.
  Result<void> begin(Way way);

  Result<Counts> run(const std::vector<std::string>& words, const std::vector<Placed>& events);

  /// The configurable counters that can be used.
  engine::kperf::CounterMask counters() const { return counters_; }

 private:
  std::vector<std::uint64_t> words_for(const std::vector<Placed>& events) const;

  const Setting& setting_;
  engine::kperf::Kernel kernel_;
  engine::kperf::Trace trace_;
  engine::kperf::Claim claim_;
  engine::kperf::CounterMask counters_ = 0;
  std::unique_ptr<engine::kperf::CountingStrategy> strategy_;
};

/// Returns the parts of the kernel's counting and tracing that are switched on.
std::vector<std::string> still_held(const os::DarwinCalls& calls);

}  // namespace lauka::confirm
