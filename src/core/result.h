#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace lauka {

/// Base of types that can be neither copied nor moved: interfaces, and owners of a resource.
class NonCopyable {
 public:
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;

 protected:
  NonCopyable() = default;
  ~NonCopyable() = default;
};

/// Why something was refused or is unavailable, and what to do instead: two parts of one line
/// without a full stop.
struct Error {
  std::string what;
  std::string remedy;          ///< empty if nothing can be done
  std::string unknown_name{};  ///< name that the user typed and that is unknown here; else empty
  bool has_similar = false;    ///< the remedy has the name that was most likely meant

  /// Returns "what" or "what; remedy".
  std::string line() const { return remedy.empty() ? what : what + "; " + remedy; }

  /// Returns it with `subject` and a colon before it.
  Error prefixed(const std::string& subject) const {
    return {subject + ": " + what, remedy, unknown_name, has_similar};
  }

  /// Returns it as a sentence on `subject`, of which it is the predicate.
  Error about(const std::string& subject) const {
    return {subject + " " + what, remedy, unknown_name, has_similar};
  }

  bool operator==(const Error&) const = default;
};

/// What a note is about, for programs and tests.
enum class NoteKind : unsigned char {
  Other,  ///< the file does not tell
  // what is counted
  NoCounters,          ///< there are no hardware counters here
  EventsLeftOut,       ///< default events, or events that the kernel refused
  OtherEvent,          ///< an event is counted in place of another one
  SameEvent,           ///< two names of one event
  UserSpaceOnly,       ///< the kernel's part is not counted
  KernelNotLeftOut,    ///< the kernel's part is counted although it was to be left out
  WholeRunsOnly,       ///< the engine cannot count in a region
  OneProcessOnly,      ///< children are not counted
  CallingThreadsOnly,  ///< other threads of a region are not counted
  WholeMachine,        ///< other programs are counted, too
  CountersInUse,       ///< other programs have counters
  Sampled,             ///< counts of threads that are sampled while they run
  PeriodRaised,        ///< they are sampled less often than was asked for
  OtherStrategy,       ///< a better way to count does not work here
  NoCoreTimes,
  NoTreeMemory,
  // what was asked for
  ImprovementFails,  ///< a gate fails when its metric improves
  JudgedAgain,       ///< a gate of a session that an earlier gate may have ended
  MatchedByPlace,    ///< a command of the baseline has another name
  OtherLevels,       ///< another session counted other parts of a program's work
  WasCutShort,       ///< a joined session was
  // what happened in the runs
  RunsRepeated,
  RunsUncounted,
  Throttled,  ///< repeated runs were throttled, too
  Orphans,    ///< processes outlived their command
  InputUnread,
  SimulationInexact,
  FunctionsLeftOut,  ///< functions of a simulated run with too many functions
  SamplesLost,       ///< the kernel lost samples, also in repeated runs
  FewSamples,        ///< samples show less than the runs' CPU time
};

/// A remark on a session: one line for the user.
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
