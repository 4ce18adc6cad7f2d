#include "contract/program.h"
#include "contract/schema.h"
#include "places.h"
#include "skip.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

// --tune of the built program. Two of the kernel's settings are files of the test, in a mount
// namespace of its own, as is /run: the machine stays unchanged.

namespace lauka::contract {
namespace {

// Puts the files of the folder $0 in place of the kernel's; $1 is the program.
const std::string kPrepared = R"sh(
mount --make-rprivate / && mount --bind "$0/run" /run &&
  mount --bind "$0/timers" /proc/sys/kernel/timer_migration &&
  mount --bind "$0/numa" /proc/sys/kernel/numa_balancing || exit 77
LAUKA=$1
TUNE=--tune=-cpus,-energy,-governor,-turbo,-watchdog,-perf-rate,-cstates
see() { cat "$0/timers" "$0/numa" | tr -d '\n'; }
wait_until() { for i in $(seq 15000); do if eval "$1"; then return; fi; sleep 0.02; done; echo never; }
)sh";

class Machine : public Folder {
 public:
  Machine() {
    std::filesystem::create_directory(path() + "/run");
    put("timers", "1");
    put("numa", "1");
  }

  void put(const std::string& name, const std::string& value) const {
    std::ofstream(path() + "/" + name) << value << '\n';
  }
  std::string settings() const {
    return text_of(path() + "/timers").substr(0, 1) + text_of(path() + "/numa").substr(0, 1);
  }
  bool has_journal() const { return exists(path() + "/run/lauka"); }

  /// Runs a script with the program as $LAUKA, and options to tune these two as $TUNE.
  Said run(const std::string& script) const {
    return lauka({.arguments = {"-m", "sh", "-c", kPrepared + script, path(), places::kProgram},
                  .program = "/usr/bin/unshare"});
  }
};

bool can_mount() {
  if (geteuid() == 0 && exists("/usr/bin/unshare") && exists("/proc/sys/kernel/numa_balancing") &&
      Machine().run("exit 0").status == 0)
    return true;
  skip("only root can put files of its own in place of the kernel's, with unshare");
  return false;
}

}  // namespace

TEST_CASE("--tune switches for the commands, and afterwards all is as it was") {
  if (!can_mount()) return;
  const Machine machine;
  const Said said = machine.run("$LAUKA $TUNE -r 2 --show-output -N -- \"cat " + machine.path() +
                                "/timers " + machine.path() + "/numa\"");
  CHECK(said.status == 0);
  // A busy machine adds a warning.
  CHECK(said.err.starts_with(
      "lauka: note: this machine is tuned for the session: numa and timers\n"));
  CHECK(said.out.starts_with("0\n0\n0\n0\n0\n0\n"));
  CHECK(machine.settings() == "11");
  CHECK_FALSE(machine.has_journal());
}

TEST_CASE("--tune leaves the kernel's limit for samples alone if lauka itself samples") {
  if (!can_mount() || !can_sample()) return;
  const Machine machine;
  machine.put("rate", "7");  // as long as "1": a file of the kernel needs no truncation
  const auto rate_in_runs = [&](const std::string& options) {
    const Said said = machine.run(
        "mount --bind \"$0/rate\" /proc/sys/kernel/perf_event_max_sample_rate || exit 77\n"
        "$LAUKA --tune=-cpus,-energy,-governor,-turbo,-watchdog,-cstates -q -r1 -w0 "
        "--show-output " +
        options + " -- \"cat " + machine.path() + "/rate\"");
    CHECK(said.status == 0);
    return said.out.substr(0, said.out.find('\n'));
  };
  CHECK(rate_in_runs("") == "1");
  CHECK(rate_in_runs("--profile") == "7");
  CHECK(machine.settings() == "11");
}

TEST_CASE("--untune ends with 1 and the reason where it cannot lock or read the journal") {
  if (!can_mount()) return;
  const auto refused = [](const std::string& preparation, const char* reason) {
    const Said said = Machine().run(preparation + "; $LAUKA --untune");
    CHECK(said.status == 1);
    CHECK(said.out.empty());
    CHECK_MESSAGE(said.err_has(reason), preparation, ": ", said.err);
  };
  refused("mkdir /run/lauka; ln -s /etc/passwd /run/lauka/journal", "symbolic links");
  refused("mkdir /run/lauka; mkfifo /run/lauka/journal", "regular file");
  refused("mkdir -p /run/lauka/journal", "regular file");
  refused("mkdir /run/x; ln -s /run/x /run/lauka", "/run/lauka");
  refused("ln -s /run/x /run/lauka", "/run/lauka");
  refused("mkfifo /run/lauka", "/run/lauka");
  refused("mkdir /run/lauka; chown 65534 /run/lauka", "it belongs to another user");
  // A process that has the id of the lauka that was killed is none of its own.
  refused(
      "mkdir /run/lauka; echo lauka-tune-1 x $$ > /run/lauka/journal; chmod 666 /run/lauka/journal",
      "it belongs to another user");
  refused("mkdir /run/lauka; exec setpriv --reuid=65534 --clear-groups $LAUKA --untune",
          "only root");
}

TEST_CASE("what was in force is in the JSON, and another session differs from it") {
  if (!can_mount()) return;
  const Machine machine;
  const std::string file = machine.path() + "/s.json";
  CHECK(machine.run("$LAUKA $TUNE -r 2 true --export-json " + file).status == 0);
  const auto document = nlohmann::json::parse(text_of(file));
  check_schema(document);
  const auto session = document.at("lauka");
  CHECK(session.at("machine").at("tuning") == "numa=0 timers=0");
  const auto& tuning = session.at("tuning");
  CHECK(tuning.at("cpus") == "");
  CHECK(tuning.at("switched").at(1) ==
        nlohmann::json{{"name", "timers"}, {"before", "1"}, {"during", "0"}, {"files", 1}});
  CHECK(tuning.at("before").contains("ticks"));
  CHECK(lauka({"-v", "-r", "2", "--baseline", file, "true"}).err_has("'numa=0 timers=0'"));
  completed({"--from", file, "--export-json", file + "2"});
  const auto again = nlohmann::json::parse(text_of(file + "2")).at("lauka");
  CHECK(again.at("tuning") == tuning);
  CHECK(again.at("machine") == session.at("machine"));
  CHECK(lauka({"--from", file, "--export-html", "/dev/stdout"}).out_has("tuned: numa=0 timers=0"));
}

TEST_CASE("--tune=compare leaves a quarter of the runs untuned and reports what tuning changed") {
  if (!can_mount()) return;
  const Machine machine;
  const std::string file = machine.path() + "/s.json";
  const std::string seen = machine.path() + "/seen";
  const auto result =
      machine.run("$LAUKA $TUNE,compare -w 0 -r 12 'cat " + machine.path() +
                  "/timers' true --output null -p "
                  "'cat " +
                  machine.path() + "/timers >> " + seen + "' --export-json " + file);
  CHECK(result.status == 0);
  CHECK(result.err_has(" 8 untuned runs"));
  CHECK(machine.settings() == "11");
  CHECK_FALSE(machine.has_journal());
  // Each digit is a round of two runs: four blocks of a round, each after two settling ones.
  std::string rounds;
  const std::string digits = text_of(seen);
  for (std::size_t i = 0; i + 2 < digits.size(); i += 4) {
    CHECK(digits[i] == digits[i + 2]);
    rounds += digits[i];
  }
  CHECK(rounds ==
        "00"
        "111"
        "00000"
        "111"
        "00000"
        "111"
        "00000"
        "111"
        "000");
  const auto document = nlohmann::json::parse(text_of(file));
  check_schema(document);
  CHECK(document.at("results").at(0).at("times").size() == 12);
  const auto& tuning = document.at("lauka").at("tuning");
  CHECK(tuning.at("compare").size() == 2);
  CHECK(tuning.at("compare").at(1).at("tuned_runs") == 12);
  CHECK(tuning.at("compare").at(1).at("untuned_runs") == 4);
  completed({"--from", file, "--export-json", file + "2"});
  CHECK(nlohmann::json::parse(text_of(file + "2")).at("lauka").at("tuning") == tuning);
  CHECK(lauka({"--from", file, "--export-html", "/dev/stdout"}).out_has("true, σ<"));
}

TEST_CASE("a lauka that is killed while it is not tuned is restored by its launcher") {
  if (!can_mount()) return;
  const Machine machine;
  const std::string untuned = machine.path() + "/untuned";
  machine.run("$LAUKA $TUNE,compare -w 0 -r 100 -S '[ $(cat " + machine.path() +
              "/timers) = 0 ] || { : >" + untuned +
              "; exec sleep 600; }' & lauka=$!\nwait_until '[ -e " + untuned +
              " ]'\nkill -9 $lauka\nwait_until '[ ! -e /run/lauka ]'\n");
  CHECK(exists(untuned));
  CHECK(machine.settings() == "11");
}

TEST_CASE("--tune=compare goes on with a suite as any other does") {
  if (!can_mount()) return;
  const Machine machine;
  const std::string log = machine.path() + "/log";
  std::ofstream(machine.path() + "/s.toml")
      << "[[benchmark]]\nname = 'one'\ncommands = ['true', '''" << blocks_at(9, machine)
      << "''']\n[[benchmark]]\nname = 'two'\ncommands = ['true']\n";
  const std::string call = "$LAUKA $TUNE,compare -w 1 -r 16 --suite " + machine.path() +
                           "/s.toml --export-json " + machine.path() + "/s.json";
  machine.run(call + " & lauka=$!\nwait_until '[ $(cat " + log +
              " | wc -l) -ge 9 ]'\nkill -9 $lauka\nwait_until '[ ! -e /run/lauka ]'\n");
  std::ofstream(machine.path() + "/go").close();
  const auto result = machine.run(call + " --resume");
  CHECK(result.status == 0);
  CHECK(result.err_has("lauka: note: --resume "));
  CHECK(machine.settings() == "11");
  const auto tuning =
      nlohmann::json::parse(text_of(machine.path() + "/s.json")).at("lauka").at("tuning");
  CHECK(tuning.at("compare").size() == 3);
  for (const auto& one : tuning.at("compare")) {
    CHECK(one.at("tuned_runs") == 16);
    CHECK(one.at("untuned_runs") == 6);
  }
  CHECK(tuning.at("compare").at(2).at("benchmark") == "two");
}

TEST_CASE("--tune=compare and --cores cannot be combined") {
  CHECK(has(refusal({"--tune=compare", "--cores", "p", "-r", "1", "true"}), "--cores"));
}

TEST_CASE("a lauka that is killed is restored by its launcher") {
  if (!can_mount()) return;
  const Machine machine;
  const Said said = machine.run(
      "$LAUKA $TUNE -d 1h 'sleep 0.01' & wait_until '[ \"$(see)\" = 00 ]'\n"
      "kill -9 $!; wait_until '[ ! -e /run/lauka ]'; see");
  CHECK(said.out.ends_with("11"));
  CHECK(machine.settings() == "11");
}

TEST_CASE("a lauka that is killed with its launcher is restored by the next one, or by --untune") {
  if (!can_mount()) return;
  for (const char* const next : {"-r 1 true", "--untune", "--check", "$TUNE -r 1 true"}) {
    CAPTURE(next);
    const Machine machine;
    const Said said = machine.run(
        "$LAUKA $TUNE -d 1h 'sleep 0.01' & wait_until '[ \"$(see)\" = 00 ]'\n"
        // Stopped first, or it would restore in the moment in which only its launcher is dead.
        "kill -STOP $!; kill -9 $(cat /proc/$!/task/$!/children) $!; wait $!; see >" +
        machine.path() + "/between\n$LAUKA " + next);
    CHECK(said.status == 0);
    CHECK(text_of(machine.path() + "/between") == "00");
    CHECK(machine.settings() == "11");
    CHECK_FALSE(machine.has_journal());
    const bool is_untune = std::string(next) == "--untune";
    if (is_untune) CHECK(said.out == "2 settings restored\n");
    if (!is_untune) CHECK(said.err_has("lauka: note: lauka restored 2 settings "));
  }
}

TEST_CASE("a signal ends lauka, and the machine is as it was") {
  if (!can_mount()) return;
  for (const char* const signal : {"TERM", "HUP"}) {
    CAPTURE(signal);
    const Machine machine;
    static_cast<void>(
        machine.run("$LAUKA $TUNE -d 1h 'sleep 0.01' & wait_until '[ \"$(see)\" = 00 ]'\nkill -" +
                    std::string(signal) + " $!; wait $!"));
    CHECK(machine.settings() == "11");
    CHECK_FALSE(machine.has_journal());
  }
}

TEST_CASE("a second lauka cannot tune, names the first, and may measure") {
  if (!can_mount()) return;
  const Machine machine;
  const Said said = machine.run(
      "$LAUKA $TUNE -d 1h 'sleep 0.01' >/dev/null 2>&1 & wait_until '[ \"$(see)\" = 00 ]'\n"
      "$LAUKA $TUNE -r 1 true; echo $?; $LAUKA --untune; echo $?; $LAUKA -q -r 1 true; echo $?; "
      "see; kill -TERM $!; wait $!");
  CHECK(said.out == "1\n1\n0\n00");
  CHECK(said.err_has("lauka: another lauka (process "));
  CHECK(machine.settings() == "11");
}

TEST_CASE("a value that another program changes meanwhile is left alone and reported") {
  if (!can_mount()) return;
  const Machine machine;
  machine.put("numa", "2");
  const Said said = machine.run("$LAUKA $TUNE -r 1 -S 'echo 1 > " + machine.path() + "/numa'");
  CHECK(
      said.err_has("lauka: note: another program changed /proc/sys/kernel/numa_balancing to 1, "));
  CHECK(machine.settings() == "11");
}

TEST_CASE("without root the commands get CPUs of their own, and a line says what sudo would add") {
  if (geteuid() != 0) return skip("only root can become another user");
  const Folder folder;
  Start start{.arguments = {"--tune=-cpus", "-r", "1", "true"}};
  run_as(65534, folder, start);
  const Said said = completed(start);
  CHECK(said.err_has("lauka: note: --tune needs root's rights"));
  CHECK_FALSE(exists("/run/lauka"));
}

TEST_CASE("--tune in a suite's file is refused, and names that are none") {
  const Folder folder;
  std::ofstream(folder.path() + "/s.toml")
      << "[defaults]\ntune = \"+smt\"\n[[benchmark]]\nname = \"a\"\ncommands = [\"true\"]\n";
  CHECK(has(refusal({"--suite", folder.path() + "/s.toml"}), "s.toml:2: --tune "));
  CHECK(has(refusal({"--tune=+turbos", "true"}), "turbo?"));
  CHECK(has(refusal({"--tune=smt", "true"}), "+smt"));
  CHECK(has(refusal({"--tune=cpus=x", "true"}), "cpus=2-5,8"));
  CHECK(has(refusal({"--tune=list", "true"}), "'true'"));
  CHECK(lauka({"--untune"}).out == "nothing is tuned, so nothing was restored\n");
}

}  // namespace lauka::contract
