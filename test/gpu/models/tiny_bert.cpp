// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_bert.hpp"

#include <atelier/gpu/models/files/safetensors.hpp>

#include <fmt/format.h>

#include <fstream>
#include <list>
#include <span>
#include <stdexcept>

namespace atelier::test {

namespace {

constexpr int64_t positions = 16;
constexpr int64_t inner = 3;

/// Tensors that are filled before they are written.
class tensor_list {
public:
  std::vector<float>& add(std::string name, std::vector<int64_t> shape,
                          float value = 0) {
    size_t count = 1;
    for (const auto x : shape)
      count *= static_cast<size_t>(x);
    auto& values = values_.emplace_back(count, value);
    all_.push_back({std::move(name),
                    {gpu::tensor_type::float32, std::move(shape),
                     std::as_bytes(std::span{values})}});
    return values;
  }

  void add_linear(const std::string& name, int64_t out, int64_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }

  void add_norm(const std::string& name, int64_t width) {
    add(name + ".weight", {width}, 1);
    add(name + ".bias", {width});
  }

  void write(const std::filesystem::path& file) const {
    if (const auto made = gpu::write_safetensors(file, all_); !made)
      throw std::runtime_error(made.why().text);
  }

private:
  std::list<std::vector<float>> values_;
  std::vector<gpu::named_tensor> all_;
};

} // namespace

void write_tiny_bert(const std::filesystem::path& folder,
                     const std::vector<std::vector<std::string>>& groups) {
  std::filesystem::create_directories(folder);
  std::ofstream vocabulary{folder / "vocab.txt"};
  vocabulary << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  int64_t words = tiny_bert::first_word;
  for (const auto& group : groups)
    for (const auto& word : group) {
      vocabulary << word << '\n';
      ++words;
    }
  // Each group has two elements whose sum is 0, so that norms keep their
  // direction.
  const auto width = static_cast<int64_t>(2 * groups.size());
  std::ofstream{folder / "config.json"} << fmt::format(
    R"({{"architectures": ["BertModel"], "model_type": "bert",
"vocab_size": {}, "hidden_size": {}, "num_hidden_layers": 1,
"num_attention_heads": 1, "intermediate_size": {},
"max_position_embeddings": {}, "type_vocab_size": 1,
"hidden_act": "gelu"}})",
    words, width, inner, positions);
  std::ofstream{folder / "tokenizer_config.json"}
    << R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})";
  tensor_list out;
  auto& vectors = out.add("embeddings.word_embeddings.weight", {words, width});
  auto row = static_cast<size_t>(tiny_bert::first_word);
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t i = 0; i < groups[g].size(); ++i, ++row) {
      vectors[row * 2 * groups.size() + 2 * g] = 1;
      vectors[row * 2 * groups.size() + 2 * g + 1] = -1;
    }
  out.add("embeddings.position_embeddings.weight", {positions, width});
  out.add("embeddings.token_type_embeddings.weight", {1, width});
  out.add_norm("embeddings.LayerNorm", width);
  const std::string layer = "encoder.layer.0.";
  for (const auto* const part :
       {"attention.self.query", "attention.self.key", "attention.self.value",
        "attention.output.dense"})
    out.add_linear(layer + part, width, width);
  out.add_norm(layer + "attention.output.LayerNorm", width);
  out.add_linear(layer + "intermediate.dense", inner, width);
  out.add_linear(layer + "output.dense", width, inner);
  out.add_norm(layer + "output.LayerNorm", width);
  out.write(folder / "model.safetensors");
}

} // namespace atelier::test
