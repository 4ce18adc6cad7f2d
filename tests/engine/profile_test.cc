#include "engine/engine.h"
#include "engine/profile/profile_engine.h"
#include "engine/profile/samples.h"
#include "engine/symbol_names.h"
#include "fakes/fake_perf.h"
#include "must.h"
#include "os/sample_rings.h"
#include "os/symbols.h"
#include "places.h"
#include "skip.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine::profile {
namespace {

// PERF_CONTEXT_KERNEL and PERF_CONTEXT_USER, which mark the frames that follow in a call chain.
constexpr std::uint64_t kKernelContext = ~std::uint64_t{0} - 127;
constexpr std::uint64_t kUserContext = ~std::uint64_t{0} - 511;

/// Records as Linux writes them.
class Written {
 public:
  Written& sample(std::uint64_t time, std::uint32_t process, std::uint64_t address,
                  std::uint16_t mode = 2, std::uint64_t period = 1000) {
    begin(9, mode);
    word(address);
    half(process);
    half(process);
    word(time);
    word(period);
    return end();
  }
  /// A sample of the code at the first address of `chain` that is not a mark. `thread`: 0 for the
  /// process's first thread.
  Written& chain(std::uint64_t time, std::uint32_t process, const std::vector<std::uint64_t>& chain,
                 std::uint32_t thread = 0) {
    const bool is_kernel = chain.at(0) == kKernelContext;
    begin(9, is_kernel ? 1 : 2);
    word(chain.at(1));
    half(process);
    half(thread == 0 ? process : thread);
    word(time);
    word(1000);
    word(chain.size());
    for (const std::uint64_t address : chain) word(address);
    return end();
  }
  Written& exec(std::uint64_t time, std::uint32_t process, const std::string& name = "name") {
    begin(3, 1U << 13U);
    half(process);
    half(process);
    text(name);
    return trailer(time, process);
  }
  Written& fork(std::uint64_t time, std::uint32_t process, std::uint32_t parent) {
    begin(7, 0);
    for (const std::uint32_t id : {process, parent, process, parent}) half(id);
    word(time);
    return trailer(time, process);
  }
  Written& fork_thread(std::uint64_t time, std::uint32_t process, std::uint32_t thread) {
    begin(7, 0);
    for (const std::uint32_t id : {process, process, thread, process}) half(id);
    word(time);
    return trailer(time, process);
  }
  Written& exit(std::uint64_t time, std::uint32_t process, std::uint32_t parent) {
    begin(4, 0);
    for (const std::uint32_t id : {process, parent, process, parent}) half(id);
    word(time);
    return trailer(time, process);
  }
  Written& throttled() {
    begin(5, 0);
    for (int i = 0; i < 3; ++i) word(1);
    return trailer(1, 1);
  }
  Written& map(std::uint64_t time, std::uint32_t process, std::uint64_t address,
               std::uint64_t bytes, std::uint64_t offset, const std::string& path,
               std::uint64_t inode = 7, unsigned more_misc = 0) {
    begin(10, 2U | more_misc);
    half(process);
    half(process);
    word(address);
    word(bytes);
    word(offset);
    word(more_misc == 0 ? 0 : 20);  // with a build id, its size
    word(inode);
    word(0);
    word(5);
    text(path);
    return trailer(time, process);
  }
  Written& lost(std::uint64_t records) {
    begin(2, 0);
    word(1);
    word(records);
    return trailer(1, 1);
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void begin(std::uint32_t type, unsigned misc) {
    begin_ = bytes_.size();
    half(type);
    half(misc);  // and the size
  }
  void append(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  void half(std::uint32_t value) { append(&value, sizeof value); }
  void word(std::uint64_t value) { append(&value, sizeof value); }
  void text(const std::string& value) {
    append(value.c_str(), value.size() + 1);
    while (bytes_.size() % 8 != 0) bytes_.push_back({});
  }
  Written& trailer(std::uint64_t time, std::uint32_t process) {
    half(process);
    half(process);
    word(time);
    return end();
  }
  Written& end() {
    const auto size = static_cast<std::uint16_t>(bytes_.size() - begin_);
    std::memcpy(bytes_.data() + begin_ + 6, &size, sizeof size);
    return *this;
  }

  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
};

SampledRun run_of(const Written& written) {
  RunRecords records;
  records.add(written.bytes(), [](const MappedFile& /*file*/) {});
  return records.close();
}

/// Returns the paths of a run and what was sampled at their ends: "prog;0x10;0x20 1000". Frames in
/// files are offsets, and those in the kernel "k".
std::set<std::string> paths_of(const SampledRun& run) {
  std::vector<std::string> names;
  std::set<std::string> paths;
  for (std::size_t path = 0; path < run.paths.size(); ++path) {
    const PathStep& step = run.paths[path];
    const CodePlace& place = run.frames.at(step.frame);
    std::string name = step.caller == kNoCaller ? "" : names.at(step.caller) + ";";
    if (place.kind == CodeKind::Program)
      name += run.programs.at(place.file);
    else if (place.kind == CodeKind::File)
      name += std::to_string(place.offset_or_address);
    else
      name += place.kind == CodeKind::Kernel            ? "k"
              : place.kind == CodeKind::IncompleteStack ? "incomplete"
                                                        : "other";
    names.push_back(name);
    if (run.periods_by_path.at(path) > 0)
      paths.insert(name + " " + std::to_string(run.periods_by_path[path]));
  }
  return paths;
}

/// Returns the named paths of a run: "prog;main;f 1000".
std::set<std::string> named_paths_of(const SampledRun& run, FunctionNames& names) {
  std::vector<std::string> stacks;
  std::set<std::string> paths;
  for (const PathCounts& path : names.sum_up(run, {}).paths) {
    stacks.push_back(path.caller == kNoCaller ? path.name
                                              : stacks.at(path.caller) + ";" + path.name);
    if (path.count > 0) paths.insert(stacks.back() + " " + std::to_string(path.count));
  }
  return paths;
}

std::uint64_t time_at(const SampledRun& run, const CodePlace& place) {
  const auto found = run.periods_by_place.find(place);
  return found == run.periods_by_place.end() ? 0 : found->second;
}

/// A kernel that lets runs be sampled with certain flags only.
struct Kernel {
  std::uint64_t refused_flags = 0;
  std::uint64_t needed_flags = 0;
  int error = EACCES;
  bool has_memory = true;
  std::uint64_t cycles_in_ns = 0;  ///< 0: there is no counter of cycles
  bool may_sample_cycles = true;
  std::uint64_t running_ns = 0;
  std::set<std::string> live_processes{};  ///< folders of their threads, as "/proc/7/task"
  bool is_setuid = false;
  std::vector<std::uint64_t> ring = std::vector<std::uint64_t>(1U << 16U);

  Kernel() { now() = this; }
  ~Kernel() { now() = nullptr; }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  static Kernel*& now() {
    static Kernel* kernel = nullptr;
    return kernel;
  }

  static int open(const os::PerfEventAttr& attributes, const os::CounterPlace& /*place*/,
                  int /*group*/) {
    if (attributes.type == os::kPerfTypeHardware && now()->cycles_in_ns == 0) return -ENOENT;
    const bool samples = attributes.sample_period > 0;
    if (attributes.type == os::kPerfTypeHardware && samples && !now()->may_sample_cycles)
      return -EOPNOTSUPP;
    const bool may = (attributes.flags & now()->refused_flags) == 0 &&
                     (attributes.flags & now()->needed_flags) == now()->needed_flags;
    return may ? 3 : -now()->error;
  }

  os::LinuxCalls calls() const {
    os::LinuxCalls calls{};
    calls.open_counter = &open;
    calls.close_descriptor = [](int) {};
    calls.read_counter = [](int, std::uint64_t* words, std::size_t) -> long {
      const std::uint64_t ns = now()->running_ns += 300'000;
      const std::array<std::uint64_t, 3> reading{ns * now()->cycles_in_ns, ns, ns};
      std::ranges::copy(reading, words);
      return reading.size();
    };
    calls.map_ring = [](int, std::size_t) -> void* {
      errno = EPERM;
      return now()->has_memory ? now()->ring.data() : nullptr;
    };
    calls.unmap_ring = [](void*, std::size_t) {};
    calls.read_file = [](const std::string& path) -> std::optional<std::string> {
      if (path.ends_with("perf_event_paranoid")) return "3\n";
      if (path.ends_with("perf_event_mlock_kb")) return "17\n";
      if (path.ends_with("perf_event_max_sample_rate")) return "5000\n";
      if (path == "/proc/self/status") return "Uid:\t0 0 0 0\nGid:\t0 0 0 0\n";
      return std::nullopt;
    };
    calls.count_subfolders = [](const std::string& path) {
      return now()->live_processes.contains(path) ? 1L : -1L;
    };
    calls.describe_program = [](const std::string& /*path*/) -> std::optional<os::ProgramFile> {
      if (now()->is_setuid)
        return os::ProgramFile{.owner = 1, .mode = 04755, .first_bytes = "\177ELF"};
      return os::ProgramFile{.mode = 0755, .first_bytes = "\177ELF"};
    };
    calls.list_folder = [](const std::string&) { return std::vector<std::string>(); };
    return calls;
  }
};

std::unique_ptr<CounterEngine> profile(const os::LinuxCalls* calls) {
  return with_profile(make_accounted_engine(std::nullopt), {}, calls);
}

std::string refusal(const Result<EventSet>& set) {
  return set ? "" : set.error().line();
}

bool can_name_functions() {
  if (os::can_read_symbols()) return true;
  skip("lauka was built without elfutils or libiberty");
  return false;
}

}  // namespace

TEST_CASE("a sample is at a place of the file that its process had mapped there") {
  const SampledRun run = run_of(Written()
                                    .exec(1, 10)
                                    .map(2, 10, 0x1000, 0x1000, 0x400, "/bin/a")
                                    .map(3, 10, 0x5000, 0x1000, 0, "/lib/b")
                                    .sample(4, 10, 0x1010)
                                    .sample(5, 10, 0x1010)
                                    .sample(6, 10, 0x5020)
                                    .sample(7, 10, 0x3000));
  REQUIRE(run.files.size() == 2);
  CHECK(run.files[0].identity.path == "/bin/a");
  CHECK(run.files[0].identity.inode == 7);
  CHECK(time_at(run, {CodeKind::File, 0, 0, 0x410}) == 2000);
  CHECK(time_at(run, {CodeKind::File, 1, 0, 0x20}) == 1000);
  CHECK(time_at(run, {CodeKind::Unmapped}) == 1000);
  CHECK(run.samples == 4);
}

TEST_CASE("records of several CPUs are put in the order of their times") {
  const SampledRun run =
      run_of(Written().sample(5, 10, 0x1010).exec(1, 10).map(2, 10, 0x1000, 0x1000, 0, "/bin/a"));
  CHECK(time_at(run, {CodeKind::File, 0, 0, 0x10}) == 1000);
}

TEST_CASE("a child has its parent's code until it executes a program of its own") {
  const SampledRun run = run_of(Written()
                                    .exec(1, 10)
                                    .map(2, 10, 0x1000, 0x1000, 0, "/bin/a")
                                    .fork(3, 11, 10)
                                    .sample(4, 11, 0x1010)
                                    .exec(5, 11)
                                    .sample(6, 11, 0x1010)
                                    .map(7, 11, 0x1000, 0x1000, 0, "/bin/b")
                                    .sample(8, 11, 0x1010)
                                    .sample(9, 12, 0x1010));
  CHECK(time_at(run, {CodeKind::File, 0, 0, 0x10}) == 1000);
  CHECK(time_at(run, {CodeKind::File, 1, 0, 0x10}) == 1000);
  CHECK(time_at(run, {CodeKind::Unmapped}) == 1000);
  CHECK(time_at(run, {CodeKind::NoProcess}) == 1000);
}

TEST_CASE("a mapping takes the place of a part of an earlier one, whose ends stay") {
  const SampledRun run = run_of(Written()
                                    .exec(1, 10)
                                    .map(2, 10, 0x1000, 0x3000, 0, "/bin/a")
                                    .map(3, 10, 0x2000, 0x1000, 0x100, "/bin/b")
                                    .sample(4, 10, 0x1fff)
                                    .sample(5, 10, 0x2000)
                                    .sample(6, 10, 0x3001));
  CHECK(time_at(run, {CodeKind::File, 0, 0, 0xfff}) == 1000);
  CHECK(time_at(run, {CodeKind::File, 1, 0, 0x100}) == 1000);
  CHECK(time_at(run, {CodeKind::File, 0, 0, 0x2001}) == 1000);
}

TEST_CASE("the kernel's code, the vdso and code made at run time are told from files") {
  const SampledRun run = run_of(Written()
                                    .exec(1, 10)
                                    .map(2, 10, 0x1000, 0x1000, 0, "//anon")
                                    .map(2, 10, 0x7000, 0x1000, 0x7000, "[vdso]")
                                    .sample(3, 10, 0x1010)
                                    .sample(4, 10, 0x7010)
                                    .sample(5, 10, 0xffffffff81000000, 1)
                                    .sample(6, 10, 0, 3));
  CHECK(time_at(run, {CodeKind::RuntimeCode, 0, 10, 0x1010}) == 1000);
  CHECK(time_at(run, {CodeKind::Vdso, 0, 0, 0x10}) == 1000);
  CHECK(time_at(run, {CodeKind::Kernel, 0, 0, 0xffffffff81000000}) == 1000);
  CHECK(time_at(run, {CodeKind::Other}) == 1000);
  CHECK(run.files.empty());
}

TEST_CASE("files of every folder are files, and memory goes by the names that the kernel gives") {
  const auto kind_of = [](const std::string& path) {
    const SampledRun run =
        run_of(Written().exec(1, 10).map(2, 10, 0x1000, 0x1000, 0, path).sample(3, 10, 0x1010));
    return run.periods_by_place.begin()->first.kind;
  };
  for (const char* const file : {"/dev/shm/prog", "/tmp/prog (deleted)", "/dev/hugepages/text",
                                 "/SYSVinit/prog", "/dev/zeroes/prog", "/memfd:/prog", "/bin/a"}) {
    CAPTURE(file);
    CHECK(kind_of(file) == CodeKind::File);
  }
  for (const char* const memory :
       {"//anon", "/memfd:jit (deleted)", "/dev/shm/jit (deleted)", "/SYSV00000000 (deleted)",
        "/dev/zero (deleted)", "/dev/zero", "/anon_hugepage (deleted)", "[heap]"}) {
    CAPTURE(memory);
    CHECK(kind_of(memory) == CodeKind::RuntimeCode);
  }
}

TEST_CASE("a removed file in memory with a build id is a program, not code made at run time") {
  constexpr unsigned has_build_id = 1U << 14U;
  for (const char* const path : {"/memfd:prog (deleted)", "/dev/shm/prog (deleted)"}) {
    CAPTURE(path);
    const SampledRun run = run_of(Written()
                                      .exec(1, 10)
                                      .map(2, 10, 0x1000, 0x1000, 0, path, 7, has_build_id)
                                      .sample(3, 10, 0x1010));
    CHECK(run.periods_by_place.begin()->first.kind == CodeKind::File);
    REQUIRE(run.files.size() == 1);
    CHECK_FALSE(run.files[0].identity.path.ends_with(" (deleted)"));
  }
}

TEST_CASE("a path begins with the program's name, and its frames are calls, the outermost first") {
  const SampledRun run = run_of(Written()
                                    .exec(1, 10, "prog")
                                    .map(2, 10, 0x1000, 0x1000, 0, "/bin/prog-with-a-long-name")
                                    .chain(3, 10, {kUserContext, 0x1010, 0x1021, 0x1031})
                                    .chain(4, 10, {kUserContext, 0x1010, 0x1021, 0x1031})
                                    .chain(5, 10, {kUserContext, 0x1020, 0x1031}));
  CHECK(paths_of(run) == std::set<std::string>{"prog-with-a-long-name;48;32;16 2000",
                                               "prog-with-a-long-name;48;32 1000"});
  CHECK(time_at(run, {CodeKind::File, 0, 0, 0x10}) == 2000);
  CHECK(time_at(run, {CodeKind::File, 0, 0, 0x20}) == 1000);
}

TEST_CASE("frames of the kernel are inside of those of the program that entered it") {
  constexpr std::uint64_t kernel = 0xffffffff81000000;
  const SampledRun run =
      run_of(Written()
                 .exec(1, 10, "prog")
                 .map(2, 10, 0x1000, 0x1000, 0, "/bin/prog")
                 .chain(3, 10, {kKernelContext, kernel, kernel + 9, kUserContext, 0x1010, 0x1021})
                 .chain(4, 10, {kKernelContext, kernel + 9}));
  // The program's innermost frame is where it was interrupted, and not a call.
  CHECK(paths_of(run) == std::set<std::string>{"prog;32;16;k;k 1000", "prog;k 1000"});
  CHECK(time_at(run, {CodeKind::Kernel, 0, 0, kernel}) == 1000);
}

TEST_CASE("frames that other contexts mark, such as those of a guest, are left out") {
  constexpr std::uint64_t guest = ~std::uint64_t{0} - 2047;
  const SampledRun run =
      run_of(Written()
                 .exec(1, 10, "prog")
                 .map(2, 10, 0x1000, 0x1000, 0, "/bin/prog")
                 .chain(3, 10, {kUserContext, 0x1010, guest, 0x1040, kUserContext, 0x1020}));
  CHECK(paths_of(run) == std::set<std::string>{"prog;32;16 1000"});
}

TEST_CASE("the children of a script are programs of their own, and its copies are the script") {
  const SampledRun run = run_of(Written()
                                    .exec(1, 10, "build.sh")
                                    .map(2, 10, 0x1000, 0x1000, 0, "/bin/dash")
                                    .fork(3, 11, 10)
                                    .chain(4, 11, {kUserContext, 0x1010, 0x1021})
                                    .exec(5, 11, "gzip")
                                    .map(6, 11, 0x1000, 0x1000, 0, "/bin/gzip")
                                    .chain(7, 11, {kUserContext, 0x1010, 0x1021})
                                    .chain(8, 10, {kUserContext, 0x1010, 0x1021}));
  CHECK(paths_of(run) == std::set<std::string>{"build.sh;32;16 2000", "gzip;32;16 1000"});
}

TEST_CASE("what follows a frame outside of all code is not a call") {
  const SampledRun run =
      run_of(Written()
                 .exec(1, 10, "prog")
                 .map(2, 10, 0x1000, 0x1000, 0, "/bin/prog")
                 .chain(3, 10, {kUserContext, 0x1010, 0x1021, 0x77, 0x1031})
                 .chain(4, 10, {kUserContext, 0x1010, 0x1021, std::uint64_t{1} << 63U, 0x1031}));
  CHECK(paths_of(run) == std::set<std::string>{"prog;32;16 2000"});
}

TEST_CASE("a chain as long as the kernel records at most has a frame that says it is incomplete") {
  Written written = Written().exec(1, 10, "prog").map(2, 10, 0x1000, 0x1000, 0, "/bin/prog");
  for (const std::size_t frames : {126U, 127U}) {
    std::vector<std::uint64_t> recursion(frames + 1, 0x1021);
    recursion[0] = kUserContext;
    written.chain(3, 10, recursion);
  }
  const std::set<std::string> paths = paths_of(run_of(written));
  REQUIRE(paths.size() == 2);
  CHECK(paths.begin()->starts_with("prog;32;"));
  CHECK(paths.rbegin()->starts_with("prog;incomplete;32;"));
}

TEST_CASE("a chain that ends too early, or says that it is longer, is not read beyond its end") {
  const std::vector<std::byte> bytes = Written()
                                           .exec(1, 10, "prog")
                                           .map(2, 10, 0x1000, 0x1000, 0, "/bin/prog")
                                           .chain(3, 10, {kUserContext, 0x1010, 0x1021})
                                           .bytes();
  for (std::size_t place = bytes.size() - 40; place < bytes.size(); ++place)
    for (const auto value : {std::byte{0xff}, std::byte{0}, std::byte{0x7f}}) {
      std::vector<std::byte> changed = bytes;
      changed[place] = value;
      RunRecords records;
      records.add(changed, [](const MappedFile& /*file*/) {});
      const SampledRun run = records.close();
      CHECK(run.samples == 1);
      CHECK(run.paths.size() >= 2);
    }
}

TEST_CASE("callers beyond the limit are left out, with a frame that says so") {
  Written written = Written().exec(1, 10, "prog").map(2, 10, 0x1000, 0x1000, 0, "/bin/prog");
  RunRecords records;
  records.add(written.bytes(), [](const MappedFile& /*file*/) {});
  std::size_t samples = 0;
  for (std::uint64_t call = 0; call < RunRecords::kMaxCallers + 100; call += 100, ++samples) {
    std::vector<std::uint64_t> chain = {kUserContext, 0x1010};
    for (std::uint64_t frame = 0; frame < 100; ++frame) chain.push_back(0x1020 + call + frame);
    records.add(Written().chain(3, 10, chain).bytes(), [](const MappedFile& /*file*/) {});
  }
  const SampledRun run = records.close();
  CHECK(run.samples == samples);
  FunctionNames names({});
  CHECK(names.sum_up(run, {}).has_left_out_paths);
  std::uint64_t in_paths = 0;
  for (const std::uint64_t period : run.periods_by_path) in_paths += period;
  CHECK(in_paths == samples * 1000);
}

TEST_CASE("code without symbols is one frame for each file, and complete if it is the program's") {
  const SampledRun run = run_of(Written()
                                    .exec(1, 10, "prog")
                                    .map(2, 10, 0x1000, 0x1000, 0, "/nosuch/prog")
                                    .map(3, 10, 0x5000, 0x1000, 0, "/nosuch/libx.so")
                                    .chain(4, 10, {kUserContext, 0x5010, 0x5021, 0x1031, 0x1041})
                                    .chain(5, 10, {kUserContext, 0x5010, 0x5021})
                                    .chain(6, 10, {kUserContext, 0x5010, 0x5021}, 15));
  FunctionNames names({});
  for (const MappedFile& file : run.files) names.open(file);
  const NamedSamples samples = names.sum_up(run, {});
  const std::string program = samples.functions.at(1).name;
  const std::string library = samples.functions.at(0).name;
  CHECK(program.starts_with("(prog: "));
  CHECK(library.starts_with("(libx.so: "));
  CHECK(samples.functions[1].counts == std::vector<std::uint64_t>{0});
  // The second chain may have lost its callers, but a thread may begin in a library.
  CHECK(named_paths_of(run, names) ==
        std::set<std::string>{"prog;" + program + ";" + library + " 1000",
                              "prog;(stack incomplete);" + library + " 1000",
                              "prog;" + library + " 1000"});
  CHECK(samples.sampled_in_incomplete_stacks == 1000);
}

TEST_CASE("a path begins with main, and without it the stack is incomplete") {
  if (!can_name_functions()) return;
  const std::string path = std::string(places::kFixtures) + "/hundred";
  const os::OpenedCode code = os::open_code({path}, 0, std::nullopt);
  REQUIRE(code.symbols);
  std::uint64_t of_main = 0;
  std::uint64_t of_part = 0;
  std::uint64_t of_start = 0;
  std::uint64_t of_gap = 0;  // behind a function
  for (std::uint64_t offset = 0; offset < 0x20000; offset += 4) {
    const std::vector<std::string> found = code.symbols->find(offset);
    if (found.empty() && of_part + 0x1000 > offset) of_gap = offset;
    if (found.empty()) continue;
    if (found.front() == "main") of_main = offset;
    if (found.front() == "part_42") of_part = offset;
    if (found.front() == "_start") of_start = offset;
  }
  REQUIRE((of_main > 0 && of_part > 0 && of_start > 0 && of_gap > of_part));

  constexpr std::uint64_t at = 0x10000000;
  const SampledRun run =
      run_of(Written()
                 .exec(1, 10, "hundred")
                 .map(2, 10, at, 0x100000, 0, path)
                 .chain(3, 10, {kUserContext, at + of_part, at + of_main + 1, at + of_start + 1})
                 .chain(4, 10, {kUserContext, at + of_part, at + of_main + 1})
                 .chain(5, 10, {kUserContext, at + of_part})
                 .chain(6, 10, {kUserContext, at + of_start})
                 .chain(7, 10, {kUserContext, at + of_part, at + of_gap + 1}));
  FunctionNames names({});
  names.open({{path}, 1});
  SampledRun known = run;
  known.files[0].identity = {path};
  CHECK(named_paths_of(known, names) ==
        std::set<std::string>{"hundred;main;part_42 2000",
                              "hundred;(stack incomplete);part_42 1000", "hundred;_start 1000",
                              "hundred;(stack incomplete);(hundred: no symbols);part_42 1000"});
}

TEST_CASE("a run's records tell which processes were sampled, and which have no end") {
  const ProcessesSeen seen = run_of(Written()
                                        .exec(1, 10)
                                        .map(2, 10, 0x1000, 0x1000, 0, "/bin/a")
                                        .exec(2, 20)
                                        .map(3, 20, 0x1000, 0x1000, 0, "/bin/a")
                                        .fork_thread(4, 10, 15)
                                        .fork(5, 11, 10)
                                        .exec(6, 11)
                                        .map(7, 11, 0x1000, 0x1000, 0, "/bin/b")
                                        .fork(8, 12, 11)
                                        .exit(9, 11, 10)
                                        .exit(9, 10, 1))
                                 .seen;
  CHECK(seen.started_count == 2);
  CHECK(seen.unended == std::vector<std::uint32_t>{12});
  CHECK(seen.thread_count == 5);
  CHECK(seen.withdrawn_count == 0);
}

TEST_CASE("a process whose event ends at execve, before any code, may not be sampled") {
  const ProcessesSeen seen = run_of(Written()
                                        .exec(1, 10)
                                        .map(2, 10, 0x1000, 0x1000, 0, "/bin/a")
                                        .fork(3, 11, 10)
                                        .exec(4, 11)
                                        .exit(5, 11, 10))
                                 .seen;
  CHECK(seen.withdrawn_count == 1);
  CHECK(seen.unended.empty());
}

TEST_CASE("lost records are counted, once for each run") {
  RunRecords records;
  records.add(Written().lost(3).lost(4).bytes(), [](const MappedFile& /*file*/) {});
  CHECK(records.close().loss_count == 7);
  CHECK(records.close().loss_count == 0);
}

TEST_CASE("records that end too early, or say so of themselves, are not read beyond their end") {
  std::vector<std::byte> bytes =
      Written().exec(1, 10).map(2, 10, 0x1000, 0x1000, 0, "/bin/a").sample(3, 10, 0x1010).bytes();
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    RunRecords records;
    records.add(std::span(bytes).first(size), [](const MappedFile& /*file*/) {});
    CHECK(records.close().samples == (size == bytes.size() ? 1 : 0));
  }
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    std::vector<std::byte> changed = bytes;
    changed[place] = std::byte{0xff};
    RunRecords records;
    records.add(changed, [](const MappedFile& /*file*/) {});
    CHECK(records.close().samples <= 1);
  }
}

TEST_CASE("code without a name goes by its file and the reason") {
  FunctionNames names({});
  SampledRun run;
  run.files = {{{"/nosuch/lib.so.1", "", 5}, 1}};
  names.open(run.files[0]);
  run.periods_by_place = {{{CodeKind::File, 0, 0, 0x10}, 1000},
                          {{CodeKind::File, 0, 0, 0x20}, 500},
                          {{CodeKind::NoProcess}, 1}};
  const auto sums = names.sum_up(run, {}).functions;
  REQUIRE(sums.size() == 2);
  CHECK(sums[0].name.starts_with("(lib.so.1: "));
  CHECK(sums[0].counts == std::vector<std::uint64_t>{1500});
}

TEST_CASE("a file that was removed while it was used is one file") {
  const SampledRun run = run_of(Written()
                                    .exec(1, 10)
                                    .map(2, 10, 0x1000, 0x1000, 0, "/tmp/prog")
                                    .map(3, 10, 0x2000, 0x1000, 0x1000, "/tmp/prog (deleted)")
                                    .sample(4, 10, 0x1010)
                                    .sample(5, 10, 0x2010));
  REQUIRE(run.files.size() == 1);
  CHECK(run.files[0].identity.path == "/tmp/prog");
  CHECK(run.periods_by_place.size() == 2);
  FunctionNames names({});
  names.open(run.files[0]);
  const auto sums = names.sum_up(run, {}).functions;
  REQUIRE(sums.size() == 1);
  CHECK(sums[0].name.starts_with("(prog: "));
  CHECK(sums[0].counts == std::vector<std::uint64_t>{2000});
}

TEST_CASE("a sampled function has all names of its address") {
  if (!can_name_functions()) return;
  const std::string path = std::string(places::kFixtures) + "/aliased";
  const os::OpenedCode code = os::open_code({path}, 0, std::nullopt);
  REQUIRE(code.symbols);
  std::vector<std::string> names;
  code.symbols->list([&](std::span<const char* const> symbols) {
    if (std::ranges::find(symbols, std::string_view("fold_old")) != symbols.end())
      names.assign(symbols.begin(), symbols.end());
  });
  CHECK(name_of_symbols(names) ==
        FunctionName{"fold", {"fold_old", "fold_other", "_fold_internal"}});

  const std::vector<std::string> wanted = {"fold_other", "_fold_internal"};
  FunctionNames functions({});
  functions.open({{path}, 1});
  CHECK(functions.find_in_new_files(WantedFunctions(wanted)) == std::set<std::size_t>{0, 1});
}

TEST_CASE("without perf_event a selection is refused before the first run") {
  CHECK(refusal(profile(nullptr)->select({})).starts_with("--profile"));
}

TEST_CASE("rights and memory that the kernel refuses are named with the setting that has them") {
  if (!can_name_functions()) return;
  Kernel kernel;
  const os::LinuxCalls calls = kernel.calls();
  kernel.refused_flags = os::kPerfInherit;
  CHECK(refusal(profile(&calls)->select({})).find("perf_event_paranoid is 3") != std::string::npos);
  kernel.error = EMFILE;
  CHECK(refusal(profile(&calls)->select({})).find("ulimit") != std::string::npos);
  kernel.refused_flags = 0;
  kernel.has_memory = false;
  CHECK(refusal(profile(&calls)->select({})).find("perf_event_mlock_kb is 17") !=
        std::string::npos);
}

TEST_CASE("where the kernel may not be sampled, user space is, and a note says so") {
  if (!can_name_functions()) return;
  Kernel kernel;
  kernel.needed_flags = os::kPerfExcludeKernel;
  const os::LinuxCalls calls = kernel.calls();
  const EventSet set = must(profile(&calls)->select({}));
  REQUIRE(set.notes.size() == 1);
  CHECK(set.notes[0].kind == "user_space_only");
  CHECK(set.events.back().privilege_levels == CountedPrivilegeLevels::UserOnly);
}

TEST_CASE("a kernel that knows no build-ids is sampled without them") {
  if (!can_name_functions()) return;
  Kernel kernel;
  kernel.error = EINVAL;
  kernel.refused_flags = os::kPerfBuildId;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  const EventSet set = must(engine->select({}));
  CHECK(set.events.back().privilege_levels == CountedPrivilegeLevels::UserAndKernel);
  REQUIRE(set.passes.size() == 2);
  CHECK(set.passes[0].kind == RoundKind::Timed);
  const auto timed = must(engine->arm(0));
  CHECK(timed->samples() == nullptr);
  const auto sampled = must(engine->arm(1));
  REQUIRE(sampled->requests().size() == 1);
  const os::PerfEventAttr attributes = fakes::attributes_of(sampled->requests()[0]);
  CHECK((attributes.flags & os::kPerfBuildId) == 0);
  CHECK(sampled->samples() != nullptr);
}

TEST_CASE("a run that lost samples is run again, three times at most, and a note says it then") {
  if (!can_name_functions()) return;
  Kernel kernel;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  must(engine->select({}));
  const auto sampled = must(engine->arm(1));
  sampled->samples()->receive(Written().exec(1, 10).sample(2, 10, 1).lost(1).bytes());
  const CountsOfRun lossy = sampled->finish({}, 0);
  REQUIRE(lossy.redo.has_value());
  CHECK(lossy.redo->max_repetitions == 3);
  CHECK(lossy.note->kind == "samples_lost");
  sampled->samples()->receive(Written().exec(1, 10).sample(2, 10, 1).bytes());
  const CountsOfRun whole = sampled->finish({}, 0);
  CHECK_FALSE(whole.redo.has_value());
  CHECK(whole.counts == std::vector<std::optional<std::uint64_t>>{1000});
  CHECK(whole.functions == std::vector<FunctionCounts>{{"(unmapped code)", {1000}}});
}

TEST_CASE("a run with fewer processes than began is run again, and its samples are left out") {
  if (!can_name_functions()) return;
  Kernel kernel;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  must(engine->select({}));
  const auto sampled = must(engine->arm(1));
  os::Ended ended{};
  ended.started_count = 2;
  sampled->samples()->receive(Written().exec(1, 10).sample(2, 10, 1).bytes());
  const CountsOfRun lossy = sampled->finish(ended, 0);
  REQUIRE(lossy.redo.has_value());
  CHECK(lossy.redo->max_repetitions == 3);
  CHECK(lossy.redo->why_left_out.has_value());
  CHECK_FALSE(lossy.note.has_value());
  CHECK(engine->notes().empty());
  sampled->samples()->receive(Written().exec(1, 10).exec(1, 11).sample(2, 10, 1).bytes());
  const CountsOfRun whole = sampled->finish(ended, 0);
  CHECK_FALSE(whole.redo.has_value());
  CHECK(whole.counts == std::vector<std::optional<std::uint64_t>>{1000});
}

TEST_CASE("a process without a recorded end is missed, unless it still runs") {
  if (!can_name_functions()) return;
  Kernel kernel;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  must(engine->select({}));
  const auto sampled = must(engine->arm(1));
  const Written written = Written().exec(1, 10).fork(2, 11, 10).sample(3, 10, 1).exit(4, 10, 1);
  sampled->samples()->receive(written.bytes());
  CHECK(sampled->finish({}, 0).redo.has_value());
  kernel.live_processes = {"/proc/11/task"};
  sampled->samples()->receive(written.bytes());
  CHECK_FALSE(sampled->finish({}, 0).redo.has_value());
}

TEST_CASE("a run without a sample has 0 in every function") {
  if (!can_name_functions()) return;
  Kernel kernel;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  must(engine->select({}));
  const auto sampled = must(engine->arm(1));
  sampled->samples()->receive(Written().exec(1, 10).bytes());
  const CountsOfRun counted = sampled->finish({}, 0);
  CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{0});
  CHECK(counted.functions == std::vector<FunctionCounts>{});
}

TEST_CASE("a run whose program may not be sampled has no value, and the reason is said") {
  if (!can_name_functions()) return;
  Kernel kernel;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  must(engine->select({}));
  const auto sampled = must(engine->arm(1));
  os::Ended ended{};
  ended.usage.user_ns = 1'000'000;
  sampled->samples()->receive(Written().exec(1, 10).exit(2, 10, 1).bytes());
  const CountsOfRun withdrawn = sampled->finish(ended, 0);
  CHECK(withdrawn.counts == std::vector<std::optional<std::uint64_t>>{std::nullopt});
  CHECK_FALSE(withdrawn.functions.has_value());
  REQUIRE(withdrawn.why_missing_counts.has_value());
  CHECK(withdrawn.why_missing_counts->what.find("setuid") != std::string::npos);
  CHECK(engine->notes().empty());
}

TEST_CASE("a program that is known to lose its event has no value, and no other reason") {
  if (!can_name_functions()) return;
  Kernel kernel;
  kernel.is_setuid = true;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  must(engine->select({}));
  const auto found = engine->find_counter_loss_file(1, {.words = {"/bin/sh"}});
  REQUIRE(found.has_value());
  CHECK(found->loss == CounterLoss::SetUser);
  const auto sampled = must(engine->arm(1));
  const Written written = Written().exec(1, 10).exit(2, 10, 1);
  sampled->samples()->receive(written.bytes());
  const CountsOfRun of_setuid = sampled->finish({}, 1);
  CHECK(of_setuid.counts == std::vector<std::optional<std::uint64_t>>{std::nullopt});
  CHECK_FALSE(of_setuid.why_missing_counts.has_value());
  sampled->samples()->receive(Written().exec(1, 10).sample(2, 10, 1).bytes());
  CHECK(sampled->finish({}, 0).counts == std::vector<std::optional<std::uint64_t>>{1000});
}

TEST_CASE("where the kernel throttles sampling, no note asks for more samples") {
  if (!can_name_functions()) return;
  Kernel kernel;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  must(engine->select({}));
  const auto sampled = must(engine->arm(1));
  os::Ended ended{};
  ended.usage.user_ns = 9'000'000;
  sampled->samples()->receive(Written().exec(1, 10).sample(2, 10, 1).throttled().bytes());
  const CountsOfRun throttled = sampled->finish(ended, 0);
  REQUIRE(throttled.note.has_value());
  REQUIRE(throttled.redo.has_value());
  CHECK_FALSE(throttled.redo->why_left_out.has_value());
  CHECK(throttled.note->text.find("perf_event_max_sample_rate is 5000") != std::string::npos);
  CHECK(throttled.note->text.find("--profile=4ms") != std::string::npos);
  CHECK(engine->notes().empty());
  ended.started_count = 2;
  sampled->samples()->receive(Written().exec(1, 10).sample(2, 10, 1).throttled().bytes());
  CHECK(sampled->finish(ended, 0).redo->why_left_out.has_value());
}

TEST_CASE("where there is a counter of cycles, samples are of cycles, as parts of the CPU time") {
  if (!can_name_functions()) return;
  Kernel kernel;
  kernel.cycles_in_ns = 3;
  const os::LinuxCalls calls = kernel.calls();
  CHECK(must(find_profile_clock(false, &calls)) == "cycles");
  auto engine = profile(&calls);
  const EventSet set = must(engine->select({}));
  CHECK(set.events.back().meaning.find("cycles") != std::string::npos);
  const auto sampled = must(engine->arm(1));
  const os::PerfEventAttr attributes = fakes::attributes_of(sampled->requests()[0]);
  CHECK(attributes.type == os::kPerfTypeHardware);
  CHECK(attributes.sample_period == 3'000'000);
  // 1,000 of 4,000 cycles on two CPUs were sampled, in a run of 2 ms.
  sampled->samples()->receive(Written().exec(1, 10).sample(2, 10, 1).bytes());
  sampled->samples()->end(std::vector<os::Reading>{{3'000, 900, 600}, {1'000, 900, 300}});
  os::Ended ended{};
  ended.usage.user_ns = 1'500'000;
  ended.usage.system_ns = 500'000;
  const CountsOfRun whole = sampled->finish(ended, 0);
  CHECK(whole.counts.at(0) == 500'000);
  CHECK_FALSE(whole.redo.has_value());
  sampled->samples()->receive(Written().exec(1, 10).sample(2, 10, 1).bytes());
  sampled->samples()->end(std::vector<os::Reading>{{1'000, 900, 800}, {0, 900, 50}});
  CHECK(sampled->finish(ended, 0).redo.has_value());
}

TEST_CASE("cycles that can be counted but not sampled leave the CPU clock") {
  if (!can_name_functions()) return;
  Kernel kernel;
  kernel.cycles_in_ns = 3;
  kernel.may_sample_cycles = false;
  const os::LinuxCalls calls = kernel.calls();
  CHECK(must(find_profile_clock(false, &calls)) == "the CPU clock");
  auto engine = profile(&calls);
  must(engine->select({}));
  const auto sampled = must(engine->arm(1));
  CHECK(fakes::attributes_of(sampled->requests()[0]).sample_period == 1'000'000);
}

TEST_CASE("a function has an event of its own: the time of all samples in its overloads") {
  if (!can_name_functions()) return;
  Kernel kernel;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  const EventSet set =
      must(engine->select({.names = {"sampled_time@(unmapped code)", "sampled_time@nosuch"}}));
  REQUIRE(set.events.size() == 3);
  CHECK(set.events[0].role == Role::SampledTime);
  CHECK(set.events[0].only_function.empty());
  CHECK(set.events[2].only_function == "nosuch");
  CHECK(set.passes.back().event_indices == std::vector<std::size_t>{0, 1, 2});
  const auto sampled = must(engine->arm(1));
  sampled->samples()->receive(Written().exec(1, 10).sample(2, 10, 1).sample(3, 11, 1).bytes());
  const CountsOfRun counted = sampled->finish({}, 0);
  CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{2000, 1000, 0});
  CHECK(counted.functions.value().size() == 2);
}

TEST_CASE("a function of a file that was executed is known though no sample was in it") {
  if (!can_name_functions()) return;
  FunctionNames names({});
  names.open({{std::string(places::kFixtures) + "/hundred"}, 1});
  const std::vector<std::string> wanted = {"part_42", "nosuch", "main"};
  CHECK(names.find_in_new_files(WantedFunctions(wanted)) == std::set<std::size_t>{0, 2});
  CHECK(names.find_in_new_files(WantedFunctions(wanted)).empty());
}

TEST_CASE("samples that show little of the CPU time are said to, with a cause that explains it") {
  if (!can_name_functions()) return;
  Kernel kernel;
  const os::LinuxCalls calls = kernel.calls();
  auto engine = profile(&calls);
  must(engine->select({}));
  const auto sampled = must(engine->arm(1));
  const auto note_after = [&](const Written& written, std::uint64_t user_ns) {
    os::Ended ended{};
    ended.usage.user_ns = user_ns;
    ended.usage.system_ns = 200;
    sampled->samples()->receive(written.bytes());
    sampled->samples()->end(std::vector<os::Reading>(2));
    sampled->finish(ended, 0);
    const std::vector<Note> notes = engine->notes();
    return notes.empty() ? std::string() : notes.front().text;
  };
  const Written written = Written().exec(1, 10).sample(2, 10, 1);
  CHECK(note_after(written, 1'000).empty());
  CHECK(note_after(written, 9'000).find("a shorter period than") != std::string::npos);
  // More is missing than the first period of one thread on two CPUs.
  const std::string unexplained = note_after(written, 900'000'000);
  CHECK(unexplained.starts_with("the samples cover 0% of the CPU time of the sampled runs"));
  CHECK(unexplained.find("--profile") == std::string::npos);
  const std::string withdrawn =
      note_after(Written(written).fork(3, 11, 10).exec(4, 11).exit(5, 11, 10), 9'000);
  CHECK(withdrawn.find("setuid") != std::string::npos);
  CHECK(withdrawn.find("a shorter") == std::string::npos);
}

TEST_CASE("stacks that are too long for the kernel are not blamed on missing frame pointers") {
  if (!can_name_functions()) return;
  const auto note_after = [](const std::vector<std::uint64_t>& chain) {
    Kernel kernel;
    const os::LinuxCalls calls = kernel.calls();
    auto engine = profile(&calls);
    must(engine->select({}));
    const auto sampled = must(engine->arm(1));
    sampled->samples()->receive(Written()
                                    .exec(1, 10, "prog")
                                    .map(2, 10, 0x1000, 0x1000, 0, "/nosuch/prog")
                                    .map(3, 10, 0x5000, 0x1000, 0, "/nosuch/libx.so")
                                    .chain(4, 10, chain)
                                    .bytes());
    sampled->samples()->end(std::vector<os::Reading>(2));
    os::Ended ended{};
    ended.usage.user_ns = 1'000;
    sampled->finish(ended, 0);
    std::string text;
    for (const Note& note : engine->notes()) text += note.text;
    return text;
  };

  std::vector<std::uint64_t> longest(128, 0x1021);
  longest.front() = kUserContext;
  const std::string too_long = note_after(longest);
  CHECK(too_long.find("100% of the samples are below (stack incomplete)") != std::string::npos);
  CHECK(too_long.find("at most 126 callers") != std::string::npos);
  CHECK(too_long.find("-fno-omit-frame-pointer") == std::string::npos);

  const std::string without_caller = note_after({kUserContext, 0x5010, 0x5021});
  CHECK(without_caller.find("-fno-omit-frame-pointer") != std::string::npos);
  CHECK(note_after({kUserContext, 0x1010, 0x1021}).empty());
}

}  // namespace lauka::engine::profile
