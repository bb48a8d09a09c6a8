// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/image/parameters.hpp>
#include <atelier/core/json_text.hpp>
#include <atelier/core/version.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_reply.hpp>
#include <atelier/runtime/public_parameters.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace atelier::runtime::http::detail {

namespace {

std::string sampler_label(const generated_image& p) {
  const auto x = core::parse_sampler(p.sampler);
  return x ? std::string{core::webui_name(*x)} : p.sampler;
}

/// Returns a line for each different note, as the web UI writes its own.
std::string comments_of(const job_view& v) {
  std::vector<std::string_view> told;
  std::string out;
  for (const auto& p : v.results) {
    if (!p)
      continue;
    for (const auto& x : p->notes) {
      if (std::find(told.begin(), told.end(), x.text) != told.end())
        continue;
      told.push_back(x.text);
      out += x.text;
      out += '\n';
    }
  }
  return out;
}

std::string_view scheduler_label(const generated_image& x) {
  if (x.karras)
    return "Karras";
  const auto spacing = core::parse_name<core::step_spacing>(x.spacing);
  return core::step_spacing_webui_names[static_cast<size_t>(
    spacing.value_or(core::step_spacing::model))];
}

/// Copies what the reply shows of an image, but not its file, which may be
/// large.
void show(const generated_image& p, generated_image& shown) {
  shown.prompt = p.prompt;
  shown.negative = p.negative;
  shown.seed = p.seed;
  shown.width = p.width;
  shown.height = p.height;
  shown.model = p.model;
  each_told([&](const core::parameter&, auto, auto member) {
    shown.*member = p.*member;
  });
}

/// Returns the reply's `info`: the values of the images that were drawn, or
/// those of the request if none was.
reply_json info_of(const job_view& v, const a1111_echo& how,
                   const reply_json& infotexts) {
  generated_image shown;
  shown.prompt = how.first.prompt;
  shown.negative = how.first.negative;
  shown.seed = how.first.seed.value_or(0);
  shown.width = how.first.width;
  shown.height = how.first.height;
  shown.sampler = how.first.sampler.value_or("");
  shown.steps = how.first.steps.value_or(0);
  shown.guidance = how.first.guidance.value_or(0);
  shown.clip_skip = how.first.clip_skip.value_or(1);
  auto prompts = reply_json::array();
  auto negatives = reply_json::array();
  auto seeds = reply_json::array();
  auto subseeds = reply_json::array();
  for (const auto& p : v.results) {
    if (!p)
      continue;
    if (seeds.empty())
      show(*p, shown);
    // Images in files are kept without their texts.
    if (p->prompt.empty())
      shown.prompt = how.first.prompt;
    if (p->negative.empty())
      shown.negative = how.first.negative;
    prompts.push_back(shown.prompt);
    negatives.push_back(shown.negative);
    seeds.push_back(p->seed);
    subseeds.push_back(0);
  }
  reply_json info{{"prompt", shown.prompt},
                  {"all_prompts", prompts},
                  {"negative_prompt", shown.negative},
                  {"all_negative_prompts", negatives},
                  {"seed", shown.seed},
                  {"all_seeds", seeds},
                  {"subseed", 0},
                  {"all_subseeds", subseeds},
                  {"subseed_strength", 0},
                  {"width", shown.width},
                  {"height", shown.height},
                  {"sampler_name", sampler_label(shown)},
                  {"scheduler", scheduler_label(shown)},
                  {"cfg_scale", shown.guidance},
                  {"steps", shown.steps},
                  {"batch_size", how.batch_size},
                  {"restore_faces", false},
                  {"face_restoration_model", nullptr},
                  {"sd_model_name", shown.model},
                  {"sd_model_hash", ""},
                  {"sd_vae_name", nullptr},
                  {"sd_vae_hash", nullptr},
                  {"seed_resize_from_w", -1},
                  {"seed_resize_from_h", -1}};
  info["denoising_strength"] =
    how.first.strength ? reply_json(*how.first.strength) : reply_json();
  info["extra_generation_params"] = reply_json::object();
  info["comments"] = comments_of(v);
  info["index_of_first_image"] = 0;
  info["infotexts"] = infotexts;
  info["styles"] = reply_json::array();
  info["job_timestamp"] = stamp_of(v.created);
  info["clip_skip"] = shown.clip_skip;
  info["is_using_inpainting_conditioning"] = false;
  info["version"] = fmt::format("Atelier {}", core::version());
  info["interrupted"] = v.state == job_state::cancelled;
  return info;
}

/// Returns an interrupted image's preview, in the requested size, as a file.
/// Without a preview it is grey: clients of the web UI expect an image.
std::vector<uint8_t> half_done(const preview* seen, const generation& wanted) {
  constexpr uint32_t side_of_unknown = 64;
  const preview grey{
    0, side_of_unknown, side_of_unknown,
    std::vector<uint8_t>(size_t{side_of_unknown} * side_of_unknown * 3, 128)};
  const auto& x = seen == nullptr ? grey : *seen;
  const core::extent own{x.width, x.height};
  const core::extent px{wanted.width, wanted.height};
  const auto scaled =
    image::resize({own, 3, x.rgb}, px == core::extent{} ? own : px);
  if (!scaled)
    return {};
  auto file = image::encode(scaled->view(), {});
  return file ? std::move(*file) : std::vector<uint8_t>{};
}

} // namespace

a1111_echo echo_of(const a1111_call& call) {
  a1111_echo x;
  x.send_images = call.send_images;
  x.batch_size = call.batch_size;
  x.parameters = core::json_text(call.echo);
  const auto& first = call.job.images.front();
  x.first.prompt = first.prompt;
  x.first.negative = first.negative;
  x.first.seed = first.seed;
  x.first.width = first.width;
  x.first.height = first.height;
  x.first.sampler = first.sampler;
  x.first.steps = first.steps;
  x.first.guidance = first.guidance;
  x.first.clip_skip = first.clip_skip;
  x.first.strength = first.strength;
  return x;
}

void a1111_reply::append(std::span<const uint8_t> file) {
  const auto text = to_base64(file);
  // The images of a call are about as large as its first one: a text that grew
  // by itself would take its memory twice.
  if (body_.capacity() < body_.size() + text.size())
    body_.reserve(body_.size() + (text.size() + text.size() / 16) * left_
                  + how_->parameters.size() + (64u << 10));
  body_ += body_.back() == '[' ? "\"" : ",\"";
  body_ += text;
  body_ += '"';
}

void a1111_reply::add(std::span<const uint8_t> file) {
  if (how_->send_images)
    append(file);
  infotexts_.push_back(image::read_text(file).value_or(""));
  left_ -= std::min<size_t>(left_, 1);
}

reply_message a1111_reply::finish(const job_view& v) {
  if (how_->send_images && infotexts_.empty()
      && v.state == job_state::cancelled) {
    left_ = 1;
    append(half_done(v.seen.get(), how_->first));
  }
  body_ += "],\"parameters\":";
  body_ += how_->parameters;
  body_ += ",\"info\":";
  body_ += text_of(reply_json(text_of(info_of(v, *how_, infotexts_))));
  body_ += '}';
  reply_message reply;
  reply.body = std::move(body_);
  reply.ready = v.ready;
  return reply;
}

std::string stamp_of(std::chrono::system_clock::time_point x) {
  return fmt::format("{:%Y%m%d%H%M%S}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(x)));
}

} // namespace atelier::runtime::http::detail
