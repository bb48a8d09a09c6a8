// SPDX-License-Identifier: Apache-2.0
// A host that embeds Atelier. It shows options, futures, callbacks, progress,
// cancellation, the status, and a stop that lets running requests finish.

#include <atelier/atelier.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace {

/// Returns options with slow steps, so that progress is visible.
atelier::engine_options slow_test_card() {
  atelier::engine_options options;
  // config/atelier.example.toml lists the keys. Values that are set here
  // override options.config_file.
  options.set = {"devices[0].executor = 'test_card'",
                 "devices[0].test_card_step_ms = 5", "limits.requests = 100"};
  return options;
}

atelier::generation portrait(const char* prompt) {
  atelier::generation wanted;
  wanted.prompt = prompt;
  wanted.width = 256;
  wanted.height = 384;
  wanted.seed = 7;
  wanted.format = "webp";
  return wanted;
}

void show(const atelier::answer& answer) {
  if (!answer) {
    std::cout << "  no image: " << answer.why().code << '\n';
    return;
  }
  const auto& image = answer.value();
  std::cout << "  " << image.format << " of " << image.bytes.size()
            << " bytes, sha256 " << image.sha256.substr(0, 12) << '\n';
}

/// Waits for the future.
void wait_for_one(atelier::engine& engine) {
  auto request = engine.submit(portrait("a green triangle")).value();
  std::cout << "request " << request.request << '\n';
  show(request.result.get());
}

/// Receives the answer through a callback, on a thread of the engine.
void be_called(atelier::engine& engine) {
  std::promise<void> done;
  atelier::callbacks calls;
  calls.progressed = [](const atelier::progress& x) {
    if (x.steps_done % 5 == 0)
      std::cout << "  step " << x.steps_done << " of " << x.steps << '\n';
  };
  calls.answered = [&done](const atelier::answer& answer) {
    show(answer);
    done.set_value();
  };
  engine.submit(portrait("a yellow star"), std::move(calls)).value();
  done.get_future().wait();
}

/// Cancels a running request: other requests get its device time from the next
/// step on.
void take_back(atelier::engine& engine) {
  auto wanted = portrait("an image that is cancelled");
  wanted.steps = 150;
  std::promise<void> running;
  atelier::callbacks calls;
  calls.progressed = [&running,
                      told = false](const atelier::progress&) mutable {
    if (!std::exchange(told, true))
      running.set_value();
  };
  auto request = engine.submit(wanted, std::move(calls)).value();
  running.get_future().wait();
  if (!engine.cancel(request.request))
    std::cout << "  it had been answered before\n";
  show(request.result.get());
}

/// Submits an invalid request, which is refused at once, with the reason.
void be_refused(atelier::engine& engine) {
  auto wanted = portrait("an image of an invalid size");
  wanted.width = 7;
  const auto refused = engine.submit(wanted);
  std::cout << "  " << refused.why().text << '\n';
}

} // namespace

int main() {
  try {
    const auto engine = atelier::engine::start(slow_test_card()).value();

    wait_for_one(*engine);
    be_called(*engine);
    take_back(*engine);
    be_refused(*engine);

    auto last =
      engine->submit(portrait("finished while the engine stops")).value();
    const auto now = engine->status();
    std::cout << now.accepted << " accepted, " << now.answered << " answered, "
              << now.cancelled << " cancelled, " << now.running << " running\n";
    // The engine refuses new requests from here on. Running requests have ten
    // seconds.
    const bool all_answered = engine->stop(10s);
    show(last.result.get());
    std::cout << (all_answered ? "all requests were answered\n"
                               : "some requests were dropped\n");
    return all_answered ? 0 : 1;
  } catch (const atelier::failed& e) {
    // A real host would report this to its user.
    std::cerr << "embed_in_host: " << e.why().code << ": " << e.what() << '\n';
    return 1;
  }
}
