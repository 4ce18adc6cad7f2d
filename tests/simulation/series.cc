#include "simulation/series.h"

#include <cmath>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

namespace lauka::simulation {
namespace {

using Values = std::vector<double>;

Values quiet(noise::Source& source, std::size_t runs) {
  return source.normals(runs, 1.0, 0.01);
}

/// Now and then a run is disturbed, by up to twice its time.
Values spikes(noise::Source& source, std::size_t runs) {
  Values values = source.normals(runs, 1.0, 0.02);
  for (double& value : values) value *= source.uniform() < 0.05 ? 1.0 + source.uniform() : 1.0;
  return values;
}

/// Student's t with three degrees of freedom: a variance, but hardly.
Values heavy_tails(noise::Source& source, std::size_t runs) {
  Values values(runs);
  for (double& value : values) {
    double squares = 0.0;
    for (int i = 0; i < 3; ++i) squares += std::pow(source.normal(), 2);
    value = std::exp(0.03 * source.normal() / std::sqrt(squares / 3.0));
  }
  return values;
}

Values two_speeds(noise::Source& source, std::size_t runs) {
  Values values = source.normals(runs, 1.0, 0.01);
  for (double& value : values) value *= source.uniform() < 0.3 ? 1.15 : 1.0;
  return values;
}

/// Each run remembers nine tenths of the last one's disturbance.
Values slow_waves(noise::Source& source, std::size_t runs) {
  Values values(runs);
  double wave = 0.05 * source.normal();
  for (double& value : values) {
    wave = 0.9 * wave + 0.05 * std::sqrt(1.0 - 0.81) * source.normal();
    value = std::exp(wave + 0.02 * source.normal());
  }
  return values;
}

/// The machine gets slower by a fifth.
Values drift(noise::Source& source, std::size_t runs) {
  Values values = source.normals(runs, 1.0, 0.02);
  for (std::size_t i = 0; i < runs; ++i)
    values[i] *= 1.0 + 0.2 * static_cast<double>(i) / static_cast<double>(runs);
  return values;
}

/// Another program runs for a while, then rests for a while.
Values bursts(noise::Source& source, std::size_t runs) {
  Values values = source.normals(runs, 1.0, 0.015);
  bool busy = source.uniform() < 0.3;
  for (double& value : values) {
    busy = busy ? source.uniform() > 0.1 : source.uniform() < 0.04;
    value *= busy ? 1.25 + 0.1 * source.uniform() : 1.0;
  }
  return values;
}

/// From a random place on; at the end it begins again.
Noise recorded(Values values) {
  return [values = std::move(values)](noise::Source& source, std::size_t runs) {
    auto at = static_cast<std::size_t>(source.uniform() * static_cast<double>(values.size()));
    Values taken(runs);
    for (double& value : taken) value = values[at++ % values.size()];
    return taken;
  };
}

}  // namespace

Noise lognormal(double deviation) {
  return [deviation](noise::Source& source, std::size_t runs) {
    Values values = source.normals(runs, 0.0, deviation);
    for (double& value : values) value = std::exp(value);
    return values;
  };
}

std::vector<Series> all_series(const std::string& file) {
  std::vector<Series> all{{"quiet, 1%", quiet},       {"log-normal, 8%", lognormal(0.08)},
                          {"spikes", spikes},         {"heavy tails", heavy_tails},
                          {"two speeds", two_speeds}, {"slow waves", slow_waves},
                          {"drift", drift},           {"bursts", bursts}};
  std::ifstream in(file);
  const auto document = nlohmann::json::parse(in);
  for (const auto& series : document.at("series"))
    all.push_back({series.at("name"), recorded(series.at("values").get<Values>()), true});
  return all;
}

}  // namespace lauka::simulation
