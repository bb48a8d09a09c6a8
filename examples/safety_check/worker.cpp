// SPDX-License-Identifier: Apache-2.0
// The program of the engine's other processes: Atelier's own program plus the
// host's extensions. The engine starts it.

#include "safety_check.hpp"

int main(int count, char** arguments) {
  return atelier::process_main(count, arguments, my_extensions());
}
