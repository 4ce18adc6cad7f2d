#include "contract/program.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

// -L, -P, -D.

namespace lauka::contract {
namespace {

using Words = std::vector<std::string>;

/// The words that the runs left in the log, in the order run.
std::string seen(Words options, const std::vector<std::string>& commands) {
  const Folder folder;
  options.insert(options.end(), {"-q", "-r1", "-w0", "--order=interleaved", "--"});
  for (const std::string& command : commands)
    options.push_back("sh -c 'echo " + command + " >> " + folder.file("log") + "'");
  const Said said = lauka(options);
  if (said.status != 0) return said.err;
  std::string all;
  for (const std::string& line : lines_of(text_of(folder.file("log"))))
    all += (all.empty() ? "" : " ") + line;
  return all;
}

}  // namespace

TEST_CASE("-L measures each value, and two of them all combinations; -P counts, exactly, by -D") {
  CHECK(seen({"-L", "n", "1,2"}, {"a{n}", "b{n}"}) == "a1 b1 a2 b2");
  CHECK(seen({"--parameter-list", "n", "1,2", "-L", "m", "x,y"}, {"{n}{m}"}) == "1x 2x 1y 2y");
  CHECK(seen({"-P", "n", "0.1", "0.4", "-D", "0.1"}, {"{n}"}) == "0.1 0.2 0.3 0.4");
}

TEST_CASE("the parameters are in the CSV and in the names") {
  const Folder folder;
  completed("-r1 -q -n sleep --export-csv " + folder.file("out.csv") + " -L n 1,2 -L m a,b",
            {"echo {n}{m}"});
  const std::string csv = text_of(folder.file("out.csv"));
  CHECK(lines_of(csv).at(0).ends_with(",failed_runs,parameter_n,parameter_m"));
  CHECK(lines_of(csv).at(1).starts_with("\"sleep (n = 1, m = a)\",wall_time,"));
  CHECK(lines_of(csv).at(1).ends_with(",1,a"));
}

}  // namespace lauka::contract
