#pragma once

#include "core/metric.h"
#include "report/axis.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

inline constexpr int kMostTicks = 5;  ///< of an axis: more do not fit on a phone
inline constexpr std::size_t kAxisHeight = 20;
inline constexpr std::size_t kAcross = 1000;  ///< units of a stretched picture

/// One label of an axis and where it stands, in percent from the left.
struct TickLabel {
  double percent = 0.0;
  std::string text;
};

/// The ticks of an axis in words, with as many digits as tell neighbours apart.
std::vector<TickLabel> labels_of(const Axis& axis, const Metric& metric);

/// A drawing of `height` pixels that fills the width, with `title` for who cannot see it.
std::string svg_begin(std::size_t height, std::string_view title);  ///< ends with </svg>
std::string svg(std::size_t height, std::string_view title, std::string_view content);

std::string svg_line(double x1_percent, double y1, double x2_percent, double y2,
                     std::string_view css_class);
std::string svg_point(double x_percent, double y, double radius, std::string_view css_class,
                      std::string_view tooltip);

/// Where a value lies on an axis that is `kAcross` units long.
double across(const Axis& axis, double value);

/// A row of a chart: a picture `kAcross` units wide, whose lines keep their thickness however it is
/// stretched. `label` is for who cannot see it. A page has thousands of rows: all marks of a kind
/// are one path, since it is the number of elements that makes a page slow to open.
std::string svg_row(std::size_t height, std::string_view css_class, std::string_view label,
                    std::string_view content);
std::string svg_path(std::string_view css_class, std::string_view path);

/// The vertical lines of an axis over the whole height of a row.
std::string svg_grid(const Axis& axis, std::size_t height);

/// A point of a path, in the units of the picture that it stands in.
struct Spot {
  std::size_t x = 0;
  std::size_t y = 0;
};

/// Points as one path, a dozen bytes each: a circle each would take ten times that. Each is the
/// round end of a line of no length, so that they stay round however the picture is stretched.
std::string svg_spots(const std::vector<Spot>& spots, std::string_view css_class,
                      std::string_view attributes);

/// The labels below an axis, those at its ends kept inside the drawing.
std::string svg_axis(const std::vector<TickLabel>& labels);

/// What the page's script needs to tell a value from its place: the ends of the axis and the unit,
/// as attributes of a drawing.
std::string hover_attributes(const Axis& axis, const Metric& metric, std::string_view along);

}  // namespace lauka::report
