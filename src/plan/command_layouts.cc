#include "plan/command_layouts.h"

#include "core/text.h"
#include "plan/placeholders.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

constexpr std::string_view kLayoutVariable = "layout";

/// Fills in the number of a layout in all parts of a command but its name.
void fill_in_layout_everywhere(Command& command, std::uint32_t layout) {
  // Users count layouts from 1, and lauka from 0.
  const std::vector<Parameter> layout_number = {
      {.name = std::string(kLayoutVariable), .value = std::to_string(layout + 1)}};

  command.text = fill_in(command.text, layout_number);
  command.words = fill_in(std::move(command.words), layout_number);
  command.environment = fill_in(std::move(command.environment), layout_number);
  command.input = fill_in(command.input, layout_number);
  command.output = fill_in(command.output, layout_number);
  command.folder = fill_in(command.folder, layout_number);
  if (command.expected) command.expected = fill_in(*command.expected, layout_number);
  if (command.build) command.build = fill_in(*command.build, layout_number);
  for (auto& hook : command.hooks.all)
    if (hook) hook = fill_in(*hook, layout_number);
}

}  // namespace

bool mentions_layout(std::string_view text) {
  return mentions(text, kLayoutVariable);
}

std::string fill_in_layout(std::string_view text, std::uint64_t layout) {
  return fill_in(text, {{std::string(kLayoutVariable), std::to_string(layout)}});
}

/// Returns the command as it runs in one layout, which is one of several builds of the program. The
/// names of the builds contain their number, for which the typed command has {layout}.
std::shared_ptr<const Command> command_in_layout(const Plan& plan, std::size_t command,
                                                 std::uint32_t layout) {
  // Without --layouts, nothing is filled in, and the plan's own command needs no copy. The pointer
  // to it owns nothing.
  if (plan.setting.layouts == 1) return {std::shared_ptr<void>(), &plan.commands[command]};

  auto built = std::make_shared<Command>(plan.commands[command]);
  fill_in_layout_everywhere(*built, layout);
  built->name =
      name_in_layout(plan, Step{.command = static_cast<std::uint32_t>(command), .layout = layout});
  return built;
}

std::string name_in_layout(const Plan& plan, const Step& step) {
  const std::string& name = plan.commands[step.command].name;
  if (plan.setting.layouts == 1) return name;
  const std::string number = std::to_string(step.layout + 1);
  return mentions_layout(name) ? fill_in(name, {{std::string(kLayoutVariable), number}})
                               : fmt::format("{} (layout {})", name, number);
}

Result<void> check_layouts(const Options& options, const std::vector<Command>& commands) {
  if (!options.run.layouts) return {};
  const auto is_layout = [](const ParameterOption& parameter) {
    return parameter.name == kLayoutVariable;
  };
  if (std::ranges::any_of(options.commands.parameters, is_layout))
    return Error{"the variable 'layout' belongs to --layouts", "give your variable another name"};
  for (const Command& command : commands) {
    const bool has_own = mentions_layout(command.text) || mentions_layout(command.folder) ||
                         mentions_layout(command.input) ||
                         std::ranges::any_of(command.environment, mentions_layout);
    if (has_own) continue;
    return Error{
        fmt::format("{} has no {{layout}}, so all of its {} layouts would be the same program",
                    cited(command.text), *options.run.layouts),
        "write {layout} where the names of its builds differ, as in './old-{layout}'"};
  }
  return {};
}

}  // namespace lauka
