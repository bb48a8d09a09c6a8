// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::core {

/// Returns the beginning of a self-contained report page, including its <h1>.
/// The page looks like the server's, is light or dark as the browser prefers,
/// and can be read on a phone.
std::string report_head(std::string_view title);

/// Returns a <table> whose first row holds the headings. If it is wider than
/// the page, it scrolls sideways, and its first column stays in place.
/// @param label describes the table for screen readers
std::string report_table(std::string_view label,
                         std::span<const std::vector<std::string>> rows);

/// Returns the end of a report.
std::string report_end();

} // namespace atelier::core
