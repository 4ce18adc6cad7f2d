#include "engine/kperf/kpep.h"

#include "core/text.h"
#include "os/files.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

// The layout of the files: ibireme's kpc_demo and public decompilations of kperfdata.framework.

namespace lauka::engine::kperf {
namespace {

constexpr std::uint64_t kKnownVersion = 1;
constexpr std::uint64_t kHighestNumber = 0xffff;
constexpr std::uint64_t kHighestMask = 0xffffffff;
/// Apple's are 10 to 100 kB.
constexpr std::size_t kLargestFile = std::size_t{16} << 20U;

/// False if the text could steer a terminal.
bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

/// Reads the parts of a database. The first fault is kept, and later parts are void.
class KpepParser {
 public:
  Result<KpepDatabase> parse(const PlistValue& root) {
    if (root.get<PlistDict>() == nullptr)
      return Error{"is not a kpep database: it holds no dictionary", ""};
    check_version(root.find("version"));
    database_.name = text(root, "name", "name", true);
    const PlistValue* system = root.find("system");
    const PlistValue* cpu = system == nullptr ? nullptr : system->find("cpu");
    if (cpu == nullptr || cpu->get<PlistDict>() == nullptr)
      refuse("is not a kpep database: it has no dictionary system.cpu");
    else
      read_cpu(*cpu);
    if (fault_) return *fault_;
    return std::move(database_);
  }

 private:
  void refuse(std::string what) {
    if (!fault_) fault_ = Error{std::move(what), ""};
  }

  void check_version(const PlistValue* version) {
    const auto* numbers = version == nullptr ? nullptr : version->get<PlistArray>();
    const bool two = numbers != nullptr && numbers->size() == 2 &&
                     (*numbers)[0].get<std::uint64_t>() != nullptr &&
                     (*numbers)[1].get<std::uint64_t>() != nullptr;
    if (!two) return refuse("is not a kpep database: its version is not a pair of numbers");
    const std::uint64_t major = *(*numbers)[0].get<std::uint64_t>();
    if (major != kKnownVersion)
      refuse(fmt::format("is of version {}.{}, and lauka knows version {} only", major,
                         *(*numbers)[1].get<std::uint64_t>(), kKnownVersion));
  }

  void read_cpu(const PlistValue& cpu) {
    database_.architecture = text(cpu, "architecture", "system.cpu.architecture", true);
    if (!fault_ && database_.architecture != "arm64")
      refuse(fmt::format("is for the architecture {}, and lauka knows arm64 only",
                         cited(database_.architecture)));
    database_.marketing_name = text(cpu, "marketing_name", "system.cpu.marketing_name", false);
    database_.fixed_counters = counters(cpu, "fixed_counters", true);
    database_.config_counters = counters(cpu, "config_counters", true);
    database_.power_counters = counters(cpu, "power_counters", false);
    if ((database_.fixed_counters & database_.config_counters) != 0)
      refuse("has counters that are both fixed and configurable");
    read_events(cpu.find("events"));
    read_aliases(cpu.find("aliases"));
    std::ranges::sort(database_.events,
                      [](const KpepEvent& a, const KpepEvent& b) { return key_of(a) < key_of(b); });
  }

  static std::tuple<bool, std::uint64_t, const std::string&> key_of(const KpepEvent& event) {
    return {!event.is_fixed, event.is_fixed ? event.mask : event.number, event.name};
  }

  /// A mask of counters of the processor.
  CounterMask counters(const PlistValue& cpu, std::string_view key, bool required) {
    const std::uint64_t most = (std::uint64_t{1} << kMostCounters) - 1;
    return static_cast<CounterMask>(
        number(cpu, key, fmt::format("system.cpu.{}", key), most, required).value_or(0));
  }

  void read_events(const PlistValue* events) {
    const auto* dict = events == nullptr ? nullptr : events->get<PlistDict>();
    if (dict == nullptr) return refuse("has no dictionary system.cpu.events");
    if (dict->empty()) return refuse("has no events");
    for (const auto& [name, properties] : *dict) {
      if (properties.get<PlistDict>() == nullptr)
        return refuse(fmt::format("has an event {} that is not a dictionary", cited(name)));
      read_event(name, properties);
    }
  }

  void read_event(const std::string& name, const PlistValue& properties) {
    const auto of_event = [&name](std::string_view key) {
      return fmt::format("{} of event {}", key, cited(name));
    };
    if (!is_printable(name)) return refuse("has an event whose name has control characters");
    KpepEvent event{.name = name};
    event.description = text(properties, "description", of_event("description"), false);
    event.errata = text(properties, "errata", of_event("errata"), false);
    event.fallback = text(properties, "fallback", of_event("fallback"), false);
    const auto fixed =
        number(properties, "fixed_counter", of_event("fixed_counter"), kMostCounters - 1, false);
    event.is_fixed = fixed.has_value();
    event.number = static_cast<std::uint16_t>(
        number(properties, "number", of_event("number"), kHighestNumber, !event.is_fixed)
            .value_or(0));
    const auto mask =
        number(properties, "counters_mask", of_event("counters_mask"), kHighestMask, false);
    if (event.is_fixed) {
      event.number = 0;
      event.mask = CounterMask{1} << *fixed;
      if ((event.mask & database_.fixed_counters) == 0)
        refuse(fmt::format("has an event {} on the fixed counter {}, which does not exist",
                           cited(name), *fixed));
    } else {
      event.mask = static_cast<CounterMask>(mask.value_or(database_.config_counters)) &
                   database_.config_counters;
    }
    database_.events.push_back(std::move(event));
  }

  void read_aliases(const PlistValue* aliases) {
    if (aliases == nullptr) return;
    const auto* dict = aliases->get<PlistDict>();
    if (dict == nullptr) return refuse("has system.cpu.aliases that are not a dictionary");
    for (const auto& [alias, target] : *dict) {
      const auto* name = target.get<std::string>();
      if (name == nullptr)
        return refuse(fmt::format("has an alias {} that does not name an event", cited(alias)));
      const auto event = std::ranges::find(database_.events, *name, &KpepEvent::name);
      if (event == database_.events.end())
        return refuse(fmt::format("has an alias {} for {}, which is not one of its events",
                                  cited(alias), cited(*name)));
      if (!event->alias.empty())
        return refuse(fmt::format("has two aliases for {}: {} and {}", cited(*name),
                                  cited(event->alias), cited(alias)));
      if (!is_printable(alias)) return refuse("has an alias with control characters");
      event->alias = alias;
    }
  }

  std::string text(const PlistValue& dict, std::string_view key, std::string_view called,
                   bool required) {
    const PlistValue* found = dict.find(key);
    if (found == nullptr) {
      if (required) refuse(fmt::format("is not a kpep database: it has no {}", called));
      return {};
    }
    const auto* value = found->get<std::string>();
    if (value == nullptr) refuse(fmt::format("is damaged: {} is not text", called));
    if (value != nullptr && !is_printable(*value))
      refuse(fmt::format("is damaged: {} has control characters", called));
    return value == nullptr ? std::string() : *value;
  }

  std::optional<std::uint64_t> number(const PlistValue& dict, std::string_view key,
                                      std::string_view called, std::uint64_t most, bool required) {
    const PlistValue* found = dict.find(key);
    if (found == nullptr) {
      if (required) refuse(fmt::format("is damaged: there is no {}", called));
      return std::nullopt;
    }
    const auto* value = found->get<std::uint64_t>();
    if (value == nullptr) {
      refuse(fmt::format("is damaged: {} is not a number", called));
      return std::nullopt;
    }
    if (*value > most) {
      refuse(fmt::format("is damaged: {} is out of range, at most {}", called, most));
      return std::nullopt;
    }
    return *value;
  }

  KpepDatabase database_;
  std::optional<Error> fault_;
};

Error of_file(const std::string& path, const Error& error) {
  return Error{fmt::format("{} {}", cited(path), error.what),
               error.remedy.empty() ? "name a .plist from a Mac's /usr/share/kpep" : error.remedy};
}

}  // namespace

std::size_t place_among(CounterMask counters, unsigned counter) {
  return static_cast<std::size_t>(std::popcount(counters & ((CounterMask{1} << counter) - 1)));
}

std::string counters_in_words(CounterMask counters) {
  std::vector<std::string> ranges;
  while (counters != 0) {
    const int first = std::countr_zero(counters);
    const int length = std::countr_one(counters >> first);
    ranges.push_back(length == 1 ? fmt::format("PMC{}", first)
                                 : fmt::format("PMC{}-{}", first, first + length - 1));
    const int next = first + length;
    counters = next < 32 ? counters >> next << next : 0;
  }
  return ranges.empty() ? "no counter" : listed(ranges);
}

const KpepEvent* find_event(const KpepDatabase& database, std::string_view name) {
  if (name.empty()) return nullptr;
  const auto& events = database.events;
  auto found = std::ranges::find_if(
      events, [name](const KpepEvent& event) { return same_ignoring_case(event.alias, name); });
  if (found == events.end())
    found = std::ranges::find_if(
        events, [name](const KpepEvent& event) { return same_ignoring_case(event.name, name); });
  return found == events.end() ? nullptr : &*found;
}

Result<KpepDatabase> kpep_from(const PlistValue& root) {
  return KpepParser().parse(root);
}

Result<KpepDatabase> load_kpep(const std::string& path) {
  const auto bytes = os::read_file(path, kLargestFile);
  if (!bytes) return of_file(path, bytes.error());
  const auto root = read_plist(*bytes);
  if (!root) return of_file(path, root.error());
  auto database = kpep_from(*root);
  if (!database) return of_file(path, database.error());
  return database;
}

std::string cpu_name(std::uint32_t type, std::uint32_t subtype, std::uint32_t family) {
  return fmt::format("cpu_{:x}_{:x}_{:x}", type, subtype, family);
}

std::vector<std::string> kpep_paths(std::string_view cpu) {
  return {fmt::format("/usr/local/share/kpep/{}.plist", cpu),
          fmt::format("/usr/share/kpep/{}.plist", cpu)};
}

Result<KpepDatabase> load_kpep_of(std::string_view cpu, const std::vector<std::string>& paths) {
  const auto found = std::ranges::find_if(paths, os::is_there);
  if (found == paths.end())
    return Error{fmt::format("there is no kpep database for this processor, {}", cpu),
                 "name the file of a similar one with --kpep FILE"};
  return load_kpep(*found);
}

}  // namespace lauka::engine::kperf
