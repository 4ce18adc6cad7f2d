#include "bisect/journal.h"

#include "core/text.h"

#include <utility>

namespace lauka::bisect {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 28U;

/// True if the first line of `text` is sealed, as in any log of a search.
bool begins_with_sealed_line(std::string_view text) {
  Seals seals;
  return seals.open(text.substr(0, text.find('\n'))).has_value();
}

}  // namespace

/// Takes the entries after the head, up to the first line that is incomplete or damaged. Returns
/// how many bytes of the log are intact until there; 0 if its head is not `head`, so that it is the
/// log of another search.
std::size_t Journal::take_earlier_entries(const std::string& head) {
  const std::string& text = lines_->text_at_open();
  std::size_t used_bytes = 0;
  for (;;) {
    const std::size_t line_end = text.find('\n', used_bytes);
    if (line_end == std::string::npos) return used_bytes;

    // Checking a line changes the seals. The change is kept only if the line is not damaged.
    Seals seals = seals_;
    const auto entry = seals.open(std::string_view(text).substr(used_bytes, line_end - used_bytes));
    const bool is_damaged = !entry.has_value();
    if (is_damaged) return used_bytes;

    const bool is_head = used_bytes == 0;
    const bool is_of_other_search = is_head && *entry != head;
    if (is_of_other_search) return 0;
    if (!is_head) earlier_entries_.emplace_back(*entry);
    seals_ = std::move(seals);
    used_bytes = line_end + 1;
  }
}

// The log has a line for each entry, after a head that describes the search. The lines are sealed:
// each ends with a checksum of itself and all earlier lines.
Result<Journal> Journal::open(const std::string& path, const std::string& head) {
  const Error in_use{"another lauka-bisect is writing to " + path,
                     "wait until it has ended, or use --work DIR with another folder"};
  auto lines = os::AppendLog::open(path, kMaxBytes, in_use);
  if (!lines) return lines.error();
  Journal journal(*std::move(lines));

  const std::string& text = journal.lines_->text_at_open();
  if (!text.empty() && !begins_with_sealed_line(text))
    return Error{cited(path) + " is not the log of a search",
                 "remove it, or use --work DIR with another folder"};

  const std::size_t used_bytes = journal.take_earlier_entries(head);
  const bool is_new_log = used_bytes == 0;
  journal.has_dropped_search_ = is_new_log && !text.empty();
  if (auto cut = journal.lines_->truncate_to(used_bytes); !cut) return cut.error();
  if (is_new_log) journal.add(head);
  return journal;
}

}  // namespace lauka::bisect
