#pragma once

#include <cstddef>
#include <vector>

namespace lauka {

/// The values of one metric for one function or call path, by round. An empty vector means 0 in
/// every round; a single value means this value in every round.
using RoundValues = std::vector<double>;

double value_in(const RoundValues& values, std::size_t round);

/// Appends the value of a round to those of the `rounds` rounds before.
void append_round(RoundValues& values, std::size_t rounds, double value);

double mean_of(const RoundValues& values, std::size_t rounds);

}  // namespace lauka
