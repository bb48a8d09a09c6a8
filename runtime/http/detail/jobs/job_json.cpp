// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/time.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/detail/jobs/job_json.hpp>
#include <atelier/runtime/http/note_json.hpp>
#include <atelier/runtime/http/prompt_class_json.hpp>
#include <atelier/runtime/http/reuse_json.hpp>
#include <atelier/runtime/http/timings_json.hpp>

#include <fmt/format.h>

#include <cmath>

namespace atelier::runtime::http::detail {

namespace {

reply_json time_json(
  const std::optional<std::chrono::system_clock::time_point>& x) {
  return x ? reply_json(unix_seconds(*x)) : reply_json();
}

/// Of three digits, which is more than an estimate is worth.
reply_json seconds_json(const std::optional<core::timespan>& x) {
  return x ? reply_json(std::round(core::to_seconds(*x) * 1000) / 1000)
           : reply_json();
}

std::string images_text(const job_view& x, image_form how,
                        std::string_view base) {
  std::string images = "[";
  std::string format = "png";
  for (uint32_t i = 0; i < x.results.size(); ++i) {
    if (!x.results[i])
      continue;
    format = x.results[i]->format;
    images += images.size() > 1 ? "," : "";
    images += image_text(x, i, how, base);
  }
  images += "]";
  return with_json_text({{"output_format", format}}, "images", images);
}

} // namespace

std::string image_url(std::string_view base, const job_view& x,
                      uint32_t index) {
  return fmt::format("{}/v1/jobs/{}/images/{}", base, x.id, index);
}

reply_json job_json(const job_view& x) {
  reply_json v{{"id", x.id},
               {"kind", x.kind},
               {"status", to_string(x.state)},
               {"created", unix_seconds(x.created)},
               {"started", time_json(x.started)},
               {"completed", time_json(x.completed)},
               {"queue_position", x.queue_position},
               {"pictures", x.images},
               {"pictures_done", x.images_done},
               {"step", x.steps_done},
               {"steps", x.steps},
               {"image_steps", x.image_steps},
               {"steps_per_image", x.steps_per_image},
               {"eta_s", seconds_json(x.remaining)}};
  if (!x.owner.empty())
    v["key"] = x.owner;
  if (!x.request_id.empty())
    v["request_id"] = x.request_id;
  if (!x.trace.empty())
    v["traceparent"] = x.trace;
  if (!x.cancelled_images.empty())
    v["cancelled_images"] = x.cancelled_images;
  if (x.expired)
    v["expired"] = true;
  if (x.state == job_state::failed || x.state == job_state::cancelled)
    v["error"] = failure_json(x.why);
  return v;
}

std::string image_text(const job_view& x, uint32_t index, image_form how,
                       std::string_view base) {
  const auto& p = *x.results[index];
  reply_json v{{"index", index},
               {"seed", p.seed},
               {"width", p.width},
               {"height", p.height},
               {"drawn_width", p.drawn_width},
               {"drawn_height", p.drawn_height},
               {"steps", p.steps},
               {"steps_run", p.steps_run},
               {"strength", p.strength},
               {"strength_rule", p.strength_rule},
               {"sampler", p.sampler},
               {"guidance", p.guidance},
               {"model", p.model},
               {"variant", p.variant},
               {"route", p.route},
               {"sha256", p.sha256},
               {"timings_ms", timings_json(p.took)},
               {"notes", p.notes}};
  add_prompt_class(v, p);
  add_reuse(v, p);
  if (how == image_form::b64_json)
    return with_plain_text(v, "b64_json", to_base64(p.bytes));
  if (how == image_form::url)
    v["url"] = image_url(base, x, index);
  return text_of(v);
}

std::string job_text(const job_view& x, image_form how, std::string_view base,
                     bool with_preview) {
  auto v = job_json(x);
  if (with_preview && x.seen)
    v["preview"] = to_data_url("image/png", encode_preview(*x.seen, "png"));
  if (x.images_done == 0)
    return text_of(v);
  return with_json_text(v, "result", images_text(x, how, base));
}

} // namespace atelier::runtime::http::detail
