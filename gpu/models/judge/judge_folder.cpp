// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/part_folder.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/judge_folder.hpp>

#include <utility>

namespace atelier::gpu {

core::result<judge_folder> open_judge_folder(
  const std::filesystem::path& folder, const component* encoder) {
  const auto files = detail::find_tokenizer(folder);
  if (!files)
    return files.why();
  if (!*files)
    return core::fail(core::ec::not_found, "{}: no tokenizer was found",
                      folder.string());
  auto words = load_words(**files, encoder);
  if (!words)
    return words.why();
  auto weights = safetensors_file::open(folder / "model.safetensors");
  if (!weights)
    return weights.why();
  return judge_folder{std::move(*words), std::move(*weights)};
}

core::result<judge_folder> open_family_judge(
  const std::filesystem::path& folder, std::string_view config,
  std::string_view name) {
  const auto file = folder / "config.json";
  const auto text = detail::read_text(file, detail::most_config_bytes);
  if (!text)
    return text.why();
  if (*text != config)
    return core::fail(core::ec::bad_payload,
                      "{}: not the configuration of the family's {}",
                      file.string(), name);
  return open_judge_folder(folder);
}

} // namespace atelier::gpu
