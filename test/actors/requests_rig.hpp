// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/scheduler_rig.hpp"
#include "actors/system_rig.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::test {

/// Sends requests to the real actors of a host, each with its own image. The
/// test advances the clock.
class requests_rig {
public:
  static constexpr uint32_t devices = 2;

  requests_rig() {
    system_options o;
    o.slots = {8, 8, 0};
    o.payload = true;
    o.devices = devices;
    o.profile = card_profile();
    sut_.emplace(std::move(o));
    pass(2s);
  }

  /// @param deadline from now on; zero: no deadline
  core::request_id submit(core::timespan deadline = {}) {
    auto what = std::make_shared<core::request>();
    what->id = core::request_id{++last_};
    what->text.positive = "a ball, number " + std::to_string(last_);
    what->seed = last_;
    what->arrived = sut_->det.now();
    what->px = {32, 32};
    what->fixed.variant = last_ % 2 == 0 ? "card@4" : "card@2";
    what->fixed.steps = 1 + static_cast<uint32_t>(last_ % 9);
    if (deadline > 0s)
      what->deadline = what->arrived + deadline;
    sut_->submit(std::move(what));
    return core::request_id{last_};
  }

  /// Advances the time normally.
  void pass(core::timespan t) {
    sut_->det.advance(t);
    while (!sut_->untaken.empty()) {
      sut_->take(sut_->untaken.back());
      sut_->untaken.pop_back();
    }
    sut_->det.run();
    BOOST_REQUIRE_EQUAL(sut_->check(), "");
  }

  /// Moves the clock at once, with no events in between.
  void jump(core::timespan by) {
    sut_->det.sched.clock().current_time += by;
    pass(0s);
  }

  /// Advances until all requests are answered, or for `seconds`.
  void settle(int seconds = 600) {
    for (int i = 0; i < 10 * seconds && sut_->answers.size() < last_; ++i)
      pass(100ms);
  }

  bool answered(core::request_id x) const {
    return sut_->answers.contains(x);
  }

  core::ec code_of(core::request_id x) const {
    BOOST_REQUIRE_MESSAGE(answered(x), "request " << x.value << " is lost");
    return sut_->answers.at(x).failure.code;
  }

  std::vector<std::byte> image_of(core::request_id x) const {
    return sut_->images.at(x);
  }

  uint64_t workers_lost() {
    return sut_->tables().counts().workers_lost;
  }

  uint64_t resumed() {
    return sut_->tables().counts().resumed;
  }

  /// Sets a call for each row that is passed to a device.
  void on_denoise(std::function<void(const actors::denoise&)> call) {
    sut_->on_denoise = std::move(call);
  }

  /// Lets the row's step with this number fail; 0 is the next one.
  void fail_step(core::ticket who, uint32_t step, core::error why) {
    sut_->host->fail_step(who, step, why);
  }

  /// Expects that all requests are answered and nothing is held.
  void expect_rest() {
    BOOST_TEST(sut_->answers.size() == last_);
    BOOST_TEST(sut_->tables().rows() == 0u);
    for (const auto kind : {ipc::slot_kind::state, ipc::slot_kind::image}) {
      const auto& slots = sut_->tables().keeper();
      BOOST_TEST(slots.census(kind).free == slots.count(kind));
    }
  }

private:
  uint64_t last_ = 0;
  std::optional<system_rig> sut_;
};

/// Returns the images of the first `count` requests without any fault.
inline std::map<core::request_id, std::vector<std::byte>> calm_images(
  size_t count) {
  requests_rig rig;
  std::map<core::request_id, std::vector<std::byte>> out;
  for (size_t i = 0; i < count; ++i) {
    const auto id = rig.submit();
    rig.settle();
    out[id] = rig.image_of(id);
  }
  return out;
}

} // namespace atelier::test
