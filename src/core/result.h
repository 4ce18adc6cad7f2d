#pragma once

#include <optional>
#include <string>
#include <utility>

namespace lauka {

class NonCopyable {
 public:
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;

 protected:
  NonCopyable() = default;
  ~NonCopyable() = default;
};

/// The text of an error, and a remedy for the user. The remedy may be empty.
struct Error {
  std::string what;
  std::string remedy;
  /// Name that the user typed, if lauka does not know the name; else empty.
  std::string unknown_name{};
  bool has_similar = false;  ///< true if the remedy suggests a similar name

  /// Returns "what; remedy", or "what" if the remedy is empty.
  std::string line() const { return remedy.empty() ? what : what + "; " + remedy; }

  /// Returns a copy in which `subject` and a colon precede the text.
  Error prefixed(const std::string& subject) const {
    return {subject + ": " + what, remedy, unknown_name, has_similar};
  }

  /// Returns a copy in which `subject` precedes the text, which must be a predicate.
  Error about(const std::string& subject) const {
    return {subject + " " + what, remedy, unknown_name, has_similar};
  }

  bool operator==(const Error&) const = default;
};

/// The kind of the note that says that there are no hardware counters.
inline constexpr const char* kNoCountersNote = "no_counters";

/// A text for users, with a name of its kind for programs that read lauka's JSON.
struct Note {
  std::string kind{};  ///< lower-case words with '_' between them; empty if the kind has no name
  std::string text{};

  bool operator==(const Note&) const = default;
};

/// A value or an error, like std::expected (C++23). value() and error() may only be called if there
/// is one.
template <typename T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): as std::expected
  Result(T value) : value_(std::in_place, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as std::unexpected
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }

  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return *error_; }

 private:
  // Exactly one of the two has a value. A std::variant would take longer to compile.
  std::optional<T> value_;
  std::optional<Error> error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as std::unexpected
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

/// Assigns the value in `read` to `target`, or returns the error.
template <typename T, typename U>
Result<void> assign_or_error(Result<T> read, U& target) {
  if (!read) return read.error();
  target = *std::move(read);
  return {};
}

}  // namespace lauka
