// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/test_card_executor.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/planning/stage.hpp>

#include <process/host_code.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;
using planning::held;

/// The body of an order or an outcome: one number.
struct number {
  uint64_t value = 0;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, number& x) {
    return f(x.value);
  }
};

/// A number with a text, which may be long.
struct verdict {
  uint64_t value = 0;
  std::string report;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, verdict& x) {
    return f(x.value, x.report);
  }
};

verdict verdict_of(uint64_t seed, uint64_t long_for) {
  constexpr size_t long_bytes = 2 << 20;
  return {seed, std::string(seed == long_for ? long_bytes : 0, 'x')};
}

class safety_stage {
public:
  using work = verdict;
  using done = verdict;

  safety_stage() {
    row_.name = "safety";
    row_.hook = planning::hook::before_answer;
    row_.slots = uses;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const {
    if (row.wanted.seed == safety::throws_in_begin)
      throw std::runtime_error{"no begin"};
    return verdict_of(row.wanted.seed, safety::orders_too_much);
  }

  core::timespan takes(const work& x, const planning::profile&) const {
    if (x.value == safety::throws_in_takes)
      throw std::runtime_error{"no idea"};
    return 1ms;
  }

  core::result<done> run(const work& x, planning::worker_context& here) const {
    const auto pixels = here.slots.view(here.reads[held::pixels]);
    if (!pixels)
      return pixels.why();
    if (x.value == safety::throws_in_run)
      throw std::runtime_error{"no model"};
    if (x.value == safety::refuses)
      return core::fail(core::ec::bad_payload, "the image is not safe");
    here.notes.push_back({core::note_code::prompt_syntax, "looked at"});
    return verdict_of(x.value, safety::tells_too_much);
  }

  core::result<void> end(const done& x, planning::facts&) const {
    if (x.value == safety::throws_in_end)
      throw 7;
    return {};
  }

private:
  static constexpr std::array uses{
    planning::slot_use{held::pixels, planning::access::reads}};

  planning::stage_row row_;
};

class negative_stage {
public:
  using work = number;
  using done = number;

  negative_stage() {
    row_.name = "negative";
    row_.hook = planning::hook::before_answer;
    row_.slots = uses;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const {
    return work{gpu::drawn_bytes(row.recipe->px)};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return 1ms;
  }

  core::result<done> run(const work& x, planning::worker_context& here) const {
    const auto& into = here.writes[held::pixels];
    const auto before = here.slots.view(here.reads[held::pixels]);
    if (!before)
      return before.why();
    const auto after = here.slots.buffer(into);
    if (!after)
      return after.why();
    std::ranges::transform(before->first(x.value), after->begin(),
                           [](std::byte b) { return ~b; });
    if (auto told = here.slots.publish(into, 1, x.value); !told)
      return told.why();
    return done{};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  static constexpr std::array uses{
    planning::slot_use{held::pixels, planning::access::replaces}};

  planning::stage_row row_;
};

class doubling_stage {
public:
  struct work {
    core::extent px;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.px);
    }
  };

  using done = number;

  explicit doubling_stage(planning::place where) {
    row_.name = "doubling";
    row_.place = where;
    row_.hook = planning::hook::before_answer;
    row_.slots = uses;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const {
    return work{row.px};
  }

  core::extent px(const work& x) const {
    return {2 * x.px.width, 2 * x.px.height};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return 1ms;
  }

  core::result<done> run(const work& x, planning::worker_context& here) const {
    const auto& into = here.writes[held::pixels];
    const auto before = here.slots.view(here.reads[held::pixels]);
    if (!before)
      return before.why();
    const auto after = here.slots.buffer(into);
    if (!after)
      return after.why();
    const auto to = px(x);
    for (size_t row = 0; row < to.height; ++row)
      for (size_t column = 0; column < to.width; ++column)
        std::ranges::copy(
          before->subspan(3 * (row / 2 * x.px.width + column / 2), 3),
          after->subspan(3 * (row * to.width + column)).begin());
    if (auto told = here.slots.publish(into, 1, gpu::drawn_bytes(to)); !told)
      return told.why();
    if (!here.device.empty())
      here.notes.push_back({core::note_code::image_scaled,
                            "doubled on " + std::string{here.device}});
    return done{};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  static constexpr std::array uses{
    planning::slot_use{held::pixels, planning::access::replaces}};

  planning::stage_row row_;
};

constexpr auto doubling_name = "ATELIER_TEST_DOUBLING";
constexpr auto on_device = "device";
constexpr auto in_pool = "cpu";

class ledger_stage {
public:
  using work = number;
  using done = number;

  explicit ledger_stage(std::atomic<uint32_t>& counted) : counted_(&counted) {
    row_.name = "ledger";
    row_.place = planning::place::background;
    row_.hook = planning::hook::after_answer;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const {
    return work{row.wanted.seed};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return 1ms;
  }

  core::result<done> run(const work&, planning::worker_context&) const {
    ++*counted_;
    return done{};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  std::atomic<uint32_t>* counted_;
  planning::stage_row row_;
};

/// An executor like the test card, with other images.
class painter_executor : public gpu::executor {
public:
  explicit painter_executor(const executor_setup& from)
    : slots_(from.slots),
      card_(gpu::make_test_card_executor({from.profile}, from.slots)) {}

  void connect(gpu::executor_events events) override {
    decoded_ = events.decoded;
    card_->connect({[this, ran = events.ran](gpu::run_report x) {
                      forget(x);
                      ran(std::move(x));
                    },
                    events.decoded, events.loaded});
  }

  void open(const gpu::open_job& job) override {
    if (job.recipe.seed == painter::throws_in_open)
      throw std::runtime_error{"no paint"};
    {
      const std::lock_guard guard{mutex_};
      open_[job.ticket.id] = job;
    }
    card_->open(job);
  }

  void run(const gpu::run_job& job) override {
    for (const auto& who : job.rows)
      if (of(who).recipe.seed == painter::throws_in_run)
        throw std::runtime_error{"no brush"};
    card_->run(job);
  }

  void interrupt() override {
    card_->interrupt();
  }

  void decode(core::ticket who) override {
    const auto job = of(who);
    if (job.recipe.seed == painter::throws_in_decode)
      throw 7;
    gpu::decode_report x;
    x.ticket = who;
    x.bytes = job.recipe.px.pixels() * 3;
    const auto into = slots_->buffer(job.image);
    if (!into) {
      x.failure = into.why();
    } else {
      std::ranges::fill(into->first(x.bytes), std::byte{painter::colour});
      if (const auto out = slots_->publish(job.image, 1, x.bytes); !out)
        x.failure = out.why();
    }
    decoded_(std::move(x));
  }

  void close(core::ticket who) override {
    {
      const std::lock_guard guard{mutex_};
      open_.erase(who.id);
    }
    card_->close(who);
  }

private:
  gpu::open_job of(core::ticket who) {
    const std::lock_guard guard{mutex_};
    return open_.at(who.id);
  }

  void forget(gpu::run_report& x) {
    const std::lock_guard guard{mutex_};
    std::erase_if(x.rows, [&](const auto& row) {
      const auto at = open_.find(row.ticket.id);
      return at != open_.end() && at->second.recipe.seed == painter::forgets;
    });
  }

  std::shared_ptr<ipc::slot_store> slots_;
  std::function<void(gpu::decode_report)> decoded_;
  std::mutex mutex_;
  std::map<core::request_id, gpu::open_job> open_;
  // The last member: its thread ends before the members that it uses.
  std::shared_ptr<gpu::executor> card_;
};

} // namespace

host_stage safety_check() {
  return {planning::make_stage(safety_stage{}), "denoise"};
}

host_stage negative() {
  return {planning::make_stage(negative_stage{}), "denoise"};
}

host_stage doubling(planning::place where) {
  return {planning::make_stage(doubling_stage{where}), "denoise"};
}

doubling_workers::doubling_workers(planning::place where) {
  setenv(doubling_name, where == planning::place::device ? on_device : in_pool,
         1);
}

doubling_workers::~doubling_workers() {
  unsetenv(doubling_name);
}

host_stage ledger(std::atomic<uint32_t>& counted) {
  return {planning::make_stage(ledger_stage{counted}), ""};
}

host_executor painting() {
  return {std::string{painter::name}, [](const executor_setup& from) {
            return std::make_shared<painter_executor>(from);
          }};
}

host_executor broken() {
  return {"broken",
          [](const executor_setup&) -> std::shared_ptr<gpu::executor> {
            throw std::runtime_error{"no studio"};
          }};
}

extensions worker_code() {
  extensions x;
  const char* const where = std::getenv(doubling_name);
  x.stages = {where == nullptr ? safety_check()
              : std::string_view{where} == on_device
                ? doubling(planning::place::device)
                : doubling(planning::place::cpu_pool)};
  x.executors = {painting(), broken()};
  return x;
}

} // namespace atelier::test
