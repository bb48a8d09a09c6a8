// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/messages.hpp>

namespace atelier::actors {

std::string_view to_string(role x) {
  switch (x) {
    case role::preprocess:
      return "preprocess";
    case role::denoise_step:
      return "denoise_step";
    case role::postprocess:
      return "postprocess";
  }
  return "unknown";
}

} // namespace atelier::actors
