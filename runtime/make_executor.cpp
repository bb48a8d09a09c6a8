// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/core_set.hpp>
#include <atelier/gpu/device/test_card_executor.hpp>
#include <atelier/gpu/device/torch_executor.hpp>
#include <atelier/runtime/host_executor.hpp>
#include <atelier/runtime/make_executor.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime {

core::result<std::shared_ptr<gpu::executor>> make_executor(
  const config::settings& settings, const config::device_settings& device,
  std::shared_ptr<const planning::profile> profile,
  std::shared_ptr<ipc::slot_store> slots, std::span<const host_executor> own,
  [[maybe_unused]] bool bare,
  [[maybe_unused]] std::span<const std::string> digests) {
  if (const auto by =
        std::ranges::find(own, device.executor, &host_executor::name);
      by != own.end())
    return make_host_executor(*by, {device.name, device.variants,
                                    device.threads, device.memory_bytes,
                                    std::move(profile), std::move(slots)});
  if (device.executor == "test_card")
    return gpu::make_test_card_executor({std::move(profile),
                                         device.test_card_step,
                                         {},
                                         device.test_card_load,
                                         device.test_card_fault_every},
                                        std::move(slots));
#ifdef ATELIER_WITH_TORCH
  if (device.executor == "torch") {
    gpu::torch_executor_config c;
    c.device = device.name;
    c.threads = device.threads;
    c.alone = settings.processes.mode == config::process_mode::split;
    // The arithmetic uses one thread for each core of the set; its own default
    // is the machine's count.
    if (const auto cores = config::parse_core_set(device.cores);
        cores && c.threads == 0)
      c.threads = static_cast<uint32_t>(cores->size());
    c.known = std::move(profile);
    c.variants = device.variants;
    c.memory_bytes = device.memory_bytes;
    c.bare = bare;
    for (size_t i = 0; i < settings.models.size(); ++i) {
      const auto& model = settings.models[i];
      c.models[model.name] = {model.path, file_options_of(model),
                              i < digests.size() ? digests[i] : std::string{}};
    }
    for (const auto& cascade : c.known->cascades)
      c.judges[cascade.judge] =
        std::filesystem::path{settings.policy.judges} / cascade.judge;
    auto made = gpu::make_torch_executor(c, std::move(slots));
    if (!made)
      return core::fail(made.why().code, "devices: {}: {}", device.name,
                        made.why().text);
    return made;
  }
#else
  static_cast<void>(settings);
#endif
  return core::fail(core::ec::not_found,
                    "devices: {}: the executor '{}' is not built in (configure "
                    "with ATELIER_WITH_TORCH=ON for models)",
                    device.name, device.executor);
}

} // namespace atelier::runtime
