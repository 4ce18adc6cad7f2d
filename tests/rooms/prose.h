#pragma once

#include "rooms/architecture.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

/// The rule that no decision searches our own prose: what a program must know of an event, an error
/// or a note is an enumeration or a number. Works on texts, as rooms/architecture.h.
namespace lauka::rooms {

/// A search that is allowed, with its reason.
struct AllowedSearch {
  std::string_view path;  ///< a file, or a folder with a slash at its end
  std::string_view text;  ///< empty: any
};

/// Foreign text: the user's words, files of the kernel and of other tools, libraries' messages.
inline constexpr auto kForeignText = std::to_array<AllowedSearch>({
    {"cli/", ""},
    {"core/command.h", "sha256:"},
    {"core/elf.cc", "\\177ELF"},  // how such a file begins
    {"core/text.cc", "find "},    // the program of a user's command
    {"cores/threads.cc", ""},
    {"engine/engine.cc", "energy-"},
    {"engine/kperf/kpep.cc", ""},
    {"engine/kperf/calling_threads.cc", " (whole run)"},  // a name that a saved session asks for
    {"engine/perf/", ""},
    {"engine/profile/", "sampled_time"},  // a name that the user typed
    {"engine/profile/", "total_time"},
    {"engine/profile/samples.cc", " (deleted)"},  // of the kernel
    {"engine/valgrind/", ""},
    {"history/history_request.cc", ""},
    {"history/database.cc", ""},
    {"os/", ""},
    {"plan/make_commands.cc", ""},
    {"plan/make_plan.cc", "tree_peak_memory"},
    {"plan/rows.cc", ""},
    {"run/program_facts.cc", ""},                   // options of env(1), names of variables
    {"report/function_name.cc", ""},                // what a demangler writes
    {"report/warning_lines.cc", "abm"},             // the kernel's name of a processor's feature
    {"session/function_metrics.cc", "total_time"},  // a name that the user typed
    {"tune/", ""},
});

/// Keys of tables and of JSON, and files in lauka's own formats.
inline constexpr auto kKeysAndFormats = std::to_array<AllowedSearch>({
    {"engine/engine.cc", "power"},
    {"format/command_json.cc", "(region)"},  // of files before the key "region"
    {"format/command_json.cc", "role"},
    {"format/command_json.cc", "warmup_runs"},
    {"format/function_json.cc", "sampled_time"},
    {"format/json.cc", "results"},
    {"core/call_paths.cc", "(stack incomplete)"},
    {"core/call_paths.cc", "(too many paths)"},
    {"report/exports.cc", "max"},
    {"session/setting_values.cc", "total_time"},
    {"history/page.cc", "+dirty"},  // the history's notation of a commit
    {"history/session_record.cc", "mad"},
    {"history/session_record.cc", "reference"},
});

/// Rooms that are given facts and never text to decide by: there even a single word is refused.
inline constexpr auto kOfFacts =
    std::to_array<std::string_view>({"stats", "gate", "session", "results", "report", "run"});

namespace detail {

inline std::string unescaped(const std::string& literal) {
  return std::regex_replace(literal, std::regex(R"(\\(["\\]))"), "$1");
}

inline bool is_allowed(const std::string& path, const std::string& text) {
  const auto allows = [&](const AllowedSearch& one) {
    const bool is_there = one.path.ends_with('/') ? path.starts_with(one.path) : path == one.path;
    return is_there && text.starts_with(one.text);
  };
  return std::ranges::any_of(kForeignText, allows) || std::ranges::any_of(kKeysAndFormats, allows);
}

/// True if `text` is words for people: several, or in a room of facts a single one.
inline bool is_prose(const std::string& text, std::string_view room) {
  static const std::regex kWords("[A-Za-z]{2,} [A-Za-z]{2,}");
  static const std::regex kWord("[A-Za-z]{3,}");
  return std::regex_search(text, holds(kOfFacts, room) ? kWord : kWords);
}

}  // namespace detail

/// Finds constants that are string literals: their texts by name.
inline std::map<std::string, std::string> text_constants(const std::vector<Source>& sources) {
  static const std::regex kConstant(R"re(\b(k[A-Z]\w*)(?:\[\])?\s*=\s*"((?:[^"\\\n]|\\.)*)")re");
  std::map<std::string, std::string> constants;
  for (const Source& source : sources) {
    const std::string text = detail::code_of(source.text);
    for (std::sregex_iterator at(text.begin(), text.end(), kConstant), end; at != end; ++at)
      constants[(*at)[1]] = detail::unescaped((*at)[2]);
  }
  return constants;
}

/// Returns the searches of prose in `source`, one line each: "path: searches for 'text'", "path:
/// searches a member that holds prose: 'note.find('".
inline std::vector<std::string> prose_searches(
    const Source& source, const std::map<std::string, std::string>& constants) {
  static const std::string kText = R"re((?:"((?:[^"\\\n]|\\.)*)"|(?:\w+::)*(k[A-Z]\w*)\b))re";
  static const std::regex kSearch(
      R"re((?:\.|->)\s*(?:find|rfind|starts_with|ends_with|contains|compare)\(\s*)re" + kText);
  static const std::regex kEqual("[=!]=\\s*" + kText);
  static const std::regex kAmong(R"re(\b(?:find|count|erase)\([\w.>:-]+,\s*)re" + kText);
  static const std::regex kMade(R"re([=!]=\s*fmt::format\(\s*"(?:[^"\\\n]|\\.)*")re");
  static const std::regex kMember(
      R"re((?:\.|->)(?:what|remedy|note|meaning|help|why|advice)\.(?:find|rfind|starts_with|ends_with|compare|substr|erase)\w*\()re");
  const std::string code = detail::code_of(source.text);
  const std::string room = detail::first_folder(source.path);
  std::vector<std::string> found;
  const auto look = [&](const std::regex& pattern, bool is_search) {
    for (std::sregex_iterator at(code.begin(), code.end(), pattern), end; at != end; ++at) {
      std::string text = detail::unescaped((*at)[1]);
      if ((*at)[2].matched) {
        const auto constant = constants.find((*at)[2]);
        if (constant == constants.end()) continue;
        text = constant->second;
      }
      static const std::regex kWord("[A-Za-z]{3,}");
      const bool is_suspect =
          is_search ? std::regex_search(text, kWord) : detail::is_prose(text, room);
      if (is_suspect && !detail::is_allowed(source.path, text))
        found.push_back(source.path + ": searches for '" + text + "'");
    }
  };
  look(kSearch, true);
  look(kEqual, false);
  look(kAmong, false);
  for (std::sregex_iterator at(code.begin(), code.end(), kMade), end; at != end; ++at)
    found.push_back(source.path + ": compares with text made for people: '" + at->str() + "'");
  for (std::sregex_iterator at(code.begin(), code.end(), kMember), end; at != end; ++at)
    found.push_back(source.path + ": searches a member that holds prose: '" + at->str() + "'");
  return found;
}

}  // namespace lauka::rooms
