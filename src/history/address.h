#pragma once

#include "core/result.h"

#include <string>
#include <vector>

namespace lauka::history {

/// The address of a database on a PostgreSQL server.
struct Address {
  std::string name{};  ///< for messages: scheme, host and database, nothing that could be secret
  std::string url{};   ///< for libpq, in a form that SOCI leaves as it is
  std::vector<std::string> secrets{};  ///< what no message may repeat
};

/// Whether `where` is meant as an address, right or wrong, and not as a file.
bool is_address(const std::string& where);

/// Reads postgresql://user:password@host:port/database?key=value. What libpq would refuse in words
/// that repeat it is refused here; the error is a predicate of the database and cites nothing.
Result<Address> address_in(const std::string& where);

/// What a database at `where` is called in messages.
std::string name_of_database(const std::string& where);

/// `text` without the secrets of `address`.
std::string without_secrets(std::string text, const Address& address);

}  // namespace lauka::history
