// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/json_text.hpp>
#include <atelier/runtime/cli/image_json.hpp>
#include <atelier/runtime/http/note_json.hpp>
#include <atelier/runtime/http/prompt_class_json.hpp>
#include <atelier/runtime/http/reuse_json.hpp>
#include <atelier/runtime/http/timings_json.hpp>

#include <nlohmann/json.hpp>

namespace atelier::runtime::cli {

namespace {

using nlohmann::ordered_json;

} // namespace

std::string to_json(const generated_image& x,
                    const std::filesystem::path& path) {
  ordered_json object{
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
    {"drawn_width", x.drawn_width},
    {"drawn_height", x.drawn_height},
    {"sha256", x.sha256},
    {"timings_ms", http::timings_json(x.took)},
    {"notes", x.notes},
  };
  http::add_prompt_class(object, x);
  http::add_reuse(object, x);
  // A path may be any bytes; JSON may not.
  return core::json_text(object);
}

} // namespace atelier::runtime::cli
