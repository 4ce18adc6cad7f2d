#pragma once

#include <string>

namespace lauka {

struct DisplayUnit;

/// How results are laid out: of no consequence for what is measured. One place for it, as tables
/// and exports follow it alike.
enum class TableChoice : unsigned char { Auto, Full, Compact };
enum class SortChoice : unsigned char { Command, Time };

struct Presentation {
  TableChoice table = TableChoice::Auto;
  SortChoice sort = SortChoice::Command;
  const DisplayUnit* time_unit = nullptr;  ///< of times without a unit of their own; null: fitting
  bool every_row = false;                  ///< rows were asked for: a compact table leaves none out
  std::string title{};                     ///< of the page
  std::string description{};               ///< below it
};

}  // namespace lauka
