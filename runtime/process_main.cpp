// SPDX-License-Identifier: Apache-2.0
#include <atelier/extensions.hpp>

/// A process of the engine: the engine starts it, never a user.
int main(int count, char** arguments) {
  return atelier::process_main(count, arguments);
}
