// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace atelier::core {

/// Names an error. Each comment says who can act on it.
enum class ec : uint8_t {
  /// No error occurred.
  none = 0,
  /// Client: an argument is outside its range or of the wrong form.
  invalid_argument,
  /// Client: an image, mask or other payload cannot be read.
  bad_payload,
  /// Client or operator: the named model, variant, device or file is missing.
  not_found,
  /// Client: the request was cancelled.
  cancelled,
  /// Client: too much work is queued; retry after the returned time.
  overloaded,
  /// Client or operator: the deadline passed or can no longer be met.
  deadline_missed,
  /// Operator: a configuration file or option is wrong.
  bad_config,
  /// Operator: a file or directory cannot be read or written.
  io_failed,
  /// Operator: memory, slots or another limited resource ran out.
  out_of_resources,
  /// Operator: the worker died twice while it ran only this request and
  /// gained no step.
  poison,
  /// Operator: a process or device that the request needed is gone.
  unavailable,
  /// Operator: shared memory has another layout, build or epoch.
  incompatible,
  /// Operator: the engine is stopping.
  stopping,
  /// Developer: an invariant of the program does not hold.
  internal,
};

/// Returns the name of `code` that logs, metrics and replies use.
std::string_view to_string(ec code);

/// Pairs a code with a sentence that names the field, the value and the range.
struct error {
  ec code = ec::none;
  std::string text;

  friend bool operator==(const error&, const error&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, error& x) {
    return f(x.code, x.text);
  }
};

/// Returns "code: text" for display.
std::string to_string(const error& what);

/// Builds an error whose text is formatted by fmt.
template <class... Ts>
error fail(ec code, fmt::format_string<Ts...> text, Ts&&... xs) {
  return {code, fmt::format(text, std::forward<Ts>(xs)...)};
}

/// Prints `why` with its file and line, and aborts.
[[noreturn]] void contract_violated(const char* condition, const char* why,
                                    const char* file, int line);

} // namespace atelier::core

/// Checks a precondition that the caller can check. User input is never checked
/// this way. Aborts unless NDEBUG is defined.
#ifdef NDEBUG
#  define ATELIER_EXPECTS(condition, why) static_cast<void>(0)
#else
#  define ATELIER_EXPECTS(condition, why)                                      \
    (static_cast<bool>(condition) ? static_cast<void>(0)                       \
                                  : ::atelier::core::contract_violated(        \
                                    #condition, why, __FILE__, __LINE__))
#endif
