#include "os/terminal.h"

#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace lauka::os {
namespace {

int descriptor_of(Stream stream) {
  return stream == Stream::Output ? STDOUT_FILENO : STDERR_FILENO;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr ? value : "";
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
  return variable("NO_COLOR").empty() && is_terminal(stream) && variable("TERM") != "dumb";
}

bool wants_color(Stream stream) {
  const std::string_view force = variable("CLICOLOR_FORCE");
  const bool is_forced = variable("NO_COLOR").empty() && !force.empty() && force != "0";
  return is_forced || wants_drawing(stream);
}

}  // namespace lauka::os
