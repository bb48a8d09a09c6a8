// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/local_messages.hpp>
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
    case role::classifier:
      return "classifier";
    case role::recall:
      return "recall";
    case role::device_stage:
      return "device_stage";
  }
  return "unknown";
}

std::string_view to_string(death x) {
  switch (x) {
    case death::crash:
      return "crashed";
    case death::watchdog:
      return "was silent and killed";
    case death::memory:
      return "was killed for memory";
    case death::outside:
      return "was ended from outside";
  }
  return "ended";
}

} // namespace atelier::actors
