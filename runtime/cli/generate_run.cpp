// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/request.hpp>
#include <atelier/runtime/cli/generate_run.hpp>
#include <atelier/runtime/cli/image_json.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/several_images.hpp>

#include <algorithm>
#include <ostream>

namespace atelier::runtime::cli {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds redraw{100};

/// Maximum number of notes printed in a run, so that the output for a file of
/// many prompts stays short.
constexpr size_t most_told = 256;

} // namespace

generate_run::generate_run(const generate_plan& plan, service& makes,
                           interruption& interrupted, const console& terminal)
  : plan_(plan),
    service_(makes),
    interrupted_(interrupted),
    console_(terminal),
    answers_(std::make_shared<answers>(interrupted.signal())),
    bar_(plan.images(), steady_clock::now()) {}

exit_status generate_run::run() {
  for (;;) {
    if (interrupted_.count() > 0 && (wants_more() || !running_.empty())) {
      was_interrupted_ = true;
      stop_early();
    }
    submit_more();
    if (running_.empty() && !wants_more())
      break;
    // A second request to stop means that the user does not want to wait.
    if (was_interrupted_
        && (interrupted_.count() > 1
            || steady_clock::now() - *stopped_ > plan_.grace))
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

bool generate_run::wants_more() const {
  return !stopped_ && next_ < plan_.images();
}

void generate_run::submit_more() {
  while (wants_more() && !full_ && running_.size() < plan_.window) {
    // A request to stop counts at once, also between many refusals.
    if (interrupted_.count() > 0) {
      was_interrupted_ = true;
      stop_early();
      return;
    }
    if (!submit(next_)) {
      full_ = true;
      return;
    }
    ++next_;
  }
}

bool generate_run::submit(uint64_t index) {
  auto wanted = plan_.common;
  wanted.prompt = plan_.prompt_of(index);
  wanted.seed = plan_.seed_of(index);
  if (index % plan_.count > 0)
    start_from_noise(wanted);
  callbacks calls;
  // The callbacks own the mailbox because a late one may arrive after this
  // run's end.
  calls.answered = [box = answers_, index](const answer& x) {
    box->put(index, x);
  };
  if (console_.columns > 0)
    calls.progressed = [box = answers_, index](const progress& x) {
      box->put(index, x);
    };
  auto handed_in = service_.submit(wanted, std::move(calls));
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

void generate_run::finish(uint64_t index, const answer& x) {
  running_.erase(index);
  full_ = false;
  if (const auto* made = std::get_if<generated_image>(&x)) {
    bar_.finish(index);
    deliver(index, *made);
  } else {
    fail(index, std::get<failure>(x));
  }
}

void generate_run::deliver(uint64_t index, const generated_image& x) {
  const auto path = plan_.path_of(index);
  if (auto ok = write_file(path, x.bytes, plan_.existing); !ok) {
    tell(ok.why().text);
    note_failure(index, exit_status::failed);
    // A file name that was taken in the meantime affects only this image; a
    // full disk affects all of them.
    if (ok.why().code != core::ec::invalid_argument)
      stop_early();
    return;
  }
  // A note is printed once in a run, because the images of one prompt share
  // most of them.
  for (const auto& one : x.notes)
    if (told_.size() < most_told && told_.insert(one.text).second)
      tell(fmt::format("note: {}", one.text));
  if (!plan_.json) {
    const double seconds = std::chrono::duration<double>(x.took.total).count();
    const auto with = core::parse_sampler(x.sampler);
    const auto rule = core::parse_name<core::strength_rule>(x.strength_rule);
    const auto most = core::steps_of_share(
      with.value_or(core::sampler::ddim), x.steps, x.strength,
      rule.value_or(core::strength_rule::diffusers));
    // Fewer ran if earlier work saved some, or if the model leaves out steps
    // that its sampler could spread; more if a route draws twice.
    const auto run = std::min(most, x.steps_run);
    const auto steps = run == x.steps ? fmt::to_string(run)
                                      : fmt::format("{} of {}", run, x.steps);
    tell(fmt::format("{}  {}x{}  seed {}  {}  {} steps  {:.2f} s",
                     path.string(), x.width, x.height, x.seed, x.variant, steps,
                     seconds));
    return;
  }
  console_.out << to_json(x, path) << '\n' << std::flush;
  if (console_.out || stopped_)
    return;
  if (!reader_has_left())
    tell("cannot write to standard output");
  note_failure(index, exit_status::failed);
  stop_early();
}

void generate_run::fail(uint64_t index, const failure& why) {
  bar_.finish(index);
  // A cancelled request is reported once, by the exit status or its cause.
  if (stopped_ && (why.code == "cancelled" || why.code == "stopping"))
    return;
  tell(fmt::format("image {} of {} (prompt {}, seed {}): {}: {}", index + 1,
                   plan_.images(), show_value(plan_.prompt_of(index)),
                   plan_.seed_of(index), why.code, why.text));
  note_failure(index, status_of(why.code));
}

void generate_run::note_failure(uint64_t index, exit_status status) {
  if (!first_failure_ || index < first_failure_->first)
    first_failure_ = {index, status};
}

void generate_run::stop_early() {
  if (stopped_)
    return;
  stopped_ = steady_clock::now();
  for (const auto& [index, request] : running_)
    service_.cancel(request);
}

void generate_run::tell(const std::string& line) {
  hide_progress();
  console_.complain(line);
}

void generate_run::show_progress() {
  if (console_.columns == 0)
    return;
  const auto line = bar_.line(steady_clock::now(), console_.columns);
  if (!line)
    return;
  console_.err << '\r' << *line << "\x1b[K" << std::flush;
  bar_shown_ = true;
}

void generate_run::hide_progress() {
  if (bar_shown_)
    console_.err << "\r\x1b[K" << std::flush;
  bar_shown_ = false;
}

} // namespace atelier::runtime::cli
