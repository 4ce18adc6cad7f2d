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

// The records of Linux's perf_event: samples, and mappings that say which code is at an address.

namespace lauka::engine::profile {

/// The kinds of places where sampled code is.
enum class CodeKind : unsigned char {
  File,
  Kernel,
  Vdso,
  Compiled,   ///< memory without a file of a file system, which just-in-time compilers use
  Unmapped,   ///< an address at which no mapping is known
  NoProcess,  ///< code of a process whose start was not recorded
  Other,      ///< code of a hypervisor or a guest
};

/// A place in code; all samples of one instruction have the same place.
struct CodePlace {
  CodeKind kind = CodeKind::Other;
  std::size_t file = 0;       ///< index into SampledRun::files; 0 unless `kind` is File
  std::uint32_t process = 0;  ///< process id; 0 unless `kind` is Compiled
  std::uint64_t offset = 0;   ///< offset in the file or vdso; address in the kernel or compiled
                              ///< code; 0 for other kinds

  auto operator<=>(const CodePlace&) const = default;
};

/// A file that a process mapped.
struct MappedFile {
  os::CodeIdentity identity;
  std::uint32_t process = 0;  ///< id of the first process that mapped the file
};

/// The samples of a run.
struct SampledRun {
  std::vector<MappedFile> files{};
  /// Sums of the periods of the samples: nanoseconds of the CPU clock, or cycles.
  std::map<CodePlace, std::uint64_t> sampled{};
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;  ///< number of lost records, plus how often the kernel sampled less
};

/// Collects the records of a run.
class RunRecords {
 public:
  /// Adds records, which are in order for each CPU. Calls `mapped` for each mapping of a file,
  /// while its process may still live.
  void add(std::span<const std::byte> records,
           const std::function<void(const MappedFile&)>& mapped);

  /// Returns what the added records show, and forgets them.
  SampledRun close();

 private:
  struct Record {
    std::uint64_t time = 0;
    std::uint32_t type = 0;
    std::uint16_t misc = 0;
    std::uint32_t process = 0;
    std::uint64_t address = 0;    // of a sample or mapping; for a fork, the parent's id
    std::uint64_t bytes = 0;      // size of a mapping; period of a sample
    std::uint64_t offset = 0;     // offset of a mapping in the file
    os::CodeIdentity identity{};  // file of a mapping
  };

  void add_one(std::span<const std::byte> record,
               const std::function<void(const MappedFile&)>& mapped);

  std::vector<Record> records_;
  std::uint64_t lost_ = 0;
};

}  // namespace lauka::engine::profile
