// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/token_scheme.hpp>

#include <array>

namespace atelier::gpu::detail {

namespace {

constexpr std::array clip_tokens{
  default_token{"bos_token", "<|startoftext|>"},
  default_token{"eos_token", "<|endoftext|>"},
  default_token{"unk_token", "<|endoftext|>"},
  default_token{"pad_token", "<|endoftext|>"},
};
constexpr std::array<std::string_view, 4> clip_classes{
  "CLIPTokenizer", "CLIPTokenizerFast", "PreTrainedTokenizerFast",
  "TokenizersBackend"};

constexpr std::array bert_tokens{
  default_token{"unk_token", "[UNK]"},   default_token{"sep_token", "[SEP]"},
  default_token{"pad_token", "[PAD]"},   default_token{"cls_token", "[CLS]"},
  default_token{"mask_token", "[MASK]"},
};
constexpr std::array<std::string_view, 2> bert_classes{"BertTokenizer",
                                                       "BertTokenizerFast"};

} // namespace

const token_scheme& clip_scheme() {
  static constexpr token_scheme scheme{
    .model = "CLIP",
    .tokens = clip_tokens,
    .start = "bos_token",
    .end = "eos_token",
    .classes = clip_classes,
    .max_length = 77,
  };
  return scheme;
}

const token_scheme& bert_scheme() {
  static constexpr token_scheme scheme{
    .model = "BERT",
    .tokens = bert_tokens,
    .start = "cls_token",
    .end = "sep_token",
    .classes = bert_classes,
    .max_length = longest_sequence,
  };
  return scheme;
}

} // namespace atelier::gpu::detail
