#include "cli/describe.h"

#include <cstdio>
#include <fstream>
#include <utility>

/// Writes the manual page of lauka and its completions for shells into a folder, while lauka is
/// built.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: lauka_docs FOLDER\n", stderr);
    return 2;
  }

  // Each shell finds a program's completions by the name of their file.
  const std::string folder = argv[1];
  const auto program = lauka::cli::lauka_description();
  for (const auto& [file_name, text] :
       {std::pair("lauka.1", lauka::cli::man_page(program)),
        std::pair("lauka.bash", lauka::cli::completion(program, "bash")),
        std::pair("_lauka", lauka::cli::completion(program, "zsh")),
        std::pair("lauka.fish", lauka::cli::completion(program, "fish"))}) {
    const std::string path = folder + "/" + file_name;
    std::ofstream file(path, std::ios::binary);
    file << text;
    const bool is_written = !file.flush().fail();
    if (!is_written) {
      std::fprintf(stderr, "lauka_docs: cannot write %s\n", path.c_str());
      return 1;
    }
  }

  return 0;
}
