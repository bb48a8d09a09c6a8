// SPDX-License-Identifier: Apache-2.0
#include <atelier/extensions.hpp>

/// A process of the engine: started by it, never by hand.
int main(int count, char** arguments) {
  return atelier::process_main(count, arguments);
}
