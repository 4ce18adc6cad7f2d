#include "engine/kperf/kperf_or_totals.h"

#include "engine/kperf/totals_engine.h"

#include <utility>

namespace lauka::engine::kperf {
namespace {

class KperfOrTotals final : public CounterEngine {
 public:
  KperfOrTotals(std::unique_ptr<CounterEngine> kperf, KpepDatabase database)
      : engine_(std::move(kperf)), database_(std::move(database)) {}

  std::string_view name() const override { return engine_->name(); }
  Catalog catalog() const override { return engine_->catalog(); }
  std::vector<std::string> notes() const override { return engine_->notes(); }

  Result<Explanation> explain(const Wanted& wanted) override { return engine_->explain(wanted); }

  Result<EventSet> select(const Wanted& wanted) override {
    auto set = engine_->select(wanted);
    if (set || !wanted.names.empty() || is_refused_by_user(wanted)) return set;
    // The engine that failed gives back all it took, as it is destroyed.
    engine_ = make_totals_engine({set.error().what, set.error().remedy}, database_);
    return engine_->select(wanted);
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t pass, os::Launcher& launcher) override {
    return engine_->arm(pass, launcher);
  }

 private:
  /// Whether it is --single-pass that rules the events out, which is no matter of the kernel's.
  bool is_refused_by_user(const Wanted& wanted) {
    if (!wanted.single_pass) return false;
    const auto explanation = engine_->explain(wanted);
    return !explanation || explanation->passes.size() > 1;
  }

  std::unique_ptr<CounterEngine> engine_;
  KpepDatabase database_;
};

}  // namespace

std::unique_ptr<CounterEngine> make_kperf_or_totals(std::unique_ptr<CounterEngine> kperf,
                                                    KpepDatabase database) {
  return std::make_unique<KperfOrTotals>(std::move(kperf), std::move(database));
}

}  // namespace lauka::engine::kperf
