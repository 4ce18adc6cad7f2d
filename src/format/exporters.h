#pragma once

#include "core/choices.h"
#include "report/exports.h"

namespace lauka {

/// Returns the function that writes an export.
report::Exporter exporter_of(ExportKind kind);

}  // namespace lauka
