// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/picture_json.hpp>

#include <nlohmann/json.hpp>

namespace atelier::runtime::cli {

namespace {

using json = nlohmann::ordered_json;

double ms(std::chrono::nanoseconds x) {
  return std::chrono::duration<double, std::milli>(x).count();
}

} // namespace

std::string to_json(const picture& x, const std::filesystem::path& path) {
  const json object{
    {"path", path.string()},
    {"seed", x.seed},
    {"prompt", x.prompt},
    {"model", x.model},
    {"variant", x.variant},
    {"route", x.route},
    {"sampler", x.sampler},
    {"steps", x.steps},
    {"steps_run", x.steps_run},
    {"width", x.width},
    {"height", x.height},
    {"sha256", x.sha256},
    {"timings_ms",
     {{"queue", ms(x.took.queue)},
      {"classify", ms(x.took.classify)},
      {"retrieve", ms(x.took.retrieve)},
      {"preprocess", ms(x.took.preprocess)},
      {"text", ms(x.took.text)},
      {"denoise", ms(x.took.denoise)},
      {"decode", ms(x.took.decode)},
      {"postprocess", ms(x.took.postprocess)},
      {"total", ms(x.took.total)}}},
    {"notes", x.notes},
  };
  // A path may be any bytes; JSON may not.
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace atelier::runtime::cli
