// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/device_thread.hpp>
#include <atelier/gpu/device/detail/test_card_rows.hpp>
#include <atelier/gpu/device/test_card_executor.hpp>

#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace atelier::gpu {

namespace {

/// The test card, with steps that throw.
class faulty_rows final : public detail::row_engine {
public:
  faulty_rows(std::unique_ptr<row_engine> sound, uint32_t every)
    : sound_(std::move(sound)), every_(every) {}

  void begin() override {
    sound_->begin();
  }

  void open(const open_job& job) override {
    sound_->open(job);
  }

  void close(core::ticket who) override {
    sound_->close(who);
  }

  uint32_t steps_left(const std::vector<core::ticket>& who,
                      uint32_t most) override {
    return sound_->steps_left(who, most);
  }

  void step(const std::vector<core::ticket>& who) override {
    if (++steps_ % every_ == 0) {
      if (steps_ / every_ % 2 == 1)
        throw std::bad_alloc{};
      throw std::runtime_error("a rehearsed fault");
    }
    sound_->step(who);
  }

  std::vector<row_report> report(
    const std::vector<core::ticket>& who) override {
    return sound_->report(who);
  }

  std::optional<decode_report> decode_part(core::ticket who) override {
    return sound_->decode_part(who);
  }

private:
  const std::unique_ptr<row_engine> sound_;
  const uint32_t every_;
  uint64_t steps_ = 0;
};

} // namespace

std::shared_ptr<executor> make_test_card_executor(
  const test_card_config& config, std::shared_ptr<ipc::slot_store> slots) {
  std::this_thread::sleep_for(config.load);
  std::unique_ptr<detail::row_engine> rows =
    std::make_unique<detail::test_card_rows>(config.known, std::move(slots));
  if (config.fault_every > 0)
    rows = std::make_unique<faulty_rows>(std::move(rows), config.fault_every);
  return std::make_shared<detail::device_thread>(
    std::move(rows), detail::device_pace{config.step, config.decode});
}

} // namespace atelier::gpu
