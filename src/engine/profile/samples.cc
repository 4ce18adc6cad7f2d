#include "engine/profile/samples.h"

#include "engine/symbol_names.h"
#include "os/symbol_maps.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace lauka::engine::profile {

namespace {

// Values of PERF_RECORD_*. Source of these values and of all layouts in this file:
// include/uapi/linux/perf_event.h of Linux 6.3.
constexpr std::uint32_t kLost = 2;
constexpr std::uint32_t kComm = 3;
constexpr std::uint32_t kExit = 4;
constexpr std::uint32_t kThrottle = 5;
constexpr std::uint32_t kFork = 7;
constexpr std::uint32_t kSample = 9;
constexpr std::uint32_t kMmap2 = 10;
constexpr std::uint32_t kLostSamples = 13;

constexpr std::uint16_t kModeMask = 7;
constexpr std::uint16_t kKernelMode = 1;
constexpr std::uint16_t kUserMode = 2;
constexpr std::uint16_t kIsExec = 1U << 13U;
constexpr std::uint16_t kHasBuildId = 1U << 14U;

constexpr const char* kVdso = "[vdso]";

constexpr std::size_t kHeaderBytes = 8;
// The bytes of process, thread and time at the end of each record that is not a sample.
constexpr std::size_t kTrailerBytes = 16;

template <typename Number>
Number number_at(std::span<const std::byte> record, std::size_t place) {
  Number number{};
  if (place <= record.size() && sizeof number <= record.size() - place)
    std::memcpy(&number, record.data() + place, sizeof number);
  return number;
}

/// What the kernel appends to the path of a file from the file's removal on.
constexpr std::string_view kDeleted = " (deleted)";

/// The kernel's names for memory without a file that a program could be in. What follows the name
/// is at most a number or name, and the mark of a deleted file.
constexpr auto kMemoryNames =
    std::to_array<std::string_view>({"//", "/SYSV", "/dev/zero", "/anon_hugepage"});

/// Where compilers at run time put code into a file that they remove at once, to map it twice.
constexpr auto kFoldersInMemory = std::to_array<std::string_view>({"/memfd:", "/dev/shm/"});

/// True if code is from the file of a program or library.
bool is_file(const os::CodeIdentity& identity) {
  const std::string_view path = identity.path;
  if (!path.starts_with('/')) return false;
  const bool is_deleted = path.ends_with(kDeleted);

  // Programs can be in such a file, too, but code that is compiled at run time has no build id.
  const bool may_be_runtime_code =
      is_deleted && std::ranges::any_of(kFoldersInMemory, [&](std::string_view folder) {
        return path.starts_with(folder);
      });
  if (may_be_runtime_code) return !identity.build_id.empty();

  return std::ranges::none_of(kMemoryNames, [&](std::string_view name) {
    return path.starts_with(name) && (is_deleted || name == "//" || path == name);
  });
}

os::CodeIdentity read_identity(std::span<const std::byte> record, bool has_build_id) {
  constexpr std::size_t inode_at = 48;
  constexpr std::size_t build_id_size_at = 40;
  constexpr std::size_t build_id_at = 44;
  constexpr std::size_t most_of_build_id = 20;
  constexpr std::size_t name_at = 72;

  os::CodeIdentity identity;
  if (record.size() < name_at + kTrailerBytes) return identity;

  const auto* text = reinterpret_cast<const char*>(record.data());
  std::string_view path(text + name_at, record.size() - kTrailerBytes - name_at);
  path = path.substr(0, path.find('\0'));
  identity.path = path;

  if (has_build_id) {
    const auto size = number_at<std::uint8_t>(record, build_id_size_at);
    identity.build_id.assign(text + build_id_at, std::min<std::size_t>(size, most_of_build_id));
  } else {
    identity.inode = number_at<std::uint64_t>(record, inode_at);
  }

  // The file is the same before and after its removal.
  if (is_file(identity) && path.ends_with(kDeleted))
    identity.path.resize(path.size() - kDeleted.size());
  return identity;
}

struct Mapping {
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  CodeKind kind = CodeKind::File;
  std::size_t file = 0;
};

using Mappings = std::map<std::uint64_t, Mapping>;

/// Cuts the mapping at `address`, if any, into two that meet there.
void cut(Mappings& mappings, std::uint64_t address) {
  const auto after = mappings.lower_bound(address);
  if (after == mappings.begin()) return;
  auto& [begin, mapping] = *std::prev(after);
  if (mapping.end <= address) return;
  Mapping rest = mapping;
  rest.offset += address - begin;
  mapping.end = address;
  mappings.emplace(address, rest);
}

void replace(Mappings& mappings, std::uint64_t begin, const Mapping& mapping) {
  cut(mappings, begin);
  cut(mappings, mapping.end);
  mappings.erase(mappings.lower_bound(begin), mappings.lower_bound(mapping.end));
  mappings.emplace(begin, mapping);
}

class Processes {
 public:
  explicit Processes(SampledRun& run) : run_(run) {}

  void begin(std::uint32_t process) { processes_[process].clear(); }

  void fork(std::uint32_t process, std::uint32_t parent) {
    if (process == parent) return;
    const auto known = processes_.find(parent);
    if (known != processes_.end()) processes_.insert_or_assign(process, known->second);
  }

  void map(std::uint32_t process, std::uint64_t begin, const Mapping& mapping,
           const os::CodeIdentity& identity) {
    Mapping added = mapping;
    added.kind = identity.path == kVdso ? CodeKind::Vdso
                 : is_file(identity)    ? CodeKind::File
                                        : CodeKind::RuntimeCode;
    if (added.kind == CodeKind::Vdso) added.offset = 0;
    if (added.kind == CodeKind::File) added.file = file_of(identity, process);
    if (added.end > begin) replace(processes_[process], begin, added);
  }

  CodePlace find(std::uint32_t process, std::uint64_t address) const {
    const auto known = processes_.find(process);
    if (known == processes_.end()) return {CodeKind::NoProcess};
    auto found = known->second.upper_bound(address);
    if (found == known->second.begin()) return {CodeKind::Unmapped};
    const auto& [begin, mapping] = *--found;
    if (address >= mapping.end) return {CodeKind::Unmapped};
    if (mapping.kind == CodeKind::RuntimeCode) return {CodeKind::RuntimeCode, 0, process, address};
    return {mapping.kind, mapping.file, 0, address - begin + mapping.offset};
  }

 private:
  std::size_t file_of(const os::CodeIdentity& identity, std::uint32_t process) {
    const auto [place, is_new] = files_.try_emplace(identity, run_.files.size());
    if (is_new) run_.files.push_back({identity, process});
    return place->second;
  }

  SampledRun& run_;
  std::map<std::uint32_t, Mappings> processes_;
  std::map<os::CodeIdentity, std::size_t> files_;
};

/// Follows which processes the kernel's records tell of.
class Lives {
 public:
  void fork(std::uint32_t process, std::uint32_t parent) {
    ++threads_;
    if (process != parent) lives_.insert_or_assign(process, Life{.was_forked = true});
  }

  void execute(std::uint32_t process) { lives_[process].has_code = false; }

  void map(std::uint32_t process) { lives_[process].has_code = true; }

  void end(std::uint32_t process, std::uint32_t thread) {
    if (process != thread) return;
    Life& life = lives_[process];
    life.has_ended = true;
    // The kernel takes the event from a process that may not be observed when it has executed the
    // program, before the program's code is mapped.
    if (!life.has_code) ++withdrawn_;
  }

  ProcessesSeen close() const {
    ProcessesSeen seen{.withdrawn_count = withdrawn_, .thread_count = threads_};
    for (const auto& [process, life] : lives_) {
      if (!life.was_forked) ++seen.started_count;
      if (life.was_forked && !life.has_ended) seen.unended.push_back(process);
    }
    seen.thread_count += seen.started_count;
    return seen;
  }

 private:
  struct Life {
    bool was_forked = false;
    bool has_code = true;
    bool has_ended = false;
  };

  std::map<std::uint32_t, Life> lives_;
  std::size_t withdrawn_ = 0;
  std::size_t threads_ = 0;
};

}  // namespace

void RunRecords::add(std::span<const std::byte> records,
                     const std::function<void(const MappedFile&)>& mapped) {
  constexpr std::size_t size_at = 6;
  while (records.size() >= kHeaderBytes) {
    const auto size = number_at<std::uint16_t>(records, size_at);
    if (size < kHeaderBytes || size > records.size()) return;
    add_one(records.first(size), mapped);
    records = records.subspan(size);
  }
}

void RunRecords::add_one(std::span<const std::byte> record,
                         const std::function<void(const MappedFile&)>& mapped) {
  constexpr std::size_t misc_at = 4;

  const auto word = [&](std::size_t place) { return number_at<std::uint64_t>(record, place); };
  const auto half = [&](std::size_t place) { return number_at<std::uint32_t>(record, place); };

  // Records other than samples end with their time (sample_id_all).
  Record read{.time = word(record.size() - kHeaderBytes),
              .type = half(0),
              .misc = number_at<std::uint16_t>(record, misc_at),
              .process = half(kHeaderBytes)};

  switch (read.type) {
    case kLost:
      lost_ += word(16);
      return;
    case kLostSamples:
      lost_ += word(8);
      return;
    case kThrottle:
      ++throttled_;
      return;
    case kSample:
      // In a sample, the address, process, thread, time and period follow the header.
      read.address = word(8);
      read.process = half(16);
      read.time = word(24);
      read.bytes_or_period = word(32);
      break;
    case kComm:
      // A thread that only changes its name causes such a record, too.
      if ((read.misc & kIsExec) == 0) return;
      break;
    case kFork:
    case kExit:
      read.parent = half(12);
      read.thread = half(16);
      break;
    case kMmap2:
      read.address = word(16);
      read.bytes_or_period = word(24);
      read.offset = word(32);
      read.identity = read_identity(record, (read.misc & kHasBuildId) != 0);
      if (is_file(read.identity)) mapped({read.identity, read.process});
      break;
    default:
      return;
  }

  records_.push_back(std::move(read));
}

SampledRun RunRecords::close() {
  SampledRun run;
  run.loss_count = std::exchange(lost_, 0);
  run.throttle_count = std::exchange(throttled_, 0);

  // Each CPU has its own ring, so the records do not arrive in the order of their times.
  std::ranges::stable_sort(records_, {}, &Record::time);
  Processes processes(run);
  Lives lives;

  for (const Record& record : records_) {
    switch (record.type) {
      case kComm:
        processes.begin(record.process);
        lives.execute(record.process);
        break;
      case kFork:
        processes.fork(record.process, record.parent);
        lives.fork(record.process, record.parent);
        break;
      case kExit:
        lives.end(record.process, record.thread);
        break;
      case kMmap2:
        lives.map(record.process);
        processes.map(record.process, record.address,
                      {.end = record.address + record.bytes_or_period, .offset = record.offset},
                      record.identity);
        break;
      default: {
        const std::uint16_t mode = record.misc & kModeMask;
        const CodePlace place = mode == kKernelMode
                                    ? CodePlace{CodeKind::Kernel, 0, 0, record.address}
                                : mode == kUserMode ? processes.find(record.process, record.address)
                                                    : CodePlace{};
        run.periods_by_place[place] += record.bytes_or_period;
        ++run.samples;
      }
    }
  }

  records_.clear();
  run.seen = lives.close();
  return run;
}

void FunctionNames::open(const MappedFile& file) {
  const auto [place, is_new] = files_.try_emplace(file.identity);
  if (is_new)
    place->second.code = os::open_code(file.identity, static_cast<int>(file.process), user_);
}

const FunctionName& FunctionNames::function_at(File& file, const std::string& path,
                                               std::uint64_t offset) {
  const FunctionName*& seen = file.functions_by_offset[offset];
  if (seen != nullptr) return *seen;

  auto symbols = file.code.symbols ? file.code.symbols->find(offset) : std::vector<std::string>();
  const std::string why_not = !symbols.empty()     ? ""
                              : !file.code.symbols ? file.code.why_not
                              : file.code.symbols->is_call_stub(offset)
                                  ? "calls to shared libraries"
                                  : "no symbols";
  const std::string name_of_file = path.substr(path.rfind('/') + 1);
  const std::string key =
      symbols.empty() ? fmt::format("({}: {})", name_of_file, why_not) : symbols.front();

  const auto [function, is_new] = file.functions_by_symbol.try_emplace(key);
  if (is_new)
    function->second = symbols.empty() ? FunctionName{key} : name_of_symbols(std::move(symbols));
  seen = &function->second;
  return *seen;
}

const FunctionName& FunctionNames::find_in_kernel(std::uint64_t address) {
  if (!kernel_) kernel_ = os::kernel_symbols();
  const auto [function, is_new] = kernel_functions_.try_emplace(address);
  if (!is_new) return function->second;

  auto symbols = os::find_symbol(*kernel_, address);
  for (std::string& symbol : symbols) symbol = normalized_function(symbol) + " [kernel]";
  function->second = symbols.empty() ? FunctionName{"(kernel: no symbols)"}
                                     : make_function_name(std::move(symbols));
  return function->second;
}

std::set<std::size_t> FunctionNames::find_in_new_files(const WantedFunctions& wanted) {
  std::set<std::size_t> found;
  for (auto& [identity, file] : files_) {
    if (std::exchange(file.is_searched, true) || !file.code.symbols) continue;
    file.code.symbols->list([&](std::span<const char* const> symbols) {
      const FunctionName function = name_of_symbols({symbols.begin(), symbols.end()});
      for (const std::size_t place : wanted.find(function.name, function.other_names))
        found.insert(place);
    });
  }
  return found;
}

std::vector<FunctionCounts> FunctionNames::sum_by_function(const SampledRun& run,
                                                           std::chrono::nanoseconds since) {
  std::map<std::uint32_t, os::SymbolMap> compiled;
  const auto function_of = [&](const CodePlace& place) -> FunctionName {
    switch (place.kind) {
      case CodeKind::File: {
        const os::CodeIdentity& identity = run.files[place.file].identity;
        return function_at(files_[identity], identity.path, place.offset_or_address);
      }
      case CodeKind::Vdso: {
        const auto [vdso, is_new] = files_.try_emplace({kVdso});
        if (is_new) vdso->second.code = os::open_vdso();
        return function_at(vdso->second, kVdso, place.offset_or_address);
      }
      case CodeKind::Kernel:
        return find_in_kernel(place.offset_or_address);
      case CodeKind::RuntimeCode: {
        const auto [symbols, is_new] = compiled.try_emplace(place.process);
        if (is_new)
          symbols->second = os::jit_symbols(static_cast<int>(place.process), since, user_);
        auto names = os::find_symbol(symbols->second, place.offset_or_address);
        return names.empty() ? FunctionName{"(compiled at run time: no symbols)"}
                             : name_of_symbols(std::move(names));
      }
      case CodeKind::Unmapped:
        return {"(unmapped code)"};
      case CodeKind::NoProcess:
        return {"(unknown process)"};
      case CodeKind::Other:
        break;
    }

    return {"(hypervisor)"};
  };

  struct Sum {
    std::uint64_t sampled = 0;
    std::set<std::string> other_names;
  };
  std::map<std::string, Sum> sums;
  for (const auto& [place, sampled] : run.periods_by_place) {
    const FunctionName function = function_of(place);
    Sum& sum = sums[function.name];
    sum.sampled += sampled;
    sum.other_names.insert(function.other_names.begin(), function.other_names.end());
  }

  std::vector<FunctionCounts> functions;
  functions.reserve(sums.size());
  for (const auto& [name, sum] : sums)
    functions.push_back({name, {sum.sampled}, {sum.other_names.begin(), sum.other_names.end()}});
  return functions;
}

}  // namespace lauka::engine::profile
