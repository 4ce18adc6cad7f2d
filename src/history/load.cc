#include "history/load.h"

#include "core/text.h"
#include "history/encoding.h"
#include "history/trend.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

// Names are queried separately from the points, all new ones at once: a join might read all names.

namespace lauka::history {

namespace {

constexpr std::size_t kMostIds = 2000;  // in one statement

std::int64_t id_in(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

/// "... IN (1,2,3)" for some of `ids` at a time.
Result<void> for_each_list(const std::set<std::int64_t>& ids,
                           const std::function<Result<void>(const std::string&)>& ask) {
  std::string list;
  std::size_t count = 0;
  for (const std::int64_t id : ids) {
    list += (list.empty() ? "" : ",") + std::to_string(id);
    ++count;
    if (count % kMostIds != 0 && count < ids.size()) continue;
    if (auto done = ask(list); !done) return done;
    list.clear();
  }
  return {};
}

/// Returns the places of the wanted metrics; by default the time, else the first.
std::vector<std::size_t> wanted_metrics(const std::vector<MetricRecord>& layout,
                                        const std::vector<std::string>& names) {
  std::vector<std::size_t> places;
  const auto add = [&](std::string_view name) {
    for (std::size_t i = 0; i < layout.size(); ++i)
      if ((name == "all" || layout[i].name == name) && std::ranges::find(places, i) == places.end())
        places.push_back(i);
  };
  for (const std::string& name : names) add(name);
  if (names.empty()) add(metric_name_of(Role::WallTime));
  if (names.empty() && places.empty() && !layout.empty()) places.push_back(0);
  return places;
}

/// Returns the default role: a suite's history is about the candidate.
std::string usual_role(const std::vector<Variant>& variants) {
  for (const std::string_view role : {"candidate", "", "reference", "anchor"})
    for (const Variant& variant : variants)
      if (variant.role == role) return std::string(role);
  return {};
}

bool has_one_anchor(const Series& series) {
  std::set<std::string_view> anchors;
  for (const SeriesPoint& point : series.points)
    if (point.values.to_anchor) anchors.insert(point.anchor);
  return anchors.size() < 2;
}

/// Returns the ratio to the anchor of one metric in the numbers of a row.
std::optional<LogRatio> to_anchor(std::string_view metric, std::string_view layout,
                                  std::string_view numbers) {
  auto metrics = decode_layout(layout);
  for (std::size_t place = 0; place < metrics.size(); ++place)
    if (metrics[place].name == metric && decode_values(metrics[place], place, numbers))
      return metrics[place].to_anchor;
  return std::nullopt;
}

void relate_to_newest_anchor(Series& series, const AnchorLinks& chain) {
  std::string newest;
  for (const SeriesPoint& point : series.points)
    if (!point.anchor.empty()) newest = point.anchor;
  const auto links = chain.to(newest);
  for (SeriesPoint& point : series.points) {
    auto& ratio = point.values.to_anchor;
    if (!ratio || point.anchor == newest) continue;
    const auto link = links.find(point.anchor);
    if (link == links.end()) {
      ratio.reset();
      ++series.unchained;
    } else {
      ratio->value += link->second.value;
      point.link_error = link->second.error.value_or(0.0);
      point.anchor = newest;
    }
  }
}

}  // namespace

std::string commit_of(const SessionRecord& session) {
  const std::string commit = session.label("commit");
  return commit.empty() || session.label("dirty") != "yes" ? commit : commit + "+dirty";
}

std::vector<Series> series_of(const SessionRecord& session, const Wanted& wanted) {
  std::vector<Variant> variants;
  for (const BenchmarkRecord& result : session.results)
    variants.push_back({.benchmark = result.benchmark,
                        .role = result.role,
                        .command = result.command,
                        .machine_class = class_of(session.machine),
                        .machine = session.machine});
  const std::string role = wanted.role.empty() ? usual_role(variants) : wanted.role;
  std::vector<Series> all;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (role != "all" && variants[i].role != role) continue;
    const std::vector<MetricRecord>& metrics = session.results[i].metrics;
    for (const std::size_t metric : wanted_metrics(metrics, wanted.metrics)) {
      Series series{.variant = variants[i], .metric = metrics[metric]};
      series.points.push_back({.began = session.began.time_since_epoch().count(),
                               .commit = commit_of(session),
                               .branch = session.label("branch"),
                               .anchor = session.results[i].anchor,
                               .values = metrics[metric]});
      all.push_back(std::move(series));
    }
  }
  return all;
}

Result<std::int64_t> find_commit(Database& database, const std::string& commit) {
  const auto exact =
      database.ask(fmt::format("SELECT commit_name FROM lauka_session WHERE commit_name = {} "
                               "LIMIT 1",
                               text_id(commit)),
                   1);
  if (!exact) return exact.error();
  if (!exact->empty()) return text_id(commit);
  // Users do not type all forty digits.
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

const std::string& Loader::name(std::int64_t id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? names_.at(0) : found->second;
}

Result<void> Loader::learn(const std::set<std::int64_t>& names) {
  std::set<std::int64_t> unknown;
  for (const std::int64_t id : names)
    if (names_.count(id) == 0) unknown.insert(id);
  return for_each_list(unknown, [&](const std::string& list) {
    return database_.each("SELECT id, text FROM lauka_name WHERE id IN (" + list + ")", 2, {},
                          [&](const Row& row) { names_[id_in(row[0])] = row[1]; });
  });
}

Result<void> Loader::load_machines(const std::set<std::int64_t>& machines) {
  std::set<std::int64_t> unknown;
  for (const std::int64_t id : machines)
    if (machines_.count(id) == 0) unknown.insert(id);
  std::map<std::int64_t, std::pair<std::string, std::int64_t>> found;
  std::set<std::int64_t> parts;
  auto asked = for_each_list(unknown, [&](const std::string& list) {
    return database_.each("SELECT id, class, parts FROM lauka_machine WHERE id IN (" + list + ")",
                          3, {}, [&](const Row& row) {
                            found[id_in(row[0])] = {row[1], id_in(row[2])};
                            parts.insert(id_in(row[2]));
                          });
  });
  if (!asked) return asked;
  if (auto learnt = learn(parts); !learnt) return learnt;
  for (const auto& [id, one] : found) machines_[id] = {one.first, decode_machine(name(one.second))};
  return {};
}

Result<void> Loader::learn_of(const std::vector<Row>& rows,
                              std::initializer_list<std::size_t> names, std::size_t machine) {
  std::set<std::int64_t> ids;
  std::set<std::int64_t> machines;
  for (const Row& row : rows) {
    for (const std::size_t column : names) ids.insert(id_in(row[column]));
    machines.insert(id_in(row[machine]));
  }
  if (auto learnt = learn(ids); !learnt) return learnt;
  return load_machines(machines);
}

Result<std::vector<SessionLine>> Loader::sessions(std::size_t last, const std::string& commit) {
  std::string condition;
  if (!commit.empty()) {
    const auto number = find_commit(database_, commit);
    if (!number) return number.error();
    condition = fmt::format(" WHERE commit_name = {}", *number);
  }
  const auto rows = database_.ask(
      fmt::format("SELECT began, uuid, commit_name, branch, host, machine, results, complete FROM "
                  "lauka_session{} ORDER BY began DESC, added DESC LIMIT {}",
                  condition, last),
      8);
  if (!rows) return rows.error();
  if (auto learnt = learn_of(*rows, {2, 3, 4}, 5); !learnt) return learnt.error();
  std::vector<SessionLine> lines;
  for (const Row& row : *rows)
    lines.push_back({.began = id_in(row[0]),
                     .uuid = row[1],
                     .commit = name(id_in(row[2])),
                     .branch = name(id_in(row[3])),
                     .host = name(id_in(row[4])),
                     .machine_class = machines_[id_in(row[5])].first,
                     .results = static_cast<std::size_t>(id_in(row[6])),
                     .complete = row[7] != "0"});
  return lines;
}

Error Loader::no_variant(const Wanted& wanted, const std::set<std::string>& roles) {
  const std::string lists = "lauka-history list --benchmarks lists all";
  if (wanted.benchmark.empty()) return {"no such benchmark", lists};
  const std::string what = "no benchmark " + cited(wanted.benchmark);
  if (!roles.empty())
    return {what + " in the role " + cited(wanted.role),
            "write --role " + listed(std::vector<std::string>(roles.begin(), roles.end()), "or")};
  Wanted any{.role = "all"};
  std::set<std::string> names;
  if (!wanted.commit.empty()) return {what + " at the commit " + cited(wanted.commit), lists};
  if (const auto all = variants(any))
    for (const Variant& one : *all) names.insert(one.benchmark);
  const auto near =
      nearest_names(wanted.benchmark, std::vector<std::string>(names.begin(), names.end()));
  return {what, near.empty() ? lists : fmt::format("did you mean {}?", listed(near, "or"))};
}

Result<std::vector<Variant>> Loader::variants(const Wanted& wanted) {
  std::string condition = "1 = 1";
  if (!wanted.benchmark.empty())
    condition += fmt::format(" AND benchmark = {}", text_id(wanted.benchmark));
  if (!wanted.commit.empty()) {
    const auto number = find_commit(database_, wanted.commit);
    if (!number) return number.error();
    condition += fmt::format(
        " AND id IN (SELECT variant FROM lauka_point WHERE session IN "
        "(SELECT id FROM lauka_session WHERE commit_name = {}))",
        *number);
  }
  const auto rows = database_.ask(
      "SELECT id, benchmark, role, command, machine FROM lauka_variant WHERE " + condition, 5);
  if (!rows) return rows.error();
  if (auto learnt = learn_of(*rows, {1, 2, 3}, 4); !learnt) return learnt.error();
  std::vector<Variant> variants;
  for (const Row& row : *rows) {
    const auto& machine = machines_[id_in(row[4])];
    if (!machine.first.starts_with(wanted.machine)) continue;
    variants.push_back({.id = id_in(row[0]),
                        .benchmark = name(id_in(row[1])),
                        .role = name(id_in(row[2])),
                        .command = name(id_in(row[3])),
                        .machine_class = machine.first,
                        .machine = machine.second});
  }
  std::set<std::string> roles;
  for (const Variant& variant : variants)
    if (!variant.role.empty()) roles.insert(variant.role);
  const std::string role = wanted.role.empty() ? usual_role(variants) : wanted.role;
  std::erase_if(variants, [&](const Variant& one) {
    return role != "all" && one.role != role && !(wanted.role.empty() && one.role.empty());
  });
  if (variants.empty()) return no_variant(wanted, roles);
  std::ranges::sort(variants, [](const Variant& a, const Variant& b) {
    return std::tie(a.benchmark, a.role, a.command, a.machine_class) <
           std::tie(b.benchmark, b.role, b.command, b.machine_class);
  });
  return variants;
}

Result<std::vector<Series>> Loader::series(const Variant& variant, const Wanted& wanted) {
  std::string condition = fmt::format("variant = {}", variant.id);
  if (!wanted.branch.empty()) condition += fmt::format(" AND branch = {}", text_id(wanted.branch));
  if (wanted.only_commit && !wanted.commit.empty()) {
    const auto number = find_commit(database_, wanted.commit);
    if (!number) return number.error();
    condition += fmt::format(" AND commit_name = {}", *number);
  }
  // Rows have a kilobyte each: only the necessary part is kept.
  struct Kept {
    std::int64_t layout = 0;
    std::string numbers{};
    SeriesPoint point{};
    std::int64_t commit = 0;
    std::int64_t branch = 0;
    std::int64_t anchor = 0;
  };
  std::vector<Kept> kept;
  std::set<std::int64_t> names;
  auto asked = database_.each(
      fmt::format(
          "SELECT began, session, commit_name, branch, layout, numbers, anchor, added "
          "FROM lauka_point WHERE {} ORDER BY began DESC, added DESC, session DESC LIMIT {}",
          condition, wanted.last),
      8, {}, [&](const Row& row) {
        Kept one{.layout = id_in(row[4]), .numbers = row[5]};
        one.point.began = id_in(row[0]);
        one.point.session = id_in(row[1]);
        one.point.added = id_in(row[7]);
        one.commit = id_in(row[2]);
        one.branch = id_in(row[3]);
        one.anchor = id_in(row[6]);
        names.insert({one.layout, one.commit, one.branch, one.anchor});
        kept.push_back(std::move(one));
      });
  if (!asked) return asked.error();
  if (auto learnt = learn(names); !learnt) return learnt.error();

  std::vector<Series> all;
  std::map<std::pair<std::string, Unit>, std::size_t> places;  // in `all`, by metric
  for (auto one = kept.rbegin(); one != kept.rend(); ++one) {
    auto layout = layouts_.find(one->layout);
    if (layout == layouts_.end())
      layout = layouts_.emplace(one->layout, decode_layout(name(one->layout))).first;
    for (const std::size_t metric : wanted_metrics(layout->second, wanted.metrics)) {
      SeriesPoint point = one->point;
      point.values = layout->second[metric];
      if (!decode_values(point.values, metric, one->numbers)) continue;
      point.commit = name(one->commit);
      point.branch = name(one->branch);
      point.anchor = name(one->anchor);
      const auto [place, is_new] =
          places.emplace(std::pair(point.values.name, point.values.unit), all.size());
      if (is_new) all.push_back({.variant = variant});
      Series& series = all[place->second];
      series.metric = layout->second[metric];
      series.points.push_back(std::move(point));
    }
  }
  if (auto chained = chain_anchors(all); !chained) return chained.error();
  return all;
}

Result<void> Loader::chain_anchors(std::vector<Series>& all) {
  if (std::ranges::all_of(all, has_one_anchor)) return {};
  // Links: sessions that measured one of this benchmark's anchors against another anchor.
  const Variant& variant = all.front().variant;
  const auto rows = database_.ask(
      fmt::format(
          "SELECT name, anchor, layout, numbers FROM lauka_point WHERE variant IN (SELECT "
          "id FROM lauka_variant WHERE benchmark = {0} AND machine = {1}) AND anchor <> name AND "
          "name IN (SELECT anchor FROM lauka_point WHERE variant IN (SELECT id FROM lauka_variant "
          "WHERE benchmark = {0} AND machine = {1}))",
          text_id(variant.benchmark), text_id(variant.machine_class)),
      4);
  if (!rows) return rows.error();
  std::set<std::int64_t> names;
  for (const Row& row : *rows) names.insert({id_in(row[0]), id_in(row[1]), id_in(row[2])});
  if (auto learnt = learn(names); !learnt) return learnt;
  for (Series& series : all) {
    AnchorLinks chain;
    for (const Row& row : *rows)
      if (const auto ratio = to_anchor(series.metric.name, name(id_in(row[2])), row[3]))
        chain.add(name(id_in(row[0])), name(id_in(row[1])), *ratio);
    relate_to_newest_anchor(series, chain);
  }
  return {};
}

Result<std::map<std::int64_t, std::string>> Loader::acknowledged(std::int64_t variant,
                                                                 const std::string& metric) {
  const auto rows = database_.ask(
      fmt::format("SELECT began, note FROM lauka_acknowledged WHERE variant = {} AND metric = {}",
                  variant, text_id(metric)),
      2);
  if (!rows) return rows.error();
  std::set<std::int64_t> names;
  for (const Row& row : *rows) names.insert(id_in(row[1]));
  if (auto learnt = learn(names); !learnt) return learnt.error();
  std::map<std::int64_t, std::string> notes;
  for (const Row& row : *rows) notes[id_in(row[0])] = name(id_in(row[1]));
  return notes;
}

Result<std::map<std::int64_t, std::string>> Loader::uuids(const std::set<std::int64_t>& sessions) {
  std::map<std::int64_t, std::string> found;
  auto asked = for_each_list(sessions, [&](const std::string& list) {
    return database_.each("SELECT id, uuid FROM lauka_session WHERE id IN (" + list + ")", 2, {},
                          [&](const Row& row) { found[id_in(row[0])] = row[1]; });
  });
  if (!asked) return asked.error();
  return found;
}

}  // namespace lauka::history
