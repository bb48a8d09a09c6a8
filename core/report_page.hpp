// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::core {

/// Returns the beginning of a report as a page that needs nothing else, up to
/// its <h1>. It looks as the server's page does, light or dark as the browser
/// prefers, and can be read on a phone.
std::string report_head(std::string_view title);

/// Returns a <table>, whose first row holds the heads. Where it is wider than
/// the page it scrolls by itself, beside its first column.
/// @param label what it holds, for screen readers
std::string report_table(std::string_view label,
                         std::span<const std::vector<std::string>> rows);

/// Returns the end of a report.
std::string report_end();

} // namespace atelier::core
