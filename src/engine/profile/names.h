#pragma once

#include "core/functions.h"
#include "engine/profile/records.h"
#include "os/symbols.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace lauka::engine::profile {

/// Finds the names of sampled functions. Opens each file only once.
class FunctionNames {
 public:
  explicit FunctionNames(std::optional<User> user) : user_(std::move(user)) {}

  /// Opens a mapped file: as its process sees the file, or else as lauka sees it.
  void open(const MappedFile& file);

  /// Returns the indices of the wanted functions that have a symbol in a file opened since the last
  /// call.
  std::set<std::size_t> find_in_new_files(const WantedFunctions& wanted);

  /// Returns the sampled nanoseconds or cycles of each function, by normalized name. Code without a
  /// symbol is listed in parentheses: "(libx.so: no symbols)". `since`: time since 1970 (UTC)
  /// before the run's start.
  std::map<std::string, std::uint64_t> sum_by_function(const SampledRun& run,
                                                       std::chrono::nanoseconds since);

 private:
  struct File {
    os::OpenedCode code;
    std::map<std::uint64_t, std::string> names;
    bool is_searched = false;
  };

  static const std::string& function_name_at(File& file, const std::string& name,
                                             std::uint64_t offset);
  const std::string& find_in_kernel(std::uint64_t address);

  std::optional<User> user_;
  std::map<os::CodeIdentity, File> files_;
  std::optional<os::SymbolMap> kernel_;
  std::map<std::uint64_t, std::string> kernel_names_;
};

}  // namespace lauka::engine::profile
