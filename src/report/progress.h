#pragma once

#include "core/choices.h"
#include "core/record.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace lauka::report {

/// Where drawn text goes: a terminal's standard error.
using Sink = std::function<void(std::string_view)>;

/// One line that is drawn over and over, at most ten times a second of Progress::elapsed, and gone
/// without a trace when the session is over.
class ProgressBar final : public Observer {
 public:
  /// `width`: asks for the cells of the terminal, which may change; the last one stays empty, lest
  /// the terminal wrap. `ascii`: no character but these. `time_unit`: of times; null: fitting.
  ProgressBar(Sink sink, std::function<std::size_t()> width, bool ascii = false,
              const DisplayUnit* time_unit = nullptr)
      : sink_(std::move(sink)), width_(std::move(width)), ascii_(ascii), time_unit_(time_unit) {}

  bool wants_progress() const override { return true; }
  void progress(const Progress& progress) override;
  void finished() override;

 private:
  Sink sink_;
  std::function<std::size_t()> width_;
  bool ascii_;
  const DisplayUnit* time_unit_;
  std::optional<std::chrono::nanoseconds> drawn_at_;  ///< none: nothing is on the screen
};

}  // namespace lauka::report
