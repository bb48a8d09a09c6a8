// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/image_service.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::test {

/// An engine whose work the test does.
/// Threads: any.
class fake_images : public runtime::http::image_service {
public:
  struct order {
    uint64_t request = 0;
    generation wanted;
    callbacks calls;
    bool cancelled = false;
    bool answered = false;
  };

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    uint64_t request = 0;
    {
      const std::lock_guard guard{mutex_};
      if (refuse_after && orders_.size() >= *refuse_after)
        return refusal;
      request = orders_.size() + 1;
      orders_.push_back({request, wanted, std::move(calls), false, false});
    }
    if (on_submit)
      on_submit(request);
    return request;
  }

  bool cancel(uint64_t request) override {
    {
      const std::lock_guard guard{mutex_};
      auto& x = orders_.at(request - 1);
      if (x.answered)
        return false;
      x.cancelled = true;
    }
    if (answers_cancel)
      answer_with(request, failure{"cancelled", "taken back", {}});
    return true;
  }

  engine_status status() const override {
    return {};
  }

  std::vector<variant_status> variants() const override {
    return known;
  }

  result<void> host_model(const std::string& model, bool there) override {
    moved.emplace_back(model, there);
    if (no_room)
      return *no_room;
    return {};
  }

  /// Reports that `done` of `all` steps are done.
  void step(uint64_t request, uint32_t done, uint32_t all, preview seen = {}) {
    const auto call = at(request).calls.progressed;
    if (call)
      call({request, done, all, std::move(seen)});
  }

  static preview grey_preview(uint32_t step, uint32_t side = 8) {
    return {step, side, side, std::vector<uint8_t>(side * side * 3, 128)};
  }

  generated_image image_for(uint64_t request) const {
    const auto x = at(request);
    generated_image p;
    p.request = request;
    p.seed = x.wanted.seed.value_or(4'000'000'000 + request);
    p.bytes = bytes_of ? bytes_of(x.wanted)
                       : std::vector<uint8_t>(100, uint8_t(request));
    p.format = x.wanted.format;
    p.prompt = x.wanted.prompt;
    p.negative = x.wanted.negative;
    p.model = x.wanted.model.value_or(known.front().model);
    p.variant = known.front().name;
    p.sampler = x.wanted.sampler.value_or(known.front().sampler);
    p.steps = x.wanted.steps.value_or(known.front().steps);
    p.steps_run = p.steps;
    p.guidance = x.wanted.guidance.value_or(known.front().guidance);
    p.karras = x.wanted.karras.value_or(false);
    p.strength = x.wanted.strength.value_or(1);
    p.width = x.wanted.width > 0 ? x.wanted.width : known.front().width;
    p.height = x.wanted.height > 0 ? x.wanted.height : known.front().height;
    p.notes = x.wanted.notes;
    p.notes.insert(p.notes.end(), notes.begin(), notes.end());
    p.prompt_class = prompt_class;
    return p;
  }

  void finish(uint64_t request) {
    answer_with(request, image_for(request));
  }

  void fail(uint64_t request, std::string code, std::string text = "why") {
    answer_with(request, failure{std::move(code), std::move(text), {}});
  }

  /// Only the first answer counts, as with the engine.
  void answer_with(uint64_t request, const answer& a) {
    std::function<void(const answer&)> call;
    {
      const std::lock_guard guard{mutex_};
      auto& x = orders_.at(request - 1);
      if (std::exchange(x.answered, true))
        return;
      call = x.calls.answered;
      x.calls = {};
    }
    if (call)
      call(a);
  }

  order at(uint64_t request) const {
    const std::lock_guard guard{mutex_};
    return orders_.at(request - 1);
  }

  size_t count() const {
    const std::lock_guard guard{mutex_};
    return orders_.size();
  }

  /// From this number on, orders are refused.
  std::optional<size_t> refuse_after;
  /// The orders to move models, and the answer to them.
  std::vector<std::pair<std::string, bool>> moved;
  std::optional<failure> no_room;
  failure refusal{"overloaded", "full", std::chrono::seconds{3}};
  /// Whether a cancelled request is answered at once.
  bool answers_cancel = false;
  /// Called before submit returns.
  std::function<void(uint64_t)> on_submit;
  std::function<std::vector<uint8_t>(const generation&)> bytes_of;
  /// The engine's notes on every image.
  std::vector<note> notes;
  /// The engine's classification of every prompt.
  std::vector<ladder_level> prompt_class;
  std::vector<variant_status> known{
    {"tiny@8", "tiny", 8, 4.5f, "dpmpp_2m", true, 64, 64},
    {"tiny@50", "tiny", 50, 4.5f, "ddim", false, 64, 64},
    {"other@4", "other", 4, 1, "lcm", false, 128, 96}};

private:
  mutable std::mutex mutex_;
  std::vector<order> orders_;
};

} // namespace atelier::test
