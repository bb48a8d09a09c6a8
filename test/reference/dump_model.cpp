// SPDX-License-Identifier: Apache-2.0
// Opens a model and writes its content: for each part PART.safetensors with its
// tensors and PART.json with its configuration, and model.json. Fails if a
// check of the model has a finding about its tensors.
// Usage: dump_model MODEL FOLDER [VOCABULARY|- [VAE|- [PARTS_FROM|-
//        [PREDICTION_TYPE]]]]
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <string>

using namespace atelier;

namespace {

int refuse(const core::error& why) {
  std::fprintf(stderr, "%s\n", core::to_string(why).c_str());
  return 2;
}

core::result<void> dump(const gpu::component& x,
                        const std::filesystem::path& folder,
                        const std::string& name) {
  if (!x.weights)
    return {};
  std::vector<gpu::named_tensor> tensors;
  for (const auto& tensor : x.weights->names())
    tensors.push_back({tensor, *x.weights->find(tensor), {}});
  std::ofstream{folder / (name + ".json")} << x.config;
  return gpu::write_safetensors(folder / (name + ".safetensors"), tensors,
                                {{"class", x.class_name}});
}

/// Returns whether a finding is about the width of texts: the text encoders of
/// the models here are small.
bool is_about_text_width(const gpu::model_finding& x) {
  return x.text.find("but a token of the text encoder") != std::string::npos
      || x.text.find("numbers of the pooled text") != std::string::npos;
}

/// Compares every tensor with the configurations.
core::result<void> check(const std::filesystem::path& model,
                         const gpu::model_file_options& open) {
  gpu::check_options options;
  options.open = open;
  const auto found = gpu::check_model(model, options);
  if (!found)
    return found.why();
  for (const auto& x : found->findings)
    if ((x.severity == gpu::model_finding::grade::problem
         && !is_about_text_width(x))
        || x.text.starts_with("not compared"))
      return core::fail(core::ec::internal, "check: {}", x.text);
  return {};
}

} // namespace

int main(int count, char** arguments) {
  if (count < 3)
    return 1;
  const auto argument = [&](int i) {
    const std::string x = i < count ? arguments[i] : "-";
    return x == "-" ? std::string{} : x;
  };
  gpu::model_file_options options;
  options.vocabulary = argument(3);
  if (const auto vae = argument(4); !vae.empty())
    options.vae = vae;
  if (const auto from = argument(5); !from.empty())
    options.parts_from = from;
  options.prediction_type = argument(6);
  const auto model = gpu::open_model(arguments[1], options);
  if (!model)
    return refuse(model.why());

  if (auto ok = check(arguments[1], options); !ok)
    return refuse(ok.why());

  const std::filesystem::path folder = arguments[2];
  if (auto ok = dump(model->denoiser, folder, "unet"); !ok)
    return refuse(ok.why());
  if (auto ok = dump(model->vae, folder, "vae"); !ok)
    return refuse(ok.why());
  for (const auto& [part, name] :
       {std::pair{&model->text_encoder, "text_encoder"},
        std::pair{&model->text_encoder_2, "text_encoder_2"}})
    if (*part)
      if (auto ok = dump(**part, folder, name); !ok)
        return refuse(ok.why());
  std::ofstream{folder / "scheduler.json"} << model->scheduler;
  nlohmann::json facts{
    {"kind", model->pipeline->name},
    {"not_loaded", model->not_loaded},
    {"zeros", gpu::setting_of(*model, gpu::zeros_for_empty_setting)},
    {"aesthetics", gpu::setting_of(*model, gpu::aesthetic_score_setting)}};
  for (const auto& [words, name] :
       {std::pair{&model->tokenizer, "tokenizer"},
        std::pair{&model->tokenizer_2, "tokenizer_2"}})
    if (*words)
      facts[name] = (*words)->special_tokens;
  std::ofstream{folder / "model.json"} << facts;
  return 0;
}
