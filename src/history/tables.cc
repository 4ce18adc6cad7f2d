#include "core/numbers.h"
#include "core/text.h"
#include "format/text.h"
#include "format/words.h"
#include "history/text.h"
#include "history/trend.h"
#include "report/exports.h"
#include "report/format.h"

#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka::history {

namespace {

using Uuids = std::map<std::int64_t, std::string>;

std::string number(std::optional<double> value) {
  return value ? report::full_precision(*value) : "";
}

std::string time_of_day(std::int64_t milliseconds) {
  return rfc3339(TimeOfDay(std::chrono::milliseconds(milliseconds)));
}

const std::string& uuid_of(const SeriesPoint& point, const Uuids& uuids) {
  static const std::string kNone;
  const auto found = uuids.find(point.session);
  return found == uuids.end() ? kNone : found->second;
}

/// Returns "parse.wall_time" with the role, command and machine.
std::string column_of(const Series& series) {
  std::string name = series.variant.benchmark;
  for (const std::string& part : {series.variant.role, series.variant.command})
    if (!part.empty()) name += "." + part;
  return name + "." + series.metric.name + "@" + series.variant.machine_class;
}

/// Returns the values of a point, in the order of the columns.
nlohmann::ordered_json fields(const Series& series, const SeriesPoint& point, const Uuids& uuids) {
  const auto optional = [](std::optional<double> value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json all = {{"benchmark", series.variant.benchmark},
                                {"role", series.variant.role},
                                {"command", series.variant.command},
                                {"metric", series.metric.name},
                                {"unit", unit_symbol(series.metric.unit)},
                                {"better", word_in(kBetterWords, series.metric.better)},
                                {"machine", series.variant.machine_class},
                                {"session", uuid_of(point, uuids)},
                                {"began", time_of_day(point.began)},
                                {"commit", point.commit},
                                {"branch", point.branch},
                                {"mean", point.values.mean},
                                {"stddev", optional(point.values.stddev)},
                                {"runs", point.values.runs}};
  for (const auto& [name, ratio] : {std::pair("reference", &point.values.to_reference),
                                    std::pair("anchor", &point.values.to_anchor)}) {
    all[fmt::format("log_ratio_to_{}", name)] = *ratio ? optional((*ratio)->value) : optional({});
    all[fmt::format("error_to_{}", name)] = *ratio ? optional((*ratio)->error) : optional({});
  }
  return all;
}

std::string csv_text(const nlohmann::ordered_json& value) {
  if (value.is_string()) return report::csv_field(value.get_ref<const std::string&>());
  if (value.is_number_float()) return number(value.get<double>());
  return value.is_null() ? "" : value.dump();
}

class CsvWriter final : public TableWriter {
 public:
  explicit CsvWriter(const Sink& sink) : TableWriter(sink) {
    const auto columns = fields({}, {}, {});
    std::string head;
    for (const auto& [name, value] : columns.items()) head += (head.empty() ? "" : ",") + name;
    write(head + "\r\n");
  }

  void add(const Series& series, const Uuids& uuids) override {
    for (const SeriesPoint& point : series.points) {
      std::string line;
      for (const auto& value : fields(series, point, uuids)) line += csv_text(value) + ",";
      line.pop_back();
      write(line + "\r\n");
    }
  }
};

class JsonLinesWriter final : public TableWriter {
 public:
  using TableWriter::TableWriter;

  void add(const Series& series, const Uuids& uuids) override {
    for (const SeriesPoint& point : series.points)
      write(dumped(fields(series, point, uuids), -1) + "\n");
  }
};

class BenchfmtWriter final : public TableWriter {
 public:
  using TableWriter::TableWriter;

  void add(const Series& series, const Uuids& uuids) override {
    const auto go_name = report::benchfmt_word;
    const std::string unit = report::benchfmt_unit(series.metric.name, series.metric.unit);
    std::string name = "Benchmark" + go_name(series.variant.benchmark);
    if (!series.variant.role.empty()) name += "/role=" + go_name(series.variant.role);
    if (!series.variant.command.empty()) name += "/command=" + go_name(series.variant.command);
    set("machine", series.variant.machine_class);
    set("cpu", series.variant.machine.cpu_model);
    for (const SeriesPoint& point : series.points) {
      set("session", uuid_of(point, uuids));
      set("commit", point.commit);
      set("branch", point.branch);
      write(fmt::format("{} {} {} {}\n", name, point.values.runs, number(point.values.mean), unit));
    }
  }

 private:
  void set(const std::string& key, const std::string& value) {
    if (set_[key] == value) return;
    set_[key] = value;
    write(key + ": " + one_line(value) + "\n");
  }

  std::map<std::string, std::string> set_{};
};

class BmfWriter final : public TableWriter {
 public:
  using TableWriter::TableWriter;

  void add(const Series& series, const Uuids& /*uuids*/) override {
    if (series.points.empty()) return;
    const MetricRecord& values = series.points.back().values;
    std::string name = series.variant.benchmark;
    for (const std::string& part : {series.variant.role, series.variant.command})
      if (!part.empty()) name += " " + part;
    const std::string& machine =
        machines_.emplace(name, series.variant.machine_class).first->second;
    if (machine != series.variant.machine_class) name += " " + series.variant.machine_class;
    nlohmann::ordered_json measure = {{"value", values.mean}};
    if (values.stddev && values.runs > 0) {
      const double reach = reach95(*values.stddev / std::sqrt(static_cast<double>(values.runs)),
                                   static_cast<double>(values.runs) - 1.0);
      measure["lower_value"] = values.mean - reach;
      measure["upper_value"] = values.mean + reach;
    }
    document_[name][series.metric.name] = std::move(measure);
  }

  void end() override { write(dumped(document_, 2) + "\n"); }

 private:
  std::map<std::string, std::string> machines_{};
  nlohmann::ordered_json document_ = nlohmann::ordered_json::object();
};

class OtavaWriter final : public TableWriter {
 public:
  using TableWriter::TableWriter;

  void add(const Series& series, const Uuids& /*uuids*/) override {
    const std::size_t column = columns_.size();
    columns_.push_back(column_of(series));
    for (const SeriesPoint& point : series.points) {
      Line& line = lines_[{point.began, point.added, point.session}];
      line.commit = point.commit;
      line.branch = point.branch;
      line.values[column] = point.values.mean;
    }
  }

  void end() override {
    std::string head = "time,commit,branch";
    for (const std::string& column : columns_) head += "," + report::csv_field(column);
    write(head + "\n");
    for (const auto& [when, line] : lines_) {
      std::string text = time_of_day(std::get<0>(when)) + "," + report::csv_field(line.commit) +
                         "," + report::csv_field(line.branch);
      for (std::size_t column = 0; column < columns_.size(); ++column) {
        const auto value = line.values.find(column);
        text += "," + (value == line.values.end() ? std::string() : number(value->second));
      }
      write(text + "\n");
    }
  }

 private:
  struct Line {
    std::string commit{};
    std::string branch{};
    std::map<std::size_t, double> values{};
  };

  std::vector<std::string> columns_{};
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Line> lines_{};
};

}  // namespace

std::unique_ptr<TableWriter> table_writer(std::string_view format, const Sink& sink) {
  if (format == "jsonl") return std::make_unique<JsonLinesWriter>(sink);
  if (format == "benchfmt") return std::make_unique<BenchfmtWriter>(sink);
  if (format == "bmf") return std::make_unique<BmfWriter>(sink);
  if (format == "otava") return std::make_unique<OtavaWriter>(sink);
  return std::make_unique<CsvWriter>(sink);
}

}  // namespace lauka::history
