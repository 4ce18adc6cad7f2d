#pragma once

#include "core/choices.h"
#include "results/results.h"

#include <string>
#include <string_view>

namespace lauka::report {

/// Writes --export-html: a self-contained page with the verdicts, charts and tables.
void write_html(const Report& report, const Sink& sink);

/// Writes the beginning of an HTML page, up to its heading. `style`: CSS in addition to the CSS of
/// all pages.
void write_page_begin(const std::string& title, std::string_view style, const Sink& sink);

void write_page_end(std::string_view script, const Sink& sink);

}  // namespace lauka::report
