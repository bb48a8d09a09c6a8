// SPDX-License-Identifier: Apache-2.0
// Draws one image in this process, then one with processes of the engine.
#include "drawing.hpp"

int main() {
  // The second engine has a process for CPU work and one for the default
  // device.
  if (!makes_a_image("single", 0) || !makes_a_image("split", 2))
    return 1;
  const auto of_headers = std::to_string(ATELIER_VERSION_MAJOR) + "."
                        + std::to_string(ATELIER_VERSION_MINOR) + "."
                        + std::to_string(ATELIER_VERSION_PATCH);
  if (of_headers != atelier::version())
    return 1;
  std::cout << of_headers << '\n';
}
