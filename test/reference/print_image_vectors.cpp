// SPDX-License-Identifier: Apache-2.0
// Prints the vectors of images, for image_vectors.py.
//
// Usage: print_image_vectors FOLDER < IMAGES > VECTORS
//
// FOLDER is that of a CLIP model. IMAGES has for each image its width and
// height as uint32, then its RGB bytes as a prefixed text. VECTORS has the
// number of elements as uint32, then each image's vector as float32. If the
// folder is refused, the program prints the reason and ends with status 3.
#include "length_prefixed.hpp"
#include <atelier/gpu/models/embedding/image_embedder.hpp>

#include <cstdint>
#include <cstdio>
#include <iostream>

using namespace atelier;

int main(int argc, char** argv) {
  if (argc != 2)
    return 2;
  const auto loaded = gpu::load_image_embedder(argv[1]);
  if (!loaded) {
    std::cerr << loaded.why().text << '\n';
    return 3;
  }
  const auto& sut = **loaded;
  reference::write_number(static_cast<uint32_t>(sut.dimensions()));
  uint32_t sides[2];
  while (std::fread(sides, sizeof sides, 1, stdin) == 1) {
    const auto bytes = reference::read_prefixed();
    if (!bytes)
      return 2;
    const auto vector = sut.embed(
      {{sides[0], sides[1]},
       3,
       {reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()}});
    if (!vector) {
      std::cerr << vector.why().text << '\n';
      return 1;
    }
    for (const auto x : *vector)
      reference::write_number(x);
  }
}
