// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/train.hpp>

namespace atelier::gpu {

std::string_view to_string(training_part x) {
  switch (x) {
    case training_part::vae:
      return "vae";
    case training_part::text:
      return "text";
    case training_part::base:
      return "base";
    case training_part::small:
      return "small";
    case training_part::tiny:
      return "tiny";
    case training_part::turbo:
      return "turbo";
    case training_part::scorer:
      return "scorer";
    case training_part::discriminator:
      return "discriminator";
    case training_part::classifier:
      return "classifier";
    case training_part::preview:
      return "preview";
  }
  return "";
}

} // namespace atelier::gpu
