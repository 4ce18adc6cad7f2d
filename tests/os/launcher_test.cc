#include "must.h"
#include "os/linux_calls.h"
#include "os/process.h"
#include "os/program_files.h"
#include "os/running.h"
#include "os/signals.h"
#include "skip.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {
namespace {

using namespace std::chrono_literals;

std::chrono::duration<double> wall(const Ended& ended) {
  return std::chrono::nanoseconds(ended.usage.wall_ns);
}

/// Returns what report_state printed: the first word of each line and the rest.
std::map<std::string, std::string> state_seen_by_a_command(Launcher& launcher) {
  const TemporaryFile file;
  ProgramSpec spec = program({"report_state"});
  spec.output = {OutputKind::File, file.name()};
  REQUIRE(succeeded(run_once(launcher, spec).outcome));
  std::map<std::string, std::string> state;
  std::istringstream lines(file.text());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = std::min(line.find(' '), line.size());
    state[line.substr(0, space)] = line.substr(std::min(space + 1, line.size()));
  }
  return state;
}

/// Returns the sizes in bytes of the mappings with this program's code in the process `pid`.
std::vector<std::uint64_t> sizes_of_code(const std::string& pid) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::ifstream lines("/proc/" + pid + "/maps");
  std::vector<std::uint64_t> sizes;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" r-xp ") == std::string::npos || !line.ends_with(program)) continue;
    std::istringstream words(line);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char dash = 0;
    words >> std::hex >> begin >> dash >> end;
    sizes.push_back(end - begin);
  }
  return sizes;
}

/// True if a child of this process ends; else it is killed with its group.
bool ends(pid_t child, int& status) {
  if (comes_true([&] { return waitpid(child, &status, WNOHANG) != 0; })) return true;
  kill(-child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

/// The process ids that a fixture printed as "name 123".
std::vector<pid_t> ids_in(const std::string& text) {
  std::vector<pid_t> ids;
  std::istringstream words(text);
  std::string name;
  for (pid_t id = 0; words >> name >> id;) ids.push_back(id);
  return ids;
}

}  // namespace

TEST_CASE("the exit status or the signal of a run is its outcome") {
  const auto launcher = must(start_launcher());
  CHECK(std::get<Exited>(run_once(*launcher, program({"fail", "status", "7"})).outcome).status ==
        7);
  CHECK(std::get<Signalled>(run_once(*launcher, program({"fail", "signal", "9"})).outcome).signal ==
        SIGKILL);
  CHECK(succeeded(run_once(*launcher, program({"tiny"})).outcome));
}

TEST_CASE("wall time spans the program's life and CPU time is what it used") {
  const Ended ended = run_once(program({"burn", "60ms"}));
  CHECK(wall(ended) >= 60ms);
  const std::chrono::nanoseconds cpu(ended.usage.user_ns + ended.usage.system_ns);
  CHECK(cpu >= 58ms);
  CHECK(cpu <= ended.time_with_preparation);  // of one thread
  CHECK(ended.time_with_preparation >= wall(ended));
}

TEST_CASE("the end of standard error is there, from the file or through a pipe, of the last run") {
  const auto launcher = must(start_launcher());
  ProgramSpec failing = program({"fail", "status", "3", "the disk is made of cheese"});
  for (const OutputKind sink : {OutputKind::Null, OutputKind::Pipe}) {
    CAPTURE(sink == OutputKind::Pipe);
    failing.output.sink = sink;
    run_once(*launcher, failing);
    CHECK(launcher->error_output_end() == "the disk is made of cheese");
    run_once(*launcher, program({"tiny"}));
    CHECK(launcher->error_output_end().empty());
  }
}

TEST_CASE("of a long standard error the last lines are kept, whole") {
  const auto launcher = must(start_launcher());
  run_once(*launcher, program({"chatty", "0", "3000000"}));
  const std::string end = launcher->error_output_end();
  CHECK(std::count(end.begin(), end.end(), '\n') == 19);
  CHECK(end.size() > 19 * 32);
  CHECK(end.size() < 20 * 32);
}

TEST_CASE("what is kept of a run can be read, and still comes where it belongs") {
  const auto launcher = must(start_launcher());
  const TemporaryFile file;
  ProgramSpec spec = shell("echo first; echo wrong >&2; echo second");
  spec.output = {OutputKind::File, file.name(), true};
  for (int i = 0; i < 2; ++i) {  // each run begins afresh
    run_once(*launcher, spec);
    CHECK(launcher->stored_stream_bytes(OutputStream::Output) == 13);
    std::string text(100, '.');
    text.resize(launcher->read_kept(OutputStream::Output, 6, text));
    CHECK(text == "second\n");
    text.resize(100);
    text.resize(launcher->read_kept(OutputStream::Error, 0, text));
    CHECK(text == "wrong\n");
    CHECK(launcher->error_output_end() == "wrong");
    CHECK(file.text() == "first\nsecond\nwrong\n");
  }
}

TEST_CASE("a command that writes more than a pipe holds is drained") {
  ProgramSpec spec = program({"chatty", "2000000", "2000000"});
  spec.output.sink = OutputKind::Pipe;
  CHECK(succeeded(run_once(spec).outcome));
}

TEST_CASE("a grandchild that outlives the command and holds its pipes blocks nothing") {
  const auto launcher = must(start_launcher());
  const TemporaryFile file;
  ProgramSpec spec = shell("sleep 600 & echo child $! >" + file.name());
  for (const OutputKind sink : {OutputKind::Null, OutputKind::Pipe}) {
    spec.output.sink = sink;
    CHECK(succeeded(run_once(*launcher, spec).outcome));
    const auto ids = ids_in(file.text());
    REQUIRE(ids.size() == 1);
    CHECK(is_alive(ids.front()));
    CHECK(kill(ids.front(), SIGKILL) == 0);
  }
}

TEST_CASE("a time-out kills the whole tree, also what has left the process group") {
  const auto launcher = must(start_launcher());
  const TemporaryFile file;
  ProgramSpec spec = program({"hang", "--setsid-child", "--ignore-term"});
  spec.output = {OutputKind::File, file.name()};
  time_that_suffices(20ms, [&](std::chrono::nanoseconds limit) {
    spec.timeout = limit;
    const Ended ended = run_once(*launcher, spec);
    CHECK(std::get<TimedOut>(ended.outcome).limit == limit);
    CHECK(ended.time_with_preparation >= limit);
    const auto ids = ids_in(file.text());
    for (const pid_t id : ids) CHECK_FALSE(is_alive(id));
    return ids.size() == 2;
  });
}

TEST_CASE(
    "a run that took longer than it may is a timed-out run, however soon after that it ended") {
  const auto launcher = must(start_launcher());
  ProgramSpec spec = program({"burn", "3ms"});
  spec.timeout = 1ms;
  for (int i = 0; i < 100; ++i)
    CHECK(std::holds_alternative<TimedOut>(run_once(*launcher, spec).outcome));
}

TEST_CASE("a time-out is in force while the other end of a named pipe is waited for") {
  const TemporaryFile file;
  REQUIRE(unlink(file.name().c_str()) == 0);
  REQUIRE(mkfifo(file.name().c_str(), 0600) == 0);
  ProgramSpec reading = program({"tiny"});
  reading.input_path = file.name();
  ProgramSpec writing = program({"tiny"});
  writing.output = {OutputKind::File, file.name()};
  for (ProgramSpec* spec : {&reading, &writing}) {
    spec->timeout = 20ms;
    const Ended ended = run_once(*spec);
    const auto* late = std::get_if<TimedOut>(&ended.outcome);
    REQUIRE(late != nullptr);
    CHECK_FALSE(late->has_started);
    CHECK(ended.time_with_preparation >= 20ms);
  }
}

TEST_CASE("a killed launcher is reported as such, and no process of its run lives on") {
  const TemporaryFile file;
  ProgramSpec spec = program({"hang", "--setsid-child"});
  spec.output = {OutputKind::File, file.name()};
  const auto launcher = must(start_launcher());
  const Launch launch{must(launcher->add_program(spec))};
  std::thread killer([&] {
    while (ids_in(file.text()).size() < 2) std::this_thread::sleep_for(5ms);
    // The child may have written its number first; the launcher is the parent that wrote none.
    const auto ids = ids_in(file.text());
    for (const pid_t id : ids) {
      const pid_t parent = state_and_parent_of(id).second;
      if (std::find(ids.begin(), ids.end(), parent) != ids.end()) continue;
      kill(parent, SIGKILL);
      break;
    }
  });
  const auto all = launcher->run({&launch, 1}, AfterFailure::Stop, {});
  killer.join();
  REQUIRE_FALSE(all.has_value());
  CHECK(all.error().what == "the launcher process was killed by SIGKILL");
  for (const pid_t pid : ids_in(file.text())) CHECK_FALSE(is_alive(pid));
  CHECK_FALSE(launcher->run({&launch, 1}, AfterFailure::Stop, {}).has_value());
}

TEST_CASE("a dismissed launcher runs nothing more") {
  const auto launcher = must(start_launcher());
  const Launch launch{must(launcher->add_program(program({"tiny"})))};
  REQUIRE(launcher->run({&launch, 1}, AfterFailure::Stop, {}).has_value());
  launcher->dismiss();
  CHECK_FALSE(launcher->run({&launch, 1}, AfterFailure::Stop, {}).has_value());
}

TEST_CASE("a signal to lauka's group does not reach what is about to begin") {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    for (const int number : {SIGINT, SIGTSTP, SIGHUP}) std::signal(number, SIG_IGN);
    const auto launcher = start_launcher();
    const auto id = (*launcher)->add_program(program({"tiny"}));
    std::atomic<bool> is_over = false;
    std::thread sender([&] {
      while (!is_over) {
        for (const int number : {SIGINT, SIGTSTP, SIGHUP}) kill(0, number);
        std::this_thread::sleep_for(50us);
      }
    });
    bool all_ended_well = true;
    const std::vector<Launch> launches(50, Launch{*id, kNoCounters});
    for (int i = 0; i < 6; ++i) {
      const auto all = (*launcher)->run(launches, AfterFailure::GoOn, {});
      all_ended_well &= all.has_value() && all->size() == launches.size() &&
                        std::all_of(all->begin(), all->end(), [](const Ended& ended) {
                          return std::holds_alternative<Exited>(ended.outcome);
                        });
    }
    is_over = true;
    sender.join();
    _exit(all_ended_well ? 0 : 1);
  }
  int status = 0;
  CHECK(ends(child, status));
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("when lauka is killed, alone or with its group, no process of its run lives on") {
  for (const bool with_group : {false, true}) {
    CAPTURE(with_group);
    const TemporaryFile file;
    const pid_t child = fork();
    if (child == 0) {
      setpgid(0, 0);  // the launcher's group as well; the command has one of its own
      ProgramSpec spec = program({"hang", "--setsid-child"});
      spec.output = {OutputKind::File, file.name()};
      run_once(spec);
      _exit(0);
    }
    while (ids_in(file.text()).size() < 2) std::this_thread::sleep_for(5ms);
    kill(with_group ? -child : child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (const pid_t pid : ids_in(file.text())) {
      CHECK(comes_true([pid] { return !is_alive(pid); }));
      if (is_alive(pid)) kill(pid, SIGKILL);
    }
  }
}

TEST_CASE("orphans that ended before their run did are reported") {
  const auto launcher = must(start_launcher());
  const TemporaryFile file;
  // The orphan ends after its parent, and the run after the orphan.
  const Ended ended = run_once(
      *launcher, shell("file=" + file.name() +
                       "; (until grep -q go $file; do sleep 0.01; done & echo $! >$file)"
                       "; read -r pid <$file; echo go >>$file"
                       "; until grep -q '^State:.Z' /proc/$pid/status; do sleep 0.01; done"));
  CHECK(ended.unawaited_processes == 1);
  CHECK(run_once(*launcher, program({"tiny"})).unawaited_processes == 0);
}

TEST_CASE("a run that ends in time is not touched by the time-out of the run before") {
  const auto launcher = must(start_launcher());
  ProgramSpec spec = program({"tiny"});
  const auto limit = time_that_suffices(100ms, [&](std::chrono::nanoseconds time) {
    spec.timeout = time;
    return succeeded(run_once(*launcher, spec).outcome);
  });
  ProgramSpec longer =
      shell("sleep " + std::to_string(1.2 * std::chrono::duration<double>(limit).count()));
  for (const std::optional own_limit : {std::optional<std::chrono::nanoseconds>(), {kPatience}}) {
    longer.timeout = own_limit;
    CHECK(succeeded(run_once(*launcher, longer).outcome));
  }
}

TEST_CASE("a command that is stopped is killed and reported, not waited for") {
  const Ended ended = run_once(shell("kill -STOP $$; exit 0"));
  CHECK(std::get<Stopped>(ended.outcome).signal == SIGSTOP);
}

TEST_CASE("a command that wants the terminal gets an error instead of hanging for ever") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(grantpt(terminal) == 0);
  REQUIRE(unlockpt(terminal) == 0);
  const std::string name = ptsname(terminal);  // NOLINT(concurrency-mt-unsafe): one thread
  for (const auto& [how, expected] : {std::pair{"read", SIGTTIN}, std::pair{"set", SIGTTOU}}) {
    const auto signal_of = [&name, word = how] {  // in a session of its own, whose terminal it is
      setsid();
      const int controlling = open(name.c_str(), O_RDWR);
      const Ended ended = run_once(program({"wants_terminal", word}));
      const auto* stopped = std::get_if<Stopped>(&ended.outcome);
      return controlling >= 0 && stopped != nullptr ? stopped->signal : 0;
    };
    CHECK(status_of_child(signal_of) == expected);
  }
  close(terminal);
}

TEST_CASE(
    "a command gets a process group of its own, standard input from /dev/null, no descriptor of "
    "lauka's") {
  const auto launcher = must(start_launcher());
  const auto state = state_seen_by_a_command(*launcher);
  CHECK(state.at("process_group") == state.at("pid"));
  CHECK(state.at("stdin") == "null");
  CHECK(state.at("blocked_signals").empty());
  std::istringstream open_ones(state.at("descriptors"));
  for (int fd = 0; open_ones >> fd;) {
    const bool was_given = fcntl(fd, F_GETFD) >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0;
    CHECK_MESSAGE(was_given, "descriptor ", fd);
  }
}

TEST_CASE("descriptors that lauka was given reach the command") {
  const int fd = open("/dev/null", O_RDONLY);
  const int kept = fcntl(fd, F_DUPFD, 63);
  const auto launcher = must(start_launcher());
  const auto state = state_seen_by_a_command(*launcher);
  CHECK((" " + state.at("descriptors") + " ").find(" " + std::to_string(kept) + " ") !=
        std::string::npos);
  close(kept);
  close(fd);
}

TEST_CASE("a command gets the signal dispositions and mask lauka was started with") {
  // In a child, because start_launcher changes its process.
  CHECK(status_of_child([] {
          std::signal(SIGCHLD, SIG_IGN);
          std::signal(SIGPIPE, SIG_IGN);
          std::signal(SIGUSR1, SIG_IGN);
          std::signal(SIGALRM, SIG_IGN);
          sigset_t blocked;
          sigemptyset(&blocked);
          sigaddset(&blocked, SIGUSR2);
          sigprocmask(SIG_BLOCK, &blocked, nullptr);
          const auto launcher = must(start_launcher());
          watch_for_interrupts();
          const auto state = state_seen_by_a_command(*launcher);
          std::ostringstream ignored;
          for (const int number : {SIGUSR1, SIGPIPE, SIGALRM, SIGCHLD})
            ignored << (number == SIGUSR1 ? "" : " ") << number;
          const bool right = state.at("ignored_signals") == ignored.str() &&
                             state.at("blocked_signals") == std::to_string(SIGUSR2);
          const bool status_is_known =
              std::get<Exited>(run_once(*launcher, program({"fail", "status", "5"})).outcome)
                  .status == 5;
          return right && status_is_known ? 0 : 1;
        }) == 0);
}

TEST_CASE("an input file is read from its start in every run") {
  const TemporaryFile input;
  std::ofstream(input.name()) << "one line\n";
  ProgramSpec spec = shell("read -r line && test \"$line\" = 'one line'");
  spec.input_path = input.name();
  const auto launcher = must(start_launcher());
  for (int i = 0; i < 3; ++i) CHECK(succeeded(run_once(*launcher, spec).outcome));
}

TEST_CASE("the result has how far a run read its input file") {
  const TemporaryFile input;
  std::ofstream(input.name()) << std::string(300'000, 'x');
  const auto launcher = must(start_launcher());
  const auto read_by = [&](const std::string& script) {
    ProgramSpec spec = shell(script);
    spec.input_path = input.name();
    return run_once(*launcher, spec).input;
  };
  CHECK(read_by("cat") == InputRead::All);
  CHECK(read_by("dd bs=1000 count=1") == InputRead::Part);
  CHECK(read_by(":") == InputRead::Nothing);
  CHECK(run_once(*launcher, program({"tiny"})).input == InputRead::Unknown);
  std::ofstream(input.name()) << "";  // nothing to read
  CHECK(read_by(":") == InputRead::Unknown);
}

TEST_CASE("a missing input file is reported as such") {
  ProgramSpec spec = program({"tiny"});
  spec.input_path = "/nonexistent/input";
  const Ended ended = run_once(spec);
  CHECK(std::get<NotStarted>(ended.outcome).step == LaunchStep::OpenInput);
  CHECK(std::get<NotStarted>(ended.outcome).error == ENOENT);
}

TEST_CASE("an output file holds what the last run wrote") {
  const TemporaryFile file;
  ProgramSpec spec = shell("echo out; echo err >&2");
  spec.output = {OutputKind::File, file.name()};
  const auto launcher = must(start_launcher());
  for (int i = 0; i < 2; ++i) CHECK(succeeded(run_once(*launcher, spec).outcome));
  CHECK(file.text() == "out\nerr\n");
}

TEST_CASE("a file without a #! line cannot be executed, and says so") {
  const TemporaryFile script;
  std::ofstream(script.name()) << "echo hello\n";
  REQUIRE(chmod(script.name().c_str(), 0755) == 0);
  const Ended ended = run_once(program({script.name()}));
  CHECK(std::get<NotStarted>(ended.outcome).step == LaunchStep::Execute);
  CHECK(std::get<NotStarted>(ended.outcome).error == ENOEXEC);
}

TEST_CASE("peak memory is the command's own, however large lauka is") {
  // In a child, which takes the ballast away with it: memory that was freed may stay resident. The
  // limits leave room for a launcher of a sanitizer's size.
  CHECK(status_of_child([] {
          const auto launcher = must(start_launcher());
          const std::vector<char> ballast(200'000'000, 'x');
          const Usage big = run_once(*launcher, program({"touch_memory", "50M"})).usage;
          const Usage small = run_once(*launcher, program({"tiny"})).usage;
          const bool big_is_right = big.peak_rss_is_known() && big.peak_rss_bytes >= 50'000'000 &&
                                    big.peak_rss_bytes < 120'000'000;
          const bool small_is_bound =
              !small.peak_rss_is_known() && small.peak_rss_bytes < 120'000'000;
          return (big_is_right ? 0 : 1) + (small_is_bound ? 0 : 2) + (ballast[77] == 'x' ? 0 : 4);
        }) == 0);
}

TEST_CASE("the memory of an earlier command is not in a later one's") {
  const auto launcher = must(start_launcher());
  run_once(*launcher, program({"touch_memory", "90M"}));
  CHECK(run_once(*launcher, program({"touch_memory", "20M"})).usage.peak_rss_bytes < 85'000'000);
}

TEST_CASE("an input that is a named pipe is waited for") {
  const TemporaryFile file;
  REQUIRE(unlink(file.name().c_str()) == 0);
  REQUIRE(mkfifo(file.name().c_str(), 0600) == 0);
  ProgramSpec spec = shell("read -r line && test \"$line\" = late");
  spec.input_path = file.name();
  const auto launcher = must(start_launcher());
  int writing = -1;
  std::thread writer([&] {
    std::this_thread::sleep_for(350ms);  // longer than the launcher's housekeeping interval
    writing = open(file.name().c_str(), O_RDWR | O_CLOEXEC);  // needs no reader
    if (write(writing, "late\n", 5) != 5) close(std::exchange(writing, -1));
  });
  const Ended ended = run_once(*launcher, spec);
  writer.join();
  close(writing);
  CHECK(succeeded(ended.outcome));
}

TEST_CASE("after a time-out no other run of the batch begins before its leftovers are gone") {
  const auto launcher = must(start_launcher());
  ProgramSpec spec = program({"hang", "--setsid-child"});
  spec.timeout = 30ms;
  const auto id = launcher->add_program(spec);
  const std::vector<Launch> launches = {{*id}, {*id}};
  CHECK(launcher->run(launches, AfterFailure::GoOn, {})->size() == 1);
}

TEST_CASE("a standard output that was closed cannot be written, and nothing is lost in silence") {
  CHECK(status_of_child([] {
          close(STDOUT_FILENO);
          const bool started = start_launcher().has_value();
          return started && write(STDOUT_FILENO, "x", 1) < 0 && errno == EBADF ? 0 : 1;
        }) == 0);
}

TEST_CASE("a batch is run in order, to its end or to the first failure") {
  const auto launcher = must(start_launcher());
  const auto good = launcher->add_program(program({"tiny"}));
  const auto bad = launcher->add_program(program({"fail", "status", "4"}));
  const std::vector<Launch> launches = {{*good}, {*bad}, {*good}};
  CHECK(launcher->run(launches, AfterFailure::Stop, {})->size() == 2);
  const auto all = launcher->run(launches, AfterFailure::GoOn, {});
  REQUIRE(all->size() == 3);
  CHECK(std::get<Exited>((*all)[1].outcome).status == 4);
}

TEST_CASE("a batch ends before a run whose latest start has passed, but has at least one run") {
  const auto launcher = must(start_launcher());
  const auto slow = must(launcher->add_program(shell("sleep 0.05")));
  std::vector<Launch> launches = {{slow}, {slow}, {slow}};
  launches[0].latest_start = launches[2].latest_start = 1ms;
  CHECK(must(launcher->run(launches, AfterFailure::Stop, {})).size() == 2);
  launches[2].latest_start = 1h;
  CHECK(must(launcher->run(launches, AfterFailure::Stop, {})).size() == 3);
}

TEST_CASE("a tick comes while a long run goes on, at most five times a second") {
  const auto launcher = must(start_launcher());
  const TemporaryFile file;  // the run ends when it has something
  const Launch launch{
      must(launcher->add_program(shell("until [ -s " + file.name() + " ]; do sleep 0.01; done")))};
  int ticks = 0;
  const auto began = std::chrono::steady_clock::now();
  const auto all = launcher->run({&launch, 1}, AfterFailure::Stop, [&] {
    if (++ticks == 3) std::ofstream(file.name()) << "enough";
  });
  REQUIRE(all.has_value());
  CHECK(succeeded(all->front().outcome));
  CHECK(ticks >= 3);
  CHECK(ticks <= (std::chrono::steady_clock::now() - began) / 200ms);
}

TEST_CASE("an interrupt kills the run and its tree at once") {
  CHECK(status_of_child([] {
          const auto launcher = must(start_launcher());
          watch_for_interrupts();
          const TemporaryFile file;
          ProgramSpec spec = program({"hang", "--setsid-child"});
          spec.output = {OutputKind::File, file.name()};
          const Launch launch{must(launcher->add_program(spec))};
          std::thread sender([pid = getpid(), &file] {
            while (ids_in(file.text()).size() < 2) std::this_thread::sleep_for(5ms);
            kill(pid, SIGINT);
          });
          const auto all = launcher->run({&launch, 1}, AfterFailure::Stop, {});
          sender.join();
          const auto ids = ids_in(file.text());
          const bool dead = std::none_of(ids.begin(), ids.end(), is_alive);
          const bool cancelled =
              all.has_value() && std::holds_alternative<Cancelled>(all->back().outcome);
          return dead && cancelled && first_interrupt_signal() == SIGINT ? 0 : 1;
        }) == 0);
}

TEST_CASE("programs that cannot be run are refused as a shell would say it") {
  CHECK(find_program("nosuchprogram").error().what == "nosuchprogram: command not found");
  CHECK(find_program("/nosuch/program").error().what ==
        "/nosuch/program: No such file or directory");
  CHECK(find_program("/tmp").error().what == "/tmp: Is a directory");
  const TemporaryFile plain;
  CHECK(find_program(plain.name()).error().what == plain.name() + ": Permission denied");
  const TemporaryFile script;
  std::ofstream(script.name()) << "#!/nosuch/interpreter -x\n";
  REQUIRE(chmod(script.name().c_str(), 0755) == 0);
  CHECK(find_program(script.name()).error().what ==
        script.name() + ": bad interpreter: /nosuch/interpreter: No such file or directory");
  CHECK(find_program("sh").value().find("/sh") != std::string::npos);
}

TEST_CASE("more arguments than the shared memory holds are refused") {
  const auto launcher = must(start_launcher());
  ProgramSpec spec = program({"tiny"});
  spec.words.emplace_back(70'000'000, 'x');
  CHECK(launcher->add_program(spec).error().what.find("64 MB") != std::string::npos);
}

TEST_CASE("a program that may run on one CPU only does, and what is run besides as before") {
  const LinuxCalls* calls = linux_calls();
  if (calls == nullptr) return skip("this is not Linux");
  const auto before = calls->allowed_cpus();
  REQUIRE_FALSE(before.empty());
  const auto launcher = must(start_launcher());
  const std::string is_alone =
      "grep -q '^Cpus_allowed_list:\t" + std::to_string(before.back()) + "$' /proc/self/status";
  const ProgramSpec anywhere = shell(is_alone);
  ProgramSpec there_only = anywhere;
  there_only.cpus = {before.back()};
  CHECK(succeeded(run_once(*launcher, there_only).outcome));
  CHECK(succeeded(run_once(*launcher, anywhere).outcome) == (before.size() == 1));
  CHECK(calls->allowed_cpus() == before);
}

TEST_CASE("the launcher's code is mapped in pieces that are smaller than large pages") {
  if (linux_calls() == nullptr) return skip("this is not Linux");
  constexpr std::uint64_t megabyte = std::uint64_t{1} << 20U;
  const auto launcher = must(start_launcher());

  // The launcher is the youngest child.
  std::ifstream children("/proc/thread-self/children");
  if (!children) return skip("the kernel does not list children");
  std::string pid;
  while (children >> pid) continue;
  const auto in_launcher = sizes_of_code(pid);
  CHECK_FALSE(in_launcher.empty());
  for (const std::uint64_t size : in_launcher) CHECK(size <= megabyte);

  const auto in_lauka = sizes_of_code("self");
  CHECK(in_lauka.size() == 1);
  CHECK((in_launcher.size() > 1 || in_lauka.front() <= megabyte));
}

TEST_CASE("a program that is to run on CPUs that are not there is not started, with the reason") {
  if (linux_calls() == nullptr) return skip("this is not Linux");
  ProgramSpec spec = program({"tiny"});
  spec.cpus = {60'000};
  const Ended ended = run_once(spec);
  CHECK(std::get<NotStarted>(ended.outcome).step == LaunchStep::Prepare);
  CHECK(std::get<NotStarted>(ended.outcome).error == EINVAL);
}

TEST_CASE("processes that go on after their run are counted, each for its own run (Linux)") {
  const auto launcher = must(start_launcher());
  CHECK(run_once(*launcher, shell("sleep 60 & sleep 60 &")).outlived == 2);
  CHECK(run_once(*launcher, shell("sleep 60 &")).outlived == 1);
  CHECK(run_once(*launcher, program({"tiny"})).outlived == 0);
  CHECK(run_once(*launcher, shell("(sleep 0.01 &) ; sleep 0.02 & wait")).outlived <= 1);
}

}  // namespace lauka::os
