#include "fakes/darwin/programs.h"

#include <cerrno>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace lauka::darwin {
namespace {

/// What `sh -c TEXT` does: words without quotes, and a few words of its own.
// NOLINTNEXTLINE(misc-no-recursion): once
Script shell_script(const std::string& text) {
  std::istringstream words(text);
  std::string first;
  words >> first;
  if (first.empty() || first == "true" || first == ":") return read_script("run 300us kernel=300");
  if (first == "exec") return shell_script(text.substr(text.find("exec") + 4));
  if (first == "i=0;") return read_script("run 12ms kernel=50");  // a loop
  if (first == "false") return read_script("run 300us kernel=300\nexit 1");
  if (first == "exit") return read_script("run 300us kernel=300\n" + text);
  return read_script("run 400us kernel=300\nexec " + text);
}

}  // namespace

Kernel::Loader loader_of_files() {
  return [](const std::string& path, const std::vector<std::string>& words, Script& script) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name == "sh" && words.size() == 3 && words[1] == "-c") {
      script = shell_script(words[2]);
      return 0;
    }
    // "folder//bin/x" is what a relative exec makes of an absolute path.
    const std::size_t twice = path.find("//");
    const std::string file = twice == std::string::npos ? path : path.substr(twice + 1);
    if (access(file.c_str(), F_OK) != 0) return ENOENT;
    if (access(file.c_str(), X_OK) != 0) return EACCES;
    std::ifstream input(file);
    std::string head;
    std::getline(input, head);
    if (head != "# model") return ENOEXEC;
    std::stringstream text;
    text << input.rdbuf();
    script = read_script(text.str());
    return 0;
  };
}

}  // namespace lauka::darwin
