// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/judge/judge_folder.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_files.hpp>

#include <utility>

namespace atelier::gpu {

namespace {

/// Returns the bytes of all tensors.
double stored_bytes(const tensor_source& x) {
  double out = 0;
  for (const auto& name : x.names())
    out += static_cast<double>(x.find(name)->bytes.size());
  return out;
}

} // namespace

core::result<prompt_classifier_files> open_prompt_classifier(
  const std::filesystem::path& folder) {
  using core::ec;
  using core::fail;
  const auto file = folder / "config.json";
  const auto text = detail::read_text(file, detail::most_config_bytes);
  if (!text)
    return text.why();
  auto config = read_prompt_classifier_config(*text, file.string());
  if (!config)
    return config.why();
  auto rest = open_judge_folder(folder, &config->encoder);
  if (!rest)
    return rest.why();
  // A large number in a small file must not make the network allocate memory.
  if (parameters_of(config->shape) > stored_bytes(*rest->weights))
    return fail(ec::bad_payload, "{}: fewer bytes than {} has parameters",
                rest->weights->where(), config->encoder.config_file);
  return prompt_classifier_files{std::move(*config), std::move(rest->words),
                                 std::move(rest->weights)};
}

} // namespace atelier::gpu
