// SPDX-License-Identifier: Apache-2.0
// Prints the tokens of prompts, for tokenizer.py.
//
// Usage: print_tokens FOLDER < PROMPTS > TOKENS
//
// FOLDER holds a tokenizer's files as transformers writes them. PROMPTS has for
// each prompt the requested length and the prompt's number of bytes, both
// uint32, then the bytes. TOKENS has start, end, padding, size of the
// vocabulary and longest length; then for each prompt the number of tokens left
// out and the nanoseconds used, both uint32, and the ids. If the folder is
// refused, the program prints the reason and ends with status 3.
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream from{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{from}, {}};
}

bool read(uint32_t& x) {
  return std::fread(&x, sizeof x, 1, stdin) == 1;
}

template <class T>
void write(const T& x) {
  std::fwrite(&x, sizeof x, 1, stdout);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2)
    return 2;
  const std::filesystem::path folder{argv[1]};
  atelier::gpu::tokenizer_files files;
  if (exists(folder / "tokenizer.json")) {
    files.tokenizer_json = folder / "tokenizer.json";
  } else {
    files.vocab = folder / "vocab.json";
    files.merges = folder / "merges.txt";
  }
  files.config = text_of(folder / "tokenizer_config.json");
  files.special_tokens = text_of(folder / "special_tokens_map.json");
  const auto loaded = atelier::gpu::tokenizer::load(files);
  if (!loaded) {
    std::cerr << loaded.why().text << '\n';
    return 3;
  }
  const auto& sut = **loaded;
  write(sut.start_id());
  write(sut.end_id());
  write(sut.padding_id());
  write(sut.vocabulary_size());
  write(sut.max_length());
  uint32_t length = 0;
  uint32_t bytes = 0;
  while (read(length) && read(bytes)) {
    std::string prompt(bytes, '\0');
    if (std::fread(prompt.data(), 1, bytes, stdin) != bytes)
      return 2;
    const auto begin = std::chrono::steady_clock::now();
    const auto out = sut.encode(prompt, length);
    const auto took = std::chrono::steady_clock::now() - begin;
    write(out.left_out);
    write(static_cast<uint32_t>(std::chrono::nanoseconds{took}.count()));
    for (const auto id : out.ids)
      write(id);
  }
}
