#pragma once

#include "cli/option_table.h"

#include <string_view>

namespace lauka::cli {

/// What `--help OPTION` and the manual page say of an option below its line in `--help`.
struct OptionDetails {
  std::string_view key;        ///< see key_of()
  std::string_view text{};     ///< whole sentences; may be empty
  std::string_view example{};  ///< a command line; may be empty
};

/// Returns the details of an option; both texts are empty if its line says everything.
OptionDetails details_of(const OptionInfo& option);

}  // namespace lauka::cli
