// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/small_tokenizer.hpp"

#include <atelier/gpu/models/tokenizer/detail/byte_pairs.hpp>

#include <stdexcept>

namespace atelier::test {

namespace {

std::string quoted(const std::string& text) {
  if (text == "\"" || text == "\\")
    return "\"\\" + text + "\"";
  if (text == "\"</w>" || text == "\\</w>")
    return "\"\\" + text + "\"";
  return "\"" + text + "\"";
}

} // namespace

small_tokenizer::small_tokenizer() {
  int32_t id = 0;
  const auto add = [&](const std::string& token) {
    vocab += vocab.empty() ? "{" : ", ";
    vocab += quoted(token) + ": " + std::to_string(id++);
  };
  for (const auto& x : gpu::detail::byte_letters())
    add(x);
  for (const auto& x : gpu::detail::byte_letters())
    add(x + "</w>");
  for (const char* x : {"at", "at</w>", "cat</w>", "th", "the</w>",
                        "<|startoftext|>", "<|endoftext|>"})
    add(x);
  vocab += "}";
  merges = "#version: 0.2\na t\na t</w>\nc at</w>\nt h\nth e</w>\n";
  tokenizer_json = R"({
    "version": "1.0",
    "truncation": null,
    "padding": null,
    "added_tokens": [
      {"id": 517, "content": "<|startoftext|>", "single_word": false,
       "lstrip": false, "rstrip": false, "normalized": false, "special": true},
      {"id": 518, "content": "<|endoftext|>", "single_word": false,
       "lstrip": false, "rstrip": false, "normalized": false, "special": true}
    ],
    "normalizer": {"type": "Sequence", "normalizers": [
      {"type": "NFC"},
      {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "},
      {"type": "Lowercase"}]},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex":
        "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"},
       "behavior": "Removed", "invert": true},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
       "use_regex": true}]},
    "post_processor": null,
    "decoder": null,
    "model": {"type": "BPE", "dropout": null, "unk_token": "<|endoftext|>",
      "continuing_subword_prefix": "", "end_of_word_suffix": "</w>",
      "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
      "vocab": )" + vocab
                 + R"(,
      "merges": [["a", "t"], "a t</w>", ["c", "at</w>"], ["t", "h"], "th e</w>"]
    }
  })";
  config = R"({"tokenizer_class": "CLIPTokenizer", "model_max_length": 77,
    "bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>",
    "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>"})";
}

int32_t small_tokenizer::byte(char c) {
  return static_cast<uint8_t>(c);
}

int32_t small_tokenizer::last(char c) {
  return 256 + static_cast<uint8_t>(c);
}

core::result<std::shared_ptr<const gpu::tokenizer>> small_tokenizer::load()
  const {
  folder.write("vocab.json", vocab);
  folder.write("merges.txt", merges);
  gpu::tokenizer_files files;
  files.vocab = folder.path / "vocab.json";
  files.merges = folder.path / "merges.txt";
  files.config = config;
  files.special_tokens = special_tokens;
  return gpu::tokenizer::load(files);
}

core::result<std::shared_ptr<const gpu::tokenizer>> small_tokenizer::
  load_one_file() const {
  folder.write("tokenizer.json", tokenizer_json);
  gpu::tokenizer_files files;
  files.tokenizer_json = folder.path / "tokenizer.json";
  files.config = config;
  files.special_tokens = special_tokens;
  return gpu::tokenizer::load(files);
}

std::string with(std::string text, const std::string& from,
                 const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos)
    throw std::logic_error("not in the text: " + from);
  return text.replace(at, from.size(), to);
}

} // namespace atelier::test
