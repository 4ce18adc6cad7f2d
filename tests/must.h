#pragma once

#include "core/result.h"

#include <utility>

#include <doctest/doctest.h>

namespace lauka {

/// Returns the value of a result, or ends the test case with its error.
template <typename T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().line());
  return *std::move(result);
}

}  // namespace lauka
