#pragma once

#include "cli/option_table.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// What may stand in place of one word of an option's value, as a shell can complete it.
struct ValueWord {
  std::string_view name;                  ///< as help shows it: "N", "auto|always|never"
  std::vector<std::string_view> choices;  ///< words that may be written as they are
  bool is_file = false;                   ///< FILE
  bool is_command = false;                ///< CMD, COMMAND, SHELL
};

/// The words of an option's value, read from the table's own text: "VAR MIN MAX" are three, what is
/// written in quotes is one, words in small letters between | are choices. None: it takes nothing.
std::vector<ValueWord> value_words(const OptionInfo& option);

/// Whether the value is left out or stands in the option's own word: --ignore-failure=3.
bool is_value_optional(const OptionInfo& option);

/// The first sentence of an option's help, for places that have room for a few words.
std::string short_help(const OptionInfo& option);

}  // namespace lauka::cli
