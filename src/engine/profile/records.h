#pragma once

#include "os/symbols.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
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

struct SampledRun {
  std::vector<MappedFile> files{};
  /// Sums of the samples' periods by place, in nanoseconds of the CPU clock or in cycles.
  std::map<CodePlace, std::uint64_t> periods_by_place{};
  std::uint64_t samples = 0;
  /// Number of lost records, plus how often the kernel throttled sampling.
  std::uint64_t loss_count = 0;
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
    std::uint64_t address = 0;
    std::uint64_t bytes_or_period = 0;
    std::uint64_t offset = 0;
    os::CodeIdentity identity{};
  };

  void add_one(std::span<const std::byte> record,
               const std::function<void(const MappedFile&)>& mapped);

  std::vector<Record> records_;
  std::uint64_t lost_ = 0;
};

}  // namespace lauka::engine::profile
