// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>

#include <cstdio>
#include <cstdlib>

namespace atelier::core {

std::string_view to_string(ec code) {
  switch (code) {
    case ec::none:
      return "none";
    case ec::invalid_argument:
      return "invalid_argument";
    case ec::bad_payload:
      return "bad_payload";
    case ec::not_found:
      return "not_found";
    case ec::cancelled:
      return "cancelled";
    case ec::overloaded:
      return "overloaded";
    case ec::deadline_missed:
      return "deadline_missed";
    case ec::bad_config:
      return "bad_config";
    case ec::io_failed:
      return "io_failed";
    case ec::out_of_resources:
      return "out_of_resources";
    case ec::poison:
      return "poison";
    case ec::unavailable:
      return "unavailable";
    case ec::incompatible:
      return "incompatible";
    case ec::stopping:
      return "stopping";
    case ec::internal:
      return "internal";
  }
  return "unknown";
}

std::string to_string(const error& what) {
  return fmt::format("{}: {}", to_string(what.code), what.text);
}

void contract_violated(const char* condition, const char* why, const char* file,
                       int line) {
  std::fprintf(stderr, "%s:%d: contract violated: %s (%s)\n", file, line, why,
               condition);
  std::abort();
}

} // namespace atelier::core
