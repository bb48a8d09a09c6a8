// SPDX-License-Identifier: Apache-2.0
// scene_sheet <file.png> [seed [images]]
// Writes a contact sheet of drawn scenes with their captions.
#include <atelier/core/image/codec.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/contact_sheet.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/render.hpp>

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <utility>

using namespace atelier;

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: scene_sheet <file.png> [seed [images]]\n");
    return 2;
  }
  const auto number = [&](int at, unsigned long otherwise) {
    return argc > at ? std::strtoul(argv[at], nullptr, 10) : otherwise;
  };
  const auto seed = number(2, 1);
  const auto count = number(3, 36);
  std::vector<gpu::sheet_cell> cells;
  for (auto i = size_t{0}; i < count; ++i) {
    core::philox from{seed, core::purpose::test, core::request_id{i}};
    const auto scene = gpu::draw_scene(from);
    const auto said = gpu::draw_caption(scene, from);
    cells.push_back({gpu::render(scene), said.text});
  }
  const auto sheet = gpu::contact_sheet(cells, {6, 2, 4});
  const auto file = image::encode(sheet.view(), {});
  if (!file) {
    fmt::print(stderr, "{}\n", core::to_string(file.why()));
    return 1;
  }
  std::ofstream out{argv[1], std::ios::binary};
  out.write(reinterpret_cast<const char*>(file->data()),
            static_cast<std::streamsize>(file->size()));
  return out.good() ? 0 : 1;
}
