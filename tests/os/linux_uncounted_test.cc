#include "os/linux_calls.h"
#include "os/process.h"
#include "os/program_files.h"
#include "os/running.h"
#include "scratch.h"
#include "skip.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

// Programs whose start takes their counters away: by a model, and as this kernel does it.

namespace lauka::os {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kElse = 65534;

/// The facts of files and of this process, by path.
struct World {
  std::map<std::string, ProgramFile> programs{};
  std::map<std::string, std::string> files{};
};

World& world() {
  static World all;
  return all;
}

LinuxCalls model() {
  LinuxCalls calls{};
  calls.read_file = [](const std::string& path) -> std::optional<std::string> {
    const auto found = world().files.find(path);
    if (found == world().files.end()) return std::nullopt;
    return found->second;
  };
  calls.describe_program = [](const std::string& path) -> std::optional<ProgramFile> {
    const auto found = world().programs.find(path);
    if (found == world().programs.end()) return std::nullopt;
    return found->second;
  };
  return calls;
}

std::string status(std::uint32_t id, const std::string& permitted, const char* no_new_privs = "0") {
  const std::string ids = "\t" + std::to_string(id) + "\t" + std::to_string(id) + "\t0\t0\n";
  return "Name:\tx\nUid:" + ids + "Gid:" + ids + "CapInh:\t0000000000000000\nCapPrm:\t" +
         permitted + "\nCapBnd:\t000001ffffffffff\nNoNewPrivs:\t" + no_new_privs + "\n";
}

/// Returns the loss at /bin/sh if it is `file` and this process has `own`, its /proc/self/status.
std::optional<CounterLossFile> found(const ProgramFile& file, const std::string& own) {
  world() = {{{"/bin/sh", file}}, {{"/proc/self/status", own}}};
  return find_counter_loss_file({{"/bin/sh"}}, model());
}

std::optional<CounterLoss> loss(const ProgramFile& file, const std::string& own) {
  const auto lost = found(file, own);
  return lost ? std::optional(lost->loss) : std::nullopt;
}

const std::string kUser = status(1000, "0000000000000000");
const std::string kRootUser = status(0, "000001ffffffffff");
const std::string kElf = "\177ELF";
constexpr std::uint32_t kSetUser = 0104755;
constexpr std::uint32_t kSetGroup = 0102755;
constexpr std::uint32_t kPlain = 0100755;

/// vfs_cap_data, revision 2: these permitted capabilities, which are effective.
std::string capabilities(std::uint32_t permitted, std::uint32_t revision = 0x02000001) {
  std::string bytes(20, '\0');
  std::memcpy(bytes.data(), &revision, sizeof revision);
  std::memcpy(bytes.data() + 4, &permitted, sizeof permitted);
  return bytes;
}

constexpr std::uint32_t kNetRaw = 1U << CAP_NET_RAW;

}  // namespace

TEST_CASE("a file that makes its process somebody else takes the counters away") {
  const std::optional<CounterLoss> none;
  CHECK(loss({0, 0, kPlain, false, "", kElf}, kUser) == none);
  CHECK(loss({0, 0, kSetUser, false, "", kElf}, kUser) == CounterLoss::SetUser);
  CHECK(loss({0, 0, kSetUser, false, "", kElf}, kRootUser) == none);
  CHECK(loss({7, 0, kSetUser, false, "", kElf}, kRootUser) == CounterLoss::SetUser);
  CHECK(loss({1000, 0, kSetUser, false, "", kElf}, kUser) == none);
  CHECK(loss({0, 42, kSetGroup, false, "", kElf}, kUser) == CounterLoss::SetGroup);
  CHECK(loss({0, 42, 0102745, false, "", kElf}, kUser) == none);  // not executable by its group
  CHECK(loss({0, 1000, kSetGroup, false, "", kElf}, kUser) == none);
}

TEST_CASE("capabilities of a file count if they are new to the process") {
  const std::optional<CounterLoss> none;
  const auto with = [](const std::string& attribute) {
    return ProgramFile{0, 0, kPlain, false, attribute, kElf};
  };
  CHECK(loss(with(capabilities(kNetRaw)), kUser) == CounterLoss::Capabilities);
  CHECK(loss(with(capabilities(kNetRaw)), kRootUser) == none);
  CHECK(loss(with(capabilities(kNetRaw)), status(1000, "0000000000002000")) == none);
  CHECK(loss(with(capabilities(0)), kUser) == none);
  CHECK(loss(with(capabilities(kNetRaw, 0x03000001)), kUser) == none);  // another namespace's
  CHECK(loss(with("\2"), kUser) == none);
}

TEST_CASE(
    "a mount or process that gives no rights leaves the counters, an unreadable file does not") {
  const std::optional<CounterLoss> none;
  CHECK(loss({0, 0, kSetUser, true, capabilities(kNetRaw), kElf}, kUser) == none);
  CHECK(loss({0, 0, kSetUser, false, "", kElf}, status(1000, "0000000000000000", "1")) == none);
  CHECK(loss({0, 0, 0100711, true, "", std::nullopt}, kUser) == CounterLoss::Unreadable);
  world() = {{{"/bin/sh", {0, 0, kSetUser, false, "", kElf}}},
             {{"/proc/self/status", kUser}, {"/proc/sys/fs/suid_dumpable", "1\n"}}};
  CHECK_FALSE(find_counter_loss_file({{"/bin/sh"}}, model()).has_value());
}

TEST_CASE("root is the remedy only if the counters would stay, and not for root") {
  CHECK(found({0, 0, kSetUser, false, "", kElf}, kUser).value().counted_as_root);
  CHECK(found({0, 0, 0100711, false, "", std::nullopt}, kUser).value().counted_as_root);
  CHECK_FALSE(found({7, 0, kSetUser, false, "", kElf}, kUser).value().counted_as_root);
  CHECK_FALSE(found({0, 42, kSetGroup, false, "", kElf}, kUser).value().counted_as_root);
  CHECK_FALSE(found({7, 0, kSetUser, false, "", kElf}, kRootUser).value().counted_as_root);
}

TEST_CASE("a file is looked up, and named, where its command runs") {
  world() = {{{"/bin/./sh", {0, 0, kSetUser, false, "", kElf}}}, {{"/proc/self/status", kUser}}};
  ProgramSpec spec{.words = {"./sh"}};
  spec.folder = "/bin";
  CHECK(find_counter_loss_file(spec, model()).value().file == "/bin/./sh");
  spec = {.words = {"sh"}};
  spec.environment_changes = {"PATH=/bin/."};
  CHECK(find_counter_loss_file(spec, model()).value().file == "/bin/./sh");
}

TEST_CASE("of a script its last interpreter decides; a format of others says nothing") {
  const ProgramFile secret{0, 0, 0100711, false, "", std::nullopt};
  world() = {{{"/bin/sh", {0, 0, kSetUser, false, "", "#! /first -x\n"}},
              {"/first", {0, 0, kPlain, false, "", "#!/last\n"}},
              {"/last", secret}},
             {{"/proc/self/status", kUser}}};
  CHECK(find_counter_loss_file({{"/bin/sh"}}, model()) ==
        CounterLossFile{CounterLoss::Unreadable, "/last", true});
  world().programs["/last"] = {0, 0, kPlain, false, "", kElf};
  CHECK_FALSE(find_counter_loss_file({{"/bin/sh"}}, model()).has_value());
  world().programs["/last"] = {0, 0, kPlain, false, "", "#!/first\n"};  // the kernel refuses these
  CHECK_FALSE(find_counter_loss_file({{"/bin/sh"}}, model()).has_value());
  world().programs["/last"] = {0, 0, kSetUser, false, "", "MZ"};
  CHECK_FALSE(find_counter_loss_file({{"/bin/sh"}}, model()).has_value());
}

namespace {

const std::string kBurn = std::string(places::kFixtures) + "/burn";

/// Copies of programs in a folder that other users may enter.
class Copies {
 public:
  Copies() { fs::permissions(folder_.path(), fs::perms(0755)); }

  std::string make(const std::string& name, mode_t mode, uid_t user = 0, gid_t group = 0,
                   const std::string& original = kBurn) {
    std::string path = folder_.file(name);
    fs::copy_file(original, path);
    REQUIRE(chown(path.c_str(), user, group) == 0);
    REQUIRE(chmod(path.c_str(), mode) == 0);
    return path;
  }
  /// Makes a script whose interpreter is a copy of the shell with this mode.
  std::string script(const std::string& name, mode_t mode) {
    std::string path = folder_.file(name);
    std::ofstream(path) << "#!" << make(name + "_sh", mode, 0, 0, "/bin/sh")
                        << "\ni=0; while [ $i -lt 50000 ]; do i=$((i+1)); done\n";
    REQUIRE(chmod(path.c_str(), 0755) == 0);
    return path;
  }

 private:
  Scratch folder_;
};

CounterRequest task_clock() {
  PerfEventAttr attributes;
  attributes.type = kPerfTypeSoftware;
  attributes.size = sizeof attributes;
  attributes.config = 1;
  attributes.read_format = kPerfReadEnabled | kPerfReadRunning | kPerfReadGroup;
  attributes.flags = kPerfInherit | kPerfExcludeKernel | kPerfDisabled | kPerfEnableOnExec;
  CounterRequest request;
  std::memcpy(request.attributes.data(), &attributes, sizeof attributes);
  return request;
}

/// True if this kernel took the counter away: it missed half of the CPU time.
std::optional<bool> is_lost(Launcher& launcher, CounterSetId counters, const ProgramSpec& spec) {
  const Ended ended = run_once(launcher, spec, {.counters = counters});
  if (ended.counter_error != 0) return std::nullopt;
  REQUIRE(ended.readings.size() == 1);
  return ended.readings[0].value < (ended.usage.user_ns + ended.usage.system_ns) / 2;
}

}  // namespace

TEST_CASE("what is looked up is what this kernel does (needs root)") {
  if (geteuid() != 0) return skip("only root can make files of other users");
  Copies copies;
  const std::string setuid = copies.make("setuid", 04755);
  const std::string able = copies.make("able", 0755);
  const std::string attribute = capabilities(kNetRaw);
  const bool has_attribute =
      setxattr(able.c_str(), "security.capability", attribute.data(), attribute.size(), 0) == 0;
  std::vector<std::string> programs{copies.make("plain", 0755),
                                    setuid,
                                    copies.make("own", 04755, kElse, kElse),
                                    copies.make("setgid", 02755, 0, 42),
                                    copies.make("inert", 02745, 0, 42),
                                    copies.make("unreadable", 0711),
                                    copies.script("of_readable", 0755),
                                    copies.script("of_unreadable", 0711),
                                    copies.script("of_setuid", 04755)};
  if (has_attribute) programs.push_back(able);
  const auto launcher = must(start_launcher());
  const CounterRequest request = task_clock();
  const CounterSetId counters = must(launcher->add_counters({&request, 1}));
  for (const bool is_root : {false, true}) {
    for (const std::string& path : programs) {
      CAPTURE(is_root);
      CAPTURE(path);
      ProgramSpec spec{.words = {path, "20ms"}};
      if (!is_root) spec.user = User{kElse, kElse, {kElse}, "nobody", "/"};
      const auto lost = is_lost(*launcher, counters, spec);
      if (!lost) return skip("perf_event_open is not to be had here");
      CHECK(find_counter_loss_file(spec, *linux_calls()).has_value() == *lost);
    }
  }
  if (linux_calls()->describe_program(setuid)->is_on_nosuid)
    skip("the folder for temporary files ignores setuid");
}

}  // namespace lauka::os
