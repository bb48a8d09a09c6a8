// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/training/train.hpp>

namespace atelier::gpu {

std::string_view to_string(training_part x) {
  switch (x) {
    case training_part::vae:
      return "vae";
  }
  return "";
}

} // namespace atelier::gpu
