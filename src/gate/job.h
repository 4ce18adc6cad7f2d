#pragma once

#include "gate/verdict.h"

#include <span>
#include <vector>

namespace lauka::gate {

/// What the gates of a job risk together: that any fails by chance, or the expected share of those
/// that fail by chance among those that fail.
enum class Risk : unsigned char { Any, Share };

/// Which of these hypotheses Holm's step-down procedure rejects (Scandinavian Journal of Statistics
/// 6, 1979): the rate of any false rejection is at most `error`, whatever depends on what.
std::vector<bool> holm(std::span<const double> p, double error);

/// Which of them Benjamini and Hochberg's step-up procedure rejects (Journal of the Royal
/// Statistical Society B 57, 1995): the expected share of false ones among them is at most `error`.
std::vector<bool> benjamini_hochberg(std::span<const double> p, double error);

/// Looks once more at the gates of all benchmarks, each of which decided alone what its part of
/// `error` lets it: one that is inconclusive fails where the procedure rejects it. A pass stays,
/// and so does a fail, which any of both procedures rejects.
void settle_job(std::span<Findings* const> findings, double error, Risk risk);

}  // namespace lauka::gate
