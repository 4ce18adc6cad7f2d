#include "history/parts.h"

#include "core/foreign_text.h"
#include "core/numbers.h"
#include "format/sections.h"
#include "format/text.h"
#include "history/packed.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka::history {

std::string parts_of(const Machine& machine) {
  auto json = json_of(machine);
  for (const char* const of_one : {"name", "os", "class"}) json.erase(of_one);
  return dumped(json, -1);
}

Machine machine_of_parts(std::string_view parts) {
  const auto json = parsed(parts);
  return json ? machine_of(*json) : Machine();
}

std::string words_of(const Machine& machine) {
  std::string text = machine.cpu_model.empty() ? machine.architecture : machine.cpu_model;
  if (machine.cpus > 0) text += fmt::format(", {} CPUs", machine.cpus);
  for (const std::string& part :
       {machine.system + (machine.kernel.empty() ? "" : " " + machine.kernel), machine.governor,
        machine.hypervisor == "unknown" ? std::string("virtual") : machine.hypervisor})
    if (!part.empty()) text += ", " + part;
  return one_line(text);
}

std::string variant_key(const BenchmarkRecord& result, std::string_view machine_class) {
  // Their lengths are in it, so that no part can be taken for a piece of another.
  std::string key;
  for (const std::string_view part :
       {std::string_view(result.benchmark), std::string_view(result.role),
        std::string_view(result.command), machine_class})
    key += fmt::format("{}:{} ", part.size(), part);
  return key;
}

Result<TimeOfDay> time_in_words(const std::string& text) {
  const bool is_date = std::count(text.begin(), text.end(), '-') == 2;
  const std::string whole = text.find('T') == std::string::npos ? text + "T00:00:00Z" : text;
  const auto time = time_of(whole);
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  if (!is_date || time == TimeOfDay() || (rfc3339(time) != whole && rfc3339(second) != whole))
    return Error{"the date " + cited(text) + " is none",
                 "write 2026-11-22 or 2026-11-22T18:00:00Z"};
  return time;
}

Result<std::int64_t> commit_number(Database& database, const std::string& commit) {
  const auto exact =
      database.ask(fmt::format("SELECT commit_name FROM lauka_session WHERE commit_name = {} "
                               "LIMIT 1",
                               number_of(commit)),
                   1);
  if (!exact) return exact.error();
  if (!exact->empty()) return number_of(commit);
  // Nobody types all forty digits.
  constexpr std::size_t fewest = 4;
  std::vector<std::int64_t> found;
  if (commit.size() >= fewest) {
    const auto rows = database.ask(
        "SELECT id, text FROM lauka_name WHERE text LIKE :t0 AND EXISTS "
        "(SELECT 1 FROM lauka_session WHERE commit_name = lauka_name.id)",
        2, std::vector{commit + "%"});
    if (!rows) return rows.error();
    for (const Row& row : *rows)
      if (row[1].compare(0, commit.size(), commit) == 0)
        found.push_back(std::strtoll(row[0].c_str(), nullptr, 10));
  }
  if (found.empty())
    return Error{"has no session of the commit " + cited(commit),
                 "lauka-history list shows what there is"};
  if (found.size() > 1)
    return Error{"has several commits that begin with " + cited(commit), "write more of it"};
  return found.front();
}

}  // namespace lauka::history
