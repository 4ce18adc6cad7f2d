#pragma once

#include "core/command.h"
#include "core/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lauka::os {

/// A text that is not held in lauka's own memory.
class TextFile : NonCopyable {
 public:
  virtual ~TextFile() = default;

  virtual std::uint64_t bytes() const = 0;

  /// A part of it, as many bytes as there are.
  virtual std::size_t read(std::uint64_t from, std::span<char> into) const = 0;

  /// Adds to its end. False: there is no room for it.
  virtual bool append(std::string_view bytes) = 0;
};

/// Where such texts come from.
class TextFiles : NonCopyable {
 public:
  virtual ~TextFiles() = default;

  /// A file that is there, to be read. The error is a predicate ("cannot be read: ...").
  virtual Result<std::unique_ptr<TextFile>> open(const std::string& path) = 0;

  /// A new one without a name, empty.
  virtual Result<std::unique_ptr<TextFile>> make() = 0;
};

/// Files are opened with the rights of `user`, where there is one.
std::unique_ptr<TextFiles> text_files(const std::optional<User>& user);

}  // namespace lauka::os
