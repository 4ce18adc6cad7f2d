#include "format/series_file.h"

#include "format/field_json.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka {

namespace {

constexpr std::uint64_t kSeriesFormat = 1;
constexpr std::string_view kTermsKind = "series";
constexpr std::string_view kReservationKind = "reserved";
constexpr std::string_view kDecisionKind = "decided";

}  // namespace

template <typename Visitor>
void describe_fields(Visitor& visit, SeriesTerms& of) {
  visit("confidence", of.confidence);
  visit("conditions", of.conditions);
  visit("metric", of.metric);
  visit("limit_percent", of.limit_percent);
  visit("keeps_lower", of.keeps_lower);
  visit("engine", of.engine);
  visit("layouts", of.layouts);
  visit("jobs", of.jobs);
}

template <typename Visitor>
void describe_fields(Visitor& visit, SeriesProgram& of) {
  visit("name", of.name);
  visit("executable_sha256", of.executable_sha256);
  visit("argument_files_sha256", of.argument_files_sha256);
}

template <typename Visitor>
void describe_fields(Visitor& visit, SeriesReservation& of) {
  visit("number", of.number);
  visit("level", of.level);
  visit("time", of.time);
}

template <typename Visitor>
void describe_fields(Visitor& visit, SeriesDecision& of) {
  visit("number", of.number);
  visit("time", of.time);
  visit("decision", of.decision);
  visit("reference", of.reference);
  visit("candidate", of.candidate);
  visit("other_reference", of.has_other_reference);
  visit("labels", of.labels);
  visit("rounds", of.rounds);
  visit("rounds_at_last_look", of.rounds_at_last_look);
  visit("change", of.change);
  visit("low", of.low);
  visit("high", of.high);
  visit("noise", of.noise);
}

namespace {

/// The state of a series, for `lauka --series FILE --export-json`.
struct StoredState {
  std::string file{};
  SeriesTerms terms{};
  std::size_t tried = 0;
  std::size_t kept = 0;
  std::size_t undecided = 0;  ///< reservations without a decision
  KeepingOutlook outlook{};
  std::vector<SeriesDecision> decisions{};
};

template <typename Visitor>
void describe_fields(Visitor& visit, StoredState& of) {
  visit("file", of.file);
  describe_fields(visit, of.terms);
  visit("tried", of.tried);
  visit("kept", of.kept);
  visit("without_decision", of.undecided);
  visit("next_level", of.outlook.level);
  visit("usual_rounds", of.outlook.rounds);
  visit("change_to_be_kept", of.outlook.change);
  visit("decisions", of.decisions);
}

template <typename Line>
std::string line_of(std::string_view kind, const Line& line) {
  Json json;
  make_object(json);
  encode_value(kind, add_member(json, "kind"));
  if constexpr (std::is_same_v<Line, SeriesTerms>)
    encode_value(kSeriesFormat, add_member(json, "format"));
  FieldEncoder encoder(json);
  show_fields(encoder, line);
  return json_text(json);
}

template <typename Line>
Line parse_line(const ParsedJson& json) {
  Line line;
  decode(json, line);
  return line;
}

/// Adds a decision. Returns false if no candidate without a decision has its number.
bool add_decision(SeriesDecision decision, CandidateSeries& series) {
  const bool is_reserved = decision.number >= 1 && decision.number <= series.reservations.size();
  if (!is_reserved || std::ranges::find(series.decisions, decision.number,
                                        &SeriesDecision::number) != series.decisions.end())
    return false;
  series.decisions.push_back(std::move(decision));
  return true;
}

/// Adds a line, without its seal, to the series. Returns false if it cannot follow the others.
bool add_line(const std::string& line, CandidateSeries& series) {
  const auto json = parse_json(line);
  if (!json) return false;
  const std::string kind = text_in(*json, "kind");

  if (!series.terms) {
    if (kind != kTermsKind || unsigned_in(*json, "format") != kSeriesFormat) return false;
    series.terms = parse_line<SeriesTerms>(*json);
    return true;
  }

  if (kind == kDecisionKind) return add_decision(parse_line<SeriesDecision>(*json), series);
  if (kind != kReservationKind) return false;
  series.reservations.push_back(parse_line<SeriesReservation>(*json));
  return series.reservations.back().number == series.reservations.size();
}

Error make_error_about_line(std::size_t line_number) {
  if (line_number == 1)
    return {"is not a series that this version of lauka knows", "name another file, or a new one"};
  return {fmt::format("is damaged in line {}", line_number),
          "restore the file, or begin a new series"};
}

/// True if `text` begins as a series does, or is the beginning of that.
bool may_be_series(std::string_view text) {
  const std::string first_line_begin = fmt::format("{{\"kind\":\"{}\"", kTermsKind);
  return text.starts_with(first_line_begin) || std::string_view(first_line_begin).starts_with(text);
}

}  // namespace

// Each line ends with a seal, a checksum of this line and all lines before it. The last line may be
// unfinished, because lauka was killed or the disk was full. That does not count as damage.
Result<SeriesFile> read_series(std::string_view text) {
  SeriesFile file;
  std::size_t line_number = 0;

  while (file.bytes_of_whole_lines < text.size()) {
    const std::string_view rest = text.substr(file.bytes_of_whole_lines);
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      file.has_unfinished_line = true;
      break;
    }

    ++line_number;
    const auto unsealed_line = file.seals.open_json(rest.substr(0, end));
    const bool is_seal_right = unsealed_line.has_value();
    if (!is_seal_right || !add_line(*unsealed_line, file.series))
      return make_error_about_line(line_number);
    file.bytes_of_whole_lines += end + 1;
  }

  // A file that is nothing but an unfinished line may be of another program. lauka would overwrite
  // it, so it is refused unless it begins as a series does.
  const bool has_only_unfinished_line = file.has_unfinished_line && line_number == 0;
  if (has_only_unfinished_line && !may_be_series(text)) return make_error_about_line(1);
  return file;
}

std::string to_line(const SeriesTerms& terms) {
  return line_of(kTermsKind, terms);
}

std::string to_line(const SeriesReservation& reservation) {
  return line_of(kReservationKind, reservation);
}

std::string to_line(const SeriesDecision& decision) {
  return line_of(kDecisionKind, decision);
}

std::string series_state_json(const CandidateSeries& series, const std::string& file) {
  Json json;
  encode(StoredState{.file = file,
                     .terms = *series.terms,
                     .tried = series.reservations.size(),
                     .kept = series.list_kept().size(),
                     .undecided = series.reservations.size() - series.decisions.size(),
                     .outlook = make_outlook(series),
                     .decisions = series.decisions},
         json);
  return json_text(json, 2) + "\n";
}

}  // namespace lauka
