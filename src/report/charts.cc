#include "report/charts.h"

#include "core/text.h"
#include "report/format.h"
#include "report/scan_chart.h"
#include "report/screen.h"
#include "report/table.h"
#include "results/analyse.h"
#include "stats/distributions.h"
#include "stats/summary.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::report {

namespace {

constexpr int kMaxTicks = 5;
constexpr std::size_t kAxisHeight = 20;
// A picture with a vertical axis has the axis' labels at its left, and the plot beside them.
constexpr double kPlotLeftPercent = 15.0;
constexpr double kPlotWidthPercent = 84.0;
constexpr double kNearEndPercent = 8.0;  // labels closer to an end than this are not centred

constexpr double kMarginShare = 0.04;  // of an axis' range, free at each end

/// Returns 1, 2 or 5 times a power of ten: the smallest such number of at least `least_step`.
double choose_round_step(double least_step) {
  const double power = std::pow(10.0, std::floor(std::log10(least_step)));
  // Rounding errors must not make a step of exactly 0.2 the next larger one.
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least_step * (1 - 1e-12)) return factor * power;
  return 10 * power;
}

Notation choose_axis_notation(const Axis& axis, const Metric& metric) {
  const bool has_steps = !axis.is_logarithmic && axis.ticks.size() > 1;
  return has_steps ? notation_of_steps(
                         std::max(std::fabs(axis.ticks.front()), std::fabs(axis.ticks.back())),
                         axis.ticks[1] - axis.ticks[0], metric, 1)
                   : notation_of(axis.high, std::nullopt, metric);
}

std::vector<TickLabel> make_tick_labels(const Axis& axis, const Metric& metric) {
  const Notation notation = choose_axis_notation(axis, metric);
  std::vector<TickLabel> labels;
  for (const double tick : axis.ticks)
    labels.push_back(
        {axis.percent(tick), axis.is_logarithmic ? quantity(tick, metric) : notation.text(tick)});
  return labels;
}

constexpr std::size_t kColorClasses = 8;       // c0 to c7 in page/style.css
constexpr std::size_t kMaxSinglePoints = 150;  // more points hide each other, and get a shape

/// What a chart of a metric draws: the samples of each command on one axis.
struct DrawnMetric {
  const Results& results;
  const Metric& metric;
  std::vector<std::vector<Sample>> samples;
  Axis axis{};

  /// Returns the position of a value on the axis, from 0 to kSvgUnits.
  std::size_t position_of(double value) const {
    return static_cast<std::size_t>(std::lround(svg_position(axis, value)));
  }
};

bool are_medians_far_apart(const Results& results, std::size_t metric) {
  Extent medians;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const stats::Summary* summary = find_summary(results, c, metric);
    if (summary == nullptr) continue;
    if (summary->min <= 0.0) return false;
    medians.include(summary->median);
  }
  return needs_logarithmic_axis(medians.low, medians.high);
}

DrawnMetric prepare_drawing(const Results& results, std::size_t metric) {
  DrawnMetric drawing{results, results.session.metrics[metric], {}};
  Extent extent;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    drawing.samples.push_back(values_with_runs(results, c, metric));
    for (const Sample& sample : drawing.samples.back()) extent.include(sample.value);
  }
  const auto make_axis = are_medians_far_apart(results, metric) ? logarithmic_axis : linear_axis;
  if (extent.low <= extent.high) drawing.axis = make_axis(extent.low, extent.high);
  return drawing;
}

std::pair<double, double> find_whiskers(const std::vector<Sample>& samples,
                                        const stats::Summary& summary) {
  const auto fences = stats::tukey_fences(summary.q1, summary.q3, stats::kOutlierReach);
  std::pair<double, double> ends{summary.q1, summary.q3};
  for (const Sample& sample : samples) {
    if (sample.value >= fences.low) ends.first = std::min(ends.first, sample.value);
    if (sample.value <= fences.high) ends.second = std::max(ends.second, sample.value);
  }
  return ends;
}

/// Returns about `max_count` samples at most: the lowest and the highest of each group of
/// neighbours, so that no extreme value is lost.
std::vector<Sample> thin_out(const std::vector<Sample>& all, std::size_t max_count) {
  if (all.size() <= max_count) return all;
  const std::size_t pairs = std::max<std::size_t>(max_count / 2, 1);
  std::vector<Sample> kept;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(all.size() * pair / pairs);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(all.size() * (pair + 1) / pairs);
    const auto [low, high] = std::minmax_element(
        begin, end, [](const Sample& a, const Sample& b) { return a.value < b.value; });
    kept.push_back(*low);
    if (high != low) kept.push_back(*high);
  }
  return kept;
}

/// The digits of the numbers that page/drawing.js reads with parseInt(digits, 36).
constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";

/// Returns the position of a value in two digits.
std::string encode_position(const DrawnMetric& drawing, double value) {
  const std::size_t position = drawing.position_of(value);
  return {kDigits[position / kDigits.size()], kDigits[position % kDigits.size()]};
}

/// Returns the outline of a distribution, one digit for the height of each bin. Empty if there are
/// few enough samples to be seen as single points.
std::string encode_shape(const DrawnMetric& drawing, const std::vector<Sample>& samples,
                         std::size_t max_points) {
  if (samples.size() <= std::min(kMaxSinglePoints, max_points)) return "";
  const std::size_t bins = std::clamp<std::size_t>(max_points, 12, 60);
  std::vector<std::size_t> counts(bins, 0);
  for (const Sample& sample : samples)
    ++counts[drawing.position_of(sample.value) * bins / (kSvgUnits + 1)];
  const std::size_t largest_count = *std::ranges::max_element(counts);

  // Heights are rounded up, so that a bin with a single sample is visible, too.
  std::string shape;
  for (const std::size_t count : counts)
    shape += kDigits[(count * (kDigits.size() - 1) + largest_count - 1) / largest_count];
  return shape;
}

/// Returns how far each sample's run is from the one before it, which takes fewer characters than
/// the numbers of the runs: "0 1 1 2".
std::string encode_run_distances(const std::vector<Sample>& samples) {
  std::string text;
  std::size_t previous_run = 0;
  for (const Sample& sample : samples) {
    text += (text.empty() ? "" : " ") + std::to_string(sample.run - previous_run);
    previous_run = sample.run;
  }
  return text;
}

std::string make_bar_row(std::string_view name, std::string_view drawing, std::string_view value) {
  return fmt::format(
      "<div class=\"who\">{}</div><div class=\"value\">{}</div><div class=\"drawing\">{}</div>\n",
      name, value, drawing);
}

constexpr std::size_t kStripHeight = 16;

/// The strip of one layout in a chart of layouts.
struct Strip {
  std::size_t command = 0;
  std::uint32_t layout = 0;
  std::string_view css_classes{};
};

/// Draws samples as a row of points. The page shows the number of the run below the mouse pointer,
/// so each point has its number.
std::string draw_strip_points(const DrawnMetric& drawing, const std::vector<Sample>& drawn,
                              std::string_view css_classes, std::string_view name) {
  std::vector<Spot> spots;
  std::string run_numbers;
  for (const Sample& sample : drawn) {
    spots.push_back({drawing.position_of(sample.value), kStripHeight / 2});
    run_numbers += (run_numbers.empty() ? "" : " ") + std::to_string(sample.run + 1);
  }
  return svg_spots(spots, css_classes,
                   fmt::format(" data-name=\"{}\" data-runs=\"{}\"", html_text(name), run_numbers));
}

/// Draws the line of a strip's mean. It has the CSS class "median", because it looks like the line
/// of a median in other charts.
std::string draw_strip_mean(const Axis& axis, double mean) {
  return svg_path("median", fmt::format("M{:.1f} 0v{}", svg_position(axis, mean), kStripHeight));
}

double mean_of(const std::vector<Sample>& samples) {
  double sum = 0.0;
  for (const Sample& sample : samples) sum += sample.value;
  return sum / static_cast<double>(samples.size());
}

/// Draws the runs of one layout (one of several builds of a command, whose code lies at other
/// addresses) as a row of points with a line at their mean. Draws about `max_points` points at
/// most, but the mean is that of all `samples`.
std::string draw_layout_strip(const DrawnMetric& drawing, const Strip& strip,
                              const std::vector<Sample>& samples, std::size_t max_points) {
  const std::string label = fmt::format("layout {}", strip.layout + 1);
  const std::string name =
      fmt::format("{}, {}", drawing.results.session.commands[strip.command].name, label);
  const std::string points =
      draw_strip_points(drawing, thin_out(samples, max_points), strip.css_classes, name);

  const double mean = mean_of(samples);
  const std::string mean_text = quantity(mean, drawing.metric);
  const std::string text_for_screen_readers = name + ": mean " + mean_text;
  const std::string plot = stretched_svg(
      kStripHeight, fmt::format("plot {}", strip.css_classes), text_for_screen_readers,
      svg_grid(drawing.axis, kStripHeight) + points + draw_strip_mean(drawing.axis, mean));
  return make_bar_row(label, plot, html_text(mean_text));
}

/// Returns the number of strips that a chart of layouts would have.
std::size_t count_strips(const Results& results) {
  return results.session.setting.layouts * results.commands.size();
}

/// Returns the samples of each layout.
std::vector<std::vector<Sample>> group_by_layout(const Recording& session,
                                                 const std::vector<Sample>& samples) {
  const std::uint32_t layouts = session.setting.layouts;
  std::vector<std::vector<Sample>> samples_by_layout(layouts);
  for (const Sample& sample : samples) {
    // A damaged results file may contain a layout beyond the number of layouts.
    const std::uint32_t layout = session.runs.row(sample.run).layout;
    if (layout < layouts) samples_by_layout[layout].push_back(sample);
  }
  return samples_by_layout;
}

/// Writes the strips of a command below its name.
void write_layout_strips(const DrawnMetric& drawing, std::size_t command,
                         std::string_view css_classes, const Sink& sink) {
  const Results& results = drawing.results;
  const auto samples_by_layout = group_by_layout(results.session, drawing.samples[command]);
  sink(make_bar_row(command_html(results, command, css_classes), "", ""));

  const std::size_t max_points_of_strip = kMaxDrawnPoints / count_strips(results);
  for (std::uint32_t layout = 0; layout < results.session.setting.layouts; ++layout) {
    const std::vector<Sample>& samples = samples_by_layout[layout];
    const Strip strip{.command = command, .layout = layout, .css_classes = css_classes};
    if (!samples.empty()) sink(draw_layout_strip(drawing, strip, samples, max_points_of_strip));
  }
}

constexpr std::size_t kOverviewHeight = 30;
constexpr std::size_t kMinForIntervalAndShape = 6;  // runs; fewer say too little

/// A command's row in the overview chart.
struct OverviewRow {
  std::size_t command = 0;
  std::vector<double> values;          ///< ascending
  double center = 0.0;                 ///< median of the runs; with layouts, mean over layouts
  std::pair<double, double> whiskers;  ///< lowest and highest value that is no outlier
  std::optional<stats::IntervalEnds> interval{};  ///< confidence interval of `center`
};

/// Returns what OverviewRow::center is for the command.
std::string_view name_of_center(const Results& results, std::size_t command) {
  return count_layouts(results.session, command) > 1 ? "mean over layouts" : "median";
}

/// Returns the name that fits the centers of all rows.
std::string_view name_all_centers(const Results& results, const std::vector<OverviewRow>& rows) {
  const std::string_view first = name_of_center(results, rows.front().command);
  const bool are_alike = std::ranges::all_of(
      rows, [&](const OverviewRow& row) { return name_of_center(results, row.command) == first; });
  return are_alike ? first : "mean over layouts, or the median if there is only one build";
}

/// Returns the values between which the median lies with `confidence`, by the ranks of a binomial
/// distribution in its normal approximation (Campbell & Gardner 1988), rounded outwards.
std::optional<stats::IntervalEnds> estimate_median_interval(const std::vector<double>& ascending,
                                                            double confidence) {
  const std::size_t count = ascending.size();
  if (count < kMinForIntervalAndShape) return std::nullopt;
  const auto n = static_cast<double>(count);
  const double reach = stats::normal_quantile_above((1.0 - confidence) / 2.0) * std::sqrt(n) / 2.0;
  const double low_rank = std::max(std::floor(n / 2.0 - reach), 1.0);
  const double high_rank = std::min(std::ceil(n / 2.0 + 1.0 + reach), n);
  return stats::IntervalEnds{ascending[static_cast<std::size_t>(low_rank) - 1],
                             ascending[static_cast<std::size_t>(high_rank) - 1]};
}

std::vector<double> sort_values(const std::vector<Sample>& samples) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& sample : samples) values.push_back(sample.value);
  std::sort(values.begin(), values.end());
  return values;
}

/// Returns what the overview chart shows of a command: where its runs lie, and their median with
/// its confidence interval. A command with several layouts has the mean over them in place of the
/// median.
OverviewRow make_overview_row(const Results& results, std::size_t metric_index, std::size_t command,
                              const stats::Summary& summary) {
  const double confidence = results.session.confidence;
  const std::vector<Sample> samples = values_with_runs(results, command, metric_index);
  OverviewRow row{.command = command,
                  .values = sort_values(samples),
                  .center = summary.median,
                  .whiskers = find_whiskers(samples, summary)};

  const bool has_several_layouts = count_layouts(results.session, command) > 1;
  if (!has_several_layouts) {
    row.interval = estimate_median_interval(row.values, confidence);
    return row;
  }

  // The interval of the median tells how far more runs of the same builds could move it. A user who
  // measures several builds with different addresses (layouts) asks about all such builds. The
  // interval of the mean over the layouts tells that. There is none if there are too few layouts.
  const auto mean = estimate_mean(results.commands[command].rows[metric_index], confidence);
  row.center = mean ? mean->mean : summary.mean;
  row.interval = mean ? mean->bounds : std::nullopt;
  return row;
}

/// Returns the rows of all commands that have values of the metric.
std::vector<OverviewRow> make_overview_rows(const Results& results, std::size_t metric) {
  std::vector<OverviewRow> rows;
  for (std::size_t command = 0; command < results.commands.size(); ++command)
    if (const stats::Summary* summary = find_summary(results, command, metric); summary != nullptr)
      rows.push_back(make_overview_row(results, metric, command, *summary));
  return rows;
}

enum class View : unsigned char { FromZero, CloseUp, Logarithmic };

Axis choose_overview_axis(const std::vector<OverviewRow>& rows, View view) {
  Extent extent;
  for (const OverviewRow& row : rows) {
    extent.include(row.whiskers.first);
    extent.include(row.whiskers.second);
    // Over few layouts, an interval may be wider than the runs.
    if (!row.interval) continue;
    extent.include(row.interval->low);
    extent.include(row.interval->high);
  }
  const auto [low, high] = extent;
  if (low > high) return {};
  if (view == View::Logarithmic && low > 0.0) return logarithmic_axis(low, high);
  if (view != View::FromZero) return linear_axis(low, high);
  Axis axis = linear_axis(std::min(low, 0.0), std::max(high, 0.0));
  if (low >= 0.0) axis.low = 0.0;
  return axis;
}

/// The bins of a distribution, along an axis.
struct Bins {
  double left = 0.0;   ///< position of the first bin that has values, in SVG units
  double width = 0.0;  ///< in SVG units
  /// Number of values in each bin. A further bin at each end stays empty, so that the shape tapers
  /// to the center line.
  std::vector<double> counts{};
};

/// Returns the bins between the whiskers, with the values that lie there. There are no counts if
/// all values have one position on the axis, as values have that differ by rounding only.
Bins count_in_bins(const OverviewRow& row, const Axis& axis) {
  constexpr std::size_t bin_count = 32;
  const auto [low, high] = row.whiskers;
  Bins bins{.left = svg_position(axis, low)};
  bins.width = (svg_position(axis, high) - bins.left) / static_cast<double>(bin_count - 1);
  if (bins.width <= 0.0) return bins;

  bins.counts.assign(bin_count + 2, 0.0);
  for (const double value : row.values) {
    if (value < low || value > high) continue;
    const double bin = (svg_position(axis, value) - bins.left) / bins.width;
    bins.counts[static_cast<std::size_t>(std::lround(bin)) + 1] += 1.0;
  }
  return bins;
}

/// Smooths counts twice with the weights 1, 2 and 1, so that chance differences between
/// neighbouring bins do not catch the eye.
std::vector<double> smooth_twice(std::vector<double> counts) {
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<double> smooth = counts;
    for (std::size_t i = 1; i + 1 < counts.size(); ++i)
      smooth[i] = (counts[i - 1] + 2 * counts[i] + counts[i + 1]) / 4;
    counts = std::move(smooth);
  }
  return counts;
}

/// Returns the SVG path of an outline, which runs from left to right above the center line, and
/// back below it.
std::string trace_outline(const Bins& bins) {
  const double largest_count = *std::ranges::max_element(bins.counts);
  std::string above;
  std::string below;
  constexpr double middle = static_cast<double>(kOverviewHeight) / 2;
  constexpr double largest_half_height = middle - 2;  // leaves two pixels free above and below
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const double x = bins.left + bins.width * (static_cast<double>(i) - 1.0);
    const double half_height = bins.counts[i] / largest_count * largest_half_height;
    above += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x, middle - half_height);
    below.insert(0, fmt::format("L{:.1f} {:.1f}", x, middle + half_height));
  }
  return above + below + "z";
}

/// Draws the distribution of a command's runs as an outline around the center line of its row. The
/// outline is wide where many runs lie. Outliers, which lie outside the whiskers, are left out.
std::string draw_shape(const OverviewRow& row, const Axis& axis) {
  const auto [low, high] = row.whiskers;
  const bool has_distribution = row.values.size() >= kMinForIntervalAndShape && high > low;
  if (!has_distribution) return "";

  Bins bins = count_in_bins(row, axis);
  if (bins.counts.empty()) return "";
  bins.counts = smooth_twice(std::move(bins.counts));
  return svg_path("shape", trace_outline(bins));
}

/// The values of a metric, a row for each command.
struct Overview {
  const Results& results;
  std::size_t metric = 0;
  std::vector<OverviewRow> rows{};
};

/// Returns "old: median 591ms (583ms … 605ms)". The numbers have as many decimals as the width of
/// the interval makes meaningful.
std::string describe_center(const Overview& overview, const OverviewRow& row) {
  const Results& results = overview.results;
  std::optional<double> half_width;
  if (row.interval) half_width = (row.interval->high - row.interval->low) / 2.0;
  const Notation notation =
      notation_of(row.center, half_width, results.session.metrics[overview.metric]);
  std::string text = fmt::format("{}: {} {}", results.session.commands[row.command].name,
                                 name_of_center(results, row.command), notation.text(row.center));
  if (row.interval)
    text += fmt::format(" ({} … {})", notation.text(row.interval->low),
                        notation.text(row.interval->high));
  return text;
}

/// Draws the center of a row as a dot on a bar, which is its interval.
std::string draw_center(const OverviewRow& row, const Axis& axis) {
  const double middle = static_cast<double>(kOverviewHeight) / 2;
  std::string marks;
  if (row.interval)
    marks = svg_path("span", fmt::format("M{:.1f} {}H{:.1f}", svg_position(axis, row.interval->low),
                                         middle, svg_position(axis, row.interval->high)));
  return marks +
         svg_path("middle", fmt::format("M{:.1f} {}h0", svg_position(axis, row.center), middle));
}

/// Draws a command's row of the overview chart: a dot at its median or mean (the center), a bar for
/// the confidence interval, and the shape of the distribution. The numbers are in the tooltip.
std::string draw_overview_row(const Overview& overview, const OverviewRow& row, const Axis& axis,
                              std::string_view classes) {
  // Screen readers read the same text that the tooltip shows.
  const std::string tooltip = describe_center(overview, row);
  return stretched_svg(kOverviewHeight, classes, tooltip,
                       fmt::format("<title>{}</title>", html_text(tooltip)) +
                           svg_grid(axis, kOverviewHeight) + draw_shape(row, axis) +
                           draw_center(row, axis));
}

std::string make_numbers_html(const Results& results, std::size_t metric, const OverviewRow& row) {
  const Metric& shown = results.session.metrics[metric];
  // Says what the value is, because the table above the chart has means.
  std::string html = fmt::format("<span>{} {}</span>", name_of_center(results, row.command),
                                 html_text(quantity(row.center, shown)));
  if (const auto& delta = metric_result_of(results.commands[row.command], metric)->delta)
    html += " " + change_row({}, *delta, shown.better).change_html;
  return html;
}

void write_view(const Overview& overview, View view, const Sink& sink) {
  const Results& results = overview.results;
  const Axis axis = choose_overview_axis(overview.rows, view);
  sink(fmt::format("<div class=\"bars view {}\">\n",
                   view == View::FromZero ? "from-zero" : "close-up"));
  const std::vector<std::string> classes = command_classes(results);
  for (const OverviewRow& row : overview.rows) {
    const std::string& color = classes[row.command];
    sink(make_bar_row(command_html(results, row.command, color),
                      draw_overview_row(overview, row, axis, color),
                      make_numbers_html(results, overview.metric, row)));
  }
  const Metric& metric = results.session.metrics[overview.metric];
  sink(make_bar_row("", svg_tick_labels(make_tick_labels(axis, metric)), "") + "</div>\n");
}

constexpr std::size_t kChangeHeight = 22;

/// Returns the ends of the interval; without an interval, the change itself twice.
std::pair<double, double> find_drawn_ends(const stats::Change& change) {
  return change.bounds ? std::pair(change.bounds->low, change.bounds->high)
                       : std::pair(*change.change, *change.change);
}

bool can_be_drawn(const ChangeRow& row) {
  if (!row.change.change) return false;
  const auto [low, high] = find_drawn_ends(row.change);
  return std::isfinite(low) && std::isfinite(high);
}

Axis choose_change_axis(const std::vector<ChangeRow>& rows) {
  Extent extent{0.0, 0.0};
  for (const ChangeRow& row : rows) {
    const auto [low, high] = find_drawn_ends(row.change);
    for (const double value : {low, high, row.gate_limit.value_or(0.0)}) extent.include(value);
  }
  return linear_axis(extent.low, extent.high);
}

std::vector<TickLabel> make_percent_labels(const Axis& axis) {
  std::vector<TickLabel> labels;
  const double step = axis.ticks.size() > 1 ? axis.ticks[1] - axis.ticks[0] : 1.0;
  // As many decimals as tell one tick from the next.
  const int decimals =
      std::clamp(static_cast<int>(std::ceil(-std::log10(100 * step) - 1e-9)), 0, 6);
  for (const double tick : axis.ticks) {
    // The tick at zero may be off by a rounding error.
    const double value = std::fabs(tick) < step / 2 ? 0.0 : tick;
    labels.push_back({axis.percent(tick), value == 0.0 ? "0%" : signed_percent(value, decimals)});
  }
  return labels;
}

std::string draw_change(const ChangeRow& row, const Axis& axis) {
  const double middle = static_cast<double>(kChangeHeight) / 2;
  const auto position_of = [&](double value) { return svg_position(axis, value); };
  const auto draw_mark = [&](std::string_view css_class, double value) {
    return svg_path(css_class, fmt::format("M{:.1f} 0v{}", position_of(value), kChangeHeight));
  };
  std::string content = svg_grid(axis, kChangeHeight) + draw_mark("zero", 0);
  if (row.gate_limit) content += draw_mark("limit", *row.gate_limit);
  if (const auto& bounds = row.change.bounds)
    content +=
        svg_path("interval", fmt::format("M{0:.1f} {2}v10M{1:.1f} {2}v10M{0:.1f} {3}H{1:.1f}",
                                         position_of(bounds->low), position_of(bounds->high),
                                         middle - 5, middle));
  content +=
      svg_path("estimate", fmt::format("M{:.1f} {}h0", position_of(*row.change.change), middle));
  return stretched_svg(kChangeHeight, row.css_class, "", content);
}

/// Returns where SVG puts a label in relation to its tick: at an end of the axis, a centered label
/// would be cut off.
std::string_view choose_text_anchor(double position_percent) {
  if (position_percent < kNearEndPercent) return "start";
  if (position_percent > 100 - kNearEndPercent) return "end";
  return "middle";
}

/// Draws a line of a tick's label. `bottom`: lower end of the line, in pixels from the axis.
std::string draw_label_line(double position_percent, std::string_view text, std::size_t bottom) {
  constexpr std::size_t below_baseline = 3;  // space for the lower part of letters such as g
  return fmt::format("<text x=\"{:.2f}%\" y=\"{}\" text-anchor=\"{}\" class=\"label\">{}</text>\n",
                     position_percent, bottom - below_baseline,
                     choose_text_anchor(position_percent), html_text(text));
}

/// Returns an axis as page/drawing.js reads it: its ends, its unit and its ticks.
std::string encode_axis(const DrawnMetric& drawing) {
  const Notation notation = choose_axis_notation(drawing.axis, drawing.metric);
  std::string axis = fmt::format(
      "{:.9g} {:.9g} {} {} {}", drawing.axis.low, drawing.axis.high, notation.divisor_of_base_units,
      drawing.axis.is_logarithmic ? 1 : 0, notation.power_of_ten_text + notation.suffix);
  for (const TickLabel& label : make_tick_labels(drawing.axis, drawing.metric))
    axis += fmt::format("|{:.1f} {}", label.position_percent, label.text);
  return axis;
}

/// How many points of a command are drawn: those of all its samples or, if they are more than
/// `max_unthinned`, about `after_thinning`.
struct PointLimits {
  std::size_t after_thinning = 0;
  std::size_t max_unthinned = 0;
};

/// Returns the limits with which commands share the points of a drawing equally. A command may keep
/// half as many again, because it is not worth it to thin out a few points.
PointLimits share_points(std::size_t max_points, std::size_t commands) {
  const std::size_t share =
      std::max<std::size_t>(max_points / std::max<std::size_t>(commands, 1), 2);
  return {.after_thinning = share, .max_unthinned = share + share / 2};
}

std::vector<Sample> choose_drawn_samples(const std::vector<Sample>& samples,
                                         const PointLimits& limits) {
  return samples.size() <= limits.max_unthinned ? samples
                                                : thin_out(samples, limits.after_thinning);
}

/// Returns the positions of a box plot's lines: the whiskers, the quartiles and the median.
std::string encode_box(const DrawnMetric& drawing, const std::vector<Sample>& samples,
                       const stats::Summary& summary) {
  const auto [low_whisker, high_whisker] = find_whiskers(samples, summary);
  std::string box;
  for (const double value : {low_whisker, summary.q1, summary.median, summary.q3, high_whisker})
    box += encode_position(drawing, value);
  return box;
}

std::string encode_positions(const DrawnMetric& drawing, const std::vector<Sample>& drawn) {
  std::string positions;
  for (const Sample& sample : drawn) positions += encode_position(drawing, sample.value);
  return positions;
}

/// Returns an axis on which the shortest bar of a race, that of the command that left first, can be
/// seen. If the bar would be too short beside the longest, the axis is logarithmic, and begins at
/// half of its rounds.
Axis choose_race_axis(const gate::RaceResult& race) {
  const auto last_round = static_cast<double>(race.rounds);
  const double first_exit =
      race.exits.empty() ? last_round : static_cast<double>(race.exits.front().rounds);
  return needs_logarithmic_axis(first_exit, last_round)
             ? logarithmic_axis(first_exit / 2.0, last_round)
             : linear_axis(0.0, last_round);
}

/// Returns a command's row in the chart of a race: a bar as long as the rounds that it took part
/// in.
std::string make_race_row(const Results& results, const Axis& axis, std::size_t command,
                          std::string_view css_classes) {
  constexpr std::size_t height = 12;
  const gate::RaceResult& race = *results.findings.race;
  const gate::RaceExit* exit = race.find_exit(command);
  const std::size_t rounds = exit == nullptr ? race.rounds : exit->rounds;
  const std::string outcome =
      exit == nullptr ? "left over" : fmt::format("left the race in round {}", rounds);

  const double bar_end = svg_position(axis, static_cast<double>(rounds));
  const std::string bar = svg_path("span", fmt::format("M0 {}H{:.1f}", height / 2, bar_end));
  const std::string text_for_screen_readers =
      results.session.commands[command].name + ": " + outcome;
  return make_bar_row(
      command_html(results, command, css_classes),
      stretched_svg(height, css_classes, text_for_screen_readers, svg_grid(axis, height) + bar),
      "<span>" + outcome + "</span>");
}

std::vector<TickLabel> make_round_labels(const Axis& axis) {
  std::vector<TickLabel> labels;
  for (const double tick : axis.ticks)
    labels.push_back({axis.percent(tick), fmt::format("{:.0f}", tick)});
  return labels;
}

}  // namespace

double Axis::percent(double value) const {
  const double place = is_logarithmic ? 100 * std::log(value / low) / std::log(high / low)
                                      : 100 * (value - low) / (high - low);
  return std::isfinite(place) ? std::clamp(place, 0.0, 100.0) : 0.0;
}

Axis linear_axis(double low, double high) {
  // Equal values, or values that differ by rounding only, get some room on both sides.
  const double least_range = 1e-9 * std::max(std::fabs(low), std::fabs(high));
  if (high - low <= least_range) {
    const double room =
        low == 0 && high == 0 ? 1.0 : 0.01 * std::max(std::fabs(low), std::fabs(high));
    low -= room;
    high += room;
  }
  const double room = kMarginShare * (high - low);
  Axis axis{low - room, high + room, {}};
  const double step = choose_round_step((axis.high - axis.low) / kMaxTicks);
  for (double count = std::ceil(axis.low / step); count * step <= axis.high; ++count)
    axis.ticks.push_back(count * step);
  return axis;
}

Axis logarithmic_axis(double low, double high) {
  const Axis powers = linear_axis(std::log10(low), std::log10(high));
  Axis axis{std::pow(10.0, powers.low), std::pow(10.0, powers.high), {}, true};
  const int first = static_cast<int>(std::floor(powers.low));
  const int last = static_cast<int>(std::floor(powers.high));
  const bool is_wide = high > 100 * low;
  // A wide axis has ticks only at powers of ten, and only at every second or third if there are
  // many.
  const int every = (last - first - 1) / kMaxTicks + 1;
  for (int power = first; power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, power);
      const bool is_shown = is_wide ? factor == 1.0 && power % every == 0 : true;
      if (is_shown && tick >= axis.low && tick <= axis.high) axis.ticks.push_back(tick);
    }
  }
  return axis;
}

bool needs_logarithmic_axis(double low, double high) {
  constexpr double far = 50.0;  // beyond it, the low values would be a point at the axis' end
  return low > 0.0 && high > far * low;
}

double svg_position(const Axis& axis, double value) {
  return axis.percent(value) * static_cast<double>(kSvgUnits) / 100;
}

std::string stretched_svg(std::size_t height, std::string_view css_class, std::string_view label,
                          std::string_view content) {
  return fmt::format(
      "<svg class=\"line {}\" height=\"{}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" "
      "{}>{}</svg>\n",
      css_class, height, kSvgUnits, height,
      label.empty() ? "aria-hidden=\"true\""
                    : fmt::format("role=\"img\" aria-label=\"{}\"", html_text(label)),
      content);
}

std::string svg_path(std::string_view css_class, std::string_view path) {
  return fmt::format("<path class=\"{}\" d=\"{}\"/>", css_class, path);
}

std::string svg_grid(const Axis& axis, std::size_t height) {
  std::string path;
  for (const double tick : axis.ticks)
    path += fmt::format("M{:.1f} 0v{}", svg_position(axis, tick), height);
  return svg_path("grid", path);
}

std::string svg_spots(const std::vector<Spot>& spots, std::string_view css_class,
                      std::string_view attributes) {
  std::string path;
  for (const Spot& spot : spots) path += fmt::format("M{} {}h0", spot.x, spot.y);
  return fmt::format("<path class=\"spots {}\"{} d=\"{}\"/>\n", css_class, attributes, path);
}

/// Draws the ticks below a chart, each with one or two lines of text. The picture is as wide as the
/// page allows, so horizontal positions are in percent, and all heights in pixels. Labels without
/// the chart would tell nothing, so screen readers pass over them.
std::string svg_tick_labels(const std::vector<TickLabel>& labels) {
  constexpr std::size_t tick_length = 4;
  constexpr std::size_t bottom_of_first_line = kAxisHeight;
  constexpr std::size_t gap_below_tick = 5;  // a part of kAxisHeight; a second line needs no gap
  constexpr std::size_t bottom_of_second_line = 2 * kAxisHeight - gap_below_tick;

  std::string ticks;
  std::size_t height = bottom_of_first_line;
  for (const TickLabel& label : labels) {
    const double position = label.position_percent;
    ticks += fmt::format("<line x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y2=\"{1}\" class=\"tick\"/>\n",
                         position, tick_length);
    ticks += draw_label_line(position, label.text, bottom_of_first_line);

    if (label.second_line.empty()) continue;
    ticks += draw_label_line(position, label.second_line, bottom_of_second_line);
    height = bottom_of_second_line;
  }

  return fmt::format("<svg width=\"100%\" height=\"{}\" aria-hidden=\"true\">\n{}</svg>\n", height,
                     ticks);
}

std::string svg_with_vertical_axis(const SvgWithAxis& drawing) {
  const std::size_t height = drawing.height_pixels;
  std::string grid;
  for (const TickLabel& label : make_tick_labels(drawing.axis, drawing.metric)) {
    const double y = static_cast<double>(height) * (1 - label.position_percent / 100);
    grid += fmt::format("<line y1=\"{0:.1f}\" x2=\"100%\" y2=\"{0:.1f}\" class=\"grid\"/>\n", y);
    grid += fmt::format("<text x=\"0\" y=\"{:.1f}\" class=\"label\">{}</text>\n",
                        std::max(y - 2, 10.0), html_text(label.text));
  }
  return fmt::format(
      "<svg width=\"100%\" height=\"{0}\" role=\"img\"><title>{1}</title>\n{2}"
      "<svg class=\"plot\" x=\"{3}%\" width=\"{4}%\" height=\"{0}\" viewBox=\"0 0 {5} {6}\" "
      "preserveAspectRatio=\"none\">\n{7}</svg>\n</svg>\n",
      height, html_text(drawing.title), grid, kPlotLeftPercent, kPlotWidthPercent,
      drawing.width_units, kSvgUnits, drawing.content);
}

double horizontal_percent(double place, std::size_t count) {
  return kPlotLeftPercent + kPlotWidthPercent * place / static_cast<double>(count);
}

std::string hover_attributes(const Axis& axis, const Metric& metric, std::string_view along) {
  const Notation notation = choose_axis_notation(axis, metric);
  return fmt::format(
      " data-along=\"{}\" data-low=\"{}\" data-high=\"{}\" data-size=\"{}\" "
      "data-unit=\"{}\"{}",
      along, axis.low, axis.high, notation.divisor_of_base_units,
      notation.power_of_ten_text + notation.suffix, axis.is_logarithmic ? " data-log=\"1\"" : "");
}

std::string html_text(std::string_view text) {
  constexpr std::string_view special = "&<>\"";
  constexpr std::array<std::string_view, 4> names = {"&amp;", "&lt;", "&gt;", "&quot;"};
  std::string escaped;
  for (const char c : one_line(text)) {
    const std::size_t at = special.find(c);
    escaped += at == special.npos ? std::string_view(&c, 1) : names[at];
  }
  return escaped;
}

std::string color_class(std::size_t number) {
  return fmt::format("c{}", number % kColorClasses);
}

std::vector<std::string> command_classes(const Results& results) {
  constexpr double shades = 4.0;  // from class g0, the palest, to g4, the full colour
  std::vector<std::string> classes;
  for (const auto& [line, place] : scan_colors(results))
    classes.push_back(fmt::format("{} g{:.0f}", color_class(line), shades * place));
  for (std::size_t c = classes.size(); c < results.commands.size(); ++c)
    classes.push_back(color_class(c));
  return classes;
}

std::string command_html(const Results& results, std::size_t command, std::string_view classes) {
  return fmt::format("<span class=\"dot {}\"></span><code>{}</code>", classes,
                     html_text(results.session.commands[command].name));
}

std::string view_switch(std::string_view chart, std::string_view view, std::string_view label,
                        bool is_chosen) {
  return fmt::format(
      "<input type=\"radio\" name=\"{0}\" id=\"{0}-{1}\"{2}><label for=\"{0}-{1}\">{3}</label>\n",
      chart, view, is_chosen ? " checked" : "", label);
}

std::string_view ink_class(Ink ink) {
  if (ink == Ink::Green) return "better";
  if (ink == Ink::Red) return "worse";
  return ink == Ink::Dim ? "unsure" : "neutral";
}

const stats::Summary* find_summary(const Results& results, std::size_t command,
                                   std::size_t metric) {
  const MetricResult* row = metric_result_of(results.commands[command], metric);
  return row != nullptr && row->summary ? &*row->summary : nullptr;
}

bool has_any_summary(const Results& results, std::size_t metric) {
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (find_summary(results, c, metric) != nullptr) return true;
  return false;
}

std::string commands_for_page_script(const Results& results) {
  const std::vector<std::string> classes = command_classes(results);
  std::string names;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    names += fmt::format("{}{}|{}", c == 0 ? "" : "\n", classes[c],
                         html_text(results.session.commands[c].name));
  return names;
}

/// Returns a command's `run_distances` (encode_run_distances()); empty if its first metric has the
/// same. Most metrics of a command have values of the same runs. To keep the page small, the runs
/// are written again only for a metric whose runs differ.
std::string MetricDrawings::omit_runs_of_first_metric(std::size_t command,
                                                      std::string run_distances) {
  const auto [written, is_first_metric] =
      run_distances_by_command_.try_emplace(command, run_distances);
  if (!is_first_metric && run_distances == written->second) run_distances.clear();
  return run_distances;
}

/// Returns, as HTML attributes, what the page's script (page/drawing.js, `draw`) needs to draw a
/// metric: one axis, and for each command a row with a box plot and the values of its runs. Very
/// many values are thinned out.
std::string MetricDrawings::make_attributes(std::size_t metric_index) {
  const DrawnMetric drawing = prepare_drawing(results_, metric_index);
  const PointLimits limits = share_points(max_points_, results_.commands.size());

  bool is_any_thinned = false;
  std::string rows;
  for (std::size_t c = 0; c < results_.commands.size(); ++c) {
    const stats::Summary* summary = find_summary(results_, c, metric_index);
    if (summary == nullptr) continue;

    const std::vector<Sample>& samples = drawing.samples[c];
    const std::vector<Sample> drawn = choose_drawn_samples(samples, limits);
    const bool is_thinned = drawn.size() < samples.size();
    is_any_thinned = is_any_thinned || is_thinned;

    const auto fields = std::to_array<std::string>(
        {std::to_string(c), quantity(summary->median, drawing.metric),
         encode_box(drawing, samples, *summary),
         omit_runs_of_first_metric(c, encode_run_distances(drawn)),
         encode_positions(drawing, drawn), encode_shape(drawing, samples, limits.max_unthinned)});
    const std::string_view separator = rows.empty() ? "" : "\n";
    rows += fmt::format("{}{}", separator, fmt::join(fields, ";"));
  }

  return fmt::format(" data-axis=\"{}\" data-rows=\"{}\"{}", html_text(encode_axis(drawing)), rows,
                     is_any_thinned ? " data-thinned" : "");
}

/// Writes a chart that shows how much the layouts of each command differ. Layouts (--layouts) are
/// builds of the same command whose code lies at other addresses; each gets a strip with its runs.
void write_layout_chart(const Results& results, std::size_t metric, const Sink& sink) {
  constexpr std::size_t max_strips = 200;  // more would make the page too long
  if (results.session.setting.layouts == 1 || count_strips(results) > max_strips) return;

  const DrawnMetric drawing = prepare_drawing(results, metric);
  const std::vector<std::string> classes = command_classes(results);
  sink(fmt::format("<h3>Layouts</h3>\n<div class=\"chart bars\"{}>\n",
                   hover_attributes(drawing.axis, drawing.metric, "x")));

  // If sessions of several files are joined, some of them may have been measured without layouts.
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (count_layouts(results.session, c) != 1) write_layout_strips(drawing, c, classes[c], sink);

  const std::string ticks = svg_tick_labels(make_tick_labels(drawing.axis, drawing.metric));
  sink(make_bar_row("", ticks, "") +
       "</div>\n<p class=\"aside\">points: the runs of a build; line: their mean</p>\n");
}

void write_overview_chart(const Results& results, std::size_t metric, const Sink& sink) {
  const Overview overview{results, metric, make_overview_rows(results, metric)};
  if (overview.rows.empty()) return;

  const bool is_wide = are_medians_far_apart(results, metric);
  sink("<div class=\"chart\">\n" + view_switch("overview", "zero", "from zero", !is_wide) +
       view_switch("overview", "close", is_wide ? "logarithmic" : "close up", is_wide));
  write_view(overview, View::FromZero, sink);
  write_view(overview, is_wide ? View::Logarithmic : View::CloseUp, sink);

  sink(fmt::format("<p class=\"aside\">The dot is the {}",
                   name_all_centers(results, overview.rows)));
  if (std::ranges::any_of(overview.rows,
                          [](const OverviewRow& row) { return row.interval.has_value(); }))
    sink(fmt::format(
        ", the bar is its {:g}% confidence interval, and the shape shows where the runs lie",
        100 * results.session.confidence));
  sink(".</p>\n</div>\n");
}

ChangeRow change_row(std::string html, const stats::Change& change, Better better) {
  const Cell delta = delta_cell(change, better);
  const std::string_view css_class = ink_class(delta.ink);
  return {.name_html = std::move(html),
          .change_html = fmt::format("<span class=\"{}\">{}</span>", css_class, delta_html(delta)),
          .css_class = css_class,
          .change = change};
}

std::string change_chart(std::vector<ChangeRow> rows) {
  std::erase_if(rows, [](const ChangeRow& row) { return !can_be_drawn(row); });
  if (rows.empty()) return "";
  const Axis axis = choose_change_axis(rows);
  std::string html = "<div class=\"chart bars\">\n";
  for (const ChangeRow& row : rows)
    html += make_bar_row(row.name_html, draw_change(row, axis), row.change_html);
  return html + make_bar_row("", svg_tick_labels(make_percent_labels(axis)), "") + "</div>\n";
}

/// Draws how long each command of a race took part. A race measures many commands in rounds, and a
/// command leaves as soon as another one is shown to be better.
std::string race_chart(const Results& results) {
  const bool has_rounds = results.findings.race && results.findings.race->rounds > 0;
  if (!has_rounds) return "";
  const gate::RaceResult& race = *results.findings.race;

  const Axis axis = choose_race_axis(race);
  const std::vector<std::string> classes = command_classes(results);
  std::string html = "<div class=\"chart bars\">\n";
  for (const std::size_t c : race.order()) html += make_race_row(results, axis, c, classes[c]);
  return html + make_bar_row("", svg_tick_labels(make_round_labels(axis)), "") + "</div>\n";
}

std::string delta_chart(const Results& results, std::size_t metric) {
  const std::vector<std::string> classes = command_classes(results);
  std::vector<ChangeRow> rows;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (const MetricResult* row = metric_result_of(results.commands[c], metric);
        row != nullptr && row->delta)
      rows.push_back(change_row(command_html(results, c, classes[c]), *row->delta,
                                results.session.metrics[metric].better));
  return change_chart(std::move(rows));
}

}  // namespace lauka::report
