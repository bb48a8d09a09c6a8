// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/warm_run.hpp>

#include <ostream>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds redraw_pause{100};

} // namespace

warm_run::warm_run(const std::vector<warm_request>& list, const warm_pace& pace,
                   service& draws, interruption& interrupted,
                   const console& terminal)
  : list_(list),
    pace_(pace),
    service_(draws),
    interrupted_(interrupted),
    console_(terminal),
    answers_(std::make_shared<answers>(interrupted.signal())),
    bar_(list.size(), steady_clock::now()),
    routes_(list.size()) {}

exit_status warm_run::run() {
  for (;;) {
    if (interrupted_.count() > 0 && (wants_more() || !running_.empty()))
      stop_early();
    submit_more();
    if (running_.empty() && !wants_more())
      break;
    // A second request to stop means that the user does not want to wait.
    if (stopped_
        && (interrupted_.count() > 1
            || steady_clock::now() - *stopped_ > pace_.grace))
      break;
    const bool timed = console_.columns > 0 || stopped_;
    interrupted_.signal().wait(timed ? std::optional{redraw_pause}
                                     : std::nullopt);
    auto batch = answers_->take();
    for (const auto& [index, x] : batch.running)
      if (running_.contains(index))
        bar_.step(index, x.steps_done, x.steps);
    for (const auto& [index, x] : batch.finished)
      finish(index, x);
    show_progress();
  }
  hide_progress();
  if (interrupted_.count() <= 1)
    service_.settle(pace_.grace);
  if (stopped_)
    return exit_status::interrupted;
  return first_failure_ ? first_failure_->second : exit_status::done;
}

bool warm_run::wants_more() const {
  return !stopped_ && next_ < list_.size();
}

void warm_run::submit_more() {
  while (wants_more() && !full_ && running_.size() < pace_.window) {
    // A request to stop counts at once, also between many refusals.
    if (interrupted_.count() > 0)
      return stop_early();
    if (pace_.batch > 0 && in_batch_ >= pace_.batch) {
      if (!running_.empty())
        return;
      service_.settle(pace_.grace);
      in_batch_ = 0;
    }
    if (!submit(next_)) {
      full_ = true;
      return;
    }
    ++next_;
    ++in_batch_;
  }
}

bool warm_run::submit(uint64_t index) {
  callbacks calls;
  // The callbacks own the mailbox because a late one may arrive after this
  // run's end.
  calls.answered = [box = answers_, index](const answer& x) {
    // The image is dropped.
    generated_image drawn;
    if (const auto* const made = std::get_if<generated_image>(&x))
      drawn.route = made->route;
    box->put(index, x ? answer{std::move(drawn)} : x);
  };
  if (console_.columns > 0)
    calls.progressed = [box = answers_, index](const progress& x) {
      box->put(index, x);
    };
  auto handed_in = service_.submit(list_[index].wanted, std::move(calls));
  if (const auto* request = std::get_if<uint64_t>(&handed_in)) {
    running_.emplace(index, *request);
    return true;
  }
  const auto& refusal = std::get<failure>(handed_in);
  if (refusal.code == "overloaded" && !running_.empty())
    return false;
  fail(index, refusal);
  return true;
}

void warm_run::finish(uint64_t index, const answer& x) {
  running_.erase(index);
  full_ = false;
  if (x) {
    bar_.finish(index);
    routes_[index] = std::get<generated_image>(x).route;
  } else {
    fail(index, x.why());
  }
}

void warm_run::fail(uint64_t index, const failure& why) {
  bar_.finish(index);
  // A cancelled request is reported once, by the exit status.
  if (stopped_ && (why.code == "cancelled" || why.code == "stopping"))
    return;
  hide_progress();
  console_.complain(fmt::format("{}: {}: {}: {}", list_[index].place,
                                show_value(list_[index].wanted.prompt),
                                why.code, why.text));
  if (!first_failure_ || index < first_failure_->first)
    first_failure_ = {index, status_of(why.code)};
}

void warm_run::stop_early() {
  if (stopped_)
    return;
  stopped_ = steady_clock::now();
  for (const auto& [index, request] : running_)
    service_.cancel(request);
}

void warm_run::show_progress() {
  if (console_.columns == 0)
    return;
  const auto line = bar_.line(steady_clock::now(), console_.columns);
  if (!line)
    return;
  console_.err << '\r' << *line << "\x1b[K" << std::flush;
  bar_shown_ = true;
}

void warm_run::hide_progress() {
  if (bar_shown_)
    console_.err << "\r\x1b[K" << std::flush;
  bar_shown_ = false;
}

} // namespace atelier::runtime::cli
