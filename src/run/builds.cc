#include "run/builds.h"

#include "core/sha256.h"
#include "core/text.h"
#include "os/files.h"
#include "os/helper_program.h"
#include "os/process.h"
#include "os/program_files.h"
#include "plan/command_layouts.h"
#include "run/programs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

using Answer = os::HelperProgram::Answer;

struct RunningBuild {
  const Build* build = nullptr;
  std::unique_ptr<os::HelperProgram> program{};
  std::future<Answer> answer{};  // must be destroyed before `program`
};

constexpr std::size_t kMaxOutputBytes = std::size_t{64} << 10U;

os::ProgramSpec make_program(const Build& build, const std::optional<User>& user) {
  // A line of its own for exec lets syntax errors in the build's line be captured, too.
  os::ProgramSpec spec{.words = {kSystemShell, "-c", "exec 2>&1\n" + build.line}};
  spec.folder = build.folder;
  spec.environment_changes = build.environment;
  spec.user = user;
  return spec;
}

RunningBuild begin_build(const Build& build, const std::optional<User>& user) {
  constexpr auto forever = std::chrono::hours(24 * 365);
  const os::ProgramSpec spec = make_program(build, user);
  RunningBuild running{&build, std::make_unique<os::HelperProgram>()};
  running.program->begin(spec, forever);
  running.answer = std::async(std::launch::async, [program = running.program.get()] {
    return program->wait(kMaxOutputBytes, os::HelperProgram::Part::End);
  });
  return running;
}

std::vector<std::string> split_words(const Plan& plan, const std::vector<std::string>& words) {
  if (!plan.shell) return words;
  std::vector<std::string> all;
  for (const std::string& word : words)
    for (const std::string_view part : split(word, ' ')) all.emplace_back(part);
  return all;
}

/// Returns the words of a command that depend on the layout, as paths, which may not exist.
std::vector<std::string> list_layout_paths(const Plan& plan, std::size_t command,
                                           std::uint32_t layout, const std::optional<User>& user) {
  const Command& pattern = plan.commands[command];
  const auto built = command_in_layout(plan, command, layout);
  std::vector<std::string> paths;
  if (!plan.shell && (mentions_layout(pattern.folder) || mentions_layout(pattern.words.front())))
    if (const auto program = os::find_program(make_program(plan, *built, user)))
      paths.push_back(*program);
  const std::vector<std::string> patterns = split_words(plan, pattern.words);
  const std::vector<std::string> words = split_words(plan, built->words);
  for (std::size_t i = plan.shell ? 0 : 1; i < words.size(); ++i) {
    if (!mentions_layout(patterns[i])) continue;
    const bool is_relative = !built->folder.empty() && !words[i].starts_with('/');
    paths.push_back(is_relative ? built->folder + "/" + words[i] : words[i]);
  }
  return paths;
}

/// Returns a hash of the regular files among `paths`; empty if there are none.
std::string hash_files(const std::vector<std::string>& paths, const std::optional<User>& user) {
  constexpr char end_of_file = '\0';  // so that the hash tells where each file ends
  Sha256 hash;
  bool has_file = false;
  std::array<char, 16384> bytes;
  for (const std::string& path : paths) {
    if (!os::is_regular_file(path)) continue;
    const auto file = os::TextFile::open(path, user);
    if (!file) continue;
    has_file = true;
    std::uint64_t from = 0;
    while (const std::size_t got = file->read(from, bytes)) {
      hash.add({bytes.data(), got});
      from += got;
    }
    hash.add({&end_of_file, 1});
  }
  return has_file ? hash.hex_digest() : std::string();
}

/// True if the program of a command in a layout is there, and at least one of its files depends on
/// the layout.
bool has_files(const Plan& plan, std::size_t command, std::uint32_t layout,
               const std::optional<User>& user) {
  const auto built = command_in_layout(plan, command, layout);
  if (!plan.shell && !os::find_program(make_program(plan, *built, user))) return false;
  return !hash_files(list_layout_paths(plan, command, layout, user), user).empty();
}

/// Returns the time that the remaining builds need if they take as long as those that have ended.
std::optional<std::chrono::nanoseconds> estimate_remaining(const BuildProgress& progress) {
  if (progress.ended == 0) return std::nullopt;
  const auto elapsed = std::chrono::duration<double, std::nano>(progress.elapsed);
  const double left =
      static_cast<double>(progress.count - progress.ended) / static_cast<double>(progress.ended);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed * left);
}

/// A function that tells if a command's files in a layout are there.
using FileTest = std::function<bool(const Plan& plan, std::size_t command, std::uint32_t layout)>;

/// Commands with the same key share a build: the same line in the same folder and environment.
using BuildKey = std::tuple<std::string, std::string, std::vector<std::string>>;

BuildKey key_of(const Build& build) {
  return {build.line, build.folder, build.environment};
}

/// Returns the build of a command, which must have one, in a layout.
Build make_build(const Plan& plan, std::size_t index, std::uint32_t layout) {
  const auto command = command_in_layout(plan, index, layout);
  return {.name_in_messages = fmt::format("{}: layout {} of {}", plan.commands[index].name,
                                          layout + 1, plan.setting.layouts),
          .line = *command->build,
          .folder = command->folder,
          .environment = command->environment};
}

/// Lists the builds that the commands need in all layouts, each build once. Layouts are variants of
/// a program whose parts lie at other addresses. If the files of a command are there, its build has
/// been run earlier, so it is left out. This also holds if other commands share the build.
std::vector<Build> list_needed_builds(std::span<const Plan* const> plans,
                                      const FileTest& are_files_there) {
  std::vector<Build> builds;
  std::set<BuildKey> listed_keys;
  std::set<BuildKey> already_run_keys;

  for (const Plan* plan : plans) {
    for (std::uint32_t layout = 0; layout < plan->setting.layouts; ++layout) {
      for (std::size_t command = 0; command < plan->commands.size(); ++command) {
        const bool has_build = plan->commands[command].build.has_value();
        if (!has_build) continue;

        const Build build = make_build(*plan, command, layout);
        const BuildKey key = key_of(build);
        const bool is_new = listed_keys.insert(key).second;
        if (is_new) builds.push_back(build);
        if (!already_run_keys.contains(key) && are_files_there(*plan, command, layout))
          already_run_keys.insert(key);
      }
    }
  }

  std::erase_if(builds,
                [&](const Build& build) { return already_run_keys.contains(key_of(build)); });
  return builds;
}

/// Builds that wait, and those that are running, oldest first.
struct BuildQueue {
  std::span<const Build> waiting;
  std::deque<RunningBuild> running{};
  BuildProgress progress{};
};

/// Begins the first of the waiting builds.
void begin_next_build(BuildQueue& queue, const std::optional<User>& user) {
  const Build& next = queue.waiting.front();
  queue.progress.latest = next.name_in_messages;
  ++queue.progress.begun;
  queue.running.push_back(begin_build(next, user));
  queue.waiting = queue.waiting.subspan(1);
}

/// Waits a little, and takes a build that has ended out of the queue; nullopt if none has.
std::optional<RunningBuild> wait_briefly_for_ended_build(BuildQueue& queue) {
  // The wait for the oldest build keeps the caller's loop from spinning. It is short, because any
  // other build may end first.
  constexpr auto short_wait = std::chrono::milliseconds(5);
  queue.running.front().answer.wait_for(short_wait);

  const auto ended = std::ranges::find_if(queue.running, [](const RunningBuild& build) {
    return build.answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  if (ended == queue.running.end()) return std::nullopt;

  RunningBuild build = std::move(*ended);
  queue.running.erase(ended);
  ++queue.progress.ended;
  return build;
}

/// Returns the failure of a build that has ended; nullopt if it succeeded.
std::optional<BuildFailed> find_failure(RunningBuild& ended) {
  Answer answer = ended.answer.get();
  if (succeeded(answer.outcome)) return std::nullopt;
  return BuildFailed{*ended.build, answer.outcome, last_lines_of(std::move(answer.output))};
}

/// Two layouts of a command.
struct LayoutPair {
  std::uint32_t earlier = 0;
  std::uint32_t later = 0;
};

/// Returns two layouts of a command with the same files; nullopt if there are none, or if the user
/// interrupts.
std::optional<LayoutPair> find_identical_layouts(const Plan& plan, std::size_t command,
                                                 const ReadContext& reader) {
  std::map<std::string, std::uint32_t> first_layout_with_hash;
  for (std::uint32_t layout = 0; layout < plan.setting.layouts; ++layout) {
    // The caller meets the interrupt again, so there is no need for an error here.
    if (reader.interrupt_check() != 0) return std::nullopt;

    const std::string hash =
        hash_files(list_layout_paths(plan, command, layout, reader.user), reader.user);
    const bool depends_on_layout = !hash.empty();
    if (!depends_on_layout) continue;

    const auto [earlier, is_new] = first_layout_with_hash.emplace(hash, layout);
    if (!is_new) return LayoutPair{.earlier = earlier->second, .later = layout};
  }
  return std::nullopt;
}

Error make_identical_layouts_error(const Command& command, const LayoutPair& layouts) {
  return {fmt::format("layouts {} and {} of {} are identical files", layouts.earlier + 1,
                      layouts.later + 1, cited(command.name)),
          "make sure that {layout} reaches the linker (lld: "
          "-Wl,--shuffle-sections=.text*={layout}; mold: -Wl,--shuffle-sections={layout}; "
          "Go: -ldflags=-randlayout={layout}), and that C and C++ are compiled with "
          "-ffunction-sections; a program with few functions has few layouts (docs/layouts.md)"};
}

}  // namespace

std::vector<Build> list_builds(std::span<const Plan* const> plans) {
  return list_needed_builds(plans, [](const Plan& /*plan*/, std::size_t /*command*/,
                                      std::uint32_t /*layout*/) { return false; });
}

std::vector<Build> list_missing_builds(std::span<const Plan* const> plans,
                                       const std::optional<User>& user) {
  return list_needed_builds(plans,
                            [&](const Plan& plan, std::size_t command, std::uint32_t layout) {
                              return has_files(plan, command, layout, user);
                            });
}

// The builds compile the programs that are measured later, so several may run at a time. Returns
// the first failure; nullopt if all builds succeeded.
std::optional<BuildFailed> run_builds(std::span<const Build> builds, const BuildContext& context) {
  const std::chrono::nanoseconds began = context.clock.now();
  BuildQueue queue{.waiting = builds};
  queue.progress.count = builds.size();
  std::optional<BuildFailed> first_failure;

  // After a failure, lauka only waits for the builds that are running.
  const auto may_begin_another = [&] { return !first_failure && !queue.waiting.empty(); };

  while (!queue.running.empty() || may_begin_another()) {
    while (may_begin_another() && queue.running.size() < context.max_parallel_builds)
      begin_next_build(queue, context.user);

    queue.progress.elapsed = context.clock.now() - began;
    queue.progress.remaining = estimate_remaining(queue.progress);
    context.show_progress(queue.progress);

    if (auto ended_build = wait_briefly_for_ended_build(queue)) {
      auto failure = find_failure(*ended_build);
      if (failure && !first_failure) first_failure = std::move(failure);
    }
  }
  return first_failure;
}

Result<std::optional<BuildFailed>> run_builds_by(os::Launcher& launcher,
                                                 std::span<const Build> builds,
                                                 const std::optional<User>& user) {
  for (const Build& build : builds) {
    os::ProgramSpec spec = make_program(build, user);
    spec.output.sink = OutputKind::Capture;
    const auto program = launcher.add_program(spec);
    if (!program) return program.error();

    const os::Launch launch{.program = *program};
    const auto ended = launcher.run({&launch, 1}, os::AfterFailure::Stop, {});
    if (!ended) return ended.error();
    const Outcome& outcome = ended->front().outcome;
    if (!succeeded(outcome))
      return std::optional(BuildFailed{build, outcome, launcher.error_output_end()});
  }
  return std::optional<BuildFailed>();
}

// Layouts are made to see how the addresses of functions change the run time. Two identical files
// mean that the number of the layout has not reached the linker, so nothing would vary.
Result<void> check_layout_files_differ(const Plan& plan, const ReadContext& reader) {
  const bool has_several_layouts = plan.setting.layouts > 1;
  if (!has_several_layouts) return {};

  for (std::size_t command = 0; command < plan.commands.size(); ++command)
    if (const auto layouts = find_identical_layouts(plan, command, reader))
      return make_identical_layouts_error(plan.commands[command], *layouts);
  return {};
}

}  // namespace lauka
