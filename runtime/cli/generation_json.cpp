// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/generation_json.hpp>

#include <fmt/format.h>

#include <chrono>

namespace atelier::runtime::cli {

nlohmann::json shared_fields(const generation& x) {
  nlohmann::json out{{"prompt", x.prompt}, {"priority", x.priority}};
  const auto add = [&](const char* name, const auto& value) {
    if (value)
      out[name] = *value;
  };
  add("seed", x.seed);
  add("steps", x.steps);
  add("guidance", x.guidance);
  add("sampler", x.sampler);
  add("model", x.model);
  add("variant", x.variant);
  if (x.width != 0)
    out["size"] = fmt::format("{}x{}", x.width, x.height);
  if (x.deadline)
    out["deadline_ms"] =
      std::chrono::duration_cast<std::chrono::milliseconds>(*x.deadline)
        .count();
  return out;
}

} // namespace atelier::runtime::cli
