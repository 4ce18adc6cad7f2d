#include "fakes/darwin/scenario.h"

#include "fakes/darwin/kernel.h"
#include "fakes/darwin/region.h"

#include <cerrno>
#include <map>

#include <nlohmann/json.hpp>

namespace lauka::darwin {
namespace {

using nlohmann::json;

template <typename T>
std::optional<T> wish(const json& all, const char* key) {
  const auto found = all.find(key);
  if (found == all.end()) return std::nullopt;
  return found->get<T>();
}

Setup setup_of(const json& all) {
  Setup setup;
  setup.chip = chip_named(all.value("chip", "m1"), all.at("tables"));
  setup.trace.cpus = setup.chip.cpus();
  const int version = std::stoi(all.value("os", "15.4"));
  setup.pmu.user_only = version >= 15;
  setup.pmu.words_at_start = version >= 26;
  setup.pmu.selectors = selectors_of(version);
  setup.pmu.forcing_frees_nothing = all.value("forcing_frees_nothing", false);
  setup.pmu.refused_selector = wish<std::uint16_t>(all, "refused_selector");
  setup.pmu.dead_mask = wish<std::uint16_t>(all, "dead_mask");
  setup.is_root = all.value("root", true);
  setup.is_virtual = all.value("virtual", false);
  setup.cpmu_is_busy = all.value("cpmu_busy", false);
  setup.force_is_taken = all.value("force_taken", false);
  setup.pids_are_few = all.value("few_pids", false);
  setup.neighbours = all.value("neighbours", false);
  setup.has_leftovers = all.value("leftovers", false);
  if (const auto timebase = wish<std::array<std::uint32_t, 2>>(all, "timebase")) {
    setup.timebase_numerator = timebase->at(0);
    setup.timebase_denominator = timebase->at(1);
  }
  if (const auto tracer = all.find("tracer"); tracer != all.end()) {
    Tool owner;
    owner.pid = tracer->at("pid");
    owner.name = tracer->at("name");
    owner.is_background = tracer->value("background", false);
    setup.tracer = owner;
  }
  return setup;
}

CallRules rules_of(const json& all) {
  CallRules rules;
  rules.os_version = all.value("os", "15.4");
  rules.words_change_in_run = wish<unsigned>(all, "words_change_in_run");
  rules.lose_in_run = wish<unsigned>(all, "lose_in_run");
  rules.loss_argument = all.value("loss_argument", 0U);
  rules.silent_in_run = wish<unsigned>(all, "silent_in_run");
  rules.wrapped_in_run = wish<unsigned>(all, "wrapped_in_run");
  if (const auto frameworks = all.find("frameworks"); frameworks != all.end()) {
    if (frameworks->is_boolean()) {
      rules.has_frameworks = frameworks->get<bool>();
    } else {
      rules.missing_symbols = frameworks->get<std::set<std::string>>();
    }
  }
  if (const auto interrupt = all.find("interrupt"); interrupt != all.end()) {
    rules.interrupt_at_call = interrupt->at("call").get<std::uint64_t>();
    rules.interrupt_signal = interrupt->value("signal", 2);
  }
  const json failures = all.value("fail", json::object());
  for (const auto& [call, failure] : failures.items()) {
    rules.failures[call] = {error_named(failure.at("error")), failure.value("from", 1U),
                            failure.value("times", ~0U)};
  }
  return rules;
}

json of_truth(const Truth& truth) {
  return {{"threads", truth.threads},
          {"cycles", truth.cycles},
          {"instructions", truth.instructions},
          {"sampled", truth.sampled},
          {"events", truth.events}};
}

}  // namespace

int error_named(const std::string& name) {
  static const std::map<std::string, int> kErrors = {
      {"EPERM", EPERM},    {"ENOENT", ENOENT},   {"ESRCH", ESRCH},         {"ENOMEM", ENOMEM},
      {"EACCES", EACCES},  {"EFAULT", EFAULT},   {"EBUSY", EBUSY},         {"EINVAL", EINVAL},
      {"ERANGE", ERANGE},  {"ENOTSUP", ENOTSUP}, {"ECANCELED", ECANCELED}, {"EBADF", EBADF},
      {"ENODATA", ENODATA}};
  return name.empty() ? 0 : kErrors.at(name);
}

std::unique_ptr<Host> host_of(const std::string& scenario) {
  const json all = json::parse(scenario);
  auto host = std::make_unique<Host>(setup_of(all), rules_of(all));
  host->kernel.load = loader_of_files();
  const std::string word = all.value("self_counts", "told");
  if (word == "refused") set_self_counts(SelfCounts::Refused);
  if (word == "zero" || host->kernel.setup.is_virtual) set_self_counts(SelfCounts::Zero);
  return host;
}

std::string report_file_of(const std::string& scenario) {
  return json::parse(scenario).value("report", "");
}

std::string make_report(const Host& host) {
  json runs = json::array();
  for (const auto& process : host.kernel.processes()) {
    if (process->root_id == 0 || process->root_id != process->unique_id) continue;
    runs.push_back({{"pid", process->pid},
                    {"name", process->name},
                    {"own", of_truth(process->truth)},
                    {"tree", of_truth(tree_of(host.kernel, process->unique_id))},
                    {"kernel",
                     {{"instructions", instructions_of(process->cached, kBothModes)},
                      {"cycles", cycles_of(process->cached, kBothModes)}}}});
  }
  const json report = {{"held", host.still_held()},
                       {"calls", host.calls_made},
                       {"libraries", host.libraries},
                       {"runs", runs}};
  return report.dump(1) + "\n";
}

}  // namespace lauka::darwin
