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

// The records of Linux' perf_event: samples, and the mappings that tell which code was at an
// address.

namespace lauka::engine::profile {

/// The kinds of code in which a sample was taken.
enum class CodeKind : unsigned char {
  File,
  Kernel,
  Vdso,
  Compiled,   ///< memory without a file, as compilers at run time use it
  Unmapped,   ///< an address that the process has not mapped, as far as is known
  NoProcess,  ///< code of a process whose beginning was not recorded
  Other,      ///< a hypervisor or a guest
};

/// A place of code, the same for all samples of one instruction.
struct CodePlace {
  CodeKind kind = CodeKind::Other;
  std::size_t file = 0;       ///< index in SampledRun::files; 0 if `kind` is not File
  std::uint32_t process = 0;  ///< process; 0 if `kind` is not Compiled
  std::uint64_t offset = 0;   ///< offset in the file or the vdso; else the address

  auto operator<=>(const CodePlace&) const = default;
};

/// A file that a process mapped.
struct MappedFile {
  os::CodeIdentity identity;
  std::uint32_t process = 0;  ///< first process that mapped it
};

/// The samples of a run.
struct SampledRun {
  std::vector<MappedFile> files{};
  std::map<CodePlace, std::uint64_t> time_ns{};
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;  ///< records, or times that the kernel took fewer samples
};

/// Collects the records of a run.
class RunRecords {
 public:
  /// Adds records: of each CPU in their order, of several CPUs in any order. Calls `mapped` for
  /// each mapped file while its process may still live.
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
    std::uint64_t address = 0;    // of a sample; of a fork: the parent
    std::uint64_t bytes = 0;      // mapped; of a sample: its period
    std::uint64_t offset = 0;     // in the file
    os::CodeIdentity identity{};  // mapped
  };

  void add_one(std::span<const std::byte> record,
               const std::function<void(const MappedFile&)>& mapped);

  std::vector<Record> records_;
  std::uint64_t lost_ = 0;
};

}  // namespace lauka::engine::profile
