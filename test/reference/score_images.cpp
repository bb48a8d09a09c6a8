// SPDX-License-Identifier: Apache-2.0
// score_images captions N SEED
//   writes N captions of held-out scenes of one to three objects, one on each
//   line.
// score_images score SIDE
//   reads lines "FILE<tab>CAPTION" and writes a line "RIGHT SAID" for each: the
//   correct objects in the image, after its scaling was reversed to SIDE x SIDE
//   pixels, and the objects that the caption names.
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/image/native_fit.hpp>
#include <atelier/core/text_file.hpp>
#include <atelier/gpu/captions/parse_caption.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/quality/caption_score.hpp>
#include <atelier/training/quality/image_check.hpp>

#include <cstdio>
#include <iostream>
#include <string>

using namespace atelier;

namespace {

constexpr size_t most_file_bytes = size_t{64} << 20;

int write_captions(uint64_t count, uint64_t seed) {
  for (uint64_t i = 0; i < count; ++i) {
    core::philox from{seed, core::purpose::test, core::request_id{i}};
    const auto scene =
      gpu::draw_scene(from, {.objects = static_cast<uint32_t>(1 + i % 3),
                             .split = gpu::scene_split::held_out});
    std::printf("%s\n", gpu::draw_caption(scene, from).text.c_str());
  }
  return 0;
}

int fail(const core::error& what) {
  std::fprintf(stderr, "%s\n", core::to_string(what).c_str());
  return 1;
}

int score(uint32_t side) {
  for (std::string line; std::getline(std::cin, line);) {
    const auto tab = line.find('\t');
    const auto name = line.substr(0, tab);
    const auto file = core::read_text_file(name, most_file_bytes, name);
    if (!file)
      return fail(file.why());
    const auto* const bytes = reinterpret_cast<const uint8_t*>(file->data());
    auto drawn = image::decode({bytes, file->size()});
    if (!drawn)
      return fail(drawn.why());
    const auto small =
      image::uncover(image::opaque(std::move(*drawn)).view(), {side, side});
    if (!small)
      return fail(small.why());
    const auto said = gpu::parse_caption(line.substr(tab + 1)).says;
    const auto found =
      gpu::score_image(gpu::check_image(small->view()), said).objects;
    std::printf("%u %u\n", found.right, found.said);
  }
  return 0;
}

} // namespace

int main(int count, char** args) {
  const std::string what = count > 1 ? args[1] : "";
  if (what == "captions" && count == 4)
    return write_captions(std::stoull(args[2]), std::stoull(args[3]));
  if (what == "score" && count == 3)
    return score(static_cast<uint32_t>(std::stoul(args[2])));
  std::fprintf(stderr, "captions N SEED, or score SIDE\n");
  return 2;
}
