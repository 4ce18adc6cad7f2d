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

// Values of PERF_CONTEXT_*. In a call chain, such a mark says of which context the addresses after
// it are, such as the kernel's or the user's code. All values from PERF_CONTEXT_MAX on are marks.
constexpr std::uint64_t kFirstContextMark = ~std::uint64_t{0} - 4094;
constexpr std::uint64_t kKernelContext = ~std::uint64_t{0} - 127;
constexpr std::uint64_t kUserContext = ~std::uint64_t{0} - 511;

/// From this address on, code is the kernel's.
constexpr std::uint64_t kFirstKernelAddress = std::uint64_t{1} << 63U;

// Frames of RunRecords::callers_ that are no addresses. No address in a call chain equals them,
// because they are above kFirstContextMark.
constexpr std::uint64_t kOuterFramesUnknown = ~std::uint64_t{0};
constexpr std::uint64_t kLeftOut = ~std::uint64_t{0} - 1;

constexpr const char* kVdso = "[vdso]";
constexpr const char* kUnknownProcess = "(unknown process)";

constexpr std::size_t kHeaderBytes = 8;
// With sample_id_all, each record that is not a sample ends with its process, thread and time
// (struct sample_id of perf_event_open(2)).
constexpr std::size_t kSampleIdBytes = 16;
// Where a sample has the number of words in its call chain. The words follow this number, which is
// a word itself. Each word is an address or the mark of a context.
constexpr std::size_t kChainAt = 40;
constexpr std::size_t kWordBytes = 8;

template <typename Number>
Number number_at(std::span<const std::byte> record, std::size_t place) {
  Number number{};
  if (place <= record.size() && sizeof number <= record.size() - place)
    std::memcpy(&number, record.data() + place, sizeof number);
  return number;
}

/// What the kernel appends to the path of a file from the file's removal on.
constexpr std::string_view kDeletedMark = " (deleted)";

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
  const bool is_deleted = path.ends_with(kDeletedMark);

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

/// Returns the text at `place` in a record that is not a sample.
std::string read_text(std::span<const std::byte> record, std::size_t place) {
  if (record.size() < place + kSampleIdBytes) return "";
  const auto* text = reinterpret_cast<const char*>(record.data());
  const std::string_view rest(text + place, record.size() - kSampleIdBytes - place);
  return std::string(rest.substr(0, rest.find('\0')));
}

/// Returns the build id in the record of a mapping. Its fields overlap those of device and inode.
std::string read_build_id(std::span<const std::byte> record) {
  constexpr std::size_t size_at = 40;
  constexpr std::size_t build_id_at = 44;
  constexpr std::size_t max_size = 20;
  const auto* bytes = reinterpret_cast<const char*>(record.data());
  const auto claimed_size = number_at<std::uint8_t>(record, size_at);
  return {bytes + build_id_at, std::min<std::size_t>(claimed_size, max_size)};
}

/// Reads from a record of a mapping, PERF_RECORD_MMAP2, which file was mapped. Its path and its
/// build id (or, without one, its inode) identify the file. Returns an empty identity if the record
/// is too short.
os::CodeIdentity read_identity(std::span<const std::byte> record, bool has_build_id) {
  constexpr std::size_t inode_at = 48;
  constexpr std::size_t path_at = 72;

  os::CodeIdentity identity;
  if (record.size() < path_at + kSampleIdBytes) return identity;

  identity.path = read_text(record, path_at);
  if (has_build_id)
    identity.build_id = read_build_id(record);
  else
    identity.inode = number_at<std::uint64_t>(record, inode_at);

  // The kernel appends a mark to the path of a removed file. A file keeps the identity that it had
  // before it was removed. What is no file, such as memory, has the mark as a part of its name.
  if (is_file(identity) && identity.path.ends_with(kDeletedMark))
    identity.path.resize(identity.path.size() - kDeletedMark.size());
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
void split_mapping_at(Mappings& mappings, std::uint64_t address) {
  const auto after = mappings.lower_bound(address);
  if (after == mappings.begin()) return;
  auto& [begin, mapping] = *std::prev(after);
  if (mapping.end <= address) return;
  Mapping rest = mapping;
  rest.offset += address - begin;
  mapping.end = address;
  mappings.emplace(address, rest);
}

/// Adds a mapping that begins at `begin`. What was mapped there is unmapped, as by the kernel.
void map_over(Mappings& mappings, std::uint64_t begin, const Mapping& mapping) {
  split_mapping_at(mappings, begin);
  split_mapping_at(mappings, mapping.end);
  mappings.erase(mappings.lower_bound(begin), mappings.lower_bound(mapping.end));
  mappings.emplace(begin, mapping);
}

class Processes {
 public:
  explicit Processes(SampledRun& run) : run_(run) {}

  /// `name`: that the kernel gives to the program, at most 15 bytes.
  void begin(std::uint32_t process, const std::string& name) {
    processes_.insert_or_assign(process, Process{.program = find_or_add_program(name)});
  }

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
    if (added.kind == CodeKind::File) added.file = find_or_add_file(identity, process);

    const auto known = processes_.find(process);
    Process& owner = known != processes_.end() ? known->second : processes_[process];
    if (known == processes_.end()) owner.program = find_or_add_program(kUnknownProcess);
    if (added.kind == CodeKind::File && !std::exchange(owner.has_executable, true))
      set_executable(owner, added.file);
    if (added.end > begin) map_over(owner.mappings, begin, added);
  }

  /// Returns the place of a sample that was taken in this mode: the kernel's, the user's or another
  /// one, such as a hypervisor's.
  CodePlace find_sampled(unsigned mode, std::uint32_t process, std::uint64_t address) const {
    if (mode == kKernelMode) return {.kind = CodeKind::Kernel, .offset_or_address = address};
    return mode == kUserMode ? find(process, address) : CodePlace{};
  }

  CodePlace find(std::uint32_t process, std::uint64_t address) const {
    const auto known = processes_.find(process);
    if (known == processes_.end()) return {CodeKind::NoProcess};
    const Mappings& mappings = known->second.mappings;
    auto found = mappings.upper_bound(address);
    if (found == mappings.begin()) return {CodeKind::Unmapped};
    const auto& [begin, mapping] = *--found;
    if (address >= mapping.end) return {CodeKind::Unmapped};
    if (mapping.kind == CodeKind::RuntimeCode) return {CodeKind::RuntimeCode, 0, process, address};
    return {mapping.kind, mapping.file, 0, address - begin + mapping.offset};
  }

  /// Returns the index of the program that a process executes.
  std::size_t program_of(std::uint32_t process) {
    const auto known = processes_.find(process);
    return known == processes_.end() ? find_or_add_program(kUnknownProcess) : known->second.program;
  }

 private:
  struct Process {
    Mappings mappings{};
    std::size_t program = 0;
    bool has_executable = false;  ///< true if a file has been mapped since execve
  };

  std::size_t find_or_add_program(const std::string& name) {
    const auto [place, is_new] = programs_.try_emplace(name, run_.programs.size());
    if (is_new) run_.programs.push_back(name);
    return place->second;
  }

  /// The first file that a process maps is its program, or the interpreter of a script.
  void set_executable(Process& owner, std::size_t file) {
    run_.executables.insert(file);
    const std::string& path = run_.files[file].identity.path;
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.starts_with(run_.programs[owner.program])) owner.program = find_or_add_program(name);
  }

  std::size_t find_or_add_file(const os::CodeIdentity& identity, std::uint32_t process) {
    const auto [place, is_new] = files_.try_emplace(identity, run_.files.size());
    if (is_new) run_.files.push_back({identity, process});
    return place->second;
  }

  SampledRun& run_;
  std::map<std::uint32_t, Process> processes_;
  std::map<std::string, std::size_t> programs_;
  std::map<os::CodeIdentity, std::size_t> files_;
};

/// What called the code of a sample.
struct Callers {
  std::uint32_t process = 0;
  std::uint32_t path = kNoCaller;  ///< in the tree of the addresses of calls
  bool is_first_thread = true;     ///< true if the sample is of the process's first thread

  auto operator<=>(const Callers&) const = default;
};

/// Makes the paths of a run of the call chains of its samples.
class PathFolder {
 public:
  PathFolder(const PathTree& callers, Processes& processes, SampledRun& run)
      : callers_(callers), processes_(processes), run_(run) {}

  /// Adds a sample of code at `place`.
  void add(const Callers& callers, const CodePlace& place, std::uint64_t period) {
    const std::uint32_t path = run_.paths.add({find(callers), find_or_add_frame(place)});
    run_.periods_by_path.resize(run_.paths.size());
    run_.periods_by_path[path] += period;
  }

  /// Forgets where code is. Called when this has changed.
  void forget_places() { paths_by_callers_.clear(); }

 private:
  std::uint64_t find_or_add_frame(const CodePlace& place) {
    const auto [known, is_new] = frames_.try_emplace(place, run_.frames.size());
    if (is_new) run_.frames.push_back(place);
    return known->second;
  }

  std::uint32_t find(const Callers& callers) {
    const auto [known, is_new] = paths_by_callers_.try_emplace(callers);
    if (is_new) known->second = add_path_of_places(callers);
    return known->second;
  }

  /// Adds the call path of `callers` to the paths of the run. Addresses differ between processes,
  /// so they become places in files, which the paths of all processes share. Returns the index of
  /// the path.
  std::uint32_t add_path_of_places(const Callers& callers) {
    const std::vector<CodePlace> places = list_places(callers);
    std::uint32_t path =
        run_.paths.add({kNoCaller, find_or_add_frame(make_program_place(callers))});
    for (auto place = places.rbegin(); place != places.rend(); ++place)
      path = run_.paths.add({path, find_or_add_frame(*place)});
    return path;
  }

  /// Returns the places of the callers that are known, the innermost first.
  std::vector<CodePlace> list_places(const Callers& callers) const {
    std::vector<CodePlace> places;
    bool has_lost_frames = false;
    for (std::uint32_t path = callers.path; path != kNoCaller; path = callers_[path].caller) {
      const std::uint64_t address = callers_[path].frame;
      if (has_lost_frames && address < kFirstKernelAddress) continue;

      // An address outside of all code shows that there was no frame pointer. Neither this frame
      // nor the user's frames around it are calls.
      const CodePlace place = find_place(callers.process, address);
      if (place.kind == CodeKind::Unmapped || place.kind == CodeKind::NoProcess)
        has_lost_frames = true;
      else
        places.push_back(place);
    }
    return places;
  }

  /// Returns the place that an address in the tree of callers means in a process.
  CodePlace find_place(std::uint32_t process, std::uint64_t address) const {
    // Two special values stand for frames that are not known.
    if (address == kOuterFramesUnknown) return {CodeKind::IncompleteStack};
    if (address == kLeftOut) return {CodeKind::TooManyPaths};

    if (address >= kFirstKernelAddress)
      return {.kind = CodeKind::Kernel, .offset_or_address = address};
    return processes_.find(process, address);
  }

  /// Returns the outermost frame of a path, which is the program itself. Its first thread has
  /// another frame than the others, because it begins in another function.
  CodePlace make_program_place(const Callers& callers) const {
    constexpr std::uint64_t first_thread = 0;
    constexpr std::uint64_t other_thread = 1;
    return {.kind = CodeKind::Program,
            .file = processes_.program_of(callers.process),
            .offset_or_address = callers.is_first_thread ? first_thread : other_thread};
  }

  const PathTree& callers_;
  Processes& processes_;
  SampledRun& run_;
  std::map<CodePlace, std::uint64_t> frames_;
  std::map<Callers, std::uint32_t> paths_by_callers_;
};

/// Follows which processes the kernel's records tell of.
class ProcessLives {
 public:
  void fork(std::uint32_t process, std::uint32_t parent) {
    ++thread_count_;
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
    if (!life.has_code) ++withdrawn_count_;
  }

  ProcessesSeen close() const {
    ProcessesSeen seen{.withdrawn_count = withdrawn_count_, .thread_count = thread_count_};
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
  std::size_t withdrawn_count_ = 0;
  std::size_t thread_count_ = 0;
};

/// A sample, as its record describes it.
struct Sample {
  unsigned mode = 0;  ///< the kernel's, the user's or another one
  std::uint64_t address = 0;
  std::uint64_t period = 0;
  bool has_chain = false;
  Callers callers{};
};

/// Adds to a run what its records tell, in the order of their times.
class Replay {
 public:
  Replay(const PathTree& callers, SampledRun& run)
      : run_(run), processes_(run), paths_(callers, processes_, run) {}

  void execute(std::uint32_t process, const std::string& name) {
    paths_.forget_places();
    processes_.begin(process, name);
    lives_.execute(process);
  }

  void fork(std::uint32_t process, std::uint32_t parent) {
    paths_.forget_places();
    processes_.fork(process, parent);
    lives_.fork(process, parent);
  }

  void end(std::uint32_t process, std::uint32_t thread) {
    paths_.forget_places();
    lives_.end(process, thread);
  }

  void map(std::uint32_t process, std::uint64_t begin, const Mapping& mapping,
           const os::CodeIdentity& identity) {
    paths_.forget_places();
    lives_.map(process);
    processes_.map(process, begin, mapping, identity);
  }

  void add_sample(const Sample& sample) {
    const CodePlace place =
        processes_.find_sampled(sample.mode, sample.callers.process, sample.address);
    run_.periods_by_place[place] += sample.period;
    if (sample.has_chain) paths_.add(sample.callers, place, sample.period);
    ++run_.samples;
  }

  ProcessesSeen processes_seen() const { return lives_.close(); }

 private:
  SampledRun& run_;
  Processes processes_;  // adds files and programs to the run
  ProcessLives lives_;
  PathFolder paths_;  // adds call paths to the run
};

/// Returns the number of words in the call chain of a sample's record.
std::uint64_t count_chain_words(std::span<const std::byte> record) {
  // The chain begins with the number of its words. A damaged record may have fewer.
  const auto claimed_count = number_at<std::uint64_t>(record, kChainAt);
  const std::uint64_t max_count = (record.size() - kChainAt) / kWordBytes - 1;
  return std::min(claimed_count, max_count);
}

/// Reads a call chain word by word. The words are addresses, and marks that say of which context
/// (the kernel's or the user's code) the addresses after it are.
class ChainReader {
 public:
  explicit ChainReader(std::uint64_t context_of_sample)
      : context_of_sample_(context_of_sample), context_(context_of_sample) {}

  /// Returns the address in the function of a frame; nullopt if the word is the mark of a context.
  std::optional<std::uint64_t> read(std::uint64_t word) {
    const bool is_mark = word >= kFirstContextMark;
    if (is_mark) {
      context_ = word;
      is_first_of_context_ = true;
      return std::nullopt;
    }

    // The first address of each context is where its code was interrupted. The others are where
    // calls return to. That may be behind the end of the calling function, so the byte before it is
    // taken.
    ++frame_count_;
    return std::exchange(is_first_of_context_, false) ? word : word - 1;
  }

  /// True if the address that was read last is that of a call that is shown. The chain begins with
  /// the sampled address, which is none. Frames of other contexts, such as those of a hypervisor,
  /// are not shown.
  bool is_at_call() const {
    const bool is_sampled_address = frame_count_ == 1 && context_ == context_of_sample_;
    return !is_sampled_address && (context_ == kKernelContext || is_in_user_code());
  }

  bool is_in_user_code() const { return context_ == kUserContext; }
  std::size_t frame_count() const { return frame_count_; }

 private:
  std::uint64_t context_of_sample_;
  std::uint64_t context_;
  bool is_first_of_context_ = true;
  std::size_t frame_count_ = 0;
};

/// Reads the frames that called the code of a sample from the sample's record. Returns addresses in
/// the functions that called, the innermost first; the last value is kOuterFramesUnknown if the
/// chain may be incomplete.
std::vector<std::uint64_t> read_calling_frames(std::span<const std::byte> record, bool is_kernel) {
  std::vector<std::uint64_t> calling_frames;
  ChainReader chain(is_kernel ? kKernelContext : kUserContext);
  const std::uint64_t word_count = count_chain_words(record);
  for (std::size_t i = 1; i <= word_count; ++i) {
    const auto word = number_at<std::uint64_t>(record, kChainAt + kWordBytes * i);
    const std::optional<std::uint64_t> address = chain.read(word);
    if (!address || !chain.is_at_call()) continue;

    // Code that uses the frame pointer for something else breaks the chain: from there on, any
    // value may follow.
    if (chain.is_in_user_code() && *address >= kFirstKernelAddress) break;
    calling_frames.push_back(*address);
  }

  // The kernel cuts chains off at this length, so there may be frames further outside.
  if (chain.frame_count() >= kMaxFrames) calling_frames.push_back(kOuterFramesUnknown);
  return calling_frames;
}

}  // namespace

void RunRecords::add(std::span<const std::byte> records,
                     const std::function<void(const MappedFile&)>& on_mapped_file) {
  constexpr std::size_t size_at = 6;
  while (records.size() >= kHeaderBytes) {
    const auto size = number_at<std::uint16_t>(records, size_at);
    if (size < kHeaderBytes || size > records.size()) return;
    add_record(records.first(size), on_mapped_file);
    records = records.subspan(size);
  }
}

std::uint32_t RunRecords::add_callers(std::span<const std::byte> record, bool is_kernel) {
  const std::vector<std::uint64_t> calling_frames = read_calling_frames(record, is_kernel);

  // A run with too many different paths keeps those that it already has.
  std::uint32_t path = kNoCaller;
  for (auto frame = calling_frames.rbegin(); frame != calling_frames.rend(); ++frame) {
    const PathStep call{path, *frame};
    const bool is_full = callers_.size() >= kMaxCallers;
    if (is_full && !callers_.find(call)) return callers_.add({kNoCaller, kLeftOut});
    path = callers_.add(call);
  }
  return path;
}

// The fields of a record are at the places that perf_event_open(2) gives.

/// Reads what follows the header of a sample: the address, process, thread, time, period and call
/// chain.
void RunRecords::read_sample(std::span<const std::byte> record, Record& read) {
  read.address = number_at<std::uint64_t>(record, 8);
  read.process = number_at<std::uint32_t>(record, 16);
  read.thread = number_at<std::uint32_t>(record, 20);
  read.time = number_at<std::uint64_t>(record, 24);
  read.bytes_or_period = number_at<std::uint64_t>(record, 32);
  read.has_chain = record.size() >= kChainAt + kWordBytes;
  if (!read.has_chain) return;
  const bool is_kernel = (read.misc & kModeMask) == kKernelMode;
  read.callers = add_callers(record, is_kernel);
}

/// Reads what follows the header of a mapping, and adds the mapped file to identities_.
void RunRecords::read_mapping(std::span<const std::byte> record, Record& read) {
  read.address = number_at<std::uint64_t>(record, 16);
  read.bytes_or_period = number_at<std::uint64_t>(record, 24);
  read.offset = number_at<std::uint64_t>(record, 32);
  read.text_index = static_cast<std::uint32_t>(identities_.size());
  identities_.push_back(read_identity(record, (read.misc & kHasBuildId) != 0));
}

/// Counts lost records and throttlings. Returns false if the record tells of neither.
bool RunRecords::count_loss(std::span<const std::byte> record, std::uint32_t type) {
  switch (type) {
    case kLost:
      lost_count_ += number_at<std::uint64_t>(record, 16);  // after the event's id
      return true;
    case kLostSamples:
      lost_count_ += number_at<std::uint64_t>(record, 8);
      return true;
    case kThrottle:
      ++throttle_count_;
      return true;
    default:
      return false;
  }
}

/// Reads the fields that most records have in the same places. Only a sample does not end with its
/// time (sample_id_all), and has its process elsewhere.
RunRecords::Record RunRecords::read_common_fields(std::span<const std::byte> record) {
  constexpr std::size_t misc_at = 4;
  return {.time = number_at<std::uint64_t>(record, record.size() - kHeaderBytes),
          .type = number_at<std::uint32_t>(record, 0),
          .misc = number_at<std::uint16_t>(record, misc_at),
          .process = number_at<std::uint32_t>(record, kHeaderBytes)};
}

/// Reads a record of the kernel, and keeps it if it is of use to replay_records(). Calls
/// `on_mapped_file` if the record tells that a process mapped a file.
void RunRecords::add_record(std::span<const std::byte> record,
                            const std::function<void(const MappedFile&)>& on_mapped_file) {
  constexpr std::size_t program_name_at = 16;
  constexpr std::size_t parent_at = 12;
  constexpr std::size_t thread_at = 16;
  Record read = read_common_fields(record);
  if (count_loss(record, read.type)) return;

  switch (read.type) {
    case kSample:
      read_sample(record, read);
      break;
    case kComm:
      // A thread that only changes its name, and executes no program, causes such a record, too.
      if ((read.misc & kIsExec) == 0) return;
      read.text_index = static_cast<std::uint32_t>(names_.size());
      names_.push_back(read_text(record, program_name_at));
      break;
    case kFork:
    case kExit:
      read.parent = number_at<std::uint32_t>(record, parent_at);
      read.thread = number_at<std::uint32_t>(record, thread_at);
      break;
    case kMmap2:
      read_mapping(record, read);
      if (is_file(identities_.back())) on_mapped_file({identities_.back(), read.process});
      break;
    default:
      return;
  }

  records_.push_back(read);
}

SampledRun RunRecords::close() {
  SampledRun run;
  run.loss_count = std::exchange(lost_count_, 0);
  run.throttle_count = std::exchange(throttle_count_, 0);

  // Each CPU has its own buffer, so the records do not arrive in the order of their times.
  std::ranges::stable_sort(records_, {}, &Record::time);
  replay_records(run);

  // The next run begins without records.
  records_ = {};
  identities_.clear();
  names_.clear();
  callers_ = {};

  // Paths that only lead to others have no samples of their own.
  run.periods_by_path.resize(run.paths.size());
  return run;
}

/// Adds to `run` what the records tell about it. The records are in the order of their times, so
/// the code at each sampled address is the code that the process had there at that time.
void RunRecords::replay_records(SampledRun& run) const {
  Replay replay(callers_, run);
  for (const Record& record : records_) {
    switch (record.type) {
      case kComm:
        replay.execute(record.process, names_[record.text_index]);
        break;
      case kFork:
        replay.fork(record.process, record.parent);
        break;
      case kExit:
        replay.end(record.process, record.thread);
        break;
      case kMmap2:
        replay.map(record.process, record.address,
                   {.end = record.address + record.bytes_or_period, .offset = record.offset},
                   identities_[record.text_index]);
        break;
      case kSample:
        replay.add_sample({.mode = unsigned{record.misc} & kModeMask,
                           .address = record.address,
                           .period = record.bytes_or_period,
                           .has_chain = record.has_chain,
                           .callers = {.process = record.process,
                                       .path = record.callers,
                                       .is_first_thread = record.process == record.thread}});
        break;
      default:
        break;
    }
  }
  run.seen = replay.processes_seen();
}

namespace {

/// The functions by which the main thread of a process begins, and those of other threads. Each has
/// all frames of a complete call chain below it.
constexpr auto kFirstFunctions = std::to_array<std::string_view>(
    {"main", "_start", "__libc_start_main", "__libc_start_call_main", "_dl_start_user", "_dl_start",
     "start_thread", "clone", "clone3", "runtime.goexit", "runtime.mstart", "runtime.rt0_go"});

/// True if the frame has a function, or code that lacks a symbol.
bool is_code(CodeKind kind) {
  return kind < CodeKind::Program;
}

/// A frame of SampledRun::frames with its name.
struct NamedFrame {
  std::string name{};
  CodeKind kind = CodeKind::Other;
  bool has_symbol = false;
  bool is_main = false;
  /// True if a chain that has the frame is known, or may be assumed, to begin where a thread does.
  bool is_first = false;
  bool is_first_of_threads = false;  ///< the same, in threads other than a process's first one
};

/// `may_begin_program`: true if the program may begin in this code, if that has no symbol.
NamedFrame make_frame(const CodePlace& place, const CodeName& code, bool may_begin_program) {
  const FunctionName& function = code.function;
  NamedFrame frame{.name = function.name, .kind = place.kind, .has_symbol = code.has_symbol};
  frame.is_main = place.kind == CodeKind::File && function.name == "main";

  const auto is_first = [](const std::string& name) {
    return std::ranges::find(kFirstFunctions, name) != kFirstFunctions.end();
  };
  frame.is_first = is_first(function.name) || std::ranges::any_of(function.other_names, is_first);

  // If main() has no symbol, any function without one may be the first one. So may any of the C
  // library, if it has no symbols and begins a thread.
  if (place.kind != CodeKind::File || frame.has_symbol) return frame;
  frame.is_first = may_begin_program;
  frame.is_first_of_threads = true;
  return frame;
}

/// Names the paths of a run. Paths that do not reach the function by which a thread begins are put
/// below kIncompleteStack. Frames outside of main() are left out, because they depend on the C
/// library and its symbols. Frames without symbols are one frame for each file.
class PathNamer {
 public:
  PathNamer(const SampledRun& run, const std::vector<NamedFrame>& frames, NamedSamples& named)
      : run_(run), frames_(frames), named_(named) {}

  void name_paths() {
    const std::size_t count = run_.paths.size();
    facts_.resize(count);
    complete_.resize(count, kNoCaller);
    incomplete_.resize(count, kNoCaller);

    for (std::uint32_t path = 0; path < count; ++path) {
      find_facts(path);
      const std::uint64_t sampled = run_.periods_by_path[path];
      if (sampled == 0) continue;
      const bool is_complete =
          !facts_[path].has_user_code || facts_[path].has_first || facts_[path].says_incomplete;
      named_.paths[find_or_add_named(path, is_complete)].count += sampled;
      if (!is_complete || facts_[path].is_cut_short) named_.sampled_in_incomplete_stacks += sampled;
      if (facts_[path].is_cut_short) named_.sampled_in_longest_stacks += sampled;
    }
  }

 private:
  struct PathFacts {
    bool is_of_first_thread = true;
    bool has_user_code = false;
    bool has_first = false;        ///< true if the path has the function by which its thread begins
    bool says_incomplete = false;  ///< true if a frame says that the outer ones are unknown
    bool is_cut_short = false;
    bool is_in_main = false;  ///< true if the path is that of main(), or below it
  };

  const NamedFrame& frame_of(std::uint32_t path) const { return frames_[run_.paths[path].frame]; }

  void find_facts(std::uint32_t path) {
    const std::uint32_t caller = run_.paths[path].caller;
    const NamedFrame& frame = frame_of(path);
    PathFacts facts = caller == kNoCaller ? PathFacts{} : facts_[caller];
    if (caller == kNoCaller)
      facts.is_of_first_thread = run_.frames[run_.paths[path].frame].offset_or_address == 0;

    facts.is_cut_short = facts.is_cut_short || frame.kind == CodeKind::IncompleteStack;
    facts.says_incomplete =
        facts.says_incomplete || facts.is_cut_short || frame.kind == CodeKind::TooManyPaths;
    facts.has_user_code =
        facts.has_user_code || (is_code(frame.kind) && frame.kind != CodeKind::Kernel);
    facts.has_first = facts.has_first || frame.is_first ||
                      (!facts.is_of_first_thread && frame.is_first_of_threads);
    facts.is_in_main = facts.is_in_main || frame.is_main;
    facts_[path] = facts;
  }

  /// Returns the path to name before `path`. Skips what called main().
  std::uint32_t find_caller_to_name(std::uint32_t path) const {
    std::uint32_t caller = run_.paths[path].caller;
    if (caller == kNoCaller || !frame_of(path).is_main) return caller;
    if (facts_[caller].is_in_main || facts_[caller].says_incomplete) return caller;
    while (run_.paths[caller].caller != kNoCaller) caller = run_.paths[caller].caller;
    return caller;
  }

  /// Returns the index in NamedSamples::paths of a path, which is added with its callers.
  std::uint32_t find_or_add_named(std::uint32_t path, bool is_complete) {
    std::vector<std::uint32_t>& named = is_complete ? complete_ : incomplete_;
    std::vector<std::uint32_t> unnamed;  // the innermost path first
    std::uint32_t at = path;
    for (; at != kNoCaller && named[at] == kNoCaller; at = find_caller_to_name(at))
      unnamed.push_back(at);

    std::uint32_t caller = at == kNoCaller ? kNoCaller : named[at];
    for (auto next = unnamed.rbegin(); next != unnamed.rend(); ++next) {
      caller = add_below(caller, frame_of(*next));
      if (run_.paths[*next].caller == kNoCaller && !is_complete)
        caller = add(caller, std::string(kIncompleteStack));
      named[*next] = caller;
    }
    return caller;
  }

  /// Adds a frame below `caller`, unless both are code of one file without symbols, which is a
  /// single frame.
  std::uint32_t add_below(std::uint32_t caller, const NamedFrame& frame) {
    const bool is_same_code =
        !frame.has_symbol && caller != kNoCaller && named_.paths[caller].name == frame.name;
    return is_same_code ? caller : add(caller, frame.name);
  }

  std::uint32_t add(std::uint32_t caller, const std::string& name) {
    const auto [known, is_new] = indices_.try_emplace(name, indices_.size());
    const std::uint32_t path = paths_.add({caller, known->second});
    if (path == named_.paths.size()) named_.paths.push_back({caller, name});
    return path;
  }

  const SampledRun& run_;
  const std::vector<NamedFrame>& frames_;
  NamedSamples& named_;
  std::vector<PathFacts> facts_;  // by path of the run
  // By path of the run, the index of its named path; kNoCaller if it has none.
  std::vector<std::uint32_t> complete_;
  std::vector<std::uint32_t> incomplete_;
  PathTree paths_;
  std::map<std::string, std::uint64_t> indices_;  // of names
};

CodeName make_name(std::string text) {
  return {.function = {std::move(text)}, .has_symbol = true};
}

CodeName make_reason(std::string text) {
  return {.function = {std::move(text)}, .has_symbol = false};
}

/// Returns the name of code that has no symbol: its file and the reason, such as "(libc.so.6: no
/// symbols)".
std::string make_name_without_symbol(const os::OpenedCode& code, const std::string& path,
                                     std::uint64_t offset) {
  std::string why = code.why_not;
  if (code.symbols)
    why = code.symbols->is_call_stub(offset) ? "calls to shared libraries" : "no symbols";
  return fmt::format("({}: {})", path.substr(path.rfind('/') + 1), why);
}

/// The samples of all functions with one name.
struct SumOfFunction {
  std::uint64_t sampled = 0;  // cycles or nanoseconds
  std::set<std::string> other_names;
};

using SumsByName = std::map<std::string, SumOfFunction>;

SumOfFunction& find_or_add_sum(SumsByName& sum_by_name, const FunctionName& function) {
  SumOfFunction& sum = sum_by_name[function.name];
  sum.other_names.insert(function.other_names.begin(), function.other_names.end());
  return sum;
}

/// Returns the samples of each function, in the order of the names.
std::vector<FunctionCounts> list_functions(const SumsByName& sum_by_name) {
  std::vector<FunctionCounts> functions;
  functions.reserve(sum_by_name.size());
  for (const auto& [name, sum] : sum_by_name)
    functions.push_back({.name = name,
                         .counts = {sum.sampled},
                         .other_names = {sum.other_names.begin(), sum.other_names.end()}});
  return functions;
}

}  // namespace

void FunctionNames::open(const MappedFile& file) {
  const auto [place, is_new] = files_.try_emplace(file.identity);
  if (is_new)
    place->second.code = os::open_code(file.identity, static_cast<int>(file.process), user_);
}

/// Returns the name of the function whose code is at `offset` in a file. All offsets of a function
/// share one name, which is made only once.
const CodeName& FunctionNames::find_function_at(File& file, const std::string& path,
                                                std::uint64_t offset) {
  const CodeName*& known_function = file.functions_by_offset[offset];
  if (known_function != nullptr) return *known_function;

  // The same code may have several symbols.
  std::vector<std::string> symbols;
  if (file.code.symbols) symbols = file.code.symbols->find(offset);
  const bool has_symbols = !symbols.empty();
  const std::string key =
      has_symbols ? symbols.front() : make_name_without_symbol(file.code, path, offset);

  const auto [function, is_new] = file.functions_by_symbol.try_emplace(key);
  if (is_new && has_symbols)
    function->second = {.function = name_of_symbols(std::move(symbols)), .has_symbol = true};
  if (is_new && !has_symbols) function->second = {.function = {key}, .has_symbol = false};
  known_function = &function->second;
  return *known_function;
}

const CodeName& FunctionNames::find_in_kernel(std::uint64_t address) {
  if (!kernel_) kernel_ = os::read_kernel_symbols();
  const auto [function, is_new] = kernel_functions_.try_emplace(address);
  if (!is_new) return function->second;

  auto symbols = os::find_symbol(*kernel_, address);
  for (std::string& symbol : symbols) symbol = normalized_function(symbol) + " [kernel]";
  function->second = symbols.empty() ? CodeName{FunctionName{"(kernel: no symbols)"}, false}
                                     : CodeName{make_function_name(std::move(symbols)), true};
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

bool FunctionNames::may_begin_program(const SampledRun& run, const CodePlace& place) {
  if (place.kind != CodeKind::File || !run.executables.contains(place.file)) return false;

  File& file = files_[run.files[place.file].identity];
  if (!file.has_main) {
    file.has_main = false;
    if (file.code.symbols)
      file.code.symbols->list([&](std::span<const char* const> symbols) {
        for (const std::string_view symbol : symbols)
          if (symbol == "main") file.has_main = true;
      });
  }
  return !*file.has_main;
}

/// Returns the name of the function at `offset` in the vdso.
const CodeName& FunctionNames::find_in_vdso(std::uint64_t offset) {
  // The kernel maps this code into each process, as if it were a library.
  const auto [vdso, is_new] = files_.try_emplace({kVdso});
  if (is_new) vdso->second.code = os::open_vdso();
  return find_function_at(vdso->second, kVdso, offset);
}

/// Returns the name of a function that was compiled at run time.
CodeName FunctionNames::find_in_runtime_code(const CodePlace& place, std::chrono::nanoseconds since,
                                             RuntimeSymbols& symbols_of_processes) const {
  const auto [symbols, is_new] = symbols_of_processes.try_emplace(place.process);
  if (is_new) symbols->second = os::read_jit_symbols(static_cast<int>(place.process), since, user_);
  auto names = os::find_symbol(symbols->second, place.offset_or_address);
  if (names.empty()) return make_reason("(compiled at run time: no symbols)");
  return {.function = name_of_symbols(std::move(names)), .has_symbol = true};
}

/// Returns the name of the code at `place`. If the code has no symbol, the name says why, in
/// parentheses. `symbols_of_processes`: symbols of the code that processes compiled at run time;
/// those of a process are read when they are first needed. `since`: time before the run's start;
/// older symbols are those of an earlier run, and are not used.
CodeName FunctionNames::name_of(const SampledRun& run, const CodePlace& place,
                                std::chrono::nanoseconds since,
                                RuntimeSymbols& symbols_of_processes) {
  switch (place.kind) {
    case CodeKind::File: {
      const os::CodeIdentity& identity = run.files[place.file].identity;
      return find_function_at(files_[identity], identity.path, place.offset_or_address);
    }
    case CodeKind::Vdso:
      return find_in_vdso(place.offset_or_address);
    case CodeKind::Kernel:
      return find_in_kernel(place.offset_or_address);
    case CodeKind::RuntimeCode:
      return find_in_runtime_code(place, since, symbols_of_processes);
    case CodeKind::Unmapped:
      return make_reason("(unmapped code)");
    case CodeKind::NoProcess:
      return make_reason(kUnknownProcess);

    // These places are no code, but frames that call paths have in addition.
    case CodeKind::Program:
      return make_name(run.programs[place.file]);
    case CodeKind::IncompleteStack:
      return make_name(std::string(kIncompleteStack));
    case CodeKind::TooManyPaths:
      return make_name(std::string(kTooManyPaths));

    case CodeKind::Other:
      break;
  }
  return make_reason("(hypervisor)");
}

/// Gives names to the places in code where samples were taken, and adds up the samples of each
/// function and of each call path. `since`: time before the run's start.
NamedSamples FunctionNames::sum_up(const SampledRun& run, std::chrono::nanoseconds since) {
  RuntimeSymbols symbols_of_processes;  // of code that the processes compiled while they ran
  SumsByName sum_by_name;
  for (const auto& [place, sampled] : run.periods_by_place) {
    const CodeName code = name_of(run, place, since, symbols_of_processes);
    find_or_add_sum(sum_by_name, code.function).sampled += sampled;
  }

  NamedSamples named;
  std::vector<NamedFrame> frames;  // frames of call paths
  frames.reserve(run.frames.size());
  for (const CodePlace& place : run.frames) {
    const CodeName code = name_of(run, place, since, symbols_of_processes);

    // A program whose main() has no symbol begins in code without a symbol.
    const bool begins_program = !code.has_symbol && may_begin_program(run, place);
    frames.push_back(make_frame(place, code, begins_program));
    if (place.kind == CodeKind::TooManyPaths) named.has_left_out_paths = true;

    // A function that only called others gets a sum of 0.
    if (is_code(place.kind)) find_or_add_sum(sum_by_name, code.function);
  }

  // Adds the call paths to `named`.
  PathNamer(run, frames, named).name_paths();
  named.functions = list_functions(sum_by_name);
  return named;
}

}  // namespace lauka::engine::profile
