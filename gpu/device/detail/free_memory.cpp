// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/free_memory.hpp>
#include <atelier/ipc/free_memory.hpp>

#include <ATen/DeviceAccelerator.h>
#include <torch/version.h>

namespace atelier::gpu::detail {

namespace {

#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 10

/// Adds what LibTorch keeps for later tensors to what the driver has.
std::optional<uint64_t> free_accelerator_memory(const torch::Device& of) {
  auto* const allocator = at::getDeviceAllocator(of.type());
  if (!allocator->initialized())
    return std::nullopt;
  const auto stats = allocator->getDeviceStats(of.index());
  const auto whole =
    static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const auto kept = stats.reserved_bytes.at(whole).current
                  - stats.allocated_bytes.at(whole).current;
  return allocator->getMemoryInfo(of.index()).first
       + static_cast<uint64_t>(std::max<int64_t>(kept, 0));
}

#else

std::optional<uint64_t> free_accelerator_memory(const torch::Device&) {
  return std::nullopt;
}

#endif

} // namespace

std::optional<uint64_t> free_memory(const torch::Device& of) {
  if (of.is_cpu())
    return ipc::free_ram();
  if (!of.is_cuda())
    return std::nullopt;
  try {
    return free_accelerator_memory(of);
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

} // namespace atelier::gpu::detail
