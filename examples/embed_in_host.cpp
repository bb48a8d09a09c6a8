// SPDX-License-Identifier: Apache-2.0
// A host that runs Atelier inside: options, futures and callbacks, progress,
// taking a request back, the status, and a stop that lets running work end.

#include <atelier/atelier.hpp>

#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <variant>

using namespace std::chrono_literals;

namespace {

/// Ends the program with the failure's text: a host would answer its user.
template <class T, class Result>
T expect(Result result, const char* doing) {
  if (const auto* why = std::get_if<atelier::failure>(&result)) {
    std::cerr << doing << ": " << why->code << ": " << why->text << '\n';
    std::exit(1);
  }
  return std::get<T>(std::move(result));
}

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
  if (const auto* why = std::get_if<atelier::failure>(&answer)) {
    std::cout << "  no picture: " << why->code << '\n';
    return;
  }
  const auto& picture = std::get<atelier::picture>(answer);
  std::cout << "  " << picture.format << " of " << picture.bytes.size()
            << " bytes, sha256 " << picture.sha256.substr(0, 12) << '\n';
}

/// One way: wait for the future.
void wait_for_one(atelier::engine& engine) {
  auto request = expect<atelier::submission>(
    engine.submit(portrait("a green triangle")), "submit");
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
  expect<atelier::submission>(
    engine.submit(portrait("a yellow star"), std::move(calls)), "submit");
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
  auto request = expect<atelier::submission>(
    engine.submit(wanted, std::move(calls)), "submit");
  running.get_future().wait();
  engine.cancel(request.request);
  show(request.result.get());
}

/// What cannot be done is refused at once, with the reason.
void be_refused(atelier::engine& engine) {
  auto wanted = portrait("a picture of no size");
  wanted.width = 7;
  const auto refused = engine.submit(wanted);
  std::cout << "  " << std::get<atelier::failure>(refused).text << '\n';
}

} // namespace

int main() {
  auto engine = expect<std::unique_ptr<atelier::engine>>(
    atelier::engine::start(slow_test_card()), "start");

  wait_for_one(*engine);
  be_called(*engine);
  take_back(*engine);
  be_refused(*engine);

  auto last = expect<atelier::submission>(
    engine->submit(portrait("finished while the engine stops")), "submit");
  const auto now = engine->status();
  std::cout << now.accepted << " accepted, " << now.answered << " answered, "
            << now.cancelled << " taken back, " << now.running << " running\n";
  // New work is refused from here on; what runs has ten seconds.
  const bool all_answered = engine->stop(10s);
  show(last.result.get());
  std::cout << (all_answered ? "everything was answered\n"
                             : "some work was given up\n");
  return all_answered ? 0 : 1;
}
