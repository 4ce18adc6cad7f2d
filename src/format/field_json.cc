#include "format/field_json.h"

#include "format/session_json.h"

#include <algorithm>
#include <utility>

namespace lauka {

void encode_value(const SettingValues& values, Json& to) {
  make_object(to);
  for (const SettingRow& row : kSettings)
    if (const auto& value = values[row.kind]) encode_value(*value, add_member(to, row.key));
}

bool decode_value(const ParsedJson& there, SettingValues& values) {
  for (const SettingRow& row : kSettings) values.set_if_known(row.kind, text_in(there, row.key));
  return true;
}

void encode_value(const std::vector<Label>& labels, Json& to) {
  make_object(to);
  for (const Label& label : labels) encode_value(label.value, add_member(to, label.key));
}

bool decode_value(const ParsedJson& there, std::vector<Label>& labels) {
  return for_each_member(there, [&](const std::string& key, const ParsedJson& item) {
    std::string value;
    if (decode_value(item, value)) labels.push_back({key, std::move(value)});
  });
}

void encode_value(UtcTime time, Json& to) {
  encode_value(rfc3339(time), to);
}

bool decode_value(const ParsedJson& there, UtcTime& time) {
  std::string text;
  if (!decode_value(there, text)) return false;
  time = parse_utc_time(text);
  return true;
}

void encode_value(std::chrono::nanoseconds duration, Json& to) {
  encode_value(std::int64_t{duration.count()}, to);
}

bool decode_value(const ParsedJson& there, std::chrono::nanoseconds& duration) {
  constexpr std::uint64_t longest = 1'000'000'000'000;
  std::uint64_t count = 0;
  if (!decode_value(there, count)) return false;
  duration = std::chrono::nanoseconds(std::min(count, longest));
  return true;
}

}  // namespace lauka
