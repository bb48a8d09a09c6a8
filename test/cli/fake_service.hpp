// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/interruption.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// Replaces an engine. Everything happens in the calling thread: requests are
/// answered at once, when enough of them wait, or when a test says so.
class fake_service : public runtime::cli::service {
public:
  /// Returns the answer to a request. The bytes of an image are its prompt.
  std::function<answer(const generation&)> decide = [](const generation& x) {
    return answer{make_image(x)};
  };
  /// Decides whether a request is refused.
  std::function<std::optional<failure>(const generation&, size_t waiting)>
    refuse = [](const generation&, size_t) { return std::nullopt; };
  /// Whether requests are answered at once, or only when a test says so.
  bool at_once = true;
  /// The number of waiting requests at which all of them are answered; 0:
  /// never.
  size_t fullest = 0;

  static generated_image make_image(const generation& x) {
    generated_image made;
    made.bytes.assign(x.prompt.begin(), x.prompt.end());
    made.format = x.format;
    made.seed = *x.seed;
    made.prompt = x.prompt;
    made.model = "test_card";
    made.variant = "test_card@20";
    made.route = "vanilla";
    made.sampler = "ddim";
    made.steps = made.steps_run = 20;
    made.width = made.height = 64;
    made.sha256 = std::string(64, 'a');
    made.took.total = std::chrono::milliseconds{1500};
    return made;
  }

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    if (auto no = refuse(wanted, waiting.size()))
      return *no;
    handed_in.push_back(wanted);
    const uint64_t request = handed_in.size();
    waiting[request] = {wanted, std::move(calls)};
    most_waiting = std::max(most_waiting, waiting.size());
    if (at_once || waiting.size() == fullest)
      while (!waiting.empty())
        answer_one();
    return request;
  }

  void answer_one() {
    auto entry = waiting.extract(waiting.begin());
    auto& [wanted, calls] = entry.mapped();
    calls.answered(decide(wanted));
  }

  bool cancel(uint64_t request) override {
    cancelled.push_back(request);
    auto entry = waiting.extract(request);
    if (entry.empty())
      return false;
    entry.mapped().second.answered(failure{"cancelled", "taken back", {}});
    return true;
  }

  bool stop(std::chrono::nanoseconds) override {
    ++stops;
    return true;
  }

  std::vector<generation> handed_in;
  std::map<uint64_t, std::pair<generation, callbacks>> waiting;
  size_t most_waiting = 0;
  std::vector<uint64_t> cancelled;
  int stops = 0;
};

/// An interruption that a test triggers.
class fake_interruption : public runtime::cli::interruption {
public:
  int count() const override {
    return wishes;
  }

  runtime::cli::wakeup& signal() override {
    return woken;
  }

  void wish() {
    ++wishes;
    woken.wake();
  }

  int wishes = 0;
  runtime::cli::wakeup woken;
};

} // namespace atelier::test
