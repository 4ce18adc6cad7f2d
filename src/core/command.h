#pragma once

#include <string>
#include <vector>

namespace lauka {

/// What is measured: one argument of the command line, or one combination of parameters.
struct Command {
  std::string name;                ///< as shown: --command-name, else the text
  std::string text;                ///< as typed
  std::vector<std::string> words;  ///< argv of what is run; with a shell: SHELL, "-c", the text
};

}  // namespace lauka
