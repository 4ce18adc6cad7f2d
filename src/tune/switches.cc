#include "tune/switches.h"

#include "core/numbers.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <map>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::tune {

namespace {

// Rows in the order of tuning. "energy" precedes "governor", because the kernel may refuse energy
// preferences under the governor "performance". "smt" is last, because files of CPUs that are
// switched off cannot be written.
// The members are: name, by_default, form, path, wanted, help, allowed_values_file, is_alternative.
constexpr auto kSwitches = std::to_array<Switch>({
    {"cpus", true, Form::Affinity, "", "", "the commands have whole cores to themselves"},
    {"energy", true, Form::Word,
     "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference", "performance",
     "the processor prefers speed to saving energy", "energy_performance_available_preferences"},
    {"governor", true, Form::Word, "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
     "performance", "the clock does not follow the load", "scaling_available_governors"},
    {"turbo", true, Form::Number, "/sys/devices/system/cpu/intel_pstate/no_turbo", "1",
     "the clock does not depend on temperature and busy cores"},
    {"turbo", true, Form::Number, "/sys/devices/system/cpu/cpufreq/policy*/boost", "0", "", "",
     true},
    {"turbo", true, Form::Number, "/sys/devices/system/cpu/cpufreq/boost", "0", "", "", true},
    {"irqs", true, Form::CpuMask, "/proc/irq/default_smp_affinity", "",
     "interrupts are handled by other CPUs"},
    {"irqs", true, Form::CpuList, "/proc/irq/*/smp_affinity_list", ""},
    {"workqueues", true, Form::CpuMask, "/sys/devices/virtual/workqueue/cpumask", "",
     "the kernel's own work is done by other CPUs"},
    {"watchdog", true, Form::Number, "/proc/sys/kernel/nmi_watchdog", "0",
     "the NMI watchdog holds no counter and interrupts nothing"},
    {"numa", true, Form::Number, "/proc/sys/kernel/numa_balancing", "0",
     "the kernel does not unmap pages to see who uses them"},
    {"perf-rate", true, Form::Number, "/proc/sys/kernel/perf_event_max_sample_rate", "1",
     "the profilers of other programs do not sample"},
    {"timers", true, Form::Number, "/proc/sys/kernel/timer_migration", "0",
     "timers of idle CPUs do not move to busy ones"},
    {"swap", false, Form::Number, "/proc/sys/vm/swappiness", "0",
     "the memory of programs is not swapped out"},
    {"thp", false, Form::Chosen, "/sys/kernel/mm/transparent_hugepage/enabled", "never",
     "programs get no huge pages, which a run may otherwise get by chance"},
    {"ksm", false, Form::Number, "/sys/kernel/mm/ksm/run", "0",
     "the kernel does not look for equal pages to merge them"},
    {"cstates", true, Form::Latency, "/dev/cpu_dma_latency", "10",
     "idle CPUs wake up within 10 us"},
    {"partition", true, Form::Controllers, "/sys/fs/cgroup/cgroup.subtree_control", "+cpuset",
     "no other process runs on the commands' CPUs (cgroup v2)"},
    {"partition", true, Form::Group, "/sys/fs/cgroup/lauka-tune", ""},
    {"smt", false, Form::Word, "/sys/devices/system/cpu/smt/control", "off",
     "each core has one CPU"},
});

// The kernel writes a mask of CPUs as words of 32 bits in hexadecimal digits, the highest first.
constexpr unsigned kBitsOfWord = 32;
constexpr std::size_t kHexDigitsOfWord = 8;
constexpr std::size_t kMaxMaskWords = 256;  // 8,192 CPUs

std::optional<std::vector<std::uint32_t>> parse_mask(std::string_view text) {
  const auto words = split(text, ',');
  if (words.size() > kMaxMaskWords) return std::nullopt;
  std::vector<std::uint32_t> cpus;
  for (std::size_t words_below = 0; words_below < words.size(); ++words_below) {
    const std::string_view word = words[words.size() - 1 - words_below];
    const auto bits = parse_hex(word);
    if (word.size() > kHexDigitsOfWord || !bits) return std::nullopt;

    for (unsigned bit = 0; bit < kBitsOfWord; ++bit) {
      const bool is_set = (*bits >> bit & 1U) != 0;
      if (is_set) cpus.push_back(static_cast<std::uint32_t>(words_below * kBitsOfWord + bit));
    }
  }
  return cpus;
}

/// Writes a mask of CPUs, which must be sorted.
std::string mask_text(const std::vector<std::uint32_t>& cpus) {
  std::vector<std::uint32_t> words(cpus.empty() ? 1 : cpus.back() / kBitsOfWord + 1);
  for (const std::uint32_t cpu : cpus) words[cpu / kBitsOfWord] |= 1U << cpu % kBitsOfWord;
  std::string text = fmt::format("{:x}", words.back());
  for (std::size_t i = words.size() - 1; i-- > 0;) text += fmt::format(",{:08x}", words[i]);
  return text;
}

bool is_word(std::string_view text) {
  constexpr std::size_t longest = 64;
  return !text.empty() && text.size() <= longest &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
}

/// Returns a list of CPUs in the form in which lauka writes such lists; nullopt if it has no CPU.
std::optional<std::string> canonical_cpu_list(std::string_view text) {
  const auto cpus = parse_cpu_list(text);
  return cpus && !cpus->empty() ? std::optional(cpu_list_text(*cpus)) : std::nullopt;
}

/// Returns a mask of CPUs in the form in which lauka writes such masks; nullopt if it has no CPU.
std::optional<std::string> canonical_mask(std::string_view text) {
  const auto cpus = parse_mask(text);
  return cpus && !cpus->empty() ? std::optional(mask_text(*cpus)) : std::nullopt;
}

/// Returns "+cpuset" or "-cpuset", which lauka writes to the file, and also keeps in its journal.
/// The file itself lists the controllers that are switched on.
std::string canonical_controllers(std::string_view text) {
  const bool is_on = text == "+cpuset" || has_word(text, "cpuset");
  return is_on ? "+cpuset" : "-cpuset";
}

/// Returns what is before and after the '*' of a pattern.
std::pair<std::string_view, std::string_view> split_at_star(std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  return {pattern.substr(0, star), pattern.substr(star + 1)};
}

std::optional<std::uint64_t> parse_index(std::string_view digits) {
  const auto number = parse_whole_number(digits, 0, std::numeric_limits<std::uint32_t>::max());
  // Refuses "07", which would be another name of 7.
  if (!number || std::to_string(*number) != digits) return std::nullopt;
  return *number;
}

/// Returns the files that can be read and match a pattern with a '*', which stands for a number.
/// They are sorted by this number, so that cpu10 follows cpu9.
std::vector<std::string> list_numbered_paths(os::SettingFiles& files, std::string_view pattern) {
  // For the pattern "/sys/cpu*/governor", the folder is "/sys", and the prefix of the names to look
  // for is "cpu". The prefix may be empty.
  const auto [before_star, after_star] = split_at_star(pattern);
  const std::size_t last_slash = before_star.rfind('/');
  const std::string folder(before_star.substr(0, last_slash));
  const std::string_view prefix = before_star.substr(last_slash + 1);

  std::map<std::uint64_t, std::string> path_by_number;
  for (const std::string& name : files.list(folder)) {
    if (!name.starts_with(prefix)) continue;
    const auto number = parse_index(std::string_view(name).substr(prefix.size()));
    if (!number) continue;
    std::string path(before_star);
    path.append(std::to_string(*number)).append(after_star);
    const bool can_be_read = files.read(path).has_value();
    if (can_be_read) path_by_number[*number] = std::move(path);
  }

  std::vector<std::string> paths;
  paths.reserve(path_by_number.size());
  for (auto& [number, path] : path_by_number) paths.push_back(std::move(path));
  return paths;
}

/// Returns the files that can be read and match a pattern, which may be a plain path.
std::vector<std::string> list_paths(os::SettingFiles& files, std::string_view pattern) {
  const bool is_plain_path = pattern.find('*') == std::string_view::npos;
  if (!is_plain_path) return list_numbered_paths(files, pattern);

  const std::string path(pattern);
  if (files.read(path)) return {path};
  return {};
}

/// True if the value to write follows from the commands' CPUs.
bool depends_on_cpus(Form form) {
  return form == Form::CpuList || form == Form::CpuMask;
}

/// Returns the CPUs in `current_value` without the commands' CPUs; `cpus.other_cpus` if this leaves
/// no CPU for other work.
std::string remove_command_cpus(Form form, const std::string& current_value,
                                const CpuChoice& cpus) {
  const bool is_list = form == Form::CpuList;
  const auto current_cpus = is_list ? parse_cpu_list(current_value) : parse_mask(current_value);
  auto left = cpus_not_in(cpus.command_cpus, current_cpus.value_or(std::vector<std::uint32_t>()));
  if (common_cpus(cpus.other_cpus, left).empty()) left = cpus.other_cpus;
  return is_list ? cpu_list_text(left) : mask_text(left);
}

/// Finds the states of all settings, in the order of the table.
class SettingFinder {
 public:
  SettingFinder(os::SettingFiles& files, const TuneRequest& request, const CpuChoice& cpus)
      : files_(files), request_(request), cpus_(cpus) {}

  std::vector<SettingState> find() {
    for (const Switch& row : kSwitches) {
      SettingState setting{.row = &row, .is_requested = is_switched_on(request_, row.name)};
      if (row.form == Form::Affinity) {
        find_affinity(setting);
      } else if (row.form == Form::Group) {
        find_group(setting);
      } else if (row.form == Form::Latency) {
        find_latency(setting);
      } else {
        add_settings_of_files(setting);
        continue;
      }
      found_.push_back(std::move(setting));
    }
    drop_rows_that_are_not_needed();
    give_up_controllers_without_group();
    return std::move(found_);
  }

 private:
  void find_affinity(SettingState& setting) {
    setting.current_value = "any";
    setting.why_not = cpus_.why_not;
    if (setting.why_not.empty()) setting.wanted = cpu_list_text(cpus_.command_cpus);
  }

  /// The latency holds while the device is open, so there is no value to read or to restore.
  void find_latency(SettingState& setting) {
    const int error = files_.check_writable(std::string(setting.row->path));
    if (error != ENOENT) setting.path = setting.row->path;
    setting.current_value = "not bounded";
    if (error != 0)
      note_refusal(setting, error);
    else
      setting.wanted = setting.row->wanted;
  }

  static void note_refusal(SettingState& setting, int error) {
    setting.why_not = std::generic_category().message(error);
    setting.needs_root = error == EACCES || error == EPERM;
  }

  /// Adds a copy of `prototype` for each file of its row. If there are no files, adds one copy,
  /// which says so.
  void add_settings_of_files(const SettingState& prototype) {
    const Switch& row = *prototype.row;

    // A switch may have different files on different machines. Then it has a row for each kind of
    // file, and the first row with files is used.
    const bool has_files_of_earlier_row =
        std::ranges::any_of(found_, [&](const SettingState& setting) {
          return setting.row->name == row.name && !setting.path.empty();
        });
    if (row.is_alternative && has_files_of_earlier_row) return;

    const auto paths = list_paths(files_, row.path);
    for (const std::string& path : paths) {
      SettingState setting = prototype;
      setting.path = path;
      read_setting(setting);
      found_.push_back(std::move(setting));
    }

    if (paths.empty()) {
      SettingState missing_setting = prototype;
      missing_setting.why_not = "not here";
      found_.push_back(std::move(missing_setting));
    }
  }

  /// Returns the value that tuning writes. Lists and masks of CPUs say where other work runs:
  /// everywhere but on the commands' CPUs.
  std::string choose_wanted_value(const SettingState& setting) const {
    const Switch& row = *setting.row;
    return depends_on_cpus(row.form) ? remove_command_cpus(row.form, setting.current_value, cpus_)
                                     : std::string(row.wanted);
  }

  /// Reads the current value, and decides whether it can be changed. Sets `wanted` if so, and else
  /// `why_not`, to the first reason that applies.
  void read_setting(SettingState& setting) {
    const Switch& row = *setting.row;
    const auto value = parse_value(row.form, files_.read(setting.path).value_or(""));
    if (!value) {
      setting.why_not = "lauka does not understand its value";
      return;
    }

    setting.current_value = *value;
    const std::string wanted = choose_wanted_value(setting);
    if (depends_on_cpus(row.form) && cpus_.command_cpus.empty()) {
      setting.why_not = "the commands have no CPUs of their own";
    } else if (setting.current_value != wanted) {
      // A file that has the value is not written, so it need not be writable.
      note_obstacle(setting);
    }
    if (setting.why_not.empty()) setting.wanted = wanted;
  }

  /// Sets `why_not` to the first reason why a setting cannot get another value; does nothing if it
  /// can.
  void note_obstacle(SettingState& setting) {
    const Switch& row = *setting.row;
    if (row.form == Form::Controllers && !has_cpuset_controller()) {
      setting.why_not = "cgroup v2 has no cpuset controller here";
    } else if (row.name == "smt" && setting.current_value != "on") {
      // The file then says "notsupported" or "forceoff", for example.
      setting.why_not = "the machine has no SMT that can be switched off";
    } else if (const int error = files_.check_writable(setting.path); error != 0) {
      note_refusal(setting, error);
    } else if (!row.allowed_values_file.empty() && !allows_wanted_value(setting)) {
      setting.why_not = fmt::format("the machine has no \"{}\"", row.wanted);
    }
  }

  bool allows_wanted_value(const SettingState& setting) {
    const std::string folder = setting.path.substr(0, setting.path.rfind('/') + 1);
    const auto allowed = files_.read(folder + std::string(setting.row->allowed_values_file));
    return has_word(allowed.value_or(""), setting.row->wanted);
  }

  bool has_cpuset_controller() {
    return has_word(files_.read("/sys/fs/cgroup/cgroup.controllers").value_or(""), "cpuset");
  }

  /// An "isolated" partition has no load balancing, so it suits only a single CPU.
  void find_group(SettingState& setting) {
    const std::string path(setting.row->path);
    const SettingState& controllers = found_.back();  // the row before this one in the table
    setting.current_value = "none";
    if (controllers.wanted.empty()) {
      setting.why_not = controllers.why_not;
    } else if (cpus_.command_cpus.empty()) {
      setting.why_not = "the commands have no CPUs of their own";
    } else if (!files_.list(path).empty()) {
      setting.why_not = path + " exists already";
    } else {
      setting.path = path;
      setting.wanted = (cpus_.command_cpus.size() == 1 ? "isolated " : "root ") +
                       cpu_list_text(cpus_.command_cpus);
    }
  }

  /// Drops settings without a file. If a switch has no file at all, one of them stays, because it
  /// says why. The control group stays, too, because lauka makes its files.
  void drop_rows_that_are_not_needed() {
    std::set<std::string_view> names_with_files;
    for (const SettingState& setting : found_)
      if (!setting.path.empty()) names_with_files.insert(setting.row->name);

    std::set<std::string_view> kept_names_without_files;
    std::erase_if(found_, [&](const SettingState& setting) {
      const Switch& row = *setting.row;
      if (!setting.path.empty() || row.form == Form::Affinity) return false;
      if (names_with_files.contains(row.name)) return row.form != Form::Group;
      const bool is_first = kept_names_without_files.insert(row.name).second;
      return !is_first;
    });
  }

  /// The cpuset controller is switched on only for the control group.
  void give_up_controllers_without_group() {
    const auto group = std::ranges::find(
        found_, Form::Group, [](const SettingState& setting) { return setting.row->form; });
    if (group == found_.end() || !group->wanted.empty()) return;
    for (SettingState& setting : found_) {
      if (setting.row->form != Form::Controllers || setting.wanted.empty()) continue;
      setting.wanted.clear();
      setting.why_not = group->why_not;
    }
  }

  os::SettingFiles& files_;
  const TuneRequest& request_;
  const CpuChoice& cpus_;
  std::vector<SettingState> found_{};
};

/// Returns the word in brackets; `text` itself if it has no brackets.
std::string_view find_word_in_brackets(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) return text;
  return text.substr(open + 1, text.find(']', open) - open - 1);
}

bool is_group_value(std::string_view text) {
  const auto words = blank_separated(text);
  const bool is_partition = words.size() == 2 && (words[0] == "root" || words[0] == "isolated");
  return text == "none" || (is_partition && parse_value(Form::CpuList, words[1]));
}

using Cpus = std::vector<std::uint32_t>;
constexpr std::string_view kCpuFolder = "/sys/devices/system/cpu/";

/// Returns no CPUs if the file is missing or has another form.
Cpus read_cpus(os::SettingFiles& files, const std::string& path) {
  return parse_cpu_list(files.read(path).value_or("")).value_or(Cpus());
}

Cpus read_online_cpus(os::SettingFiles& files) {
  return read_cpus(files, std::string(kCpuFolder) + "online");
}

std::optional<std::uint64_t> read_number(os::SettingFiles& files, const std::string& path) {
  return parse_number(trimmed(files.read(path).value_or("")));
}

/// Takes the CPUs that the user named.
Result<CpuChoice> choose_named_cpus(const TuneRequest& request, const Cpus& online,
                                    const CpuFacts& facts) {
  const std::string option = "--tune=cpus=" + cpu_list_text(request.cpus);
  const Cpus allowed = common_cpus(facts.allowed, online);
  if (const auto forbidden = cpus_not_in(allowed, request.cpus); !forbidden.empty())
    return Error{
        fmt::format("{} has CPU {}, on which lauka may not run", option, forbidden.front()),
        fmt::format("choose from {}", cpu_list_text(allowed))};

  CpuChoice choice{.command_cpus = request.cpus, .other_cpus = cpus_not_in(request.cpus, online)};
  if (choice.other_cpus.empty())
    return Error{option + " leaves no CPU for the rest of the system", "leave out one CPU"};
  return choice;
}

/// Returns the CPUs of `from` that make up whole cores, without the first CPU's core.
/// `takes_one_per_core`: one CPU of each core, because SMT will be off.
Cpus find_whole_cores(os::SettingFiles& files, const Cpus& online, const Cpus& from,
                      bool takes_one_per_core) {
  Cpus candidates;
  for (const std::uint32_t cpu : online) {
    const std::string topology = fmt::format("{}cpu{}/topology/", kCpuFolder, cpu);

    // Older kernels have only the second file. Without both, a CPU counts as a core.
    auto core = read_cpus(files, topology + "core_cpus_list");
    if (core.empty()) core = read_cpus(files, topology + "thread_siblings_list");
    if (core.empty()) core = {cpu};

    const bool is_in_from = std::ranges::find(from, cpu) != from.end();
    const bool is_whole = cpus_not_in(from, core).empty() || core.size() == 1;
    const bool has_first_cpu = std::ranges::find(core, online.front()) != core.end();
    if (!is_in_from || !is_whole || has_first_cpu) continue;
    if (!takes_one_per_core || cpu == core.front()) candidates.push_back(cpu);
  }
  return candidates;
}

/// Returns the candidates on the memory node with the most candidates; all candidates if their
/// nodes are unknown.
Cpus keep_largest_node(os::SettingFiles& files, const Cpus& candidates) {
  constexpr std::string_view prefix = "node";
  const std::string folder = "/sys/devices/system/node";
  std::map<std::uint64_t, Cpus> candidates_by_node;
  for (const std::string& name : files.list(folder)) {
    if (!name.starts_with(prefix)) continue;
    const auto number = parse_index(std::string_view(name).substr(prefix.size()));
    if (!number) continue;
    const Cpus cpus_of_node = read_cpus(files, fmt::format("{}/{}/cpulist", folder, name));
    candidates_by_node[*number] = common_cpus(cpus_of_node, candidates);
  }

  // Of nodes with equally many candidates, the last one is taken.
  Cpus largest;
  for (const auto& [number, cpus] : candidates_by_node)
    if (!cpus.empty() && cpus.size() >= largest.size()) largest = cpus;
  return largest.empty() ? candidates : largest;
}

/// What --tune=list says about the settings of a switch. Equal texts of several settings appear
/// once.
struct SwitchSummary {
  std::set<std::string> changes{};    ///< "0 -> 1"
  std::set<std::string> unchanged{};  ///< "1 already", or why a setting cannot be changed
  std::size_t setting_count = 0;
  bool is_requested = false;
};

/// Adds what a summary says about a setting.
void add_setting(const SettingState& setting, SwitchSummary& summary) {
  const bool can_be_tuned = !setting.wanted.empty();
  if (!can_be_tuned) {
    const bool has_known_value = !setting.current_value.empty() && !setting.path.empty();
    const std::string value = has_known_value ? setting.current_value + ", " : "";
    summary.unchanged.insert(value + setting.why_not);
  } else if (setting.wanted == setting.current_value) {
    summary.unchanged.insert(setting.current_value + " already");
  } else {
    summary.changes.insert(setting.current_value + " -> " + setting.wanted);
  }
}

SwitchSummary summarize_switch(std::string_view switch_name,
                               const std::vector<SettingState>& settings) {
  SwitchSummary summary;
  for (const SettingState& setting : settings) {
    if (setting.row->name != switch_name) continue;
    summary.is_requested = setting.is_requested;  // the same for all settings of the switch

    // Switching on a controller of control groups only prepares another setting of the switch. So
    // it is shown only if it is impossible.
    const bool can_be_tuned = !setting.wanted.empty();
    if (setting.row->form == Form::Controllers && can_be_tuned) continue;

    ++summary.setting_count;
    add_setting(setting, summary);
  }
  return summary;
}

/// Returns what a summary says about the values: "0 -> 1; 1 already (8 files)".
std::string describe_values(const SwitchSummary& summary) {
  std::string values = fmt::format("{}", fmt::join(summary.changes, "; "));
  if (!values.empty() && !summary.unchanged.empty()) values += "; ";
  values += fmt::format("{}", fmt::join(summary.unchanged, "; "));
  if (summary.setting_count > 1) values += fmt::format(" ({} files)", summary.setting_count);
  return values;
}

/// Adds the ticks in a line of /proc/stat: "cpu1 user nice system idle iowait irq softirq steal".
void add_ticks(std::string_view line, Vitals& vitals) {
  // Later words, of guests, are left out, because their ticks count as user ticks, too.
  constexpr std::size_t steal_index = 8;
  const auto words = blank_separated(line);
  if (words.size() <= steal_index) return;
  for (std::size_t i = 1; i <= steal_index; ++i)
    vitals.ticks = vitals.ticks.value_or(0) + parse_number(words[i]).value_or(0);
  const std::uint64_t stolen_ticks = parse_number(words[steal_index]).value_or(0);
  vitals.stolen_ticks = vitals.stolen_ticks.value_or(0) + stolen_ticks;
}

/// Adds how often the kernel counted that a CPU's core, or its whole package, was hot and slowed
/// down.
void add_throttles(os::SettingFiles& files, std::uint32_t cpu, Vitals& vitals) {
  for (const char* const throttled_unit : {"core", "package"}) {
    const std::string path =
        fmt::format("{}cpu{}/thermal_throttle/{}_throttle_count", kCpuFolder, cpu, throttled_unit);
    const auto count = read_number(files, path);
    if (count) vitals.throttles = vitals.throttles.value_or(0) + *count;
  }
}

/// Returns the temperature of the hottest sensor; nullopt if there is none.
std::optional<double> read_celsius(os::SettingFiles& files) {
  constexpr double millidegrees_per_degree = 1000.0;
  const std::string zones = "/sys/devices/virtual/thermal";
  std::optional<double> hottest;
  for (const std::string& zone : files.list(zones)) {
    if (!zone.starts_with("thermal_zone")) continue;
    const auto millidegrees = read_number(files, fmt::format("{}/{}/temp", zones, zone));
    if (!millidegrees) continue;

    const double celsius = static_cast<double>(*millidegrees) / millidegrees_per_degree;
    hottest = std::max(hottest.value_or(0.0), celsius);
  }
  return hottest;
}

}  // namespace

const Switch* find_switch(std::string_view path) {
  const auto* const found = std::ranges::find_if(kSwitches, [&](const Switch& row) {
    if (row.path.empty() || row.path.find('*') == std::string_view::npos) return row.path == path;
    const auto [before, after] = split_at_star(row.path);
    const std::size_t fixed_size = before.size() + after.size();
    const bool matches =
        path.size() > fixed_size && path.starts_with(before) && path.ends_with(after);
    return matches && parse_index(path.substr(before.size(), path.size() - fixed_size));
  });
  return found == kSwitches.end() || path.empty() ? nullptr : found;
}

// Values are compared as texts. So if a value can be written in several ways, the result is written
// in lauka's way. Most values can be written in only one way.
std::optional<std::string> parse_value(Form form, std::string_view text) {
  text = trimmed(text);
  const std::string as_it_is(text);

  switch (form) {
    case Form::Word:
      return is_word(text) ? std::optional(as_it_is) : std::nullopt;
    case Form::Chosen:  // "always [madvise] never" has the value "madvise"
      return parse_value(Form::Word, find_word_in_brackets(text));
    case Form::Number:
      return parse_index(text) ? std::optional(as_it_is) : std::nullopt;
    case Form::CpuList:
      return canonical_cpu_list(text);
    case Form::CpuMask:
      return canonical_mask(text);
    case Form::Controllers:
      return canonical_controllers(text);
    case Form::Group:
      return is_group_value(text) ? std::optional(as_it_is) : std::nullopt;
    case Form::Latency:
    case Form::Affinity:
      break;  // these have no value that could be read from a file
  }

  return std::nullopt;
}

Result<CpuChoice> choose_cpus(os::SettingFiles& files, const TuneRequest& request,
                              const CpuFacts& facts) {
  const Cpus online = read_online_cpus(files);
  if (!request.cpus.empty()) return choose_named_cpus(request, online, facts);
  auto from = common_cpus(facts.allowed, online);
  if (!facts.preferred_kind_cpus.empty()) from = common_cpus(facts.preferred_kind_cpus, from);
  CpuChoice choice;
  choice.command_cpus = keep_largest_node(
      files, find_whole_cores(files, online, from, is_switched_on(request, "smt")));
  choice.other_cpus = cpus_not_in(choice.command_cpus, online);
  if (!is_switched_on(request, "cpus"))
    return CpuChoice{.other_cpus = online, .why_not = "you did not ask for it"};
  if (choice.command_cpus.empty())
    choice.why_not = "there is no core other than that of the first CPU";
  return choice;
}

std::vector<SettingState> find_settings(os::SettingFiles& files, const TuneRequest& request,
                                        const CpuChoice& cpus) {
  return SettingFinder(files, request, cpus).find();
}

Result<void> check_names(const TuneRequest& request) {
  std::vector<std::string_view> names;
  for (const Switch& row : kSwitches)
    if (names.empty() || names.back() != row.name) names.push_back(row.name);
  for (const TuneRequest::Choice& choice : request.choices) {
    if (std::ranges::find(names, choice.name) != names.end()) continue;
    const std::string_view meant = nearest(choice.name, names);
    return Error{fmt::format("--tune has no switch '{}'", choice.name),
                 meant.empty() ? "run lauka --tune=list to see all"
                               : fmt::format("did you mean {}?", meant)};
  }
  return {};
}

bool is_switched_on(const TuneRequest& request, std::string_view name) {
  // The last of several choices counts.
  bool is_on = std::ranges::find(kSwitches, name, &Switch::name)->by_default;
  for (const TuneRequest::Choice& choice : request.choices)
    if (choice.name == name) is_on = choice.on;
  return is_on;
}

// The answer to --tune=list. Each switch has two lines: what tuning would change, and what the
// switch is for.
std::string list_text(const std::vector<SettingState>& settings, const CpuChoice& cpus) {
  constexpr std::size_t name_width = 12;
  const std::string indent_of_help(2 + name_width, ' ');  // as wide as the mark and the name above
  std::string text;
  for (const Switch& row : kSwitches) {
    // Only the first of several rows of a switch has a help text. It stands for the switch.
    if (row.help.empty()) continue;
    const SwitchSummary summary = summarize_switch(row.name, settings);
    const char mark = summary.is_requested ? '+' : '-';
    const std::string padded_name = fmt::format("{:<{}}", row.name, name_width);
    text += fmt::format("{} {}{}\n", mark, padded_name, describe_values(summary));
    text += fmt::format("{}{}\n", indent_of_help, row.help);
  }

  if (!cpus.command_cpus.empty())
    text += fmt::format("\nThe commands get the CPUs {}, and everything else gets the CPUs {}.\n",
                        cpu_list_text(cpus.command_cpus), cpu_list_text(cpus.other_cpus));

  return text +
         "\n--tune changes the settings that are marked with +. --tune=+NAME,-NAME changes the "
         "choice.\n";
}

// Vitals show how the machine fares: throttling, stolen time and temperature. A vital stays nullopt
// if the machine does not tell it, as in a container.
Vitals read_vitals(os::SettingFiles& files, std::vector<std::uint32_t> cpus) {
  if (cpus.empty()) cpus = read_online_cpus(files);

  Vitals vitals;
  const std::string stat = files.read("/proc/stat").value_or("");
  const auto stat_lines = split(stat, '\n');

  for (const std::uint32_t cpu : cpus) {
    add_throttles(files, cpu, vitals);

    // The CPU's line in /proc/stat shows its time in total, and what the hypervisor gave to other
    // machines.
    const std::string line_begin = fmt::format("cpu{} ", cpu);
    const auto line_of_cpu = std::ranges::find_if(
        stat_lines, [&](std::string_view line) { return line.starts_with(line_begin); });
    if (line_of_cpu != stat_lines.end()) add_ticks(*line_of_cpu, vitals);
  }

  vitals.celsius = read_celsius(files);
  return vitals;
}

}  // namespace lauka::tune
