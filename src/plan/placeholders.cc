#include "plan/placeholders.h"

#include <algorithm>
#include <utility>

namespace lauka {

std::string placeholder(std::string_view name) {
  return "{" + std::string(name) + "}";
}

bool mentions(std::string_view text, std::string_view name) {
  return text.find(placeholder(name)) != std::string_view::npos;
}

std::string fill_in(std::string_view text, const std::vector<Parameter>& parameters) {
  if (parameters.empty()) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const auto found = std::ranges::find_if(parameters, [&](const Parameter& parameter) {
      return text.starts_with(placeholder(parameter.name));
    });
    if (found == parameters.end()) {
      result.push_back(text.front());
      text.remove_prefix(1);
    } else {
      result += found->value;
      text.remove_prefix(found->name.size() + 2);
    }
  }
  return result;
}

std::vector<std::string> fill_in(std::vector<std::string> texts,
                                 const std::vector<Parameter>& parameters) {
  for (std::string& text : texts) text = fill_in(text, parameters);
  return texts;
}

OutputChoice fill_in(const OutputChoice& output, const std::vector<Parameter>& parameters) {
  return {output.kind, fill_in(output.path, parameters)};
}

std::optional<std::string> fill_in_or_none(const std::string& line,
                                           const std::vector<Parameter>& parameters) {
  std::string result = fill_in(line, parameters);
  return result.empty() ? std::nullopt : std::optional(std::move(result));
}

ExpectedOutput fill_in(const ExpectedOutput& output, const std::vector<Parameter>& parameters) {
  return {output.kind, fill_in(output.file_or_hash, parameters)};
}

}  // namespace lauka
