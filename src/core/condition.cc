#include "core/condition.h"

namespace lauka {

Condition with_own_limit(Condition condition) {
  if (condition.acceptance) condition.limit = condition.acceptance->own_limit;
  condition.acceptance.reset();
  return condition;
}

}  // namespace lauka
