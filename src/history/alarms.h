#pragma once

#include "core/result.h"
#include "history/load.h"
#include "history/observe.h"
#include "report/style.h"
#include "stats/steps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lauka::history {

/// What a step is to whoever is to be woken by it.
enum class StepState : unsigned char {
  Alarm,         ///< it is worse, and nothing below holds
  Better,        ///< it is better, or neither is
  MadeUpFor,     ///< later steps brought the level back
  Acknowledged,  ///< somebody has left a note
};

/// A step of a trend.
struct KnownStep {
  stats::Step step{};
  StepState state = StepState::Alarm;
  std::string id{};    ///< what `ack` is given
  std::string note{};  ///< of the acknowledgement
};

/// A series with the steps in it.
struct SteppedSeries {
  Series series{};
  Trend trend{};
  std::vector<KnownStep> steps{};
  bool is_last_suspected = false;
};

/// Finds the steps, and what is known of them.
Result<SteppedSeries> with_steps(Loader& loader, Series series, Against against);

/// What the step of a series at a commit is called: eight hexadecimal digits.
std::string step_id(const Series& series, std::int64_t began);

/// "+10.0% ± 0.2%": by how much.
std::string step_change_text(const SteppedSeries& stepped, const stats::Step& step);

/// ", acknowledged: new parser"; empty of an alarm.
std::string state_words(const KnownStep& step);

/// The steps in words, a line or two each; empty where there is none.
std::string steps_text(const SteppedSeries& stepped, const report::Style& style);

}  // namespace lauka::history
