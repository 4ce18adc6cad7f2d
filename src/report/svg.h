#pragma once

#include "core/metric.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

inline constexpr int kMostTicks = 5;  ///< of an axis: more do not fit on a phone
inline constexpr std::size_t kAxisHeight = 20;
inline constexpr std::size_t kAcross = 1000;  ///< units of a stretched picture

/// A scale of values drawn from one edge of a picture to the other.
struct Axis {
  double low = 0.0;
  double high = 1.0;            ///< above `low`
  std::vector<double> ticks{};  ///< ascending, within the ends
  bool is_logarithmic = false;  ///< then `low` is above 0

  /// Returns the place of `value` in percent of the way, 0 to 100.
  double percent(double value) const;
};

/// Returns an axis that holds both values with some room at each end, and at most `most_ticks` (2
/// or more) round numbers on it: multiples of 1, 2 or 5 times a power of ten.
Axis axis_over(double low, double high, int most_ticks);

/// The same for values above 0 whose logarithms are drawn.
Axis logarithmic_axis(double low, double high, int most_ticks);

/// True if values from `low` to `high` are so far apart that on a linear axis the smallest ones
/// would fall together: by a factor of more than 50.
bool spans_decades(double low, double high);

/// One label of an axis and its place, in percent from the left.
struct TickLabel {
  double percent = 0.0;
  std::string text;
  std::string below{};  ///< a second line
};

/// Returns the ticks of an axis in words, with as many digits as distinguish neighbours.
std::vector<TickLabel> labels_of(const Axis& axis, const Metric& metric);

/// Returns the place of a value on an axis that is `kAcross` units long.
double across(const Axis& axis, double value);

/// A row of a chart: a picture `kAcross` units wide, whose lines keep their thickness however it is
/// stretched. `label` is for screen readers, which skip it if it is empty. A page has thousands of
/// rows: all marks of a kind are one path, since it is the number of elements that makes a page
/// slow to open.
std::string svg_row(std::size_t height, std::string_view css_class, std::string_view label,
                    std::string_view content);
std::string svg_path(std::string_view css_class, std::string_view path);

/// The vertical lines of an axis over the whole height of a row.
std::string svg_grid(const Axis& axis, std::size_t height);

/// A point of a path, in the units of its picture.
struct Spot {
  std::size_t x = 0;
  std::size_t y = 0;
};

/// Draws points as one path, a dozen bytes each: a circle each would take ten times that. Each is
/// the round end of a line of no length, so that they stay round however the picture is stretched.
std::string svg_spots(const std::vector<Spot>& spots, std::string_view css_class,
                      std::string_view attributes);

/// Draws the labels below an axis, those at its ends kept inside the drawing.
std::string svg_axis(const std::vector<TickLabel>& labels);

/// Returns a picture `height` pixels high of values from bottom to top along an order of `count`
/// places, in which `content` is drawn `count` wide and `kAcross` high, with the labels of `axis`.
/// `title` is for screen readers.
std::string svg_along(std::size_t height, const Axis& axis, const Metric& metric, std::size_t count,
                      std::string_view title, std::string_view content);

/// Returns the place in such a picture, in percent of its whole width.
double percent_along(double place, std::size_t count);

/// Returns the attributes from which the page's script computes a value of its place: the ends of
/// the axis and the unit.
std::string hover_attributes(const Axis& axis, const Metric& metric, std::string_view along);

}  // namespace lauka::report
