#include "core/machine.h"
#include "has.h"
#include "must.h"
#include "tune/machine.h"
#include "tune/switches.h"
#include "tune/transaction.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::tune {
namespace {

std::unique_ptr<TuningSession> tune(FakeMachine& machine,
                                    const std::vector<std::uint32_t>& fastest = {}) {
  return must(TuningSession::begin(machine, kAllSwitches, own_cpus_of(machine, fastest)));
}

/// The refusal to tune.
std::string refusal(FakeMachine& machine) {
  const auto tuned = TuningSession::begin(machine, kAllSwitches, own_cpus_of(machine));
  return tuned ? "tuned" : tuned.error().line();
}

bool is_not_possible(const TuningSession& tuned, const UntunedSwitch& one) {
  const auto& all = tuned.in_force().not_possible;
  return std::ranges::find(all, one) != all.end();
}

/// A second process's view of the same machine; it dies by SIGKILL before its `kill_at`th change.
/// True if it was killed.
bool killed_in_child(FakeMachine& machine, int kill_at, const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    int left = kill_at;
    machine.before_change = [&left] {
      if (left-- == 0) kill(getpid(), SIGKILL);
    };
    machine.pid = getpid();
    work();
    machine.before_change = nullptr;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSIGNALED(status)) REQUIRE(WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

void tune_and_restore(FakeMachine& machine, const CpuChoice& cpus) {
  auto tuned = TuningSession::begin(machine, kAllSwitches, cpus);
  if (!tuned) _exit(1);
  (*tuned)->pause();
  (*tuned)->go_on();
  (*tuned)->restore();
}

/// All values that are written to a path must be its first one or the table's.
class Watch {
 public:
  explicit Watch(FakeMachine& machine) : log_(machine.root() + ".log") {
    machine.on_write = [this](const std::string& path, const std::string& value) {
      std::ofstream(log_, std::ios::app) << path << ' ' << value << '\n';  // survives a kill
    };
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { std::filesystem::remove(log_); }

  std::size_t strange(const FakeMachine::Tree& first,
                      const std::vector<SettingState>& found) const {
    std::set<std::string> known;
    for (const SettingState& one : found) {
      known.insert(one.path + ' ' + one.wanted);
      if (first.contains(one.path) && parse_value(one.row->form, first.at(one.path)))
        known.insert(one.path + ' ' + *parse_value(one.row->form, first.at(one.path)));
    }
    std::ifstream in(log_);
    std::size_t count = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("/sys/fs/cgroup/lauka-tune/")) continue;
      if (!known.contains(line)) {
        ++count;
        MESSAGE(line);
      }
    }
    return count;
  }

 private:
  std::string log_;
};

/// Does what a start of lauka does, with or without --tune.
void recover(FakeMachine& machine, bool by_tuning, const CpuChoice& cpus) {
  if (by_tuning)
    must(TuningSession::begin(machine, kAllSwitches, cpus));
  else
    static_cast<void>(restore_leftover_settings(machine));
}

/// Kills lauka at every step of tuning and restoring, and if `twice`, also the next one at every
/// step of its restoring. Returns the number of points.
int kill_everywhere(const SharedFields& shape, bool twice, bool moves_preference) {
  FakeMachine machine(shape.tree);
  machine.moves_preference = moves_preference;
  const CpuChoice cpus = own_cpus_of(machine, shape.fastest);
  const auto first = machine.tree();
  const auto found = find_settings(machine, kAllSwitches, cpus);
  const Watch watch(machine);
  int points = 0;
  bool was_killed = true;
  for (int at = 0; was_killed; ++at) {
    for (const bool by_tuning : {false, true}) {
      for (int again = 0, goes_on = 1; goes_on != 0; ++again) {
        was_killed = killed_in_child(machine, at, [&] { tune_and_restore(machine, cpus); });
        goes_on = twice && was_killed &&
                  killed_in_child(machine, again, [&] { recover(machine, by_tuning, cpus); });
        recover(machine, by_tuning, cpus);
        ++points;
        if (machine.tree() == first) continue;
        for (const auto& [path, text] : machine.tree()) {
          const auto old = first.find(path);
          if (old == first.end() || old->second != text)
            FAIL_CHECK(fmt::format("{}, killed at {}, then {}: {} is {}", shape.name, at, again,
                                   path, text));
        }
        return points;
      }
    }
  }
  CHECK(watch.strange(first, found) == 0);
  return points;
}

/// Returns the tuned values, path by path.
std::vector<std::string> changed_files(const FakeMachine& machine, const FakeMachine::Tree& first) {
  std::vector<std::string> changed;
  for (const auto& [path, text] : machine.tree()) {
    const auto old = first.find(path);
    if (old != first.end() && old->second != text)
      changed.push_back(path + " " + std::string(trimmed(text)));
  }
  return changed;
}

}  // namespace

TEST_CASE("the machine is tuned as long as Tuned is there") {
  FakeMachine machine(virtual_machine());
  const auto first = machine.tree();
  {
    const auto tuned = tune(machine);
    CHECK(changed_files(machine, first) ==
          std::vector<std::string>{
              "/proc/irq/0/smp_affinity_list 0", "/proc/irq/120/smp_affinity_list 0",
              "/proc/irq/121/smp_affinity_list 0", "/proc/irq/9/smp_affinity_list 0",
              "/proc/irq/default_smp_affinity 1", "/proc/sys/kernel/numa_balancing 0",
              "/proc/sys/kernel/perf_event_max_sample_rate 1", "/proc/sys/kernel/timer_migration 0",
              "/proc/sys/vm/swappiness 0", "/sys/devices/virtual/workqueue/cpumask 1",
              "/sys/kernel/mm/transparent_hugepage/enabled never"});
    const Tuning& tuning = tuned->in_force();
    CHECK(cpu_list_text(tuning.cpus) == "1");
    REQUIRE(tuning.switched.size() > 2);
    CHECK(tuning.switched[0] == TunedSwitch{"cpus", "any", "1", 1});
    CHECK(tuning.switched[1] == TunedSwitch{"irqs", "3; 0-1", "1; 0", 5});
    CHECK(is_not_possible(*tuned, {"governor", "not here"}));
    CHECK(tuned->own_cpus_group_file().empty());
    CHECK(machine.get("/run/lauka/journal").starts_with("lauka-tune-1 boot-1 4242\n/proc/irq/"));
  }
  CHECK(machine.tree() == first);
}

TEST_CASE("commands join a partition of their own, which is gone afterwards with what is in it") {
  FakeMachine machine(arm_server());
  const auto first = machine.tree();
  {
    const auto tuned = tune(machine);
    CHECK(tuned->own_cpus_group_file() == "/sys/fs/cgroup/lauka-tune/cgroup.procs");
    CHECK(machine.get("/sys/fs/cgroup/lauka-tune/cpuset.cpus") == "4-7\n");
    CHECK(machine.get("/sys/fs/cgroup/lauka-tune/cpuset.cpus.partition") == "root\n");
    CHECK(machine.get("/sys/fs/cgroup/cgroup.subtree_control") == "cpuset cpu memory\n");
  }
  CHECK(machine.tree() == first);
  FakeMachine busy(arm_server());
  const auto tuned = tune(busy);
  busy.put("/proc/4242/cgroup", "12:cpuset:/\n0::/user.slice\n");
  busy.put("/sys/fs/cgroup/user.slice/cgroup.procs", "");
  busy.put("/sys/fs/cgroup/lauka-tune/cgroup.procs", "17\n18\n");
  busy.on_write = [&](const std::string& path, const std::string& pid) {
    if (path.ends_with("user.slice/cgroup.procs") && pid == "18")
      busy.put("/sys/fs/cgroup/lauka-tune/cgroup.procs", "");
  };
  CHECK(tuned->restore().failure_messages.empty());
  CHECK(busy.get("/sys/fs/cgroup/user.slice/cgroup.procs") == "17\n18\n");
  CHECK(busy.list("/sys/fs/cgroup/lauka-tune").empty());
}

TEST_CASE("a partition that the kernel does not grant is removed, and the rest is tuned") {
  FakeMachine machine(arm_server());
  machine.partitions_are_valid = false;
  const auto tuned = tune(machine);
  CHECK(tuned->own_cpus_group_file().empty());
  CHECK(machine.list("/sys/fs/cgroup/lauka-tune").empty());
  CHECK(std::ranges::find(tuned->in_force().not_possible, "partition", &UntunedSwitch::name) !=
        tuned->in_force().not_possible.end());
  CHECK(machine.get("/proc/sys/vm/swappiness") == "0\n");
}

TEST_CASE("what the kernel refuses, or makes something else of, is reported and as it was") {
  FakeMachine machine(virtual_machine());
  machine.refused["/proc/irq/9/smp_affinity_list"] = EIO;
  machine.stores_other_value = true;  // of swappiness
  const auto first = machine.tree();
  const auto tuned = tune(machine);
  CHECK(is_not_possible(*tuned, {"irqs", "/proc/irq/9/smp_affinity_list: Input/output error"}));
  CHECK(is_not_possible(*tuned, {"swap", "/proc/sys/vm/swappiness: Invalid argument"}));
  machine.stores_other_value = false;
  CHECK(tuned->restore().failure_messages.empty());
  CHECK(machine.get("/proc/irq/9/smp_affinity_list") == "0-1\n");
}

TEST_CASE("a value that another program changed is left alone and reported") {
  FakeMachine machine(amd_with_boost());
  const auto tuned = tune(machine);
  const std::string policy = "/sys/devices/system/cpu/cpufreq/policy";
  machine.put(policy + "0/scaling_governor", "schedutil\n");
  machine.put(policy + "0/energy_performance_preference", "power\n");
  machine.put("/proc/sys/vm/swappiness", "30\n");
  machine.put("/proc/irq/9/smp_affinity_list", "2\n");
  const RestoreResult& restored = tuned->restore();
  CHECK(restored.foreign_change_messages ==
        std::vector<std::string>{"another program changed /proc/sys/vm/swappiness to 30, so lauka "
                                 "did not restore its earlier value, 60",
                                 "another program changed /proc/irq/9/smp_affinity_list to 2, so "
                                 "lauka did not restore its earlier value, 0-3",
                                 "another program changed " + policy +
                                     "0/scaling_governor to schedutil, so lauka did not "
                                     "restore its earlier value, powersave",
                                 "another program changed " + policy +
                                     "0/energy_performance_preference to power, so lauka "
                                     "did not restore its earlier value, balance_performance"});
  CHECK(machine.get(policy + "0/scaling_governor") == "schedutil\n");
  CHECK(machine.get(policy + "1/scaling_governor") == "powersave\n");
  CHECK(machine.list("/run/lauka").empty());
}

TEST_CASE("a setting that has gone meanwhile is not made again") {
  FakeMachine machine(virtual_machine());
  const auto tuned = tune(machine);
  std::filesystem::remove_all(machine.root() + "/proc/irq/121");
  CHECK(tuned->restore().failure_messages.empty());
  CHECK(machine.list("/proc/irq/121").empty());
}

TEST_CASE("between blocks the machine is as before, with lock and journal kept") {
  FakeMachine machine(virtual_machine());
  const auto first = machine.tree();
  const auto tuned = tune(machine);
  const auto during = machine.tree();
  tuned->pause();
  auto paused = machine.tree();
  CHECK(paused.erase("/run/lauka/journal") + paused.erase("/run/lauka") == 2);
  CHECK(paused == first);
  CHECK(refusal(machine).starts_with("another lauka (process 4242) has tuned this machine; "));
  tuned->go_on();
  CHECK(machine.tree() == during);
  CHECK(tuned->restore().restored_count == 11);
  CHECK(machine.tree() == first);
}

TEST_CASE("what another program changes between blocks is left alone and reported") {
  FakeMachine machine(virtual_machine());
  const auto tuned = tune(machine);
  tuned->pause();
  machine.put("/proc/sys/vm/swappiness", "7\n");
  machine.refused["/proc/sys/kernel/timer_migration"] = EIO;
  tuned->go_on();
  CHECK(machine.get("/proc/sys/vm/swappiness") == "7\n");
  const std::vector<std::string>& changed = tuned->restore().foreign_change_messages;
  REQUIRE(changed.size() == 2);
  check_order(changed[0], {"/proc/sys/vm/swappiness to 7,", ", 60"});
  CHECK(changed[1] == "cannot tune /proc/sys/kernel/timer_migration again: Input/output error");
}

TEST_CASE("what cannot be restored stays in the journal until it can be") {
  FakeMachine machine(virtual_machine());
  {
    const auto tuned = tune(machine);
    machine.refused["/proc/sys/kernel/timer_migration"] = EACCES;
    CHECK(tuned->restore().failure_messages ==
          std::vector<std::string>{
              "cannot restore /proc/sys/kernel/timer_migration to 1: Permission denied"});
  }
  CHECK(machine.get("/proc/sys/vm/swappiness") == "60\n");
  check_order(refusal(machine),
              {"earlier", "/proc/sys/kernel/timer_migration ", "; ", " /run/lauka"});
  machine.refused.clear();
  CHECK(must(restore_leftover_settings(machine))->restored_count == 1);
  CHECK(machine.get("/proc/sys/kernel/timer_migration") == "1\n");
  CHECK(machine.list("/run").empty());
}

TEST_CASE("one lauka tunes at a time; a second one is refused with the holder's name") {
  FakeMachine machine(virtual_machine());
  const auto tuned = tune(machine);
  CHECK(journal_writer_pid(machine) == 4242);
  const auto before = machine.tree();
  const bool died = killed_in_child(machine, -1, [&] {
    machine.pid = 4242;
    const bool is_refused =
        refusal(machine) ==
        "another lauka (process 4242) has tuned this machine; wait until it has ended";
    if (!is_refused || must(restore_leftover_settings(machine)).has_value()) _exit(1);
  });
  CHECK_FALSE(died);
  CHECK(machine.tree() == before);
}

TEST_CASE("a lauka that is killed is restored by its launcher, which waits for its lock") {
  FakeMachine machine(virtual_machine());
  const auto first = machine.tree();
  auto tuned = tune(machine);
  const auto while_tuned = machine.tree();
  // The launcher's end of the socket may close before the lock is given up.
  killed_in_child(machine, -1, [&] {
    machine.pid = 4243;
    restore_if_written_by(machine, 4243);  // of another lauka, so nothing
  });
  CHECK(machine.tree() == while_tuned);
  machine.unlock();  // as the system does
  restore_if_written_by(machine, 4242);
  CHECK(machine.tree() == first);
  CHECK(tuned->restore().restored_count == 0);  // nothing is left
}

TEST_CASE("a journal of an earlier boot is dropped") {
  FakeMachine machine(virtual_machine());
  static_cast<void>(killed_in_child(machine, 12, [&] { tune_and_restore(machine, {}); }));
  REQUIRE(machine.get("/proc/sys/kernel/timer_migration") == "0\n");
  machine.put("/proc/sys/kernel/random/boot_id", "boot-2\n");
  CHECK(must(restore_leftover_settings(machine))->restored_count == 0);
  CHECK(machine.get("/proc/sys/kernel/timer_migration") == "0\n");
  CHECK(machine.list("/run").empty());
}

TEST_CASE("nothing that is not a line of lauka's own is restored from a journal") {
  const std::string head = "lauka-tune-1 boot-1 4242\n";
  const auto read = [](const std::string& text) {
    const auto journal = parse_journal(text);
    return journal ? fmt::format("{} of {}", journal->changes.size(), journal->is_whole) : "none";
  };
  const std::string good = "/proc/sys/vm/swappiness\t60\t0\n";
  CHECK(read(head + good + "end\n") == "1 of true");
  CHECK(read(head + good) == "1 of false");
  CHECK(read(head + good + "end") == "1 of false");
  CHECK(read(head + "/proc/sys/vm/swappiness\t60\t0") == "0 of false");
  CHECK(read("") == "none");
  CHECK(read("lauka-tune-2 boot-1 4242\nend\n") == "none");
  CHECK(read("lauka-tune-1 boot-1 0\nend\n") == "none");
  for (const char* const line :
       {"/etc/passwd\t60\t0", "/proc/sys/vm/swappiness\t60\t1", "/proc/sys/vm/swappiness\tx\t0",
        "/proc/sys/vm/swappiness\t0\t0", "/proc/sys/vm/swappiness\t60", "/proc/sys/vm/swappiness",
        "/proc/sys/vm/swappiness\t60\t0\t0", "\t60\t0",
        "/sys/fs/cgroup/lauka-tune\troot 1\tisolated 2"})
    CHECK(read(head + line + "\nend\n") == "0 of true");
  const Journal journal{
      "boot-1",
      7,
      {{find_switch("/proc/irq/3/smp_affinity_list"), "/proc/irq/3/smp_affinity_list", "0-3", "0"}},
      true};
  const Journal same = parse_journal(journal_text(journal)).value();
  CHECK(same.boot == "boot-1");
  CHECK(same.pid == 7);
  CHECK(same.changes == journal.changes);
}

TEST_CASE("half a journal means that nothing was changed") {
  FakeMachine machine(amd_without_boost());
  const auto first = machine.tree();
  const CpuChoice cpus = own_cpus_of(machine);
  machine.tears_journal = true;
  REQUIRE(killed_in_child(machine, 3, [&] { tune_and_restore(machine, cpus); }));
  machine.tears_journal = false;
  CHECK_FALSE(machine.get("/run/lauka/journal").ends_with("end\n"));
  CHECK(must(restore_leftover_settings(machine)).has_value());
  CHECK(machine.tree() == first);
}

TEST_CASE("a journal of 1,800 interrupts is restored to its end") {
  FakeMachine machine(virtual_machine());
  Journal journal{"boot-1", 1, {}, true};
  for (int irq = 1000; irq < 2800; ++irq) {
    const std::string path = fmt::format("/proc/irq/{}/smp_affinity_list", irq);
    machine.put(path, "0\n");
    journal.changes.push_back({find_switch(path), path, "0-1", "0"});
  }
  REQUIRE(journal_text(journal).size() > 65536);
  machine.put("/run/lauka/journal", journal_text(journal));
  CHECK(must(restore_leftover_settings(machine))->restored_count == 1800);
  CHECK(machine.get("/proc/irq/2799/smp_affinity_list") == "0-1\n");
  CHECK(machine.list("/run").empty());
}

TEST_CASE("a journal that cannot be read whole stays, and is refused with the reason") {
  const std::string journal = "/run/lauka/journal";
  const auto check_refused = [&](const char* reason,
                                 const std::function<void(FakeMachine&)>& make) {
    FakeMachine machine(virtual_machine());
    std::filesystem::create_directories(machine.root() + "/run/lauka");
    make(machine);
    const auto left = restore_leftover_settings(machine);
    REQUIRE_FALSE(left);
    CHECK(has(left.error().what, reason));
    CHECK(has(left.error().what, journal));
    CHECK(refusal(machine) == left.error().line());
    CHECK(machine.list("/run/lauka") == std::vector<std::string>{"journal"});
  };
  check_refused("Too many levels of symbolic links", [&](FakeMachine& machine) {
    machine.put("/elsewhere", "lauka-tune-1 boot-1 1\nend\n");
    std::filesystem::create_symlink(machine.root() + "/elsewhere", machine.root() + journal);
  });
  check_refused("not a regular file", [&](FakeMachine& machine) {
    REQUIRE(mkfifo((machine.root() + journal).c_str(), 0600) == 0);
  });
  check_refused("not a regular file", [&](FakeMachine& machine) {
    std::filesystem::create_directories(machine.root() + journal);
  });
  check_refused("it belongs to another user, or others may write to it", [&](FakeMachine& machine) {
    machine.put(journal, "lauka-tune-1 boot-1 1\nend\n");
    std::filesystem::permissions(machine.root() + journal, std::filesystem::perms::all);
  });
  check_refused("not a journal of this version of lauka", [&](FakeMachine& machine) {
    machine.put(journal, "lauka-tune-9 boot-1 1\nend\n");
  });
}

TEST_CASE("a folder that others may write to, and a link, are not trusted with the journal") {
  FakeMachine machine(virtual_machine());
  const std::filesystem::path folder = machine.root() + "/run/lauka";
  std::filesystem::create_directories(machine.root() + "/elsewhere");
  std::filesystem::create_directory_symlink(machine.root() + "/elsewhere", folder);
  CHECK(refusal(machine) ==
        "--tune cannot keep its journal in /run/lauka: Not a directory; run lauka as root where "
        "/run can be written");
  std::filesystem::remove(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  CHECK(refusal(machine) ==
        "--tune cannot keep its journal in /run/lauka: Operation not permitted; remove this "
        "folder, because users other than root may write to it");
  CHECK(restore_leftover_settings(machine).error().line() ==
        "cannot lock /run/lauka: it belongs to another user, or others may write to it; restore by "
        "hand what was tuned, then remove /run/lauka");
}

TEST_CASE("no symbolic link is followed to or within a setting") {
  FakeMachine machine(virtual_machine());
  machine.put("/victim/swappiness", "60\n");
  const auto files = os::open_setting_files(machine.root());
  const std::string setting = "/proc/sys/vm/swappiness";
  const std::string folder = machine.root() + "/proc/sys/vm";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory_symlink(machine.root() + "/victim", folder);
  CHECK_FALSE(files->read(setting));
  CHECK(files->write(setting, "0") != 0);
  std::filesystem::remove(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink(machine.root() + "/victim/swappiness", folder + "/swappiness");
  CHECK_FALSE(files->read(setting));
  CHECK(files->write(setting, "0") == ELOOP);
  CHECK(files->append(setting, "0") == ELOOP);
  CHECK(machine.get("/victim/swappiness") == "60\n");
  CHECK(files->write("/proc/sys/vm/nothing", "0") == ENOENT);  // no file is made
}

TEST_CASE("killed at any step, lauka leaves a machine that the next start restores") {
  int points = 0;
  for (const SharedFields& shape : shapes()) points += kill_everywhere(shape, false, false);
  points += kill_everywhere({"moving", intel_hybrid(), {0, 1, 2, 3}}, false, true);
  CHECK(points > 300);
  MESSAGE(points, " kill points");
}

TEST_CASE("a lauka that restores may be killed at any step, too") {
  FakeMachine::Tree small;  // one setting of each kind
  add_cpus(small, "0-1", {"0", "1"});
  add_policies(small, 1, "powersave", "balance_performance");
  add_groups(small, "cpu memory");
  small["/proc/irq/9/smp_affinity_list"] = "0-1\n";
  CHECK(kill_everywhere({"small", small}, true, true) > 300);
}

TEST_CASE("the same for all machines" * doctest::skip()) {  // minutes: -ns -tc='the same*'
  int points = 0;
  for (const SharedFields& shape : shapes())
    for (const bool moves : {false, true}) points += kill_everywhere(shape, true, moves);
  MESSAGE(points, " kill points");
}

}  // namespace lauka::tune
