#include "cli/describe.h"

#include <cstdio>
#include <fstream>
#include <utility>

// Writes the manual page and the shells' completions while lauka is built.

/// Writes the manual page and the completions of lauka into a folder.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: lauka_docs FOLDER\n", stderr);
    return 2;
  }

  const auto program = lauka::cli::lauka_description();
  for (const auto& [name, text] :
       {std::pair("lauka.1", lauka::cli::man_page(program)),
        std::pair("lauka.bash", lauka::cli::completion(program, "bash")),
        std::pair("_lauka", lauka::cli::completion(program, "zsh")),
        std::pair("lauka.fish", lauka::cli::completion(program, "fish"))}) {
    const std::string path = std::string(argv[1]) + "/" + name;
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) {
      std::fprintf(stderr, "lauka_docs: cannot write %s\n", path.c_str());
      return 1;
    }
  }

  return 0;
}
