#include "core/core_kind.h"

namespace lauka {
namespace {

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

std::string time_metric_of(const std::string& kind) {
  return lower_case(kind) + "_time";
}

std::string share_metric_of(const std::string& kind) {
  return lower_case(kind) + "_share";
}

}  // namespace lauka
