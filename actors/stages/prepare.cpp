// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/source_files.hpp>
#include <atelier/actors/stages/prepare.hpp>
#include <atelier/actors/stages/source_decoding.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/image/native_fit.hpp>
#include <atelier/core/philox_noise.hpp>
#include <atelier/core/torch_noise.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

namespace atelier::actors {

namespace {

using planning::access;
using planning::held;
using planning::slot_use;

/// Noise for this many values takes about 30 us.
constexpr size_t short_latent = 4096;

// A route without legs has nothing to prepare.
bool in_leg(const planning::leg* in, bool) {
  return in != nullptr;
}

bool brings(const planning::leg* in, bool brings_image) {
  return in != nullptr && brings_image;
}

bool starts_from_leg(const planning::leg* in, bool brings_image) {
  return in != nullptr && !brings_image && planning::has_source(*in, false);
}

bool prepares_source(const planning::leg* in, bool brings_image) {
  return in != nullptr && planning::has_source(*in, brings_image);
}

/// A fetched image is a source already.
bool starts_from_found(const planning::leg* in, bool brings_image) {
  return in != nullptr && !brings_image && in->from == planning::origin::image;
}

constexpr std::array prepare_uses{
  slot_use{held::files, access::reads, brings},
  slot_use{held::pixels, access::reads, starts_from_leg},
  slot_use{held::source, access::writes, prepares_source},
  slot_use{held::source, access::reads, starts_from_found},
  slot_use{held::state, access::writes, in_leg},
};

/// The starting point of an image.
enum class beginning : uint8_t { noise, image, edit };

/// Returns the words that a drawing of `n` values takes from a generator.
uint64_t words_of(core::noise_source from, uint64_t n) {
  const auto chunks = (n + 15) / 16 * 16;
  if (from == core::noise_source::philox)
    return chunks;
  // PyTorch draws pairs in double below one chunk; if `n` is not a multiple of
  // the chunk, it draws the last chunk twice.
  if (n < 16)
    return (n + 1) / 2 * 4;
  return n % 16 == 0 ? n : n + 16;
}

/// Returns the words drawn until an image's first step. If it starts from an
/// image, the autoencoder's sample of that image is drawn before the noise. For
/// an edit, the sample of the image without its masked part is drawn after the
/// noise.
/// Source: diffusers 0.42, prepare_latents and prepare_mask_latents of the
///         StableDiffusion{Img2Img,Inpaint}Pipeline.
uint64_t words_until_first_step(core::noise_source with, beginning from,
                                uint64_t n) {
  const uint64_t drawings = from == beginning::noise ? 1
                          : from == beginning::image ? 2
                                                     : 3;
  return drawings * words_of(with, n);
}

/// Draws an image's initial noise.
void draw_noise(const core::recipe& how, beginning from, std::span<float> out) {
  const auto draw = how.noise == core::noise_source::torch_cpu
                    ? core::torch_randn
                    : core::philox_randn;
  if (from == beginning::noise)
    return draw(how.seed, out);
  // Latents are whole chunks except for odd image sizes, for which PyTorch's
  // second drawing would begin elsewhere.
  const auto first = how.noise == core::noise_source::philox
                     ? words_of(how.noise, out.size())
                     : out.size();
  std::vector<float> both(first + out.size());
  draw(how.seed, both);
  std::copy_n(both.data() + first, out.size(), out.data());
}

void put_mask(const std::vector<uint8_t>& x, core::extent px,
              core::extent drawn, const gpu::source_buffers& into) {
  std::copy_n(x.begin(), into.kept_mask.size(), into.kept_mask.begin());
  const auto smaller = px == drawn ? x : image::uncover_mask(x, px, drawn);
  std::copy(smaller.begin(), smaller.end(), into.mask.begin());
}

core::result<void> write_source(const prepare_stage::work& x,
                                const source_files& files,
                                const ipc::slot_ref& source,
                                const image::decode_limits& most,
                                ipc::slot_store& slots,
                                std::vector<core::note>& notes) {
  const auto buffer = slots.buffer(source);
  if (!buffer)
    return buffer.why();
  const auto px = core::answered_px(x.recipe);
  const bool masked = !files.mask.empty();
  const auto kept = masked ? x.recipe.scaled_to : core::extent{};
  const auto into = gpu::begin_source(*buffer, x.recipe.px, masked, kept);
  if (!into)
    return into.why();
  core::extent image_px;
  const auto pixels = decode_source("image", files.image, most, px, image_px);
  if (!pixels)
    return pixels.why();
  if (auto done = put_source(*pixels, x.recipe.px, *into); !done)
    return done.why();
  if (masked) {
    core::extent mask_px;
    const auto grey = decode_source("mask", files.mask, most, px, mask_px);
    if (!grey)
      return grey.why();
    const auto mask = image::binarize(grey->view());
    put_mask(mask, px, x.recipe.px, *into);
    if (mask_px != image_px)
      notes.push_back({core::note_code::mask_scaled,
                       fmt::format("the mask of {}x{} was scaled to the "
                                   "image's size, {}x{}",
                                   mask_px.width, mask_px.height,
                                   image_px.width, image_px.height)});
  }
  return slots.publish(source, 1, gpu::source_bytes(x.recipe.px, masked, kept));
}

/// Makes a source of the image that an earlier stage drew.
core::result<void> write_drawn(const prepare_stage::work& x,
                               const ipc::slot_ref& source,
                               std::span<const std::byte> pixels,
                               const image::decode_limits& most,
                               ipc::slot_store& slots) {
  const auto buffer = slots.buffer(source);
  if (!buffer)
    return buffer.why();
  const auto bytes = write_drawn_source(
    {x.drawn_px, x.drawn_scaled_to, x.recipe.px, core::answered_px(x.recipe)},
    pixels, most, *buffer);
  if (!bytes)
    return bytes.why();
  return slots.publish(source, 1, *bytes);
}

core::result<beginning> read_source(const prepare_stage::work& x,
                                    const image::decode_limits& most,
                                    planning::worker_context& here) {
  using planning::held;
  auto& slots = here.slots;
  if (x.is_fetched && here.reads[held::source])
    return beginning::image;
  const auto& source = here.writes[held::source];
  if (!source)
    return beginning::noise;
  const auto& files_slot = here.reads[held::files];
  const bool from_leg = !files_slot;
  const auto bytes =
    slots.view(from_leg ? here.reads[held::pixels] : files_slot);
  if (!bytes)
    return bytes.why();
  // A store without payload keeps only the words: nothing can be decoded.
  if (slots.capacity(ipc::slot_kind::image) == 0) {
    if (auto done = slots.publish(source, 1, 0); !done)
      return done.why();
    return beginning::image;
  }
  if (from_leg) {
    if (auto done = write_drawn(x, source, *bytes, most, slots); !done)
      return done.why();
    return beginning::image;
  }
  const auto files = parse_source_files(*bytes);
  if (!files)
    return files.why();
  if (auto done = write_source(x, *files, source, most, slots, here.notes);
      !done)
    return done.why();
  return files->mask.empty() ? beginning::image : beginning::edit;
}

core::result<void> write_state(const prepare_stage::work& x, beginning from,
                               const ipc::slot_ref& state,
                               ipc::slot_store& slots) {
  const auto buffer = slots.buffer(state);
  if (!buffer)
    return buffer.why();
  if (buffer->empty())
    return slots.publish(state, 1, 0);
  // Without a sample of the source, nothing is drawn but the noise.
  if (!x.recipe.samples_source)
    from = beginning::noise;
  const auto words =
    words_until_first_step(x.recipe.noise, from, x.latent.elements());
  const auto latent = gpu::begin_state(*buffer, x.latent, 0, words);
  if (!latent)
    return latent.why();
  draw_noise(x.recipe, from, *latent);
  return slots.publish(state, 1, gpu::state_bytes(x.latent, 0));
}

} // namespace

prepare_stage::prepare_stage(image::decode_limits sources,
                             core::timespan longest, uint32_t test_crash_seed)
  : sources_(std::move(sources)),
    longest_(longest),
    test_crash_seed_(test_crash_seed) {
  row_.name = "prepare";
  row_.place = planning::place::cpu_pool;
  row_.hook = planning::hook::each_leg;
  row_.slots = prepare_uses;
}

std::optional<prepare_stage::work> prepare_stage::begin(
  const planning::row_view& row) const {
  if (row.leg == nullptr || row.holds[static_cast<size_t>(held::state)])
    return std::nullopt;
  work x;
  x.recipe = *row.recipe;
  x.latent = planning::latent_of(row.costs.variants[row.recipe->variant.value],
                                 row.recipe->px);
  x.is_fetched = row.holds[static_cast<size_t>(held::source)];
  if (row.recipe->from_image && row.drawn != nullptr) {
    x.drawn_px = row.px;
    x.drawn_scaled_to = row.drawn->scaled_to;
  }
  return x;
}

core::timespan prepare_stage::takes(const work&,
                                    const planning::profile& costs) const {
  return costs.prepare;
}

bool prepare_stage::is_short(const work& x) const {
  return !x.recipe.from_image && x.latent.elements() <= short_latent;
}

core::result<prepare_stage::done> prepare_stage::run(
  const work& x, planning::worker_context& here) const {
  if (test_crash_seed_ != 0 && x.recipe.seed == test_crash_seed_)
    std::abort();
  auto sources = sources_;
  sources.stop = [&, until = here.now() + longest_] {
    return (sources_.stop && sources_.stop()) || here.now() >= until;
  };
  const auto from = read_source(x, sources, here);
  if (!from)
    return from.why();
  if (auto made = write_state(x, *from, here.writes[held::state], here.slots);
      !made)
    return made.why();
  return done{};
}

core::result<void> prepare_stage::end(const done&, planning::facts&) const {
  return {};
}

} // namespace atelier::actors
