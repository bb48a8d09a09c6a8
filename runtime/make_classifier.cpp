// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/make_classifier.hpp>

namespace atelier::runtime {

core::result<std::shared_ptr<const gpu::prompt_classifier>> make_classifier(
  const config::settings& settings) {
  const auto& folder = settings.classifier.folder;
  if (folder.empty())
    return core::fail(core::ec::not_found, "classifier.folder: it names none");
#ifdef ATELIER_WITH_TORCH
  auto made = gpu::load_prompt_classifier(folder);
  if (!made)
    return core::fail(made.why().code, "classifier.folder: {}",
                      made.why().text);
  return made;
#else
  return core::fail(core::ec::not_found,
                    "classifier.folder: {}: classifiers are not built in "
                    "(configure with ATELIER_WITH_TORCH=ON for models)",
                    folder);
#endif
}

} // namespace atelier::runtime
