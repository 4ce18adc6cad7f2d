#include "core/program_name.h"

#include <utility>

namespace lauka {

namespace {

std::string& stored_name() {
  static std::string name = "lauka";
  return name;
}

}  // namespace

const std::string& program_name() {
  return stored_name();
}

void set_program_name(std::string name) {
  stored_name() = std::move(name);
}

}  // namespace lauka
