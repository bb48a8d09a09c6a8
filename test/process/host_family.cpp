// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/unet/unet_model.hpp>

#include <process/host_family.hpp>

#include <array>
#include <csignal>
#include <filesystem>
#include <stdexcept>

namespace atelier::test {

namespace {

constexpr std::array classes{host_pipeline_class};
const gpu::model_pipeline pipeline{.name = "host", .classes = classes};
constexpr std::array pipelines{&pipeline};

core::result<std::shared_ptr<const gpu::model>> load(
  const gpu::model_files& from, const gpu::placement& where) {
  if (std::filesystem::exists(from.from / "broken"))
    throw std::runtime_error{"no weights"};
  if (std::filesystem::exists(from.from / "deadly"))
    std::raise(SIGSEGV);
  return gpu::load_unet_model(from, where);
}

} // namespace

const gpu::family* host_family() {
  static const auto x = [] {
    auto out = gpu::unet_family;
    out.name = "host";
    out.pipelines = pipelines;
    out.settle = nullptr;
    out.knows_file = nullptr;
    out.open_file = nullptr;
    out.load = load;
    return out;
  }();
  return &x;
}

} // namespace atelier::test
