#pragma once

#include "report/axis.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

/// One label of an axis and where it stands, in percent from the left.
struct TickLabel {
  double percent = 0.0;
  std::string text;
};

/// A drawing of `height` pixels that fills the width, with `title` for who cannot see it.
std::string svg(std::size_t height, std::string_view title, std::string_view content);

std::string svg_line(double x1_percent, double y1, double x2_percent, double y2,
                     std::string_view css_class);
std::string svg_point(double x_percent, double y, std::string_view css_class,
                      std::string_view tooltip);
std::string svg_box(double from_percent, double to_percent, double y, double height,
                    std::string_view css_class);

/// The labels below an axis, those at its ends kept inside the drawing.
std::string svg_axis(const std::vector<TickLabel>& labels, std::size_t height);

}  // namespace lauka::report
