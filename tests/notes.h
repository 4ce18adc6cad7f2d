#pragma once

#include "core/result.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

inline std::vector<std::string> kinds_of(const std::vector<Note>& notes) {
  std::vector<std::string> kinds;
  for (const Note& note : notes) kinds.push_back(note.kind);
  return kinds;
}

inline std::vector<std::string> texts_of(const std::vector<Note>& notes) {
  std::vector<std::string> texts;
  for (const Note& note : notes) texts.push_back(note.text);
  return texts;
}

inline bool has(const std::vector<Note>& notes, std::string_view kind) {
  return std::ranges::find(notes, kind, &Note::kind) != notes.end();
}

/// Returns the text of the first note of that kind; empty if there is none.
inline std::string note_of(const std::vector<Note>& notes, std::string_view kind) {
  const auto found = std::ranges::find(notes, kind, &Note::kind);
  return found == notes.end() ? std::string() : found->text;
}

}  // namespace lauka
