// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/unet/detail/prediction_type.hpp>

#include <cstring>
#include <optional>

namespace atelier::gpu::detail {

namespace {

using core::ec;

// Training steps of stable-diffusion-2-base.
constexpr int64_t base_model_steps = 875'000;

std::string_view metadata_of(const safetensors_file& file,
                             std::string_view key) {
  const auto i = file.metadata().find(key);
  return i == file.metadata().end() ? std::string_view{} : i->second;
}

/// Returns the number of training steps, if a checkpoint notes it.
std::optional<int64_t> global_step(const safetensors_file& file) {
  const auto x = file.find("global_step");
  if (!x || elements_of(*x) != 1)
    return std::nullopt;
  if (x->type == tensor_type::int64) {
    int64_t out = 0;
    std::memcpy(&out, x->bytes.data(), sizeof out);
    return out;
  }
  if (x->type == tensor_type::int32) {
    int32_t out = 0;
    std::memcpy(&out, x->bytes.data(), sizeof out);
    return out;
  }
  return std::nullopt;
}

bool is_known(std::string_view x) {
  return x == "epsilon" || x == "v_prediction" || x == "sample";
}

/// Returns the type that a key of the metadata names; empty without the key.
core::result<std::string> noted_type(const safetensors_file& file,
                                     std::string_view key) {
  const auto noted = metadata_of(file, key);
  if (noted == "v")
    return std::string{"v_prediction"};
  if (!noted.empty() && !is_known(noted))
    return core::fail(ec::bad_payload,
                      "{}: {}: '{}' is not epsilon, v or sample", file.where(),
                      key, printable(noted));
  return std::string{noted};
}

} // namespace

bool marks_prediction(std::string_view tensor) {
  return tensor == "v_pred" || tensor == "ztsnr"
      || tensor.starts_with("edm_vpred.");
}

core::result<told_prediction> find_prediction_type(const safetensors_file& file,
                                                   std::string_view wanted,
                                                   bool may_be_v) {
  const bool marked = file.find("v_pred").has_value();
  const bool rescaled = file.find("ztsnr").has_value();
  const auto told = [&](std::string_view type) {
    return told_prediction{std::string{type},
                           rescaled && type == "v_prediction", true};
  };
  if (!wanted.empty()) {
    if (!is_known(wanted))
      return core::fail(ec::invalid_argument,
                        "prediction_type: '{}' is not epsilon, v_prediction or "
                        "sample",
                        printable(wanted));
    return told(wanted);
  }
  const auto architecture = metadata_of(file, "modelspec.architecture");
  if (const auto slash = architecture.find('/');
      slash != std::string_view::npos)
    return core::fail(ec::bad_payload,
                      "{}: modelspec.architecture: {} is an addition to a "
                      "model, not a model",
                      file.where(), printable(architecture));
  // Merging copies metadata of other models, but it keeps the tensors' names.
  if (marked)
    return told("v_prediction");
  for (const auto* key :
       {"modelspec.prediction_type", "modelspec.predict_key"}) {
    const auto noted = noted_type(file, key);
    if (!noted)
      return noted.why();
    if (!noted->empty())
      return told(*noted);
  }
  if (architecture == "stable-diffusion-v2-768-v")
    return told("v_prediction");
  if (architecture == "stable-diffusion-v2-512")
    return told("epsilon");
  const bool v = may_be_v && global_step(file) != base_model_steps;
  return told_prediction{v ? "v_prediction" : "epsilon"};
}

} // namespace atelier::gpu::detail
