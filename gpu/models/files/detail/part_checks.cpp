// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/detail/part_checks.hpp>
#include <atelier/gpu/models/files/expected_tensors.hpp>

#include <fmt/format.h>

namespace atelier::gpu::detail {

core::result<void> check_network(const component& x) {
  const auto faults = compare_tensors(x);
  if (!faults)
    return faults.why();
  if (faults->empty())
    return {};
  return core::fail(core::ec::bad_payload, "{}{}", faults->front(),
                    faults->size() == 1 ? ""
                                        : fmt::format(" (and {} more faults)",
                                                      faults->size() - 1));
}

core::result<std::shared_ptr<const tokenizer>> load_words(
  const tokenizer_files& from, const component* encoder) {
  auto words = tokenizer::load(from);
  if (!words || encoder == nullptr)
    return words;
  const auto config = read_clip_text_config(*encoder);
  if (!config)
    return config.why();
  if ((*words)->vocabulary_size() > config->vocab_size)
    return core::fail(core::ec::bad_payload,
                      "{}: ids up to {}, outside 0..{} (vocab_size of {})",
                      from.words().string(), (*words)->vocabulary_size() - 1,
                      config->vocab_size - 1, encoder->config_file);
  return words;
}

} // namespace atelier::gpu::detail
