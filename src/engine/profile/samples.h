#pragma once

#include "core/call_paths.h"
#include "core/function_table.h"
#include "os/symbol_maps.h"
#include "os/symbols.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka::engine::profile {

/// Most frames of a call chain, if kernel.perf_event_max_stack has its usual value.
inline constexpr std::size_t kMaxFrames = 127;

enum class CodeKind : unsigned char {
  File,
  Kernel,
  Vdso,
  RuntimeCode,  ///< code in memory without a file on disk, such as code of a just-in-time compiler
  Unmapped,     ///< code at an address without a known mapping
  NoProcess,    ///< code of an unknown process
  Other,        ///< code of neither the kernel nor a program, such as code of a hypervisor
  // Frames of call paths that are no code:
  Program,          ///< a program's name, the first frame of each path
  IncompleteStack,  ///< see kIncompleteStack
  TooManyPaths,     ///< see kTooManyPaths
};

struct CodePlace {
  CodeKind kind = CodeKind::Other;
  /// Index into SampledRun::files if `kind` is File, into SampledRun::programs if it is Program,
  /// else 0.
  std::size_t file = 0;
  std::uint32_t process = 0;  ///< process id; 0 unless `kind` is RuntimeCode
  /// Offset in the file or vdso; address in the kernel or in runtime code; 1 for a program's
  /// threads other than the first one; 0 for other kinds.
  std::uint64_t offset_or_address = 0;

  auto operator<=>(const CodePlace&) const = default;
};

struct MappedFile {
  os::CodeIdentity identity;
  std::uint32_t process = 0;  ///< id of a process that mapped the file
};

/// The processes of a run according to the kernel's records.
struct ProcessesSeen {
  /// Number of processes that were sampled from an execve on, not as a sampled process's child.
  std::size_t started_count = 0;
  /// Number of processes whose execve ended their sampling, as for setuid programs.
  std::size_t withdrawn_count = 0;
  std::size_t thread_count = 0;  ///< number of threads of all processes
  /// Ids of processes that were forked by a sampled process and whose end was not recorded.
  std::vector<std::uint32_t> unended{};
};

struct SampledRun {
  std::vector<MappedFile> files{};
  std::set<std::size_t> executables{};  ///< indices of the files that processes executed
  std::vector<std::string> programs{};  ///< names of the programs that processes executed
  /// Sums of the samples' periods by place, in nanoseconds of the CPU clock or in cycles.
  std::map<CodePlace, std::uint64_t> periods_by_place{};
  /// Call paths, whose frames are indices into `frames`. The first frame is a program. Empty if the
  /// samples have no call chains.
  PathTree paths{};
  std::vector<CodePlace> frames{};
  /// Sums of the samples' periods by the path at whose end they were taken.
  std::vector<std::uint64_t> periods_by_path{};
  std::uint64_t samples = 0;
  std::uint64_t loss_count = 0;      ///< number of lost records
  std::uint64_t throttle_count = 0;  ///< how often the kernel throttled sampling
  ProcessesSeen seen{};
};

/// The records of a run. It folds the call chains of samples at once, because 100,000 samples may
/// have six million frames.
class RunRecords {
 public:
  /// Largest number of distinct addresses in distinct chains of callers. Samples with further ones
  /// are put below kTooManyPaths.
  static constexpr std::size_t kMaxCallers = 80'000;

  /// Adds perf_event records. Calls `on_mapped_file` for each record of a mapped file.
  void add(std::span<const std::byte> records,
           const std::function<void(const MappedFile&)>& on_mapped_file);

  /// Returns the run that the added records describe, and forgets the records.
  SampledRun close();

 private:
  struct Record {
    std::uint64_t time = 0;
    std::uint32_t type = 0;
    std::uint16_t misc = 0;
    std::uint32_t process = 0;
    std::uint32_t parent = 0;
    std::uint32_t thread = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes_or_period = 0;
    std::uint64_t offset = 0;
    std::uint32_t text_index = 0;  ///< index into identities_ or names_
    bool has_chain = false;
    std::uint32_t callers = kNoCaller;  ///< path in callers_
  };

  void add_record(std::span<const std::byte> record,
                  const std::function<void(const MappedFile&)>& on_mapped_file);

  static Record read_common_fields(std::span<const std::byte> record);
  bool count_loss(std::span<const std::byte> record, std::uint32_t type);
  void read_sample(std::span<const std::byte> record, Record& read);
  void read_mapping(std::span<const std::byte> record, Record& read);
  void replay_records(SampledRun& run) const;

  /// Adds the callers of a sample's code to callers_. Returns the index of the innermost caller,
  /// from which the path leads outwards; kNoCaller if no caller is known. If there is no room for a
  /// new path, returns the index of a path that only says so (kLeftOut in samples.cc).
  std::uint32_t add_callers(std::span<const std::byte> record, bool is_kernel);

  std::vector<Record> records_;
  std::vector<os::CodeIdentity> identities_;  // of the mapped files
  std::vector<std::string> names_;            // of the executed programs
  /// Addresses of calls, the outermost first.
  PathTree callers_;
  std::uint64_t lost_count_ = 0;
  std::uint64_t throttle_count_ = 0;
};

/// The samples of a run, with names.
struct NamedSamples {
  /// The sampled nanoseconds or cycles of each function, in the order of the names. Functions that
  /// are only in call paths have 0. Code without a symbol is listed in parentheses: "(libx.so: no
  /// symbols)".
  std::vector<FunctionCounts> functions{};
  std::vector<PathCounts> paths{};
  /// Part of the samples whose paths are below kIncompleteStack.
  std::uint64_t sampled_in_incomplete_stacks = 0;
  /// Part of these whose chains are as long as the kernel records at most.
  std::uint64_t sampled_in_longest_stacks = 0;
  bool has_left_out_paths = false;  ///< true if there were more than RunRecords::kMaxCallers
};

struct CodeName {
  FunctionName function{};  ///< the reason why there is no symbol, if there is none
  bool has_symbol = false;
};

/// Finds the names of sampled functions. Opens each file only once.
class FunctionNames {
 public:
  explicit FunctionNames(std::optional<User> user) : user_(std::move(user)) {}

  /// Opens a mapped file: as its process sees the file, or else as lauka sees it.
  void open(const MappedFile& file);

  /// Returns the indices of the wanted functions that have a symbol in a file opened since the last
  /// call.
  std::set<std::size_t> find_in_new_files(const WantedFunctions& wanted);

  /// Returns the samples by function and by path. `since`: time since 1970 (UTC) before the run's
  /// start.
  NamedSamples sum_up(const SampledRun& run, std::chrono::nanoseconds since);

 private:
  struct File {
    os::OpenedCode code;
    std::map<std::string, CodeName> functions_by_symbol;
    std::map<std::uint64_t, const CodeName*> functions_by_offset;  ///< seen offsets
    bool is_searched = false;
    std::optional<bool> has_main{};  ///< true if main() has a symbol; nullopt if not looked for
  };

  /// The symbols of code that was compiled in a run, by process.
  using RuntimeSymbols = std::map<std::uint32_t, os::SymbolMap>;

  CodeName name_of(const SampledRun& run, const CodePlace& place, std::chrono::nanoseconds since,
                   RuntimeSymbols& symbols_of_processes);
  static const CodeName& find_function_at(File& file, const std::string& path,
                                          std::uint64_t offset);
  const CodeName& find_in_kernel(std::uint64_t address);
  const CodeName& find_in_vdso(std::uint64_t offset);
  CodeName find_in_runtime_code(const CodePlace& place, std::chrono::nanoseconds since,
                                RuntimeSymbols& symbols_of_processes) const;

  /// True if a program may begin in code that has no symbol, because its main() has none either.
  bool may_begin_program(const SampledRun& run, const CodePlace& place);

  std::optional<User> user_;
  std::map<os::CodeIdentity, File> files_;
  std::optional<os::SymbolMap> kernel_;
  std::map<std::uint64_t, CodeName> kernel_functions_;
};

}  // namespace lauka::engine::profile
