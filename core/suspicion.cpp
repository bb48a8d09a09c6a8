// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/suspicion.hpp>

namespace atelier::core {

std::string_view to_string(phase x) {
  switch (x) {
    case phase::preparing:
      return "preparing";
    case phase::denoising:
      return "denoising";
    case phase::finishing:
      return "finishing";
  }
  return "unknown";
}

std::optional<phase> parse_phase(std::string_view name) {
  for (const auto x : {phase::preparing, phase::denoising, phase::finishing})
    if (to_string(x) == name)
      return x;
  return std::nullopt;
}

} // namespace atelier::core
