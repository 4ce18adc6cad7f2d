#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace lauka {

/// Base class of types that cannot be copied or moved, such as interfaces and owners of a resource.
class NonCopyable {
 public:
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;

 protected:
  NonCopyable() = default;
  ~NonCopyable() = default;
};

/// A refusal or a missing ability, and what the user can do instead. Both texts go on one line,
/// without a full stop.
struct Error {
  std::string what;
  std::string remedy;          ///< what to do instead; empty if nothing helps
  std::string unknown_name{};  ///< name that the user typed and lauka does not know; else empty
  bool has_similar = false;    ///< true if the remedy suggests a similar name

  /// Returns "what" or "what; remedy".
  std::string line() const { return remedy.empty() ? what : what + "; " + remedy; }

  /// Returns a copy whose text begins with `subject` and a colon.
  Error prefixed(const std::string& subject) const {
    return {subject + ": " + what, remedy, unknown_name, has_similar};
  }

  /// Returns a copy whose text begins with `subject`, for an error that is only a predicate.
  Error about(const std::string& subject) const {
    return {subject + " " + what, remedy, unknown_name, has_similar};
  }

  bool operator==(const Error&) const = default;
};

/// The subject of a note, for programs and tests.
enum class NoteKind : unsigned char {
  Other,  ///< the session file does not say
  // how events are counted
  NoCounters,          ///< there are no hardware counters here
  EventsLeftOut,       ///< default events, or events that the kernel refused, are not counted
  OtherEvent,          ///< an event is counted in place of another one
  SameEvent,           ///< two names mean the same event
  UserSpaceOnly,       ///< the kernel's part is not counted
  KernelNotLeftOut,    ///< the kernel's part is counted although the user excluded it
  WholeRunsOnly,       ///< the engine cannot count in a region
  OneProcessOnly,      ///< child processes are not counted
  CallingThreadsOnly,  ///< only threads that enter the region are counted
  WholeMachine,        ///< other programs' work is counted, too
  CountersInUse,       ///< other programs hold counters
  Sampled,             ///< threads are sampled while they run
  PeriodRaised,        ///< threads are sampled less often than the user wanted
  OtherStrategy,       ///< a better way to count does not work on this machine
  NoCoreTimes,
  NoTreeMemory,
  // what the user requested
  ImprovementFails,  ///< a gate fails when its metric improves
  JudgedAgain,       ///< the session may have ended early because of another gate
  MatchedByPlace,    ///< commands of session and baseline are matched by place, not name
  OtherLevels,       ///< another session counted different privilege levels
  WasCutShort,       ///< a session that was joined had been cut short
  // what happened during the runs
  RunsRepeated,
  RunsUncounted,
  Throttled,  ///< throttling also affected the repeated runs
  Orphans,    ///< processes went on running after their command
  InputUnread,
  SimulationInexact,
  FunctionsLeftOut,  ///< a simulated run had too many functions to keep all
  SamplesLost,       ///< the kernel lost samples, and lost them again when runs were repeated
  FewSamples,        ///< samples cover less than the runs' CPU time
};

/// A remark on a session, shown to users as one line.
struct Note {
  NoteKind kind = NoteKind::Other;
  std::string text{};

  bool operator==(const Note&) const = default;
};

/// A value or an error, with the members of std::expected (C++23).
template <typename T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): as std::expected
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as std::unexpected
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
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

}  // namespace lauka
