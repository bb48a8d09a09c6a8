// SPDX-License-Identifier: Apache-2.0
// A shared library that contains the engine.
#include "drawing.hpp"

extern "C" bool draws_images() {
  return makes_a_image("single", 0) && makes_a_image("split", 2);
}
