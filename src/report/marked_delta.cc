#include "report/marked_delta.h"

#include "report/format.h"

#include <algorithm>

namespace lauka::report {

namespace {

/// Whether a delta is a gain, a loss, or cannot be called either.
enum class Worth : unsigned char { Better, Worse, Neutral, Unsure };

Worth worth_of(const stats::Delta& delta, Better better) {
  if (!delta.is_significant() || !delta.change) return Worth::Unsure;
  if (better == Better::Neither) return Worth::Neutral;
  const bool more = *delta.change > 0;
  return more == (better == Better::More) ? Worth::Better : Worth::Worse;
}

}  // namespace

MarkedDelta marked_delta(const stats::Delta& delta, Better better, bool with_interval) {
  const Worth worth = worth_of(delta, better);
  const std::string mark = worth == Worth::Better ? "⚡ " : worth == Worth::Worse ? "💩 " : "   ";
  const Ink ink = worth == Worth::Better   ? Ink::Green
                  : worth == Worth::Worse  ? Ink::Red
                  : worth == Worth::Unsure ? Ink::Dim
                                           : Ink::Plain;
  std::string text = delta_text(delta);
  if (!with_interval && delta.change) text.resize(std::min(text.find(' '), text.size()));
  return {mark + text, ink};
}

}  // namespace lauka::report
