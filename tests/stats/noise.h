#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace lauka::noise {

/// Noise that repeats for a seed on every system: the standard fixes the generator, but not what
/// its distributions make of it.
class Source {
 public:
  explicit Source(std::uint64_t seed) : bits_(seed) {}

  /// 0..1, exclusive.
  double uniform() { return (static_cast<double>(bits_() >> 11U) + 0.5) * 0x1p-53; }

  /// Standard normal (Box and Muller 1958).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

  std::vector<double> normals(std::size_t count, double mean, double deviation) {
    std::vector<double> values(count);
    for (double& value : values) value = mean + deviation * normal();
    return values;
  }

  /// Standard normal values, each of which repeats `persistence` of the one before (AR(1)).
  std::vector<double> waves(std::size_t count, double persistence) {
    std::vector<double> values(count);
    double wave = normal();
    for (double& value : values) {
      value = wave;
      wave = persistence * wave + std::sqrt(1.0 - persistence * persistence) * normal();
    }
    return values;
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace lauka::noise
