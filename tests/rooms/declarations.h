#pragma once

#include "rooms/architecture.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The rules that let a reader find a thing by its name: what a header declares is defined in the
/// source of that name, no two files have the same name, and no header announces a type of a room
/// below its own. Works on texts, as rooms/architecture.h.
namespace lauka::rooms {

/// A function outside classes that a header declares, and that the source of its name does not
/// define.
struct ElsewhereDefined {
  std::string header;
  std::string function;
  std::vector<std::string> sources{};  ///< files that define it, ascending; may be empty
};

namespace detail {

/// A declaration or definition outside functions and classes, without its body.
struct Statement {
  std::string text;
  bool has_body = false;
  bool is_of_this_file_only = false;  ///< true: in a namespace without a name
};

/// Returns the code without literals and lines of the preprocessor.
inline std::string plain_code_of(const std::string& text) {
  static const std::regex kDirective(R"re((?:^|\n)[ \t]*#(?:[^\n]*\\\n)*[^\n]*)re");
  const std::string code = std::regex_replace(code_of(text), kDirective, "\n");
  std::string plain;
  for (std::size_t i = 0; i < code.size();) {
    const bool is_separator =
        code[i] == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(code[i - 1])) != 0;
    if (code[i] == '"' || (code[i] == '\'' && !is_separator)) {
      i = end_of_literal(code, i);
      plain += "\"\"";
    } else {
      plain += code[i++];
    }
  }
  return plain;
}

/// Splits code into the statements of its namespaces.
inline std::vector<Statement> statements_of(const std::string& code) {
  static const std::regex kNamespace(R"re((?:inline )?namespace\b([\w:\s]*)|extern "")re");
  std::vector<Statement> statements;
  std::vector<bool> namespaces;  // true: without a name
  std::string text;
  std::size_t brackets = 0;
  std::size_t braces = 0;  // of bodies and of default arguments
  const auto add = [&](bool has_body) {
    const bool is_hidden = std::ranges::find(namespaces, true) != namespaces.end();
    if (!trimmed(text).empty()) statements.push_back({trimmed(text), has_body, is_hidden});
    text.clear();
  };

  for (const char c : code) {
    if (braces > 0) {
      braces += c == '{' ? 1U : 0U;
      braces -= c == '}' ? 1U : 0U;
      continue;
    }
    brackets += c == '(' ? 1U : 0U;
    brackets -= c == ')' && brackets > 0 ? 1U : 0U;

    std::smatch found;
    const std::string head =
        c == '{' ? trimmed(std::regex_replace(text, std::regex("\n"), " ")) : "";
    if (c == '{' && std::regex_match(head, found, kNamespace)) {
      namespaces.push_back(head.starts_with("namespace") && trimmed(found[1].str()).empty());
      text.clear();
    } else if (c == '{') {
      if (brackets == 0) add(true);
      braces = 1;
    } else if (c == '}') {
      if (!namespaces.empty()) namespaces.pop_back();
      text.clear();
    } else if (c == ';' && brackets == 0) {
      add(false);
    } else {
      text += c == '\n' ? ' ' : c;
    }
  }
  return statements;
}

/// Returns the number of parameters in a list that begins after its opening bracket.
inline std::size_t count_parameters(std::string_view list) {
  std::size_t depth = 1;
  std::size_t commas = 0;
  bool is_empty = true;
  for (const char c : list) {
    depth += std::string_view("(<[{").find(c) != std::string_view::npos ? 1U : 0U;
    depth -= std::string_view(")>]}").find(c) != std::string_view::npos ? 1U : 0U;
    if (depth == 0) break;
    commas += c == ',' && depth == 1 ? 1U : 0U;
    is_empty = is_empty && c == ' ';
  }
  return is_empty ? 0 : commas + 1;
}

/// Returns "name/number of parameters" of the function that a statement declares or defines; empty
/// if it is none.
inline std::string function_of(const Statement& statement) {
  static const std::regex kNoFunction(
      R"re((?:using|typedef|static_assert|friend|class|struct|enum|union)\b[^(]*(?:\(.*)?)re");
  static const std::regex kName(
      R"re([\w>&*\]][\s&*]+((?:\w+::)*(?:operator *[^\s\w]+|~?\w+))\s*$)re");
  const std::string text = std::regex_replace(
      statement.text, std::regex(R"re(\[\[[^\]]*\]\]|\bdecltype\([^)]*\))re"), "");
  const std::size_t bracket = text.find('(');
  const std::string head = text.substr(0, bracket);
  std::smatch name;
  if (bracket == std::string::npos || std::regex_match(text, kNoFunction) ||
      (head.find('=') != std::string::npos && head.find("operator") == std::string::npos) ||
      !std::regex_search(head, name, kName))
    return {};
  return name[1].str() + "/" +
         std::to_string(count_parameters(std::string_view(text).substr(bracket + 1)));
}

/// Returns a path without its extension.
inline std::string without_extension(std::string_view path) {
  return std::string(path.substr(0, path.rfind('.')));
}

}  // namespace detail

/// True if the build compiles the file on some systems only (cmake/LaukaRooms.cmake).
inline bool is_chosen_by_system(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("linux_") || name.starts_with("darwin_") ||
         name.ends_with("_absent.cc") || name == "posix_launcher.cc";
}

/// Returns the functions of headers that are defined elsewhere than in the header or in the source
/// of its name.
inline std::vector<ElsewhereDefined> functions_defined_elsewhere(
    const std::vector<Source>& sources) {
  std::map<std::string, std::set<std::string>> definitions;  // files by function
  std::vector<std::pair<std::string, std::string>> declarations;
  for (const Source& source : sources) {
    for (const auto& statement : detail::statements_of(detail::plain_code_of(source.text))) {
      const std::string function = detail::function_of(statement);
      const bool is_header = source.path.ends_with(".h");
      if (function.empty() || statement.is_of_this_file_only) continue;
      if (statement.has_body)
        definitions[function].insert(source.path);
      else if (is_header && function.find("::") == std::string::npos)
        declarations.emplace_back(source.path, function);
    }
  }

  std::vector<ElsewhereDefined> found;
  for (const auto& [header, function] : declarations) {
    const std::set<std::string>& files = definitions[function];
    if (files.contains(header) || files.contains(detail::without_extension(header) + ".cc"))
      continue;
    found.push_back({header, function, {files.begin(), files.end()}});
  }
  return found;
}

/// Returns the names that files of several folders have, one line each: "text: core/text,
/// format/text".
inline std::vector<std::string> names_of_several_files(const std::vector<Source>& sources) {
  std::map<std::string, std::set<std::string>> files;
  for (const Source& source : sources) {
    const std::string path = detail::without_extension(source.path);
    files[path.substr(path.rfind('/') + 1)].insert(path);
  }

  std::vector<std::string> found;
  for (const auto& [name, paths] : files) {
    if (paths.size() < 2) continue;
    std::string line;
    for (const std::string& path : paths) line += (line.empty() ? name + ": " : ", ") + path;
    found.push_back(std::move(line));
  }
  return found;
}

/// Returns the types that a header announces, although no room that it may include defines them,
/// one line each: "core/reference.h: Recording is of session". Such a room would be in a circle.
inline std::vector<std::string> types_of_lower_rooms(const std::vector<Source>& sources,
                                                     const std::vector<Room>& rooms) {
  static const std::regex kType(R"re((?:struct|class) (\w+)(?: final)?(?: ?:[^:].*)?)re");
  std::map<std::string, std::set<std::string>> defined_in;     // rooms by type
  std::vector<std::pair<std::string, std::string>> announced;  // paths and types
  for (const Source& source : sources) {
    for (const auto& statement : detail::statements_of(detail::plain_code_of(source.text))) {
      std::smatch type;
      if (!std::regex_match(statement.text, type, kType)) continue;
      if (statement.has_body)
        defined_in[type[1]].insert(detail::first_folder(source.path));
      else
        announced.emplace_back(source.path, type[1]);
    }
  }

  std::vector<std::string> found;
  for (const auto& [path, type] : announced) {
    const std::string own = detail::first_folder(path);
    const auto room = std::ranges::find(rooms, own, &Room::name);
    const auto is_above = [&](const std::string& other) {
      return other == own ||
             std::ranges::any_of(room->may_include, [&](const std::string& allowed) {
               return allowed == other || detail::first_folder(allowed) == other;
             });
    };
    const std::set<std::string>& there = defined_in[type];
    if (detail::is_wiring(path) || there.empty() || std::ranges::any_of(there, is_above)) continue;
    found.push_back(path + ": " + type + " is of " + *there.begin());
  }
  return found;
}

}  // namespace lauka::rooms
