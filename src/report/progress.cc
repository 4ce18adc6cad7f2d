#include "report/progress.h"

#include "core/foreign_text.h"
#include "report/format.h"
#include "report/lines.h"
#include "report/style.h"
#include "report/width.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::chrono::milliseconds kLeastPause{100};

/// "0:07", "12:34" or "1:02:03": does not change its width every second.
std::string clock_text(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string bar_of(double done, std::size_t cells) {
  const auto full = static_cast<std::size_t>(done * static_cast<double>(cells));
  return "[" + std::string(full, '=') + std::string(cells - full, ' ') + "]";
}

std::string line_of(const Progress& progress, std::size_t width, const DisplayUnit* unit) {
  const double done = std::clamp(progress.done, 0.0, 1.0);
  std::string line = fmt::format("{} {:3}%  {}", bar_of(done, width < 80 ? 10 : 20),
                                 static_cast<int>(done * 100), clock_text(progress.elapsed));
  if (progress.remaining) {
    const auto rounded_up = *progress.remaining + std::chrono::milliseconds(999);
    line += fmt::format(", {} left", clock_text(rounded_up));
  }
  if (const std::string_view kind = word_of(progress.kind); !kind.empty()) {
    line += fmt::format("  {}", kind);
  } else if (const auto& so_far = progress.difference) {
    const stats::Change change{so_far->change, stats::ChangeBounds{so_far->low, so_far->high}};
    return line + fmt::format("  {} {}", one_line(so_far->candidate), delta_text(change));
  } else if (progress.mean_wall_seconds) {
    line += "  mean " + time_text(*progress.mean_wall_seconds, unit);
  }
  return line + "  " + one_line(progress.command);
}

}  // namespace

void ProgressBar::progress(const Progress& progress) {
  if (drawn_at_ && progress.elapsed - *drawn_at_ < kLeastPause) return;
  drawn_at_ = progress.elapsed;
  // The line is cleared and drawn in one write, which does not flicker.
  const std::size_t width = width_();
  const std::string whole = line_of(progress, width, time_unit_);
  const std::string line = cut_end(ascii_ ? ascii_of(whole) : whole, width > 0 ? width - 1 : 0);
  sink_(std::string(kEraseLine) + line);
}

void ProgressBar::finished() {
  if (drawn_at_) sink_(kEraseLine);
  drawn_at_.reset();
}

}  // namespace lauka::report
