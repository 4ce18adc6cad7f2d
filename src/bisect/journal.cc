#include "bisect/journal.h"

#include "core/text.h"

#include <utility>

namespace lauka::bisect {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 28U;

bool begins_with_seal(std::string_view text) {
  Seals seals;
  return seals.open(text.substr(0, text.find('\n'))).has_value();
}

}  // namespace

Result<Journal> Journal::open(const std::string& path, const std::string& head) {
  const Error in_use{"another lauka-bisect is writing to " + path,
                     "wait until it has ended, or use --work DIR with another folder"};
  auto lines = os::AppendLog::open(path, kMaxBytes, in_use);
  if (!lines) return lines.error();
  Journal journal(*std::move(lines));

  const std::string& text = journal.lines_->text_at_open();
  if (!text.empty() && !begins_with_seal(text))
    return Error{cited(path) + " is not the log of a search",
                 "remove it, or use --work DIR with another folder"};

  std::size_t kept = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', kept)) {
    Seals seals = journal.seals_;
    const auto entry = seals.open(std::string_view(text).substr(kept, end - kept));
    if (!entry) break;
    if (kept == 0 && *entry != head) break;
    if (kept > 0) journal.earlier_entries_.emplace_back(*entry);
    journal.seals_ = std::move(seals);
    kept = end + 1;
  }
  journal.has_dropped_search_ = kept == 0 && !text.empty();

  if (auto cut = journal.lines_->truncate_to(kept); !cut) return cut.error();
  if (kept == 0) journal.add(head);
  return journal;
}

}  // namespace lauka::bisect
