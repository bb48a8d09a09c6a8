// SPDX-License-Identifier: Apache-2.0
// Prints the word pieces of texts, for word_pieces.py.
//
// Usage: print_word_pieces FOLDER LENGTH < TEXTS > TOKENS
//
// FOLDER holds a tokenizer's files as transformers writes them. TEXTS has for
// each text its number of bytes as uint32, then the bytes. TOKENS has the id of
// padding, the size of the vocabulary and the longest length; then for each
// text the number of its ids as uint32, and the ids. If the folder is refused,
// the program prints the reason and ends with status 3.
#include "length_prefixed.hpp"
#include <atelier/gpu/models/tokenizer/bert_tokenizer.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace atelier;

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream from{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{from}, {}};
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3)
    return 2;
  const std::filesystem::path folder{argv[1]};
  const auto length = static_cast<uint32_t>(std::atoi(argv[2]));
  gpu::tokenizer_files files;
  if (exists(folder / "tokenizer.json"))
    files.tokenizer_json = folder / "tokenizer.json";
  else
    files.vocab = folder / "vocab.txt";
  files.config = text_of(folder / "tokenizer_config.json");
  files.special_tokens = text_of(folder / "special_tokens_map.json");
  const auto loaded = gpu::bert_tokenizer::load(files);
  if (!loaded) {
    std::cerr << loaded.why().text << '\n';
    return 3;
  }
  const auto& sut = **loaded;
  reference::write_number(sut.padding_id());
  reference::write_number(sut.vocabulary_size());
  reference::write_number(sut.max_length());
  while (const auto text = reference::read_prefixed()) {
    const auto ids = sut.encode(*text, length);
    reference::write_number(static_cast<uint32_t>(ids.size()));
    for (const auto id : ids)
      reference::write_number(id);
  }
}
