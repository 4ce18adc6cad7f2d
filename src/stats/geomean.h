#pragma once

#include "stats/delta.h"

#include <span>

namespace lauka::stats {

/// The geometric mean of 1 + change, minus 1, of changes that were measured independently. Its
/// interval is about these changes, not about others that might have been measured: the half widths
/// of their logarithms, each side for itself, add up as squares (the method of variance estimates
/// recovery, Zou & Donner, Statistics in Medicine 27, 2008). None where there are none or one is no
/// change to above -100%; no interval where one lacks its own.
Change geometric_mean(std::span<const Change> changes);

}  // namespace lauka::stats
