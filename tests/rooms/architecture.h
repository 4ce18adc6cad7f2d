#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// The architecture as a rule that can be broken: which file may include what. Works on texts, so
/// that the rule itself is tested on sources made up for it.
namespace lauka::rooms {

/// A room and its allowed includes besides itself: rooms ("core"), or single headers of a room
/// ("cli/options.h"), in the order of src/rooms.txt.
struct Room {
  std::string name;
  std::vector<std::string> may_include;
};

/// A file under src: its path below src, with slashes, and its text.
struct Source {
  std::string path;
  std::string text;
};

namespace detail {

inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

inline std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin));
}

/// Returns the part before the first slash; empty without one.
inline std::string first_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string{} : std::string(path.substr(0, slash));
}

/// One #include: the header's name, and whether it was in quotes.
struct Include {
  std::string header;
  bool quoted = false;
};

/// All #include lines, also those in a branch that is not compiled here.
inline std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> includes;
  for (const std::string& whole_line : split(text, '\n')) {
    std::string line = trimmed(whole_line);
    if (line.empty() || line[0] != '#') continue;
    line = trimmed(std::string_view(line).substr(1));
    if (!line.starts_with("include")) continue;
    const std::size_t begin = line.find_first_of("\"<");
    const std::size_t end =
        begin == std::string::npos ? begin : line.find_first_of("\">", begin + 1);
    if (end != std::string::npos)
      includes.push_back({line.substr(begin + 1, end - begin - 1), line[begin] == '"'});
  }
  return includes;
}

/// Returns the end of the text or character literal that begins at `begin`.
inline std::size_t end_of_literal(const std::string& text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && text[end] != text[begin]) end += text[end] == '\\' ? 2U : 1U;
  return std::min(end + 1, text.size());
}

/// Returns the end of the raw literal whose R is at `begin`.
inline std::size_t end_of_raw_literal(const std::string& text, std::size_t begin) {
  const std::size_t bracket = text.find('(', begin);
  const std::string close = ")" + text.substr(begin + 2, bracket - begin - 2) + "\"";
  return std::min(text.find(close, bracket), text.size() - close.size()) + close.size();
}

/// Returns the code without comments; of raw literals only their quotes.
inline std::string code_of(const std::string& text) {
  std::string code;
  for (std::size_t i = 0; i < text.size();) {
    const bool is_in_word =
        i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 || text[i - 1] == '_');
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "R\"") == 0 && !is_in_word) {
      i = end_of_raw_literal(text, i);
      code += "\"\"";
    } else if (text[i] == '"' || (text[i] == '\'' && !is_in_word)) {  // else a digit separator
      const std::size_t end = end_of_literal(text, i);
      code += text.substr(i, end - i);
      i = end;
    } else {
      code += text[i++];
    }
  }
  return code;
}

/// A function or macro of POSIX and its header: on macOS others do not declare it by the way.
struct DeclaredIn {
  std::string_view name;
  std::string_view header;
};

/// Names that lauka gives to nothing of its own.
inline constexpr auto kDeclaredIn = std::to_array<DeclaredIn>({{"kill", "csignal"},
                                                               {"sigaction", "csignal"},
                                                               {"sigaddset", "csignal"},
                                                               {"sigemptyset", "csignal"},
                                                               {"sigprocmask", "csignal"},
                                                               {"waitpid", "sys/wait.h"},
                                                               {"WEXITSTATUS", "sys/wait.h"},
                                                               {"WTERMSIG", "sys/wait.h"},
                                                               {"getrusage", "sys/resource.h"},
                                                               {"setrlimit", "sys/resource.h"},
                                                               {"mmap", "sys/mman.h"},
                                                               {"fcntl", "fcntl.h"},
                                                               {"ioctl", "sys/ioctl.h"},
                                                               {"getpid", "unistd.h"},
                                                               {"geteuid", "unistd.h"},
                                                               {"mkfifo", "sys/stat.h"},
                                                               {"fstat", "sys/stat.h"}});

/// True if both declare the same, as <csignal> and <signal.h> do.
inline bool is_same_header(std::string_view included, std::string_view wanted) {
  return included == wanted ||
         (wanted.starts_with('c') && included == std::string(wanted.substr(1)) + ".h");
}

/// True if `code` calls `name` as a function of no class.
inline bool calls(const std::string& code, std::string_view name) {
  const std::string call = std::string(name) + "(";
  for (std::size_t at = code.find(call); at != std::string::npos; at = code.find(call, at + 1)) {
    const char before = at == 0 ? '\n' : code[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) == 0 &&
        std::string_view("_.>").find(before) == std::string_view::npos)
      return true;
  }
  return false;
}

/// A package's header that only one file may include; a folder ends with a slash.
struct OnlyIn {
  std::string_view header;
  std::string_view file;
};

inline constexpr std::array<OnlyIn, 8> kOnlyIn{{{"cpuid.h", "core/sha256.cc"},
                                                {"immintrin.h", "core/sha256.cc"},
                                                {"boost/program_options", "cli/parse.cc"},
                                                {"boost/accumulators/", "stats/summary.cc"},
                                                {"expat.h", "engine/kperf/kpep.cc"},
                                                {"pcre2.h", "core/pattern.cc"},
                                                {"toml++/", "cli/toml_parser.h"},
                                                {"soci/", "history/database.cc"}}};

/// Headers of the standard library that reach outside the program: a pure room has no use for them.
inline constexpr std::array<std::string_view, 5> kOutsideWorld{"filesystem", "fstream", "iostream",
                                                               "mutex", "thread"};

/// lauka-history is a program of its own, with a command line of its own.
inline constexpr std::string_view kHistorysParser = "history/history_request.cc";

/// Outside every room: they wire the rooms together and may include everything.
inline bool is_wiring(std::string_view path) {
  return path == "main.cc" || path.starts_with("app/") || path.starts_with("programs/");
}

/// Rooms that may not read a file, write to a stream or start a thread.
inline constexpr std::array<std::string_view, 9> kPure{
    "core", "stats", "gate", "cli", "plan", "session", "results", "report", "format"};

template <typename Range>
bool holds(const Range& range, std::string_view wanted) {
  return std::find(std::begin(range), std::end(range), wanted) != std::end(range);
}

/// Returns the fault of an #include in quotes; empty if it is allowed.
inline std::string wrong_with_own(std::string_view header, const Room& room) {
  const std::string target = first_folder(header);
  if (target.empty()) return "is not named by its path below src";
  if (target == room.name || holds(room.may_include, target) || holds(room.may_include, header))
    return {};
  return "is not in src/rooms.txt for " + room.name;
}

/// Returns the fault of an #include in angle brackets; empty if it is allowed.
inline std::string wrong_with_foreign(std::string_view header, std::string_view path,
                                      std::string_view room) {
  for (const OnlyIn& rule : kOnlyIn) {
    if (header.starts_with("boost/program_options") && path == kHistorysParser) continue;
    if (header.starts_with(rule.header) && path != rule.file)
      return "may be included by " + std::string(rule.file) + " only";
  }
  if (header.starts_with("fmt/") || header == "nlohmann/json.hpp")
    return path.ends_with(".h") ? "in a header: whoever includes that pays for it" : "";
  const bool has_rule = std::ranges::any_of(
      kOnlyIn, [&](const OnlyIn& rule) { return header.starts_with(rule.header); });
  const bool of_package = header.starts_with("boost/") || header.starts_with("nlohmann/");
  const bool of_system = !has_rule && !of_package &&
                         (header.find('/') != std::string_view::npos || header.ends_with(".h"));
  if (of_system && room != "os") return "is a system header: those are for os";
  if (holds(kPure, room) && holds(kOutsideWorld, header))
    return "reaches outside the program, and " + std::string(room) + " is pure";
  return {};
}

}  // namespace detail

/// Reads src/rooms.txt: lines `room: allowed includes`; a line that begins with # is a comment.
inline std::vector<Room> read_rooms(std::string_view text) {
  std::vector<Room> rooms;
  for (const std::string& line : detail::split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    Room room{line.substr(0, colon), {}};
    for (const std::string& word : detail::split(line.substr(colon + 1), ' '))
      if (!detail::trimmed(word).empty()) room.may_include.push_back(detail::trimmed(word));
    rooms.push_back(room);
  }
  return rooms;
}

/// Returns the forbidden includes of `source`, one line each: "path: <header> reason".
inline std::vector<std::string> violations(const Source& source, const std::vector<Room>& rooms) {
  if (detail::is_wiring(source.path)) return {};
  const std::string name = detail::first_folder(source.path);
  const Room* room = nullptr;
  for (const Room& each : rooms) room = each.name == name ? &each : room;
  if (room == nullptr) return {source.path + ": is in no room of src/rooms.txt"};
  std::vector<std::string> found;
  for (const detail::Include& include : detail::includes_of(source.text)) {
    const std::string wrong = include.quoted
                                  ? detail::wrong_with_own(include.header, *room)
                                  : detail::wrong_with_foreign(include.header, source.path, name);
    if (!wrong.empty()) found.push_back(source.path + ": <" + include.header + "> " + wrong);
  }
  return found;
}

/// Returns the entries of src/rooms.txt that no file of their room makes use of, one line each:
/// "run: os/clock.h". `sources`: all files below src.
inline std::vector<std::string> unused_entries(const std::vector<Source>& sources,
                                               const std::vector<Room>& rooms) {
  std::map<std::string, std::set<std::string>, std::less<>> included;  // by room
  for (const Source& source : sources) {
    auto& of_room = included[detail::first_folder(source.path)];
    for (const detail::Include& include : detail::includes_of(source.text)) {
      if (!include.quoted) continue;
      of_room.insert(include.header);
      of_room.insert(detail::first_folder(include.header));
    }
  }

  std::vector<std::string> unused;
  for (const Room& room : rooms)
    for (const std::string& entry : room.may_include)
      if (!included[room.name].contains(entry)) unused.push_back(room.name + ": " + entry);
  return unused;
}

/// Returns the calls of POSIX in `source` whose header it does not include itself, one line each:
/// "path: kill needs <csignal>". A header's are its functions' declarations as well: none.
inline std::vector<std::string> undeclared_calls(const Source& source) {
  if (!source.path.ends_with(".cc")) return {};
  const std::string code = detail::code_of(source.text);
  const auto includes = detail::includes_of(source.text);
  std::vector<std::string> found;
  for (const detail::DeclaredIn& rule : detail::kDeclaredIn) {
    const bool is_included = std::ranges::any_of(includes, [&](const auto& include) {
      return detail::is_same_header(include.header, rule.header);
    });
    if (!is_included && detail::calls(code, rule.name))
      found.push_back(source.path + ": " + std::string(rule.name) + " needs <" +
                      std::string(rule.header) + ">");
  }
  return found;
}

/// The rows of the table of rooms in docs/architecture.md: cells of a row whose first cell is
/// `` `src/ROOM/` ``, by room; cells without the spaces around them.
inline std::map<std::string, std::vector<std::string>> rooms_of_document(
    std::string_view markdown) {
  std::map<std::string, std::vector<std::string>> rows;
  for (const std::string& line : detail::split(markdown, '\n')) {
    static constexpr std::string_view kHead = "| `src/";
    const std::size_t end = line.find("/` |");
    if (!line.starts_with(kHead) || end == std::string::npos) continue;
    std::vector<std::string> cells;
    for (const std::string& cell : detail::split(line, '|')) cells.push_back(detail::trimmed(cell));
    rows[line.substr(kHead.size(), end - kHead.size())] = {cells.begin() + 1, cells.end() - 1};
  }
  return rows;
}

/// `room.may_include` in the document's form: `` `core`, `stats` ``; "nothing" if it is empty.
inline std::string as_in_document(const Room& room) {
  std::string text;
  for (const std::string& name : room.may_include)
    text += (text.empty() ? "`" : ", `") + name + "`";
  return text.empty() ? "nothing" : text;
}

}  // namespace lauka::rooms
