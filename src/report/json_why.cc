#include "report/json_parts.h"
#include "report/why.h"
#include "results/json_words.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

namespace lauka::report {

Json why_of(const Results& results, std::size_t command) {
  const auto why = std::find_if(results.whys.begin(), results.whys.end(),
                                [command](const Why& one) { return one.command == command; });
  if (why == results.whys.end()) return nullptr;
  Json factors = Json::array();
  for (const WallFactor& factor : why->factors) {
    const auto& bounds = factor.change.bounds;
    factors.push_back({{"part", word_in(kWallPartWords, factor.part)},
                       {"ratio", json_number(1.0 + factor.change.change.value_or(0.0))},
                       {"low", bounds ? Json(1.0 + bounds->low) : Json(nullptr)},
                       {"high", bounds ? Json(1.0 + bounds->high) : Json(nullptr)},
                       {"of_wall_time", std::exp(factor.log_of_wall_time())},
                       {"significant", factor.change.is_significant()},
                       {"reference", json_number(factor.reference)},
                       {"candidate", json_number(factor.candidate)}});
  }
  return {{"text", why_text(results, *why)}, {"factors", std::move(factors)}};
}

}  // namespace lauka::report
