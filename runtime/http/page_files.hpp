// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace atelier::runtime::http {

/// A file of the page, which travels with the program.
struct page_file {
  std::string_view name;
  std::string_view text;
};

std::span<const page_file> page_files();

} // namespace atelier::runtime::http
