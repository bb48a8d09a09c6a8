// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/training_log.hpp>

#include <nlohmann/json.hpp>

namespace atelier::gpu {

core::result<training_log> training_log::open(
  const std::filesystem::path& file) {
  std::ofstream to{file, std::ios::app};
  if (!to)
    return core::fail(core::ec::io_failed, "cannot write {}", file.string());
  return training_log{std::move(to)};
}

void training_log::write(const training_progress& at,
                         const std::map<std::string, double>& more) {
  nlohmann::ordered_json line{{"step", at.step},
                              {"samples", at.samples},
                              {"busy_seconds", at.busy_seconds},
                              {"share", at.share},
                              {"loss", at.loss},
                              {"samples_per_second", at.samples_per_second}};
  for (const auto& [name, value] : more)
    line[name] = value;
  to_ << line.dump() << std::endl;
}

} // namespace atelier::gpu
