// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/device_thread.hpp>
#include <atelier/gpu/device/detail/test_card_rows.hpp>
#include <atelier/gpu/device/test_card_executor.hpp>

#include <thread>
#include <utility>

namespace atelier::gpu {

std::shared_ptr<executor> make_test_card_executor(
  const test_card_config& config, std::shared_ptr<ipc::slot_store> slots) {
  std::this_thread::sleep_for(config.load);
  return std::make_shared<detail::device_thread>(
    std::make_unique<detail::test_card_rows>(config.known, std::move(slots)),
    detail::device_pace{config.step, config.decode});
}

} // namespace atelier::gpu
