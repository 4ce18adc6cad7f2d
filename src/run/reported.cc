#include "run/reported.h"

#include "core/text.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace lauka {

namespace {

using std::chrono::steady_clock;

// A .* takes a step for each byte, so a longer one would take more than are allowed. Most matches
// are in the last.
constexpr std::size_t kWindow = std::size_t{64} << 10U;
constexpr std::size_t kLongestMatch = std::size_t{16} << 10U;
constexpr std::size_t kLookedBack = 256;  // bytes before its match that an expression may look at
constexpr auto kMostTimeOfTold = std::chrono::seconds(5);
constexpr std::size_t kShown = 300;  // bytes of the output, in a message

constexpr std::size_t kMostLines = 10'000;
constexpr std::size_t kMostMetrics = 1'000;

/// The values of one name in a run.
struct Several {
  double sum = 0.0;
  double last = 0.0;
  std::size_t count = 0;
  Combine combine = Combine::Mean;

  double value() const {
    if (combine == Combine::Last) return last;
    return combine == Combine::Sum ? sum : sum / static_cast<double>(count);
  }
};

std::string option_of(const OwnMetric& metric) {
  return fmt::format("--scrape {}", cited(metric.name + "=" + metric.text));
}

}  // namespace

bool scrapes(const Plan& plan) {
  return std::ranges::any_of(plan.reported,
                             [](const OwnMetric& metric) { return metric.is_scraped(); });
}

Result<void> ReportedValues::prepare() {
  for (std::size_t place = 0; place < plan_.reported.size(); ++place) {
    const OwnMetric& metric = plan_.reported[place];
    if (!metric.is_scraped()) continue;
    auto pattern = Pattern::compile(metric.text);
    if (!pattern) return pattern.error().about(option_of(metric));
    patterns_.emplace_back(place, *std::move(pattern));
  }
  return {};
}

bool ReportedValues::by_file() const {
  return !discovered_.empty() || std::ranges::any_of(plan_.reported, [](const OwnMetric& metric) {
    return metric.is_written();
  });
}

void ReportedValues::collect() {
  if (files_ != nullptr) batch_ = files_->take();
}

Result<std::vector<std::optional<double>>> ReportedValues::values_of(const Step& step,
                                                                     std::size_t place) {
  Values values;
  // Counting runs are slower, and so are their own values.
  if (step.kind != RoundKind::Timed && step.kind != RoundKind::Warmup) return values;
  for (const auto& [metric, pattern] : patterns_) {
    auto scraped = scrape(metric, pattern, values);
    if (!scraped) return scraped.error();
  }
  for (const os::MetricFiles::Written& written : batch_) {
    if (written.place != place) continue;
    if (!written.is_whole)
      return Error{fmt::format("{} is no file, or larger than 1 MB", kMetricsVariable),
                   "write fewer lines, or their sum"};
    auto read_all = read(written.text, values);
    if (!read_all) return read_all.error();
  }
  return values;
}

Result<void> ReportedValues::scrape(std::size_t place, const Pattern& pattern,
                                    Values& values) const {
  const OwnMetric& metric = plan_.reported[place];
  for (const os::Kept which : {os::Kept::Output, os::Kept::Error}) {
    const auto match = last_match(pattern, which);
    if (!match) return match.error().about(option_of(metric));
    if (!*match) continue;
    const auto value = parse_own_value(**match, metric.unit);
    if (!value)
      return value.error().about(
          fmt::format("{} found {}, which", option_of(metric), cited(**match)));
    values.resize(std::max(values.size(), place + 1));
    values[place] = *value;
    return {};
  }
  const std::string end = output_end();
  return Error{fmt::format("{} matches nothing that it wrote; {}", option_of(metric),
                           end.empty() ? "it wrote nothing" : "that ends with " + cited(end)),
               "use -i to go on without the value"};
}

/// Windows overlap by the longest match, and each has a little context before it.
Result<std::optional<std::string>> ReportedValues::last_match(const Pattern& pattern,
                                                              os::Kept which) const {
  const std::uint64_t size = launcher_.kept_bytes(which);
  const std::uint64_t least = size > os::kMostKept ? size - os::kMostKept : 0;
  const auto deadline = steady_clock::now() + kMostTimeOfTold;
  const auto goes_on = [&] { return steady_clock::now() < deadline; };
  std::string text;
  for (std::uint64_t end = size; end > least;) {
    const std::uint64_t begin = end - least > kWindow ? end - kWindow : least;
    const std::uint64_t from = begin - std::min<std::uint64_t>(begin, kLookedBack);
    const std::uint64_t to = std::min<std::uint64_t>(end + (end < size ? kLongestMatch : 0), size);
    text.resize(static_cast<std::size_t>(to - from));
    text.resize(launcher_.read_kept(which, from, text));
    auto found =
        pattern.last_group({text, static_cast<std::size_t>(begin - from),
                            std::min(static_cast<std::size_t>(end - from), text.size()), from == 0},
                           goes_on);
    if (!found || *found) return found;
    end = begin;
  }
  return std::optional<std::string>{};
}

std::string ReportedValues::output_end() const {
  for (const os::Kept which : {os::Kept::Output, os::Kept::Error}) {
    const std::uint64_t size = launcher_.kept_bytes(which);
    if (size == 0) continue;
    std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(size, kShown)), '\0');
    text.resize(launcher_.read_kept(which, size - text.size(), text));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  return "";
}

Result<void> ReportedValues::read(std::string_view text, Values& values) {
  std::map<std::size_t, Several> all;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto refused = [&](const Error& error) {
      return error.about(fmt::format("line {} of {}, {},", number, kMetricsVariable, cited(line)));
    };
    if (++number > kMostLines) return refused({"is one too many", "write 10,000 at most"});
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto reported = parse_reported_line(line);
    if (!reported) return refused(reported.error());
    const auto place = place_of(*reported);
    if (!place) return refused(place.error());
    // A value with a unit in it keeps that.
    const bool has_one =
        reported->value.find_last_not_of("0123456789.") + 1 == reported->value.size();
    const auto value = parse_own_value(
        fmt::format("{} {}", reported->value, has_one ? "" : reported->metric.unit.word),
        metric_at(*place).unit);
    if (!value) return refused(value.error());
    Several& several = all[*place];
    several.sum += *value;
    several.last = *value;
    ++several.count;
    if (reported->combine) several.combine = *reported->combine;
  }
  for (const auto& [place, several] : all) {
    values.resize(std::max(values.size(), place + 1));
    if (is_measurable(several.value())) values[place] = several.value();
  }
  return {};
}

Result<std::size_t> ReportedValues::place_of(const ReportedLine& reported) {
  const OwnMetric& metric = reported.metric;
  for (std::size_t place = 0; place < plan_.reported.size(); ++place) {
    if (plan_.reported[place].name != metric.name) continue;
    if (plan_.reported[place].is_written()) return place;
    return Error{plan_.reported[place].region ? "has the name of a row of --region"
                                              : "has the name of what --scrape looks for",
                 "use another name"};
  }
  const auto found = std::ranges::find(discovered_, metric.name, &OwnMetric::name);
  const std::size_t index = static_cast<std::size_t>(found - discovered_.begin());
  if (found == discovered_.end()) {
    if (find_metric(plan_.metrics, metric.name))
      return Error{"has the name of another metric", "use another name"};
    if (discovered_.size() >= kMostMetrics)
      return Error{"names one metric too many", "use 1,000 at most"};
    discovered_.push_back(metric);
  } else if (reported.better) {
    found->better = *reported.better;
  }
  return plan_.reported.size() + index;
}

const OwnMetric& ReportedValues::metric_at(std::size_t place) const {
  return place < plan_.reported.size() ? plan_.reported[place]
                                       : discovered_[place - plan_.reported.size()];
}

std::optional<Error> why_no_region(const os::Ended& ended) {
  const os::RegionUse use = ended.region.value_or(os::RegionUse{});
  if (use.stray > 0)
    return Error{"it called lauka_region_end without a lauka_region_begin before it",
                 "call the two in pairs"};
  if (use.entries == 0)
    return Error{
        "it did not call lauka_region_begin, or something that started it had closed its "
        "descriptors",
        "include lauka/region.h and mark the region; or use -i to go on without it"};
  if (use.is_open)
    return Error{"its region was still open when it ended",
                 "call lauka_region_end before the program ends"};
  if (use.time_ns > ended.usage.wall_ns)
    return Error{"it noted more time in its region than it took",
                 "see that nothing else writes to the memory that it shares with lauka"};
  return std::nullopt;
}

void add_region(const Plan& plan, const os::RegionUse& use,
                std::vector<std::optional<double>>& reported) {
  for (std::size_t place = 0; place < plan.reported.size(); ++place) {
    const auto& value = plan.reported[place].region;
    if (!value) continue;
    reported.resize(std::max(reported.size(), place + 1));
    reported[place] = *value == RegionValue::Time ? static_cast<double>(use.time_ns) / 1e9
                                                  : static_cast<double>(use.entries);
  }
}

}  // namespace lauka
