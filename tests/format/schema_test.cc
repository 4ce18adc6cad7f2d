#include "format/field_json.h"
#include "places.h"

#include <chrono>
#include <fstream>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// docs/schema.json has the fields that describe_fields() lists: the same keys, of the same types,
// and required where they are always written.

namespace lauka {
namespace {

using Schema = nlohmann::json;

Schema read_schema() {
  std::ifstream file(std::string(places::kRepository) + "/docs/schema.json");
  return Schema::parse(file);
}

/// The types that a schema allows, and the values where it lists them (null: "null").
struct Allowed {
  std::set<std::string> types{};
  std::optional<std::set<std::string>> words{};
  /// Schema of the object or the list, if that is a type.
  const Schema* of_structure = nullptr;
};

// NOLINTBEGIN(misc-no-recursion): a schema nests, as deep as docs/schema.json does
class Reader {
 public:
  explicit Reader(const Schema& root) : root_(root) {}

  const Schema& at(const std::string& pointer) const {
    return root_.at(Schema::json_pointer(pointer));
  }

  Allowed allowed(const Schema& schema) const {
    Allowed all;
    add(schema, all);
    return all;
  }

 private:
  void add(const Schema& schema, Allowed& to) const {
    if (schema.contains("$ref")) add(at(schema.at("$ref").get<std::string>().substr(1)), to);
    if (schema.contains("oneOf"))
      for (const Schema& choice : schema.at("oneOf")) add(choice, to);
    if (schema.contains("const")) add_value(schema.at("const"), to);
    if (schema.contains("enum")) {
      to.words.emplace();
      for (const Schema& value : schema.at("enum")) {
        add_value(value, to);
        to.words->insert(value.is_string() ? value.get<std::string>() : "");
      }
    }
    if (schema.contains("type")) {
      const Schema& type = schema.at("type");
      for (const Schema& one : type.is_array() ? type : Schema::array({type})) to.types.insert(one);
    }
    if (schema.contains("properties") || schema.contains("additionalProperties") ||
        schema.contains("items"))
      to.of_structure = &schema;
  }

  static void add_value(const Schema& value, Allowed& to) {
    to.types.insert(value.is_number_integer() ? "integer" : value.type_name());
  }

  const Schema& root_;
};

/// Compares the fields of structs, which are together stored in one object, with its schema.
class ObjectCheck : public ShowingVisitor<ObjectCheck> {
 public:
  ObjectCheck(const Reader& reader, const Schema& object, std::string place,
              std::vector<std::string>& faults)
      : reader_(reader), object_(object), place_(std::move(place)), faults_(faults) {}

  template <typename Struct>
  ObjectCheck& has() {
    Struct empty{};
    describe_fields(*this, empty);
    return *this;
  }

  /// Adds keys whose values are written by other means.
  ObjectCheck& also(std::initializer_list<std::string_view> always,
                    std::initializer_list<std::string_view> sometimes = {}) {
    for (const std::string_view key : always) required_.insert(add_key(key));
    for (const std::string_view key : sometimes) add_key(key);
    return *this;
  }

  /// Compares the keys of all fields with those of the schema.
  void finish() {
    std::set<std::string> described;
    const Schema properties = object_.value("properties", Schema::object());
    for (const auto& property : properties.items()) described.insert(property.key());
    compare(described, keys_, "is not in the schema", "is in the schema, but not written");

    const auto required = object_.value("required", std::set<std::string>());
    compare(required, required_, "is always written, but not required",
            "is required, but not always written");
  }

  template <typename Value>
  void operator()(std::string_view key, const Value& /*value*/) {
    add<Value>(key, !is_in_group_);
  }
  template <typename Value>
  void if_set(std::string_view key, const Value& /*value*/, const Value& /*unset*/ = {}) {
    // A value that may be missing is not null where it is there.
    if constexpr (requires(const Value& value) { value.has_value(); })
      add<typename Value::value_type>(key, false);
    else
      add<Value>(key, false);
  }
  template <typename Group>
  void if_known(bool /*is_known*/, const Group& group) {
    is_in_group_ = true;
    group();
    is_in_group_ = false;
  }

 private:
  std::string add_key(std::string_view key) { return *keys_.emplace(key).first; }

  template <typename Value>
  void add(std::string_view key, bool is_required) {
    const std::string name = add_key(key);
    if (is_required) required_.insert(name);
    const auto properties = object_.find("properties");
    if (properties != object_.end() && properties->contains(name))
      check_value<Value>(properties->at(name), place_ + "/" + name);
  }

  template <typename Value>
  void check_value(const Schema& schema, const std::string& place) {
    const Allowed allowed = reader_.allowed(schema);
    std::set<std::string> types;
    add_types<Value>(types);
    if (types != allowed.types)
      faults_.push_back(place + " has other types: " + Schema(allowed.types).dump() +
                        " in the schema, " + Schema(types).dump() + " written");
    else
      check_inner<Value>(allowed, place);
  }

  template <typename Value>
  static void add_types(std::set<std::string>& types) {
    if constexpr (std::is_same_v<Value, bool>) {
      types.insert("boolean");
    } else if constexpr (std::is_floating_point_v<Value>) {
      types.insert("number");
    } else if constexpr (std::is_integral_v<Value> ||
                         std::is_same_v<Value, std::chrono::nanoseconds>) {
      types.insert("integer");
    } else if constexpr (std::is_enum_v<Value>) {
      for (const std::string& word : words<Value>()) types.insert(word.empty() ? "null" : "string");
    } else if constexpr (std::is_same_v<Value, UtcTime> ||
                         std::is_convertible_v<Value, std::string_view>) {
      types.insert("string");
    } else if constexpr (requires(Value value) { value.has_value(); }) {
      types.insert("null");
      add_types<typename Value::value_type>(types);
    } else if constexpr (is_map<Value>() || HasFields<Value>) {
      types.insert("object");
    } else {
      types.insert("array");
    }
  }

  template <typename Value>
  static constexpr bool is_map() {
    return std::is_same_v<Value, SettingValues> || std::is_same_v<Value, std::vector<Label>> ||
           requires {
      typename Value::mapped_type;
    };
  }

  template <typename Enum>
  static std::set<std::string> words() {
    std::set<std::string> all;
    if constexpr (std::is_same_v<Enum, Ending>)
      all.insert(kWordsOfEnding.begin(), kWordsOfEnding.end());
    else
      for (const auto& row : words_of(As<Enum>())) all.emplace(row.word);
    return all;
  }

  template <typename Value>
  void check_inner(const Allowed& allowed, const std::string& place) {
    if constexpr (requires(Value value) { value.has_value(); }) {
      check_inner<typename Value::value_type>(allowed, place);
    } else if constexpr (std::is_enum_v<Value>) {
      if (allowed.words) check_words<Value>(*allowed.words, place);
    } else if constexpr (is_map<Value>()) {
      if (allowed.of_structure == nullptr ||
          !allowed.of_structure->contains("additionalProperties"))
        faults_.push_back(place + " has no schema of its values");
    } else if constexpr (HasFields<Value>) {
      if (allowed.of_structure == nullptr) return faults_.push_back(place + " has no properties");
      ObjectCheck inner(reader_, *allowed.of_structure, place, faults_);
      inner.template has<Value>().finish();
    } else if constexpr (requires(Value value) { value.emplace_back(); }) {
      if (allowed.of_structure == nullptr || !allowed.of_structure->contains("items"))
        return faults_.push_back(place + " has no items");
      check_value<typename Value::value_type>(allowed.of_structure->at("items"), place + "[]");
    }
  }

  template <typename Enum>
  void check_words(const std::set<std::string>& described, const std::string& place) {
    const std::set<std::string> all = words<Enum>();
    for (const std::string& word : described)
      if (!all.contains(word)) faults_.push_back(place + " has the unknown word '" + word + "'");
    // Warm-up runs and the like are in few lists.
    if (std::is_same_v<Enum, RoundKind>) return;
    for (const std::string& word : all)
      if (!described.contains(word)) faults_.push_back(place + " lacks the word '" + word + "'");
  }

  void compare(const std::set<std::string>& described, const std::set<std::string>& listed,
               const std::string& if_only_listed, const std::string& if_only_described) {
    for (const std::string& key : listed)
      if (!described.contains(key)) faults_.push_back(place_ + "/" + key + " " + if_only_listed);
    for (const std::string& key : described)
      if (!listed.contains(key)) faults_.push_back(place_ + "/" + key + " " + if_only_described);
  }

  const Reader& reader_;
  const Schema& object_;
  std::string place_;
  std::vector<std::string>& faults_;
  std::set<std::string> keys_{};
  std::set<std::string> required_{};
  bool is_in_group_ = false;
};
// NOLINTEND(misc-no-recursion)

std::vector<std::string> find_faults(const Schema& schema) {
  const Reader reader(schema);
  std::vector<std::string> faults;
  const auto object = [&](const std::string& place) {
    return ObjectCheck(reader, reader.at(place), place, faults);
  };

  object("/$defs/session")
      .has<StoredSession>()
      .has<StoredPlan>()
      .has<StoredFindings>()
      .also({"baseline"})
      .finish();
  object("/$defs/benchmark")
      .has<StoredPlan>()
      .has<StoredFindings>()
      .also({"name", "complete", "baseline"})
      .finish();
  object("/$defs/suite")
      .has<StoredSession>()
      .also({"gates_control", "geomeans", "benchmarks"})
      .finish();
  object("/$defs/suite/properties/geomeans/items").has<Geomean>().finish();
  object("/$defs/session/properties/baseline/oneOf/1")
      .has<StoredBaseline>()
      .also({"samples"}, {"functions"})
      .finish();

  object("/$defs/command")
      .has<StoredCommand>()
      .has<StoredCommandEnd>()
      .also({"metrics", "runs"}, {"redone_runs", "functions"})
      .finish();
  ObjectCheck run = object("/$defs/command/properties/runs/items");
  const RunDetails details;
  for_each_detail(details,
                  [&](std::string_view key, const auto& detail) { run.if_set(key, detail); });
  run.also({"run", "kind", "round", "pass", "exit_code", "coverage"},
           {"layout", "outcome", "wall_time", "own"})
      .finish();
  object("/$defs/command/properties/function_changes/items").has<StoredFunctionChange>().finish();
  object("/$defs/metric")
      .has<StoredMetric>()
      .also({"samples"}, {"mad", "log_ratio_to_reference", "log_ratio_to_anchor"})
      .finish();
  object("/$defs/log_ratio").has<stats::LogRatio>().finish();
  return faults;
}

std::size_t faults_after(const std::string& place, const Schema& replacement) {
  Schema schema = read_schema();
  schema.at(Schema::json_pointer(place)) = replacement;
  return find_faults(schema).size();
}

}  // namespace

TEST_CASE("docs/schema.json has the keys, types and optional members that are written") {
  for (const std::string& fault : find_faults(read_schema())) FAIL_CHECK(fault);
}

TEST_CASE("a schema with another key, type, word or required member is noticed") {
  const std::string machine = "/$defs/machine";
  CHECK(faults_after(machine + "/properties/os", {{"type", "string"}}) == 0);
  CHECK(faults_after(machine + "/properties/os", {{"type", "integer"}}) > 0);
  CHECK(faults_after(machine + "/properties", Schema::object()) > 0);
  CHECK(faults_after(machine + "/required", Schema::array({"name"})) > 0);
  CHECK(faults_after("/$defs/delta/properties/basis/enum", Schema::array({"typical"})) > 0);
  CHECK(faults_after("/$defs/gate/properties/verdict/enum/0", "passed") > 0);
  CHECK(faults_after("/$defs/session/properties/stop/properties/runs", {{"type", "integer"}}) > 0);
  CHECK(faults_after("/$defs/settings", {{"type", "string"}}) > 0);
  const std::string run = "/$defs/command/properties/runs/items/properties/outlived";
  CHECK(faults_after(run, {{"type", "boolean"}}) > 0);
}

}  // namespace lauka
