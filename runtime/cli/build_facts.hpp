// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace atelier::runtime::cli {

/// One library that the program was built with.
struct library {
  std::string_view name;
  std::string_view version;
};

/// Returns the libraries, with the versions that the build found.
std::span<const library> libraries();

/// Say what else was built in.
bool built_with_torch();
bool built_with_cuda();
std::string_view build_type();
std::string_view compiler();

} // namespace atelier::runtime::cli
