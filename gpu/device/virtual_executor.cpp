// SPDX-License-Identifier: Apache-2.0
// A device in virtual time. Long, because its queues of steps, decoding and
// loading share one state and one clock.
#include <atelier/core/philox.hpp>
#include <atelier/gpu/device/detail/test_card_rows.hpp>
#include <atelier/gpu/device/virtual_executor.hpp>
#include <atelier/planning/grouping.hpp>
#include <atelier/planning/policies/instgenie/instgenie.hpp>
#include <atelier/planning/row_work.hpp>
#include <atelier/planning/step_table.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

namespace atelier::gpu {

namespace {

struct numbered_run {
  run_job job;
  uint64_t number = 0;
};

struct decode_job {
  core::ticket ticket;
};

struct close_job {
  core::ticket ticket;
};

struct load_job {
  core::timespan takes{0};
};

struct call_job {
  std::function<void()> work;
};

using any_job = std::variant<open_job, numbered_run, decode_job, close_job,
                             load_job, call_job>;

struct scripted_failure {
  uint32_t step = 0;
  core::error why;
};

/// Work that takes time: a run, or a decoding or loading, whose `steps` stay 0.
struct work {
  std::variant<numbered_run, decode_job, load_job> order;
  core::time_point began;
  core::timespan opening{0};
  core::timespan step{0};
  uint32_t steps = 0;
  /// The number of `steps` whose effects are in the rows.
  uint32_t applied = 0;
  core::timespan decode{0};
  /// The variant that runs.
  std::optional<core::variant_id> variant = {};

  core::time_point first_step() const {
    return began + opening;
  }

  core::time_point end() const {
    return first_step() + steps * step + decode;
  }
};

/// Numbers the draws of one request's stream: each kind of work has its own.
enum class draw : uint8_t { text, step, decode };

} // namespace

struct virtual_executor::device : std::enable_shared_from_this<device> {
  device(virtual_config c, std::shared_ptr<core::timers> t,
         std::shared_ptr<ipc::slot_store> s)
    : config(std::move(c)),
      timers(std::move(t)),
      rows(config.known, std::move(s)),
      tables(*config.known),
      edit_seconds(config.known->variants.size()),
      resident(config.resident) {
    for (const auto& m : config.known->masked)
      edit_seconds[m.variant.value] = planning::edit_steps(m);
  }

  const virtual_config config;
  const std::shared_ptr<core::timers> timers;
  executor_events events;
  detail::test_card_rows rows;
  /// Tables by variant.
  planning::kind_tables tables;
  /// Seconds of a step of a batch with edits, by variant; empty: unknown.
  std::vector<planning::instgenie::step_model> edit_seconds;
  /// Time that opening will take, for rows that have not run yet.
  std::unordered_map<core::ticket, core::timespan> opening;
  /// The part of it that encodes the row's source.
  std::unordered_map<core::ticket, core::timespan> encoding;
  std::unordered_map<core::ticket, scripted_failure> script;
  std::vector<core::variant_id> resident;
  /// The judges of open rows.
  std::unordered_map<core::ticket, std::string> judges;
  std::deque<any_job> jobs;
  std::optional<work> current;
  uint64_t runs = 0;
  uint64_t interrupted = 0;
  /// Number of the valid timer.
  uint64_t generation = 0;
  bool crashed = false;
  std::optional<core::time_point> hung;

  core::time_point now() const {
    return hung ? *hung : timers->now();
  }

  /// Varies `mean` as a lognormal distribution would, to second order. The
  /// result is always positive and the same on every machine.
  core::timespan vary(core::timespan mean, core::ticket who, uint32_t step,
                      draw what) const {
    if (config.pace)
      mean = core::timespan{
        std::llround(static_cast<double>(mean.count()) * config.pace())};
    if (config.noise == 0 || mean.count() == 0)
      return mean;
    core::philox random{config.seed, core::purpose::simulation, who.id};
    const auto run = config.run_of ? config.run_of(who) : who.attempt;
    random.seek(((uint64_t{run} << 16 | (step & 0xFFFF)) << 2
                 | static_cast<uint64_t>(what))
                << 2);
    const auto x = config.noise * std::clamp(random.normal(), -3.0, 3.0);
    const auto factor = 1 + x + x * x / 2;
    return core::timespan{
      std::llround(static_cast<double>(mean.count()) * factor)};
  }

  void submit(any_job job) {
    if (crashed)
      return;
    jobs.push_back(std::move(job));
    pump();
  }

  void pump() {
    while (!current && !hung && !crashed && !jobs.empty()) {
      auto job = std::move(jobs.front());
      jobs.pop_front();
      std::visit([this](auto& x) { start(x); }, job);
    }
  }

  const planning::variant_profile* variant_of(core::ticket who) {
    const auto* row = rows.find(who);
    if (!row || row->failure().code != core::ec::none)
      return nullptr;
    return &config.known->variants[row->how().variant.value];
  }

  void start(const open_job& job) {
    rows.open(job);
    if (const auto* variant = variant_of(job.ticket)) {
      auto takes = vary(variant->text, job.ticket, 0, draw::text);
      if (job.recipe.from_image) {
        auto& source = encoding[job.ticket];
        source = planning::encode_time(*variant, job.recipe.px);
        takes += source;
      }
      opening[job.ticket] = takes;
    }
    if (!job.judge.empty())
      judges[job.ticket] = job.judge;
  }

  void start(const load_job& job) {
    work next{job, now()};
    next.decode = job.takes;
    begin(std::move(next));
  }

  core::timespan judging(core::ticket who) const {
    const auto judge = judges.find(who);
    if (judge != judges.end())
      for (const auto& c : config.known->cascades)
        if (c.judge == judge->second)
          return c.judging;
    return {};
  }

  /// The work of a stage takes no virtual time.
  void start(const call_job& job) {
    job.work();
  }

  void start(const close_job& job) {
    rows.close(job.ticket);
    opening.erase(job.ticket);
    encoding.erase(job.ticket);
    script.erase(job.ticket);
    judges.erase(job.ticket);
  }

  void start(decode_job& job) {
    work next{job, now()};
    if (const auto* variant = variant_of(job.ticket)) {
      const auto& how = rows.find(job.ticket)->how();
      next.decode =
        vary(planning::decode_time(*variant, how.px) + judging(job.ticket),
             job.ticket, 0, draw::decode);
      next.variant = how.variant;
    }
    begin(std::move(next));
  }

  void start(numbered_run& run) {
    work next{std::move(run), now()};
    const auto& x = std::get<numbered_run>(next.order);
    const auto sound = rows.sound(x.job.rows);
    if (x.number != interrupted)
      next.steps = detail::common_steps(sound, x.job.steps);
    if (next.steps > 0) {
      for (const auto& who : x.job.rows)
        if (const auto owed = opening.extract(who))
          next.opening += owed.mapped();
      const auto& lead = *sound.front();
      next.variant = lead.how().variant;
      next.step =
        vary(step_of(sound), lead.who(), lead.steps_done(), draw::step);
      next.steps = std::min(next.steps, steps_before_none(sound));
    }
    begin(std::move(next));
  }

  /// Returns the mean time of a step of these rows, which have the same weights
  /// and size.
  core::timespan step_of(
    const std::vector<detail::test_card_row*>& sound) const {
    std::vector<core::variant_id> variants;
    std::vector<planning::instgenie::batch_member> members;
    const planning::instgenie::step_model* seconds = nullptr;
    for (const auto* row : sound) {
      const auto v = row->how().variant;
      variants.push_back(v);
      const auto& own = edit_seconds[v.value];
      members.push_back(
        {config.masked && own ? config.masked(row->who().id) : 1, false});
      if (members.back().ratio < 1)
        seconds = &own;
    }
    if (seconds)
      return core::from_seconds((*seconds)(members));
    double places = 0;
    for (const auto* row : sound)
      places += planning::rows_at(
        config.known->variants[row->how().variant.value], row->how().guidance);
    return tables.shared_step(variants, {}, places, sound.front()->how().px);
  }

  /// Returns the number of steps after which the script has made every row
  /// fail; UINT32_MAX if one does not fail.
  uint32_t steps_before_none(
    const std::vector<detail::test_card_row*>& sound) const {
    auto most = uint32_t{0};
    for (const auto* row : sound) {
      const auto fault = script.find(row->who());
      if (fault == script.end() || fault->second.step < row->steps_done())
        return UINT32_MAX;
      most = std::max(most, fault->second.step - row->steps_done() + 1);
    }
    return most;
  }

  core::timespan load_time(core::variant_id v) const {
    const auto& variant = config.known->variants[v.value];
    return config.load_part && variant.loads
           ? planning::load_at(*variant.loads, config.load_part(v))
           : variant.load;
  }

  void begin(work next) {
    current = std::move(next);
    await();
  }

  /// Sets the timer for the end of the work in progress, and invalidates
  /// earlier timers.
  void await() {
    ++generation;
    timers->after(std::max(current->end() - now(), core::timespan{0}),
                  [weak = weak_from_this(), expected = generation] {
                    if (const auto self = weak.lock();
                        self && self->generation == expected)
                      self->finish();
                  });
  }

  /// Advances the rows to their state at time `at`.
  void settle(core::time_point at) {
    if (!current || at < current->first_step())
      return;
    auto& x = *current;
    if (!std::holds_alternative<numbered_run>(x.order))
      return;
    const auto done = x.step.count() > 0 ? (at - x.first_step()) / x.step
                                         : static_cast<int64_t>(x.steps);
    const auto reached =
      static_cast<uint32_t>(std::min<int64_t>(done, x.steps));
    if (reached == x.applied)
      return;
    const auto more = reached - x.applied;
    for (auto* row : rows.sound(std::get<numbered_run>(x.order).job.rows)) {
      const auto fault = script.find(row->who());
      if (fault != script.end() && fault->second.step >= row->steps_done()
          && fault->second.step - row->steps_done() < more) {
        row->advance(fault->second.step - row->steps_done());
        row->fail(fault->second.why);
      } else {
        row->advance(more);
      }
    }
    x.applied = reached;
  }

  void finish() {
    settle(current->end());
    const auto done = std::move(*current);
    current.reset();
    if (config.busy)
      config.busy(done.variant, done.end() - done.began);
    if (const auto* run = std::get_if<numbered_run>(&done.order)) {
      run_report report;
      report.rows = rows.report(run->job.rows);
      if (done.steps > 0)
        for (auto& row : report.rows)
          if (const auto source = encoding.extract(row.ticket))
            row.encoding = source.mapped();
      report.steps = done.steps;
      report.took = done.end() - done.began;
      report.opening = done.opening;
      if (done.steps > 0)
        report.first_step = done.first_step();
      report.ended = done.end();
      events.ran(std::move(report));
    } else if (const auto* decoded = std::get_if<decode_job>(&done.order)) {
      // Images of the test card have one part.
      auto report = *rows.decode_part(decoded->ticket);
      report.took = done.decode;
      report.ended = done.end();
      const auto judge = judges.find(decoded->ticket);
      if (judge != judges.end() && config.score)
        report.score = config.score(decoded->ticket.id, judge->second);
      events.decoded(std::move(report));
    } else if (events.loaded) {
      events.loaded({});
    }
    pump();
  }

  void interrupt() {
    interrupted = runs;
    if (!current)
      return;
    auto& x = *current;
    const auto* run = std::get_if<numbered_run>(&x.order);
    if (!run || run->number != runs)
      return;
    const auto elapsed = now() - x.first_step();
    auto begun = int64_t{0};
    if (elapsed.count() > 0 && x.step.count() > 0)
      begun = (elapsed + x.step - core::timespan{1}) / x.step;
    else if (elapsed.count() > 0)
      begun = x.steps;
    if (begun >= x.steps)
      return;
    x.steps = static_cast<uint32_t>(begun);
    if (!hung)
      await();
  }

  void halt() {
    settle(now());
    ++generation;
  }
};

virtual_executor::virtual_executor(virtual_config config,
                                   std::shared_ptr<core::timers> timers,
                                   std::shared_ptr<ipc::slot_store> slots)
  : device_(std::make_shared<device>(std::move(config), std::move(timers),
                                     std::move(slots))) {}

virtual_executor::~virtual_executor() = default;

void virtual_executor::connect(executor_events events) {
  device_->events = std::move(events);
}

void virtual_executor::open(const open_job& job) {
  device_->submit(job);
}

void virtual_executor::run(const run_job& job) {
  device_->submit(numbered_run{job, ++device_->runs});
}

void virtual_executor::interrupt() {
  device_->interrupt();
}

void virtual_executor::decode(core::ticket who) {
  device_->submit(decode_job{who});
}

void virtual_executor::call(std::function<void()> work) {
  device_->submit(call_job{std::move(work)});
}

void virtual_executor::close(core::ticket who) {
  device_->submit(close_job{who});
}

bool virtual_executor::load(const std::vector<core::variant_id>& variants,
                            const std::vector<core::variant_id>&) {
  auto& x = *device_;
  core::timespan takes{0};
  const auto& known = *x.config.known;
  const auto is_known = [&](core::variant_id v) {
    return v.value < known.variants.size();
  };
  // Levels of one model are loaded once.
  auto there = x.resident;
  std::erase_if(there, [&](auto v) { return !is_known(v); });
  for (const auto v : variants) {
    if (x.config.resident.empty() || !is_known(v))
      continue;
    if (std::none_of(there.begin(), there.end(), [&](auto y) {
          return planning::share_weights(known, y, v);
        }))
      takes += x.load_time(v);
    there.push_back(v);
  }
  x.resident = variants;
  if (takes.count() == 0)
    return true;
  x.submit(load_job{takes});
  return false;
}

void virtual_executor::crash() {
  if (device_->crashed)
    return;
  device_->halt();
  device_->crashed = true;
  device_->jobs.clear();
}

void virtual_executor::hang() {
  if (device_->hung || device_->crashed)
    return;
  device_->halt();
  device_->hung = device_->timers->now();
}

void virtual_executor::wake() {
  auto& x = *device_;
  if (!x.hung || x.crashed)
    return;
  const auto lost = x.timers->now() - *x.hung;
  x.hung.reset();
  if (x.current) {
    x.current->began += lost;
    x.await();
  }
  x.pump();
}

void virtual_executor::fail_step(core::ticket who, uint32_t step,
                                 core::error why) {
  device_->script[who] = {step, std::move(why)};
}

} // namespace atelier::gpu
