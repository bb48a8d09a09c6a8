// SPDX-License-Identifier: Apache-2.0
// Prints the vectors of texts, for text_vectors.py.
//
// Usage: print_vectors FOLDER BATCH < TEXTS > VECTORS
//
// FOLDER is that of a text encoder. TEXTS has for each text its number of bytes
// as uint32, then the bytes. BATCH texts run together. VECTORS has the number
// of elements as uint32, then each text's vector as float32. If the folder is
// refused, the program prints the reason and ends with status 3.
#include "length_prefixed.hpp"
#include <atelier/gpu/models/embedding/text_embedder.hpp>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

using namespace atelier;

int main(int argc, char** argv) {
  if (argc != 3)
    return 2;
  const auto batch = static_cast<size_t>(std::atoi(argv[2]));
  const auto loaded = gpu::load_text_embedder(argv[1]);
  if (!loaded) {
    std::cerr << loaded.why().text << '\n';
    return 3;
  }
  const auto& sut = **loaded;
  reference::write_number(static_cast<uint32_t>(sut.dimensions()));
  std::vector<std::string> texts;
  const auto run = [&] {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const auto vectors = sut.embed_all(views);
    if (!vectors) {
      std::cerr << vectors.why().text << '\n';
      std::exit(1);
    }
    for (const auto& vector : *vectors)
      for (const auto x : vector)
        reference::write_number(x);
    texts.clear();
  };
  while (auto text = reference::read_prefixed()) {
    texts.push_back(std::move(*text));
    if (texts.size() == batch)
      run();
  }
  if (!texts.empty())
    run();
}
