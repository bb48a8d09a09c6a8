// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/postprocess.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/native_fit.hpp>
#include <atelier/core/image/parameters.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/source_format.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace atelier::actors {

namespace {

using named_values = std::vector<std::pair<std::string, std::string>>;

// One field for all, which programs that read parameters show as it is.
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

// The image in the size that was asked for, with what an edit keeps of its
// source; none where it stays as it was drawn.
core::result<std::optional<image::picture>> scaled_pixels(
  const core::recipe& how, std::span<const std::byte> slot) {
  if (how.scaled_to == core::extent{})
    return std::optional<image::picture>{};
  const auto kept = gpu::parse_kept(slot, how.px, how.scaled_to);
  if (!kept)
    return kept.why();
  auto out = image::cover(
    drawn_pixels(how.px, slot.first(gpu::drawn_bytes(how.px))), how.scaled_to);
  if (!out)
    return out.why();
  image::keep_unmasked(*out, kept->pixels, kept->mask);
  return std::optional{std::move(*out)};
}

} // namespace

finished encode_picture(const finish& x, ipc::slot_store& slots) {
  finished reply;
  reply.who = x.who;
  auto fail_with = [&](core::error why) {
    reply.failure = std::move(why);
    return reply;
  };
  const auto buffer = slots.buffer(x.encoded);
  if (!buffer)
    return fail_with(buffer.why());
  // A store without payload keeps the words alone: nothing to encode.
  if (buffer->empty()) {
    if (auto done = slots.publish(x.encoded, 1, 0); !done)
      return fail_with(done.why());
    return reply;
  }
  const auto pixels = slots.view(x.pixels);
  if (!pixels)
    return fail_with(pixels.why());
  const auto scaled = scaled_pixels(x.how, *pixels);
  if (!scaled)
    return fail_with(scaled.why());
  const image::pixel_view view =
    *scaled ? (*scaled)->view() : drawn_pixels(x.how.px, *pixels);
  const auto about = image::describe(x.text, x.how, x.model, told_of(x.notes));
  const auto file = image::encode(view, x.output, image::to_text(about));
  if (!file)
    return fail_with(file.why());
  if (file->size() > buffer->size())
    return fail_with(
      core::fail(core::ec::invalid_argument,
                 "the encoded picture has {} bytes, an image slot "
                 "(arena.image_slot_kib) holds {}",
                 file->size(), buffer->size()));
  std::memcpy(buffer->data(), file->data(), file->size());
  if (auto done = slots.publish(x.encoded, 1, file->size()); !done)
    return fail_with(done.why());
  reply.bytes = file->size();
  reply.sha256 = core::sha256_hex(std::as_bytes(std::span(*file)));
  return reply;
}

postprocess_actor::behavior_type postprocess(
  self_of<postprocess_actor, postprocess_state> self,
  postprocess_config config) {
  install_exception_border(self);
  auto& st = self->state;
  st.config = std::move(config);
  worker_ready ready;
  ready.who = st.config.self;
  ready.seats = st.config.seats;
  st.config.hub->send(std::move(ready));
  return {
    [self](const finish& x) {
      auto& c = self->state.config;
      if (c.test_crash_seed != 0 && x.how.seed == c.test_crash_seed)
        std::abort();
      const auto begin = self->clock().now();
      auto reply = encode_picture(x, *c.slots);
      reply.took = self->clock().now() - begin;
      reply.began_ns = begin.time_since_epoch().count();
      c.hub->send(std::move(reply));
    },
  };
}

} // namespace atelier::actors
