#include "core/tuning.h"

#include <algorithm>

namespace lauka {

std::string settings_in_force(const Tuning& tuning) {
  std::string text;
  for (const TunedSwitch& one : tuning.switched) {
    std::string value = one.during;
    std::erase(value, ' ');
    text.append(text.empty() ? "" : " ").append(one.name).append("=").append(value);
  }
  return text;
}

}  // namespace lauka
