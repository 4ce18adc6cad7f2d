#include "core/text.h"
#include "os/files.h"

#include <string>

#include <sys/ioctl.h>
#include <unistd.h>

namespace lauka::os {
namespace {

int descriptor_of(Stream stream) {
  return stream == Stream::Output ? STDOUT_FILENO : STDERR_FILENO;
}

bool is_set(const char* name) {
  return !variable(name).value_or("").empty();
}

}  // namespace

bool is_terminal(Stream stream) {
  return isatty(descriptor_of(stream)) == 1;
}

std::size_t terminal_width(Stream stream, std::size_t otherwise) {
  winsize size{};
  const bool known = ioctl(descriptor_of(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

bool wants_drawing(Stream stream) {
  return !is_set("NO_COLOR") && is_terminal(stream) && variable("TERM") != "dumb";
}

bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = lower_case(variable(name).value_or(""));
    if (locale.empty()) continue;
    // "UTF-8" alone is a locale of macOS; one without a charset has the system's own, mostly UTF-8.
    if (locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos)
      return true;
    return locale != "c" && locale != "posix" && locale.find('.') == std::string::npos;
  }
  return true;
}

bool wants_color(Stream stream) {
  const bool is_forced =
      !is_set("NO_COLOR") && is_set("CLICOLOR_FORCE") && variable("CLICOLOR_FORCE") != "0";
  return is_forced || wants_drawing(stream);
}

}  // namespace lauka::os
