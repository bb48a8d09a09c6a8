// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/mmdit/mmdit_family.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

namespace atelier::gpu {

namespace {

constexpr std::array own{&unet_family, &mmdit_family};
constexpr size_t most_families = 64;

/// Only grows, so that readers need no lock: counted entries do not change.
struct registry {
  registry() {
    std::ranges::copy(own, all.begin());
  }

  std::array<const family*, most_families> all{};
  std::atomic<size_t> count{own.size()};
  std::mutex adding;
};

registry& known() {
  static registry x;
  return x;
}

/// Returns what a family lacks; empty if it is complete.
std::string_view fault_of(const family& x) {
  if (x.name.empty())
    return "has no name";
  if (x.pipelines.empty()
      || std::ranges::find(x.pipelines, nullptr) != x.pipelines.end())
    return "has no pipelines, or one that is null";
  if (x.denoiser_part.empty() || x.denoiser_class.empty())
    return "does not name its denoiser's part and class";
  if (x.expect == nullptr || x.facts == nullptr)
    return "lacks one of its functions expect and facts";
  if ((x.knows_file == nullptr) != (x.open_file == nullptr))
    return "has one of its functions knows_file and open_file without the "
           "other";
  return {};
}

} // namespace

std::span<const family* const> families() {
  auto& x = known();
  return {x.all.data(), x.count.load(std::memory_order_acquire)};
}

core::result<void> add_family(const family* x) {
  using core::ec;
  if (x == nullptr)
    return core::fail(ec::bad_config, "a family that is null");
  if (const auto fault = fault_of(*x); !fault.empty())
    return core::fail(ec::bad_config, "family '{}' {}", x->name, fault);
  auto& to = known();
  const std::lock_guard guard{to.adding};
  const auto there = families();
  if (std::ranges::find(there, x) != there.end())
    return {};
  if (std::ranges::find(there, x->name, &family::name) != there.end())
    return core::fail(ec::bad_config, "family '{}' already exists", x->name);
  for (const auto* pipeline : x->pipelines)
    for (const auto name : pipeline->classes)
      if (const auto of = find_pipeline(name); of.of != nullptr)
        return core::fail(ec::bad_config,
                          "family '{}': the pipeline {} is of the family '{}'",
                          x->name, name, of.of->name);
  if (there.size() == most_families)
    return core::fail(ec::out_of_resources,
                      "family '{}': {} families exist already, the maximum",
                      x->name, most_families);
  to.all[there.size()] = x;
  to.count.store(there.size() + 1, std::memory_order_release);
  return {};
}

found_pipeline find_pipeline(std::string_view class_name) {
  for (const auto* of : families())
    for (const auto* x : of->pipelines)
      if (std::ranges::find(x->classes, class_name) != x->classes.end())
        return {of, x};
  return {};
}

const family* find_denoiser(std::string_view class_name) {
  const auto all = families();
  const auto at = std::ranges::find(all, class_name, &family::denoiser_class);
  return at != all.end() ? *at : nullptr;
}

} // namespace atelier::gpu
