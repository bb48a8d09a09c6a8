// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/draw_list.hpp>

#include <fmt/format.h>

#include <ostream>

namespace atelier::runtime::cli {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds redraw{100};

} // namespace

draw_list::draw_list(wanted_images wanted, const draw_pace& pace,
                     service& makes, interruption& interrupted,
                     const console& terminal)
  : wanted_(std::move(wanted)),
    pace_(pace),
    service_(makes),
    interrupted_(interrupted),
    console_(terminal),
    answers_(std::make_shared<answers>(interrupted.signal())),
    bar_(wanted_.count, steady_clock::now()) {}

exit_status draw_list::run() {
  for (;;) {
    if (wants_more() || !running_.empty())
      heed_interruption();
    submit_more();
    if (running_.empty() && !wants_more())
      break;
    // A second request to stop means that the user does not want to wait.
    if (was_interrupted_
        && (interrupted_.count() > 1
            || steady_clock::now() - *stopped_ > pace_.grace))
      break;
    const bool timed = console_.columns > 0 || stopped_;
    interrupted_.signal().wait(timed ? std::optional{redraw} : std::nullopt);
    auto batch = answers_->take();
    for (const auto& [index, x] : batch.running)
      if (running_.contains(index))
        bar_.step(index, x.steps_done, x.steps);
    for (const auto& [index, x] : batch.finished)
      finish(index, x);
    show_progress();
  }
  hide_progress();
  if (was_interrupted_)
    return exit_status::interrupted;
  return first_failure_ ? first_failure_->second : exit_status::done;
}

bool draw_list::wants_more() const {
  return !stopped_ && next_ < wanted_.count;
}

bool draw_list::heed_interruption() {
  if (interrupted_.count() == 0)
    return false;
  was_interrupted_ = true;
  stop_early();
  return true;
}

void draw_list::submit_more() {
  while (wants_more() && !full_ && running_.size() < pace_.window) {
    // A request to stop counts at once, also between many refusals.
    if (heed_interruption())
      return;
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

bool draw_list::submit(uint64_t index) {
  callbacks calls;
  // The callbacks own the mailbox because a late one may arrive after this
  // object's end.
  calls.answered = [box = answers_, index,
                    part = wanted_.used_part](const answer& x) {
    box->put(index, x && part ? answer{part(std::get<generated_image>(x))} : x);
  };
  if (console_.columns > 0)
    calls.progressed = [box = answers_, index](const progress& x) {
      box->put(index, x);
    };
  auto handed_in = service_.submit(wanted_.request(index), std::move(calls));
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

void draw_list::finish(uint64_t index, const answer& x) {
  running_.erase(index);
  full_ = false;
  if (const auto* made = std::get_if<generated_image>(&x)) {
    bar_.finish(index);
    wanted_.drawn(index, *made);
  } else {
    fail(index, std::get<failure>(x));
  }
}

void draw_list::fail(uint64_t index, const failure& why) {
  bar_.finish(index);
  // A cancelled request is reported once, by the exit status or its cause.
  if (stopped_ && (why.code == "cancelled" || why.code == "stopping"))
    return;
  tell(fmt::format("{}: {}: {}", wanted_.name(index), why.code, why.text));
  note_failure(index, status_of(why.code));
}

void draw_list::note_failure(uint64_t index, exit_status status) {
  if (!first_failure_ || index < first_failure_->first)
    first_failure_ = {index, status};
}

void draw_list::stop_early() {
  if (stopped_)
    return;
  stopped_ = steady_clock::now();
  for (const auto& [index, request] : running_)
    service_.cancel(request);
}

void draw_list::tell(const std::string& line) {
  hide_progress();
  console_.complain(line);
}

void draw_list::show_progress() {
  if (console_.columns == 0)
    return;
  const auto line = bar_.line(steady_clock::now(), console_.columns);
  if (!line)
    return;
  console_.err << '\r' << *line << "\x1b[K" << std::flush;
  bar_shown_ = true;
}

void draw_list::hide_progress() {
  if (bar_shown_)
    console_.err << "\r\x1b[K" << std::flush;
  bar_shown_ = false;
}

} // namespace atelier::runtime::cli
