#include "answering.h"

#include "cli/help.h"
#include "cli/version.h"
#include "delivery.h"
#include "engine/kperf/database_engine.h"
#include "engine/kperf/plist.h"
#include "inquire/explain_events.h"
#include "inquire/list_events.h"
#include "os/program.h"
#include "os/terminal.h"
#include "report/screen.h"

#include <variant>

namespace lauka {
namespace {

using os::Stream;

int explain(const Options& options, engine::CounterEngine& engine) {
  const auto explanation = engine.explain({options.events});
  if (!explanation) return refuse(explanation.error(), ExitStatus::Usage);
  return show(inquire::explain_events(*explanation));
}

}  // namespace

int show(const std::string& text) {
  const auto said = os::say(Stream::Output, text);
  return said ? static_cast<int>(ExitStatus::Done) : refuse(said.error(), ExitStatus::Failed);
}

int answer(const Options& options, engine::CounterEngine& engine,
           const std::optional<std::string>& note) {
  const Inquiry& inquiry = *options.inquiry;
  if (std::holds_alternative<ExplainEvents>(inquiry)) return explain(options, engine);
  const auto* list = std::get_if<ListEvents>(&inquiry);
  if (list == nullptr)
    return show(std::holds_alternative<ShowVersion>(inquiry) ? cli::version_line() : cli::help());
  // Where standard error cannot be written, there is nobody left to tell.
  if (note) static_cast<void>(os::say(Stream::Error, report::note_lines({*note})));
  return show(
      inquire::list_events(engine.catalog(), list->filter, os::terminal_width(Stream::Output, 0)));
}

int answer_from_kpep(const Options& options, const char* const* argv) {
  if (engine::kperf::plist_reader() == nullptr) os::go_on_as("lauka-kpep", argv);
  const auto engine =
      engine::kperf::open_database_engine(options.kpep.value_or(""), options.user_only);
  return engine ? answer(options, **engine) : refuse(engine.error(), ExitStatus::Usage);
}

}  // namespace lauka
