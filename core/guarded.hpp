// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <exception>
#include <new>
#include <string_view>

namespace atelier::core {

/// Calls f, which runs a host's code, and turns an exception into an error that
/// names its origin, such as "stage 'safety' threw in begin: no model".
/// @param kind what the host added, such as "stage"
/// @param name its name
/// @param in the called function; if empty, the error does not name it
/// Errors: those of f; ec::out_of_resources if memory runs out, ec::internal
///         for any other exception.
/// Threads: any.
template <class F>
auto guarded(std::string_view kind, std::string_view name, std::string_view in,
             F f) -> decltype(f()) {
  const auto why = [&](ec code, std::string_view what) {
    return fail(code, "{} '{}' threw{}{}: {}", kind, name,
                in.empty() ? "" : " in ", in, what);
  };
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return why(ec::out_of_resources, "out of memory");
  } catch (const std::exception& x) {
    return why(ec::internal, x.what());
  } catch (...) {
    return why(ec::internal, "something that is not an exception");
  }
}

} // namespace atelier::core
