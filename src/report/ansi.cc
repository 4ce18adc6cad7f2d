#include "report/ansi.h"

namespace lauka::report {

namespace {

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::Bold:
      return "\x1b[1m";
    case Ink::Dim:
      return "\x1b[2m";
    case Ink::Green:
      return "\x1b[32m";
    case Ink::Red:
      return "\x1b[31m";
    case Ink::Plain:
      break;
  }
  return "";
}

}  // namespace

std::string inked(std::string_view text, Ink ink, bool color) {
  const std::string_view code = code_of(ink);
  if (!color || text.empty() || code.empty()) return std::string(text);
  std::string result(code);
  result += text;
  result += "\x1b[0m";
  return result;
}

}  // namespace lauka::report
