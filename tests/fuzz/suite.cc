#include "cli/suite.h"

#include "core/text.h"
#include "fuzz/targets.h"

#include <algorithm>
#include <string>

// The file of --suite, which may come with an unread repository.

namespace lauka::fuzz {

void suite(std::string_view bytes) {
  Options typed;
  typed.suite.suite_path = "s.toml";
  typed.command_line_options = {{"runs", {"9"}}};
  const auto read = cli::read_suite(typed, bytes);
  if (!read) {
    const std::string line = message_line(read.error().line());
    require(line.size() < 70'000 && line.find('\n') == line.size() - 1);
    return;
  }
  require(!read->benchmarks.empty());
  for (const cli::Benchmark& one : read->benchmarks) {
    require(!one.name.empty() && !one.options.commands.command_lines.empty());
    require(one.options.output.exports.empty() ||
            one.options.output.exports == read->session_options.output.exports);
    require(std::count_if(read->benchmarks.begin(), read->benchmarks.end(),
                          [&](const auto& other) { return other.name == one.name; }) == 1);
  }
}

}  // namespace lauka::fuzz
