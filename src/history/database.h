#pragma once

#include "core/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lauka::history {

/// What is done with a database: whoever only reads makes no new one.
enum class Access : unsigned char { Read, Write };

/// A row's columns as text; empty where there is nothing.
using Row = std::vector<std::string>;

/// A connection to SQLite or PostgreSQL, through SOCI; nothing that it is asked is written for one
/// of them only. Errors are predicates of the database ("cannot be written: ...").
class Database {
 public:
  /// `where`: postgresql://..., or the path of SQLite's file.
  static Result<Database> open(const std::string& where, Access access);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  /// Carries out one statement; `texts` stand where it has :t0, :t1 and so on.
  Result<void> run(const std::string& statement, std::span<const std::string> texts = {});

  /// What one statement gives, row by row; `columns` is how many it has.
  Result<void> each(const std::string& statement, std::size_t columns,
                    std::span<const std::string> texts,
                    const std::function<void(const Row&)>& take);
  Result<std::vector<Row>> ask(const std::string& statement, std::size_t columns,
                               std::span<const std::string> texts = {});

  /// Carries out `work` whole or not at all: what it did is there for good when this returns
  /// without an error, and gone else. Writers wait for each other here where they have to.
  Result<void> at_once(const std::function<Result<void>()>& work);

  /// In a transaction: nobody else changes the tables themselves until it ends.
  Result<void> hold_schema();

  /// As it is called in messages: without a password.
  const std::string& name() const;

 private:
  struct Connection;
  explicit Database(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace lauka::history
