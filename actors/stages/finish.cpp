// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/finish.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/native_fit.hpp>
#include <atelier/core/image/parameters.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/source_format.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace atelier::actors {

namespace {

using planning::access;
using planning::held;

constexpr std::array finish_uses{
  planning::slot_use{held::pixels, access::reads},
  planning::slot_use{held::encoded, access::writes},
};

using named_values = std::vector<std::pair<std::string, std::string>>;

// One field for all, which programs that read parameters show unchanged.
named_values told_of(const std::vector<core::note>& notes) {
  if (notes.empty())
    return {};
  std::string all;
  for (const auto& x : notes)
    all += fmt::format("{}{} ({})", all.empty() ? "" : "; ", x.text,
                       core::to_string(x.code));
  return {{"Notes", std::move(all)}};
}

image::pixel_view drawn_pixels(core::extent px,
                               std::span<const std::byte> slot) {
  return {px, 3, {reinterpret_cast<const uint8_t*>(slot.data()), slot.size()}};
}

// Returns the image in the requested size, with the parts of the source that an
// edit keeps; none if it stays as it was drawn.
core::result<std::optional<image::bitmap>> scaled_pixels(
  core::extent px, core::extent scaled_to, std::span<const std::byte> slot) {
  if (scaled_to == core::extent{})
    return std::optional<image::bitmap>{};
  const auto kept = gpu::parse_kept(slot, px, scaled_to);
  if (!kept)
    return kept.why();
  auto out =
    image::cover(drawn_pixels(px, slot.first(gpu::drawn_bytes(px))), scaled_to);
  if (!out)
    return out.why();
  image::keep_unmasked(*out, kept->pixels, kept->mask);
  return std::optional{std::move(*out)};
}

} // namespace

finish_stage::finish_stage(uint32_t test_crash_seed)
  : test_crash_seed_(test_crash_seed) {
  row_.name = "finish";
  row_.place = planning::place::cpu_pool;
  row_.hook = planning::hook::before_answer;
  row_.slots = finish_uses;
}

std::optional<finish_stage::work> finish_stage::begin(
  const planning::row_view& row) const {
  const auto& v = row.costs.variants[row.recipe->variant.value];
  return work{*row.recipe,
              row.wanted.text,
              v.model,
              v.name,
              row.wanted.output,
              row.px,
              {row.notes.begin(), row.notes.end()}};
}

core::timespan finish_stage::takes(const work&,
                                   const planning::profile& costs) const {
  return costs.finish;
}

core::result<finish_stage::done> finish_stage::run(
  const work& x, planning::worker_context& here) const {
  if (test_crash_seed_ != 0 && x.recipe.seed == test_crash_seed_)
    std::abort();
  const auto& encoded = here.writes[held::encoded];
  const auto buffer = here.slots.buffer(encoded);
  if (!buffer)
    return buffer.why();
  // A store without payload keeps only the words: nothing can be encoded.
  if (buffer->empty()) {
    if (auto published = here.slots.publish(encoded, 1, 0); !published)
      return published.why();
    return done{};
  }
  const auto pixels = here.slots.view(here.reads[held::pixels]);
  if (!pixels)
    return pixels.why();
  if (pixels->size() < gpu::drawn_bytes(x.px))
    return core::fail(core::ec::internal,
                      "an image of {}x{} pixels has {} bytes, its slot has {}",
                      x.px.width, x.px.height, gpu::drawn_bytes(x.px),
                      pixels->size());
  const auto scaled = scaled_pixels(x.px, x.recipe.scaled_to, *pixels);
  if (!scaled)
    return scaled.why();
  const image::pixel_view view =
    *scaled ? (*scaled)->view() : drawn_pixels(x.px, *pixels);
  const auto about =
    image::describe(x.text, x.recipe, x.model, told_of(x.notes));
  const auto file = image::encode(view, x.output, image::to_text(about));
  if (!file)
    return file.why();
  if (file->size() > buffer->size())
    return core::fail(core::ec::invalid_argument,
                      "the encoded image has {} bytes, an image slot "
                      "(arena.image_slot_kib) holds {}",
                      file->size(), buffer->size());
  std::memcpy(buffer->data(), file->data(), file->size());
  if (auto published = here.slots.publish(encoded, 1, file->size()); !published)
    return published.why();
  return done{file->size(), core::sha256_hex(std::as_bytes(std::span(*file)))};
}

core::result<void> finish_stage::end(const done& x,
                                     planning::facts& known) const {
  known.file = planning::file_facts{x.bytes, x.sha256};
  return {};
}

} // namespace atelier::actors
