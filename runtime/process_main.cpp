// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/split/child.hpp>

#include <fmt/format.h>

#include <cstdio>

/// A process of the engine: started by it, never by hand.
int main(int count, char** arguments) {
  const auto how = atelier::runtime::parse_child_options(count, arguments);
  if (!how) {
    fmt::print(stderr, "atelier-process: {}\n", how.why().text);
    return 2;
  }
  return atelier::runtime::run_child(*how);
}
