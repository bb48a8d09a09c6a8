// SPDX-License-Identifier: Apache-2.0
// A host that runs Atelier inside: options, futures and callbacks, progress,
// taking a request back, the status, and a stop that lets running work end.

#include <atelier/atelier.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace {

/// Each step takes a while, so that there is something to watch.
atelier::engine_options slow_test_card() {
  atelier::engine_options options;
  // The keys of config/atelier.example.toml; they win over options.config_file.
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
    std::cout << "  no picture: " << answer.why().code << '\n';
    return;
  }
  const auto& picture = answer.value();
  std::cout << "  " << picture.format << " of " << picture.bytes.size()
            << " bytes, sha256 " << picture.sha256.substr(0, 12) << '\n';
}

/// One way: wait for the future.
void wait_for_one(atelier::engine& engine) {
  auto request = engine.submit(portrait("a green triangle")).value();
  std::cout << "request " << request.request << '\n';
  show(request.result.get());
}

/// The other way: be called, on a thread of the engine.
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

/// Its device time goes to others from the next step on.
void take_back(atelier::engine& engine) {
  auto wanted = portrait("nobody waits for this");
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
  engine.cancel(request.request);
  show(request.result.get());
}

/// What cannot be done is refused at once, with the reason.
void be_refused(atelier::engine& engine) {
  auto wanted = portrait("a picture of no size");
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
              << now.cancelled << " taken back, " << now.running
              << " running\n";
    // New work is refused from here on; what runs has ten seconds.
    const bool all_answered = engine->stop(10s);
    show(last.result.get());
    std::cout << (all_answered ? "everything was answered\n"
                               : "some work was given up\n");
    return all_answered ? 0 : 1;
  } catch (const atelier::failed& e) {
    // A host would answer its user.
    std::cerr << "embed_in_host: " << e.why().code << ": " << e.what() << '\n';
    return 1;
  }
}
