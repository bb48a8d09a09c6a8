// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/prompt_classifier_config.hpp>
#include <atelier/runtime/make_classifier.hpp>

namespace atelier::runtime {

namespace {

#ifndef ATELIER_WITH_TORCH
core::error not_built_in(const std::string& folder) {
  return core::fail(core::ec::not_found,
                    "classifier.folder: {}: classifiers are not built in "
                    "(configure with ATELIER_WITH_TORCH=ON for models)",
                    folder);
}
#else
core::error of_folder(const core::error& why) {
  return core::fail(why.code, "classifier.folder: {}", why.text);
}
#endif

} // namespace

core::result<std::shared_ptr<const gpu::prompt_classifier>> make_classifier(
  const config::settings& settings) {
  const auto& folder = settings.classifier.folder;
  if (folder.empty())
    return core::fail(core::ec::not_found, "classifier.folder: it names none");
#ifdef ATELIER_WITH_TORCH
  auto made = gpu::load_prompt_classifier(folder);
  if (!made)
    return of_folder(made.why());
  return made;
#else
  return not_built_in(folder);
#endif
}

core::result<void> check_classifier(const config::settings& settings) {
  const auto& folder = settings.classifier.folder;
  if (folder.empty())
    return {};
#ifdef ATELIER_WITH_TORCH
  if (const auto there = gpu::open_prompt_classifier(folder); !there)
    return of_folder(there.why());
  return {};
#else
  return not_built_in(folder);
#endif
}

} // namespace atelier::runtime
