// SPDX-License-Identifier: Apache-2.0
// Encodes prompts in the web UI's syntax, for encoded_prompts.py.
#include "tensor_io.hpp"
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/model.hpp>

#include <nlohmann/json.hpp>

using namespace atelier;

// usage: run_encoded_prompts FOLDER CASES OUTPUTS
int main(int argc, char** argv) {
  if (argc != 4)
    return 2;
  const auto model = reference::value_of(
    gpu::load_model(reference::value_of(gpu::open_model(argv[1], {})), {}));
  std::ifstream in{argv[2]};
  std::vector<std::pair<std::string, torch::Tensor>> out;
  size_t number = 0;
  for (const auto& x : nlohmann::json::parse(in)) {
    gpu::prompt_text asked;
    asked.text = x["text"];
    asked.syntax = core::prompt_grammar::webui;
    asked.emphasis = core::parse_name<core::emphasis_rule>(
                       x.value("emphasis", std::string{"original"}))
                       .value();
    asked.clip_skip = x.value("clip_skip", 1u);
    const auto made = reference::value_of(gpu::with_model_border(
      "encoding a prompt", [&] { return model->encode(asked); }));
    const auto end = "." + std::to_string(number++);
    out.emplace_back("context" + end, made.tensors[0]);
    if (made.tensors.size() > 1)
      out.emplace_back("pooled" + end, made.tensors[1]);
  }
  reference::write_tensors(argv[3], std::move(out));
}
