#include "format/speedscope.h"

#include "core/text.h"
#include "format/json_text.h"
#include "report/format.h"
#include "results/path_changes.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

// The format of https://www.speedscope.app/file-format-schema.json.

namespace lauka {

namespace {

/// The sampled stacks of a command.
struct StacksOfCommand {
  std::string name{};
  std::vector<PathChange> paths{};
  std::vector<std::size_t> frames{};   ///< by path, the index of its last frame in the file
  std::vector<std::size_t> sampled{};  ///< paths with a time of their own

  std::int64_t weight_of(std::size_t path) const {
    return report::to_microseconds(paths[path].candidate_own);
  }
};

/// Appends the frames of a path, the outermost first, as a list.
void add_stack(const StacksOfCommand& of, std::size_t path, std::string& to) {
  std::vector<std::size_t> stack;
  for (std::size_t at = path; at < of.paths.size(); at = of.paths[at].caller)
    stack.push_back(of.frames[at]);

  to += '[';
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
    to.append(frame == stack.rbegin() ? "" : ", ").append(std::to_string(*frame));
  to += ']';
}

void put_profile(JsonWriter& json, const StacksOfCommand& of) {
  std::int64_t whole = 0;
  for (const std::size_t path : of.sampled) whole += of.weight_of(path);

  json.open('{');
  json.put("type", "sampled");
  json.put("name", of.name);
  json.put("unit", "microseconds");
  json.put("startValue", 0);
  json.put("endValue", whole);
  json.list("samples", of.sampled.size(),
            [&](std::size_t i, std::string& to) { add_stack(of, of.sampled[i], to); });
  json.list("weights", of.sampled.size(), [&](std::size_t i, std::string& to) {
    to += std::to_string(of.weight_of(of.sampled[i]));
  });
  json.close();
}

/// The profiles of all commands, and the frames' names that they share.
class Profiles {
 public:
  void add(std::string name, std::vector<PathChange> paths) {
    StacksOfCommand& of = profiles_.emplace_back();
    of.name = std::move(name);
    of.paths = std::move(paths);
    for (std::size_t path = 0; path < of.paths.size(); ++path) {
      const auto [known, is_new] = frames_.try_emplace(of.paths[path].name, frame_names_.size());
      if (is_new) frame_names_.push_back(known->first);
      of.frames.push_back(known->second);
      if (of.weight_of(path) > 0) of.sampled.push_back(path);
    }
  }

  const std::vector<std::string>& frame_names() const { return frame_names_; }
  const std::vector<StacksOfCommand>& all() const { return profiles_; }

 private:
  std::map<std::string, std::size_t> frames_;
  std::vector<std::string> frame_names_;
  std::vector<StacksOfCommand> profiles_;
};

/// Returns the profiles of the commands that were sampled.
Profiles collect_profiles(const Report& report) {
  Profiles profiles;
  for (const Results& results : report.benchmarks) {
    for (std::size_t c = 0; c < results.commands.size(); ++c) {
      auto listed = list_paths(results, c);
      const bool was_sampled = listed.has_value();
      if (!was_sampled) continue;

      // In a suite, commands of several benchmarks may have the same name.
      const std::string& command = results.session.commands[c].name;
      profiles.add(report.is_suite() ? results.benchmark + ": " + command : command,
                   std::move(listed->paths));
    }
  }
  return profiles;
}

void put_frames(JsonWriter& json, const std::vector<std::string>& names) {
  json.open("frames", '[');
  for (const std::string& name : names)
    json.put_with({}, [&](std::string& to) {
      to.append(R"({"name": )").append(json_string(name)).append("}");
    });
  json.close();
}

}  // namespace

// Each command becomes a profile with its sampled call paths. All profiles share one list of
// frames, the names of functions, to which their call paths refer by index.
void write_speedscope(const Report& report, const Sink& sink) {
  const Profiles profiles = collect_profiles(report);
  JsonWriter json(sink);
  json.open('{');
  json.put("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.put("exporter", "lauka " LAUKA_VERSION);

  json.open("shared", '{');
  put_frames(json, profiles.frame_names());
  json.close();

  json.open("profiles", '[');
  for (const StacksOfCommand& profile : profiles.all()) put_profile(json, profile);
  json.close();

  json.close();
}

}  // namespace lauka
