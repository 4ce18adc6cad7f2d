#include "cli/suite_file.h"

#include "core/foreign_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

// toml++ 3 takes some faults of a file ("[[[") for its own: it asserts, or where NDEBUG is defined
// lets the compiler assume that they do not come. Here they are refused as others are; what it
// throws ends in this file. It calls itself for what is nested: nothing of ours is so deep.
namespace lauka::cli {
namespace {

struct BrokenToml {};

[[noreturn]] void refuse_broken() {
  throw BrokenToml{};
}

}  // namespace
}  // namespace lauka::cli

#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : lauka::cli::refuse_broken())
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

namespace lauka::cli {
namespace {

constexpr std::size_t kMostEntries = 200;  // of one table
constexpr std::size_t kMostOfList = 1000;
constexpr std::string_view kShape = "write [defaults] and [[benchmark]] tables (docs/suites.md)";

std::size_t line_of(const toml::node& node) {
  return node.source().begin.line;
}

/// Reads one document; the first fault ends it.
class Reader {
 public:
  explicit Reader(SuiteFault& fault) : fault_(fault) {}

  bool read(const toml::table& root, SuiteDocument& document) {
    for (const auto& [key, node] : root) {
      const bool is_defaults = key.str() == "defaults" && node.is_table();
      const bool is_benchmarks = key.str() == "benchmark" && node.is_array_of_tables();
      if (!is_defaults && !is_benchmarks)
        return refuse(line_of(node), fmt::format("{} is not known here", cited(key.str())),
                      std::string(kShape));
      if (is_defaults && !read_table(*node.as_table(), document.defaults)) return false;
      if (is_benchmarks && !read_benchmarks(*node.as_array(), document)) return false;
    }
    if (!document.benchmarks.empty()) return true;
    return refuse(0, "has no benchmark", std::string(kShape));
  }

  bool refuse(std::size_t line, std::string what, std::string remedy) {
    fault_ = {line, {std::move(what), std::move(remedy)}};
    return false;
  }

 private:
  bool read_benchmarks(const toml::array& list, SuiteDocument& document) {
    if (list.size() > kMostBenchmarks)
      return refuse(line_of(list), fmt::format("{} benchmarks are too many", list.size()),
                    fmt::format("divide them among files of at most {}", kMostBenchmarks));
    for (const toml::node& node : list) {
      SuiteTable& table = document.benchmarks.emplace_back();
      if (!read_table(*node.as_table(), table)) return false;
    }
    return true;
  }

  bool read_table(const toml::table& from, SuiteTable& to) {
    to.line = line_of(from);
    if (from.size() > kMostEntries)
      return refuse(to.line, fmt::format("{} options are too many", from.size()), "");
    for (const auto& [key, node] : from) {
      SuiteEntry& entry = to.entries.emplace_back();
      entry.key = key.str();
      entry.line = line_of(node);
      if (!read_value(node, 0, entry.value))
        return refuse(entry.line, fmt::format("{} has a value of another kind", cited(entry.key)),
                      "write text in quotes, a number, true or false, or a list of these");
    }
    // The library sorts by name; options are applied as they are written.
    std::stable_sort(to.entries.begin(), to.entries.end(),
                     [](const SuiteEntry& a, const SuiteEntry& b) { return a.line < b.line; });
    return true;
  }

  static bool read_value(const toml::node& node, std::size_t depth, SuiteValue& to) {
    using Kind = SuiteValue::Kind;
    if (const auto* text = node.as_string()) {
      to.text = text->get();
      return to.text.find('\0') == std::string::npos;
    }
    if (const auto* flag = node.as_boolean()) {
      to.kind = Kind::Flag;
      to.flag = flag->get();
      return true;
    }
    to.kind = Kind::Number;
    if (const auto* whole = node.as_integer()) {
      to.text = fmt::to_string(whole->get());
      return true;
    }
    if (const auto* number = node.as_floating_point()) {
      to.text = fmt::format("{}", number->get());
      return std::isfinite(number->get()) && to.text.find('e') == std::string::npos;
    }
    to.kind = Kind::List;
    const toml::array* list = node.as_array();
    constexpr std::size_t deepest = 1;
    if (list == nullptr || depth > deepest || list->size() > kMostOfList) return false;
    to.list.resize(list->size());
    for (std::size_t i = 0; i < list->size(); ++i)
      if (!read_value((*list)[i], depth + 1, to.list[i])) return false;
    return true;
  }

  SuiteFault& fault_;
};

}  // namespace

bool read_suite_file(std::string_view text, SuiteDocument& document, SuiteFault& fault) {
  Reader reader(fault);
  if (text.find('\0') != std::string_view::npos)
    return reader.refuse(0, "is no TOML: it has a byte of value 0", "");
  try {
    return reader.read(toml::parse(text), document);
  } catch (const toml::parse_error& error) {
    return reader.refuse(error.source().begin.line,
                         fmt::format("is no TOML: {}", error.description()),
                         "see https://toml.io for how it is written");
  } catch (const BrokenToml&) {
    return reader.refuse(0, "is no TOML: something in it is misplaced",
                         "see https://toml.io for how it is written");
  }
}

}  // namespace lauka::cli
