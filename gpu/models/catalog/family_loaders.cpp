// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/guarded.hpp>
#include <atelier/gpu/models/mmdit/mmdit_model.hpp>
#include <atelier/gpu/models/model.hpp>
#include <atelier/gpu/models/unet/unet_model.hpp>

#include <array>

namespace atelier::gpu {

namespace {

/// Loads a family's networks.
struct family_loader {
  const family* of;
  core::result<std::shared_ptr<const model>> (*load)(const model_files& from,
                                                     const placement& where);
};

constexpr std::array loaders{family_loader{&mmdit_family, load_mmdit_model},
                             family_loader{&unet_family, load_unet_model}};

} // namespace

core::result<std::shared_ptr<const model>> load_model(const model_files& from,
                                                      const placement& where) {
  for (const auto& x : loaders)
    if (x.of == from.family)
      return x.load(from, where);
  if (const auto* own = from.family; own->load != nullptr)
    return core::guarded("family", own->name, "load",
                         [&] { return own->load(from, where); });
  return core::fail(core::ec::internal, "{}: family {} has no loader",
                    from.from.string(), from.family->name);
}

} // namespace atelier::gpu
