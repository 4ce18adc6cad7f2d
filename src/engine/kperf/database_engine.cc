#include "engine/kperf/kpep.h"
#include "engine/kperf/kperf_engine.h"
#include "engine/kperf/selection.h"

#include <utility>

namespace lauka::engine::kperf {
namespace {

class DatabaseEngine final : public CounterEngine {
 public:
  DatabaseEngine(KpepDatabase database, bool user_only)
      : database_(std::move(database)), room_{database_.config_counters, user_only} {}

  std::string_view name() const override { return row_of(EngineChoice::Kperf).name; }

  Catalog catalog() const override { return catalog_of(database_, room_.available); }

  Result<EventSet> select(const EventRequest& wanted) override {
    const auto selection = select_events(database_, wanted, room_);
    if (!selection) return selection.error();
    return event_set_of(*selection, "");
  }

  Result<Explanation> explain(const EventRequest& wanted) override {
    return explain_wanted(database_, wanted.names, room_);
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t /*pass*/) override {
    return Error{"a kpep database cannot count", "leave out --kpep"};
  }

 private:
  KpepDatabase database_;
  CounterRoom room_;
};

}  // namespace

std::unique_ptr<CounterEngine> make_database_engine(KpepDatabase database, bool user_only) {
  return std::make_unique<DatabaseEngine>(std::move(database), user_only);
}

Result<std::unique_ptr<CounterEngine>> open_database_engine(const std::string& path,
                                                            bool user_only) {
  auto database = load_kpep(path);
  if (!database) return database.error();
  return make_database_engine(*std::move(database), user_only);
}

}  // namespace lauka::engine::kperf
