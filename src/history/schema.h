#pragma once

#include "core/result.h"
#include "history/database.h"

#include <span>
#include <string_view>

namespace lauka::history {

/// The statements that bring a database from the version before to one version.
struct Migration {
  std::span<const std::string_view> statements;
};

/// From the first version on.
std::span<const Migration> migrations();

/// Opens the history in a database. Its tables are brought to the newest version, all at once.
/// Refuses a database that a newer lauka-history has changed, and one to read that holds no
/// history. An error names the database.
Result<Database> open_history(const std::string& where, Access access);

}  // namespace lauka::history
