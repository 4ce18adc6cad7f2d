#pragma once

#include "core/command.h"
#include "core/decision.h"
#include "core/numbers.h"
#include "gate/verdict.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The candidates of --series, which are decided about one after the other. Each is tested at a
// level that follows from the earlier decisions.

namespace lauka {

/// What all candidates of a series have in common.
struct SeriesTerms {
  double confidence = 0.0;                ///< as a fraction
  std::vector<std::string> conditions{};  ///< as their lines tell them, the first for keeping first
  std::string metric{};                   ///< metric of the first condition for keeping
  /// Change in percent that a candidate must exceed to be kept; 0 if the condition limits the value
  /// itself.
  double limit_percent = 0.0;
  bool keeps_lower = true;  ///< true: a candidate is kept if the metric is below the limit
  std::string engine{};
  std::uint32_t layouts = 1;
  std::uint64_t jobs = 1;

  bool operator==(const SeriesTerms&) const = default;
};

/// Returns the conditions: "keep if wall_time < -2%, cpu_time > 5%".
std::string list_conditions(const SeriesTerms& terms);

/// Returns in words what differs: "was begun with --jobs 1, and this call has 2"; nullopt if the
/// terms are equal.
std::optional<std::string> find_difference(const SeriesTerms& begun, const SeriesTerms& now);

/// A program of a series. Hashes are SHA-256, and empty if they are unknown.
struct SeriesProgram {
  std::string name{};
  std::string executable_sha256{};
  std::string argument_files_sha256{};

  /// True if both are known to consist of the same bytes.
  bool has_same_bytes_as(const SeriesProgram& other) const;
  /// True if both are known, and do not consist of the same bytes.
  bool has_other_bytes_than(const SeriesProgram& other) const;
  bool operator==(const SeriesProgram&) const = default;
};

/// The number and level of a candidate, which it gets before its first run.
struct SeriesReservation {
  std::size_t number = 0;  ///< from 1
  double level = 0.0;      ///< probability with which a useless candidate may be kept
  UtcTime time{};

  bool operator==(const SeriesReservation&) const = default;
};

struct SeriesDecision {
  std::size_t number = 0;  ///< number of the reservation
  UtcTime time{};
  gate::Decision decision = gate::Decision::Undecided;
  SeriesProgram reference{};
  SeriesProgram candidate{};
  bool has_other_reference = false;  ///< true: the reference is not the last kept candidate
  std::vector<Label> labels{};
  std::size_t rounds = 0;
  std::size_t rounds_at_last_look = 0;  ///< estimated rounds of a session that goes on to its end
  std::optional<double> change{};       ///< change by the first condition's metric, as a fraction
  std::optional<double> low{};
  std::optional<double> high{};
  /// Standard deviation of a round's change, as a fraction.
  std::optional<double> noise{};

  bool is_kept() const { return decision == gate::Decision::Kept; }
  bool operator==(const SeriesDecision&) const = default;
};

/// A series so far. Reservations are in the order of their numbers, decisions in the order made.
struct CandidateSeries {
  std::optional<SeriesTerms> terms{};  ///< nullopt: no candidate was tried
  std::vector<SeriesReservation> reservations{};
  std::vector<SeriesDecision> decisions{};

  /// Returns the numbers of the kept candidates, ascending.
  std::vector<std::size_t> list_kept() const;
  /// Returns the decisions that kept a candidate, by number.
  std::vector<SeriesDecision> kept_decisions() const;

  /// Returns the level of the next candidate. `confidence`: a fraction.
  double next_level(double confidence) const;

  /// Returns the program that should be the next reference: the last kept candidate, or else the
  /// reference of the first decision; nullopt without a decision.
  std::optional<SeriesProgram> expected_reference() const;
};

/// What a candidate needs to be kept next.
struct KeepingOutlook {
  double level = 0.0;
  std::size_t rounds = 0;  ///< median of SeriesDecision::rounds_at_last_look
  /// Smallest change, as a signed fraction, that would be kept in four of five sessions of `rounds`
  /// rounds; nullopt if these are too few for the level, or if the noise is unknown.
  std::optional<double> change{};
};

/// Returns the outlook for a series with terms.
KeepingOutlook make_outlook(const CandidateSeries& series);

/// Returns the decision of the session whose verdicts these are, and which exits with `status`. A
/// candidate is kept only if `status` is 0.
gate::Decision decision_of(const std::vector<gate::Verdict>& verdicts, int status);

}  // namespace lauka
