// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/time.hpp>
#include <atelier/runtime/cli/engine_service.hpp>

#include <chrono>
#include <thread>
#include <utility>

namespace atelier::runtime::cli {

namespace {

class engine_service : public service {
public:
  explicit engine_service(std::unique_ptr<engine> x) : engine_(std::move(x)) {}

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    auto handed_in = engine_->submit(wanted, std::move(calls));
    if (auto* refusal = std::get_if<failure>(&handed_in))
      return std::move(*refusal);
    return std::get<submission>(handed_in).request;
  }

  bool cancel(uint64_t request) override {
    return engine_->cancel(request);
  }

  bool stop(std::chrono::nanoseconds grace) override {
    return engine_->stop(grace);
  }

  /// An answered request holds slots until its work is kept, but not in the
  /// moment between its answer and the order to keep it: the rest must last.
  bool settle(std::chrono::nanoseconds most) override {
    constexpr std::chrono::milliseconds pause{2};
    constexpr int looks_at_rest = 25;
    const auto until = core::after(std::chrono::steady_clock::now(), most);
    for (int at_rest = 0; at_rest < looks_at_rest;) {
      const auto now = engine_->status();
      const bool rests =
        now.waiting == 0 && now.running == 0 && now.slots_in_use == 0;
      at_rest = rests ? at_rest + 1 : 0;
      if (std::chrono::steady_clock::now() >= until)
        return false;
      std::this_thread::sleep_for(pause);
    }
    return true;
  }

  std::vector<uint64_t> batches() override {
    return engine_->status().batches;
  }

private:
  std::unique_ptr<engine> engine_;
};

} // namespace

started_service start_engine_service(const engine_options& options) {
  auto started = engine::start(options);
  if (auto* why = std::get_if<failure>(&started))
    return std::move(*why);
  return std::make_unique<engine_service>(
    std::move(std::get<std::unique_ptr<engine>>(started)));
}

} // namespace atelier::runtime::cli
