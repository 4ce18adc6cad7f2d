#include "cli/describe.h"

#include <cstdio>
#include <fstream>
#include <utility>

// Writes the manual page and the shells' completions while lauka is built.

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: lauka_docs FOLDER\n", stderr);
    return 2;
  }

  const auto lauka = lauka::cli::lauka_description();
  for (const auto& [name, text] :
       {std::pair("lauka.1", lauka::cli::man_page(lauka)),
        std::pair("lauka.bash", lauka::cli::completion(lauka, "bash")),
        std::pair("_lauka", lauka::cli::completion(lauka, "zsh")),
        std::pair("lauka.fish", lauka::cli::completion(lauka, "fish"))}) {
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
