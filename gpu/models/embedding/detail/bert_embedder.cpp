// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/bert/bert_text.hpp>
#include <atelier/gpu/models/bert/sentence_folder.hpp>
#include <atelier/gpu/models/embedding/detail/embedders.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/tokenizer/bert_tokenizer.hpp>

#include <torch/torch.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu::detail {

namespace {

constexpr std::string_view encoder_name = "the sentence encoder";

class bert_embedder final : public text_embedder {
public:
  bert_embedder(std::shared_ptr<const bert_tokenizer> words,
                std::unique_ptr<bert_text> network, sentence_pooling pooling,
                uint32_t most_tokens)
    : words_(std::move(words)),
      network_(std::move(network)),
      pooling_(pooling),
      most_tokens_(most_tokens) {}

  size_t dimensions() const override {
    return static_cast<size_t>(network_->config().hidden_size);
  }

  core::result<std::vector<std::vector<float>>> embed_all(
    std::span<const std::string_view> prompts) const override {
    return with_model_border(encoder_name, [&] {
      const c10::InferenceMode guard;
      const auto [ids, present] = padded(prompts);
      return unit_vectors(pooled(network_->forward(ids, present), present));
    });
  }

private:
  /// Returns the tokens of all prompts and the places that hold one,
  /// both [n, tokens].
  std::pair<torch::Tensor, torch::Tensor> padded(
    std::span<const std::string_view> prompts) const {
    std::vector<std::vector<int32_t>> rows;
    size_t longest = 0;
    for (const auto prompt : prompts) {
      rows.push_back(words_->encode(prompt, most_tokens_));
      longest = std::max(longest, rows.back().size());
    }
    const auto count = static_cast<int64_t>(rows.size());
    auto ids = torch::full({count, static_cast<int64_t>(longest)},
                           words_->padding_id(), torch::kInt64);
    auto present = torch::zeros_like(ids, torch::kBool);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const auto tokens = static_cast<int64_t>(rows[i].size());
      std::copy(rows[i].begin(), rows[i].end(), ids[row].data_ptr<int64_t>());
      present[row].narrow(0, 0, tokens).fill_(true);
    }
    return {ids, present};
  }

  torch::Tensor pooled(const torch::Tensor& states,
                       const torch::Tensor& present) const {
    if (pooling_ == sentence_pooling::first)
      return states.select(1, 0);
    // The sum has the direction of the mean.
    return (states * present.unsqueeze(-1)).sum(1);
  }

  std::shared_ptr<const bert_tokenizer> words_;
  std::unique_ptr<bert_text> network_;
  sentence_pooling pooling_;
  uint32_t most_tokens_;
};

} // namespace

core::result<std::shared_ptr<const text_embedder>> load_bert_embedder(
  const std::filesystem::path& folder) {
  auto from = open_sentence_folder(folder);
  if (!from)
    return from.why();
  auto words = bert_tokenizer::load(from->words);
  if (!words)
    return words.why();
  auto network = bert_text::load(from->network, {});
  if (!network)
    return network.why();
  const auto& config = (*network)->config();
  if ((*words)->vocabulary_size() > config.vocab_size)
    return core::fail(core::ec::bad_payload,
                      "{}: ids up to {}, outside 0..{} (vocab_size of {})",
                      from->words.words().string(),
                      (*words)->vocabulary_size() - 1, config.vocab_size - 1,
                      from->network.config_file);
  const auto positions = static_cast<uint32_t>(config.max_position_embeddings);
  auto most = std::min(positions, (*words)->max_length());
  if (from->most_tokens)
    most = std::min(positions, *from->most_tokens);
  return std::shared_ptr<const text_embedder>{std::make_shared<bert_embedder>(
    std::move(*words), std::move(*network), from->pooling, most)};
}

} // namespace atelier::gpu::detail
