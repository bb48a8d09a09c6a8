// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/mmdit/mmdit_family.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <algorithm>
#include <array>

namespace atelier::gpu {

namespace {

constexpr std::array all{&unet_family, &mmdit_family};

} // namespace

std::span<const family* const> families() {
  return all;
}

found_pipeline find_pipeline(std::string_view class_name) {
  for (const auto* of : all)
    for (const auto* x : of->pipelines)
      if (std::ranges::find(x->classes, class_name) != x->classes.end())
        return {of, x};
  return {};
}

const family* find_denoiser(std::string_view class_name) {
  const auto at = std::ranges::find(all, class_name, &family::denoiser_class);
  return at != all.end() ? *at : nullptr;
}

} // namespace atelier::gpu
