#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace lauka::darwin {

/// kd_buf: facts, 5.2.
struct Record {
  std::uint64_t timestamp = 0;
  std::array<std::uint64_t, 4> arguments{};
  std::uint64_t thread = 0;
  std::uint32_t debugid = 0;
  std::uint32_t cpu = 0;
  std::uint64_t unused = 0;
};
static_assert(sizeof(Record) == 64);

/// kbufinfo.
struct TraceInfo {
  std::uint32_t records = 0;
  std::uint32_t not_recording = 1;
  std::uint32_t flags = 0;
  std::uint32_t threads = 0;
  std::int32_t owner = -1;
};
static_assert(sizeof(TraceInfo) == 20);

namespace id {
inline constexpr std::uint32_t kFunctionStart = 1;
inline constexpr std::uint32_t kFunctionEnd = 2;
inline constexpr std::uint32_t kNewThread = 0x07000004;
inline constexpr std::uint32_t kExec = 0x07000008;
inline constexpr std::uint32_t kTerminate = 0x0700000c;
inline constexpr std::uint32_t kTerminatePid = 0x07000010;
inline constexpr std::uint32_t kStringNewThread = 0x07010004;
inline constexpr std::uint32_t kStringExec = 0x07010008;
inline constexpr std::uint32_t kStringProcExit = 0x0701000c;
inline constexpr std::uint32_t kThreadName = 0x07010010;
inline constexpr std::uint32_t kThreadNamePrevious = 0x07010014;
inline constexpr std::uint32_t kLostEvents = 0x07020008;
inline constexpr std::uint32_t kProcExit = 0x0c030000;
inline constexpr std::uint32_t kProcExitP = 0x0c030004;
inline constexpr std::uint32_t kThreadExit = 0x0c040000;
inline constexpr std::uint32_t kThreadExitP = 0x0c040004;
inline constexpr std::uint32_t kSample = 0x25000000;
inline constexpr std::uint32_t kThreadData = 0x25010004;
inline constexpr std::uint32_t kInsCycData = 0x25010044;
inline constexpr std::uint32_t kThreadCounters = 0x25060020;
}  // namespace id

/// Sizes of the buffer, and its faults.
struct TraceRules {
  unsigned cpus = 1;
  std::uint32_t records_per_unit = 2048;
  std::uint32_t most_records = 16'000'000;  ///< the kernel gives no more
  bool may_be_small = false;                ///< no least size: for wraps of few records
  // Of the reads that have records, counted from 1:
  std::optional<unsigned> lose_at_read{};  ///< this one is short of some
  std::uint64_t loss_argument = 0;         ///< arg1 of its LOST_EVENTS
};

/// The kernel's trace buffers: facts, sections 0 and 5. The calls give 0 or an errno.
class Trace {
 public:
  static constexpr std::uint32_t kWrapped = 0x8;
  static constexpr std::uint32_t kMapIsMade = 0x20;
  static constexpr std::uint32_t kLp64 = 0x100;
  static constexpr std::uint32_t kUserFlags = 0xe02;  ///< those that a caller sets and clears
  static constexpr std::uint32_t kRangeCheck = 0x100000;
  static constexpr std::uint32_t kValueCheck = 0x200000;
  static constexpr std::uint32_t kTypefilterCheck = 0x400000;
  static constexpr std::uint32_t kBufferIsMade = 0x80000000;
  static constexpr std::size_t kTypefilterBytes = 8192;

  explicit Trace(TraceRules rules) : rules_(rules), cpus_(rules.cpus) {}

  void set_flags(std::uint32_t flags) { flags_ |= flags & kUserFlags; }
  void clear_flags(std::uint32_t flags) { flags_ &= ~(flags & kUserFlags); }
  void set_buffer(std::uint32_t records);
  /// Makes a new buffer, of as many records as asked for last, and switches tracing off.
  void set_up();
  /// As kdebug's reset: no buffer, no filter, no flags.
  void remove();
  /// `threads`: the present size of the map of threads.
  int enable(int value, std::uint32_t threads);
  int set_filter(std::span<const std::uint32_t, 5> filter);
  void set_typefilter(std::span<const std::uint8_t, kTypefilterBytes> bits);
  void drop_map();
  TraceInfo info(std::int32_t owner) const;

  /// True where `record` passed the filters and was written.
  bool write(const Record& record);

  /// Returns the records up to the time `until`, merged by time, then CPU; at most `capacity`.
  /// Records older than one read before are dropped without a sign.
  std::vector<Record> read(std::size_t capacity, std::uint64_t until);

  // The faults of a run.
  void lose_at_next_read(std::uint64_t argument) { loss_ = argument; }
  void fall_silent() { is_silent_ = true; }
  void say_wrapped() {
    is_wrapped_ = true;
    is_false_alarm_ = true;
  }
  /// The next record of `debugid` gets its time now and its place only after the next read.
  void delay_next(std::uint32_t debugid) { delayed_id_ = debugid; }

  bool is_on() const { return enabled_; }
  bool is_made() const { return (flags_ & kBufferIsMade) != 0; }
  bool threshold_is_reached() const { return used_units_ >= threshold_; }
  bool has_filter() const { return (flags_ & (kRangeCheck | kValueCheck | kTypefilterCheck)) != 0; }

 private:
  struct Unit {
    std::vector<Record> records{};
    std::size_t taken = 0;
    bool follows_a_loss = false;
  };
  struct Cpu {
    std::deque<Unit> units{};
    bool has_lost = false;
  };

  bool passes(std::uint32_t debugid) const;
  bool is_full(const Unit& unit) const { return unit.records.size() == rules_.records_per_unit; }
  bool take_unit(Cpu& cpu);
  bool rob_the_oldest();
  bool store(const Record& record);
  void forget_records();
  void release_if_done(Cpu& cpu);
  bool skip_the_late(Cpu& cpu);
  Cpu* next_to_read(std::uint64_t until, std::optional<std::uint64_t>& lost_at);
  void lose(std::vector<Record>& records, std::size_t capacity);

  TraceRules rules_;
  std::vector<Cpu> cpus_;
  std::uint32_t wanted_records_ = 0;
  std::uint32_t total_units_ = 0;
  std::uint32_t used_units_ = 0;
  std::uint32_t threshold_ = 0;  ///< half of the latest buffer's units, though it is gone
  std::uint32_t flags_ = 0;
  bool is_wrapped_ = false;
  std::uint64_t oldest_ = 0;  ///< older records are dropped
  std::uint32_t mapped_threads_ = 0;
  std::array<std::uint32_t, 4> values_{};
  std::array<std::uint8_t, kTypefilterBytes> typefilter_{};
  bool enabled_ = false;
  bool is_silent_ = false;
  std::optional<std::uint64_t> loss_{};
  unsigned reads_ = 0;
  bool is_false_alarm_ = false;
  std::optional<std::uint32_t> delayed_id_{};
  std::optional<Record> delayed_{};
};

}  // namespace lauka::darwin
