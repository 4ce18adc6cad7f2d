#include "engine/profile/names.h"

#include "core/functions.h"

#include <utility>

#include <fmt/format.h>

namespace lauka::engine::profile {

namespace {

constexpr const char* kVdso = "[vdso]";

std::string without_name(std::string_view file, std::string_view why) {
  return fmt::format("({}: {})", file.substr(file.rfind('/') + 1), why);
}

std::string shown_name(const std::string& symbol) {
  return normalized_function(os::demangled(symbol));
}

}  // namespace

void FunctionNames::open(const MappedFile& file) {
  const auto [place, is_new] = files_.try_emplace(file.identity);
  if (is_new)
    place->second.code = os::open_code(file.identity, static_cast<int>(file.process), user_);
}

const std::string& FunctionNames::function_name_at(File& file, const std::string& name,
                                                   std::uint64_t offset) {
  std::string& found = file.names[offset];
  if (!found.empty()) return found;
  const std::string symbol = file.code.symbols ? file.code.symbols->find(offset) : std::string();
  if (!symbol.empty())
    found = shown_name(symbol);
  else
    found = without_name(name, file.code.symbols ? "no symbols" : file.code.why_not);
  return found;
}

const std::string& FunctionNames::find_in_kernel(std::uint64_t address) {
  if (!kernel_) kernel_ = os::kernel_symbols();
  std::string& found = kernel_names_[address];
  if (!found.empty()) return found;
  const std::string symbol = os::find_symbol(*kernel_, address);
  found = symbol.empty() ? "(kernel: no symbols)" : normalized_function(symbol) + " [kernel]";
  return found;
}

std::set<std::size_t> FunctionNames::find_in_new_files(const WantedFunctions& wanted) {
  std::set<std::size_t> found;
  for (auto& [identity, file] : files_) {
    if (std::exchange(file.is_searched, true) || !file.code.symbols) continue;
    file.code.symbols->list([&](const char* symbol) {
      for (const std::size_t function : wanted.find(shown_name(symbol))) found.insert(function);
    });
  }
  return found;
}

std::map<std::string, std::uint64_t> FunctionNames::sum_by_function(
    const SampledRun& run, std::chrono::nanoseconds since) {
  std::map<std::string, std::uint64_t> sums;
  std::map<std::uint32_t, os::SymbolMap> compiled;
  for (const auto& [place, sampled] : run.periods_by_place) {
    switch (place.kind) {
      case CodeKind::File: {
        const os::CodeIdentity& identity = run.files[place.file].identity;
        sums[function_name_at(files_[identity], identity.path, place.offset_or_address)] += sampled;
        break;
      }
      case CodeKind::Vdso: {
        const auto [vdso, is_new] = files_.try_emplace({kVdso});
        if (is_new) vdso->second.code = os::open_vdso();
        sums[function_name_at(vdso->second, kVdso, place.offset_or_address)] += sampled;
        break;
      }
      case CodeKind::Kernel:
        sums[find_in_kernel(place.offset_or_address)] += sampled;
        break;
      case CodeKind::RuntimeCode: {
        const auto [symbols, is_new] = compiled.try_emplace(place.process);
        if (is_new)
          symbols->second = os::jit_symbols(static_cast<int>(place.process), since, user_);
        const std::string symbol = os::find_symbol(symbols->second, place.offset_or_address);
        sums[symbol.empty() ? "(compiled at run time: no symbols)" : shown_name(symbol)] += sampled;
        break;
      }
      case CodeKind::Unmapped:
        sums["(unmapped code)"] += sampled;
        break;
      case CodeKind::NoProcess:
        sums["(unknown process)"] += sampled;
        break;
      case CodeKind::Other:
        sums["(hypervisor)"] += sampled;
        break;
    }
  }
  return sums;
}

}  // namespace lauka::engine::profile
