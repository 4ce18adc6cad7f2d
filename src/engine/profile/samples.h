#pragma once

#include "core/functions.h"
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

enum class CodeKind : unsigned char {
  File,
  Kernel,
  Vdso,
  RuntimeCode,  ///< code in memory without a file on disk, such as code of a just-in-time compiler
  Unmapped,     ///< code at an address without a known mapping
  NoProcess,    ///< code of an unknown process
  Other,        ///< code of neither the kernel nor a program, such as code of a hypervisor
};

struct CodePlace {
  CodeKind kind = CodeKind::Other;
  std::size_t file = 0;       ///< index into SampledRun::files; 0 unless `kind` is File
  std::uint32_t process = 0;  ///< process id; 0 unless `kind` is RuntimeCode
  /// Offset in the file or vdso; address in the kernel or in runtime code; 0 for other kinds.
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
  /// Sums of the samples' periods by place, in nanoseconds of the CPU clock or in cycles.
  std::map<CodePlace, std::uint64_t> periods_by_place{};
  std::uint64_t samples = 0;
  std::uint64_t loss_count = 0;      ///< number of lost records
  std::uint64_t throttle_count = 0;  ///< how often the kernel throttled sampling
  ProcessesSeen seen{};
};

class RunRecords {
 public:
  /// Adds perf_event records. Calls `mapped` for each record of a mapped file.
  void add(std::span<const std::byte> records,
           const std::function<void(const MappedFile&)>& mapped);

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
    os::CodeIdentity identity{};
  };

  void add_one(std::span<const std::byte> record,
               const std::function<void(const MappedFile&)>& mapped);

  std::vector<Record> records_;
  std::uint64_t lost_ = 0;
  std::uint64_t throttled_ = 0;
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

  /// Returns the sampled nanoseconds or cycles of each function, in the order of the names. Code
  /// without a symbol is listed in parentheses: "(libx.so: no symbols)". `since`: time since 1970
  /// (UTC) before the run's start.
  std::vector<FunctionCounts> sum_by_function(const SampledRun& run,
                                              std::chrono::nanoseconds since);

 private:
  struct File {
    os::OpenedCode code;
    std::map<std::string, FunctionName> functions_by_symbol;
    std::map<std::uint64_t, const FunctionName*> functions_by_offset;  ///< seen offsets
    bool is_searched = false;
  };

  static const FunctionName& function_at(File& file, const std::string& path, std::uint64_t offset);
  const FunctionName& find_in_kernel(std::uint64_t address);

  std::optional<User> user_;
  std::map<os::CodeIdentity, File> files_;
  std::optional<os::SymbolMap> kernel_;
  std::map<std::uint64_t, FunctionName> kernel_functions_;
};

}  // namespace lauka::engine::profile
