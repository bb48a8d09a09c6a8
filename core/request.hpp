// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/float_bits.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::core {

/// Tells what a request wants, and from whom it comes.
enum class request_kind : uint8_t {
  /// A picture from a prompt.
  generate,
  /// A template image repainted under a mask.
  edit,
  /// A copy of a served request, run again to learn another route's quality.
  shadow,
  /// A request of the runtime's own, run to measure.
  probe,
};

/// Orders requests: all of a higher one go before any of a lower one, but for
/// ageing.
enum class priority : uint8_t { low, normal, high };

/// The update rule and noise schedule of a run.
enum class sampler : uint8_t {
  ddim,
  euler,
  euler_ancestral,
  dpmpp_2m,
  lcm,
  flow_match_euler,
};

/// The generator that draws a request's noise.
enum class noise_source : uint8_t {
  /// What PyTorch's CPU generator draws for the seed.
  torch_cpu,
  /// The counter-based generator, equal on every device.
  philox,
};

/// The encoding of the finished picture.
enum class image_format : uint8_t { png, jpeg, webp };

/// A prompt with what the picture should not show.
struct prompt_pair {
  std::string positive;
  std::string negative;

  friend bool operator==(const prompt_pair&, const prompt_pair&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, prompt_pair& x) {
    return f(x.positive, x.negative);
  }
};

/// What the client fixed; an empty field is the policy's to choose.
struct pins {
  std::optional<std::string> model;
  std::optional<std::string> variant;
  std::optional<uint32_t> steps;
  std::optional<uint32_t> level;
  std::optional<sampler> with;
  std::optional<float> guidance;
  std::optional<float> guidance_rescale;
  std::optional<float> eta;
  std::optional<bool> karras;
  /// Share of the schedule that an image-to-image or edit request runs.
  std::optional<float> strength;

  friend bool operator==(const pins&, const pins&) = default;
};

/// How the finished picture is encoded.
struct encoding {
  image_format format = image_format::png;
  /// 1..100 for JPEG and WebP (100 is lossless in WebP); unused by PNG.
  uint32_t quality = 95;

  friend bool operator==(const encoding&, const encoding&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, encoding& x) {
    return f(x.format, x.quality);
  }
};

/// The files that an image-to-image request or an edit starts from, as they
/// came: their headers were read, their pixels were not.
struct source_images {
  /// PNG, JPEG or WebP.
  std::vector<uint8_t> image;
  /// Likewise; white is repainted. Empty: there is no mask.
  std::vector<uint8_t> mask;
  /// What their headers say.
  extent image_px;
  extent mask_px;

  uint64_t bytes() const {
    return uint64_t{image.size()} + mask.size();
  }

  uint64_t pixels() const {
    return image_px.pixels() + mask_px.pixels();
  }
};

/// One image wanted, as it entered: valid (see validate) and immutable.
struct request {
  request_id id;
  /// With a mask it is an edit; a source without one makes a `generate` start
  /// from that picture (image to image).
  request_kind kind = request_kind::generate;
  prompt_pair text;
  /// Null: the picture starts from noise alone. With a source, px is never
  /// empty.
  std::shared_ptr<const source_images> source;
  extent px;
  /// A model that draws at its own size only may draw there, and its image is
  /// scaled; else it draws at `px`.
  bool native_only = true;
  uint64_t seed = 0;
  noise_source noise = noise_source::torch_cpu;
  encoding output;
  priority prio = priority::normal;
  tenant_id tenant;
  pins fixed;
  /// Bit-identical pictures whatever else is in the batch; restricts routes
  /// and bypasses caches.
  bool deterministic = false;
  /// Wants `progressed` calls; without, they are not sent.
  bool wants_progress = false;
  /// Wants a preview with them after every so many steps; 0: none.
  uint32_t preview_every = 0;
  /// What the caller calls it in its own traces; empty: nothing.
  std::string trace;
  /// What is known at the door that its image's client should know.
  std::vector<note> notes;
  time_point arrived;
  time_point deadline = never;
};

/// How one stage runs a request: every choice made, nothing left to default.
struct recipe {
  variant_id variant;
  sampler with = sampler::ddim;
  /// Steps of the whole schedule; with `strength` below 1 fewer run.
  uint32_t steps = 0;
  float guidance = 0;
  /// 0..1: pulls the guided prediction's deviation to the unguided one's.
  float guidance_rescale = 0;
  /// Fresh noise of DDIM's steps, 0..1.
  float eta = 0;
  /// Karras' spacing of sigmas, where the sampler has sigmas.
  bool karras = false;
  /// Starts from a picture, not from noise alone: an image-to-image run, or an
  /// edit.
  bool from_image = false;
  /// Share of the schedule that runs, above 0, at most 1; 1 where the run does
  /// not start from a picture.
  float strength = 1;
  /// The size at which it is drawn.
  extent px;
  /// The size to which the image is scaled and cut; empty: it stays as drawn.
  extent scaled_to;
  uint64_t seed = 0;
  noise_source noise = noise_source::torch_cpu;
  bool deterministic = false;

  friend bool operator==(const recipe&, const recipe&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, recipe& x) {
    return f(x.variant, x.with, x.steps, float_bits{x.guidance},
             float_bits{x.guidance_rescale}, float_bits{x.eta}, x.karras,
             x.from_image, float_bits{x.strength}, x.px, x.scaled_to, x.seed,
             x.noise, x.deterministic);
  }
};

/// Returns the size of the image that a run answers with.
inline extent answered_px(const recipe& how) {
  return how.scaled_to == extent{} ? how.px : how.scaled_to;
}

/// Returns how many steps of a schedule of `steps` run at `strength`, the last
/// ones: floor(steps x strength), of flow matching the next whole number above,
/// of LCM, which spreads all its steps over the share, all. 0 where that leaves
/// none. The product is of the number that `strength` prints as: 0.7 of 10 are
/// 7 steps, although the float next to 0.7 lies below it.
/// Source: diffusers 0.42, get_timesteps of the StableDiffusionImg2ImgPipeline
///         and of the StableDiffusion3Img2ImgPipeline; LCMScheduler.
uint32_t steps_of_share(sampler with, uint32_t steps, float strength);

/// Returns how many steps a run makes, at least one: what a row's length is,
/// wherever one is counted.
uint32_t steps_to_run(const recipe& how);

/// Returns whether runs of that sampler can have Karras' spacing of sigmas.
bool has_karras_sigmas(sampler x);

std::string_view to_string(request_kind x);
std::string_view to_string(priority x);
std::string_view to_string(sampler x);
std::string_view to_string(noise_source x);
std::string_view to_string(image_format x);

/// Returns the value of that name, if there is one. Names are those that
/// `to_string` gives.
std::optional<sampler> parse_sampler(std::string_view name);
std::optional<noise_source> parse_noise_source(std::string_view name);
std::optional<image_format> parse_image_format(std::string_view name);
std::optional<priority> parse_priority(std::string_view name);

} // namespace atelier::core
