#pragma once

#include "engine/profile/records.h"
#include "os/symbols.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace lauka::engine::profile {

/// Finds the names of the functions of a session's samples. Opens each file once.
class FunctionNames {
 public:
  /// Opens a file while its process may still live.
  void open(const MappedFile& file);

  /// Returns the time of each function of a run that began at `since` (1970, UTC), by its
  /// normalized name; code without a name goes by its file and the reason: "(libx.so: no symbols)".
  std::map<std::string, std::uint64_t> sum(const SampledRun& run, std::chrono::nanoseconds since);

 private:
  /// A file, and the names that were found in it, by offset.
  struct File {
    os::OpenedCode code;
    std::map<std::uint64_t, std::string> names;
  };

  static const std::string& find_in(File& file, const std::string& name, std::uint64_t offset);
  const std::string& find_in_kernel(std::uint64_t address);

  std::map<os::CodeIdentity, File> files_;
  std::optional<os::SymbolMap> kernel_;
  std::map<std::uint64_t, std::string> kernel_names_;
};

}  // namespace lauka::engine::profile
