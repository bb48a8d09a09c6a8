// SPDX-License-Identifier: Apache-2.0

// Random schedules of the real actors in virtual time: order of messages,
// delays, crashes, hangs, late exits, poison, a slow gateway, a tiny arena. To
// run one schedule: ATELIER_TEST_SEED=<seed> ATELIER_TEST_SCHEDULE=<number>.
// The file is long because the world and its laws belong together.

#include "actors/random_stages.hpp"
#include "actors/scheduler_rig.hpp"
#include "actors/system_rig.hpp"
#include "actors/undisturbed_image.hpp"
#include "actors/watched_pixels.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/image/codec.hpp>

#include <cstdlib>
#include <set>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;
using ipc::slot_kind;

core::philox random_of(uint64_t number, uint64_t part) {
  core::philox random{test::seed(), core::purpose::test,
                      core::request_id{number}};
  random.seek(part << 32);
  return random;
}

// Returns the file of a small image, one of a few.
std::vector<uint8_t> file_of(uint32_t which) {
  image::bitmap x{{8 + 8 * (which % 3), 16}, 3, {}};
  x.bytes.resize(image::bytes_of(x.px, 3));
  for (size_t i = 0; i < x.bytes.size(); ++i)
    x.bytes[i] = static_cast<uint8_t>(i * (which + 3) % 253);
  return *image::encode(x.view(), {});
}

struct totals {
  uint64_t answered = 0;
  uint64_t with_source = 0;
  uint64_t images = 0;
  uint64_t resumed = 0;
  uint64_t lost = 0;
  uint64_t stale = 0;
  /// Requests by the phase in which they kill.
  std::array<uint64_t, 3> poisoned{};
  uint64_t misbehaved = 0;
  uint64_t left_out = 0;
  /// Orders of stages on devices.
  uint64_t on_devices = 0;
  /// Answers of another size than that in which they were drawn.
  uint64_t resized = 0;
  uint64_t impossible_sizes = 0;
  uint64_t lies = 0;
  uint64_t events = 0;
};

class schedule {
public:
  explicit schedule(uint64_t number)
    : random_(random_of(number, 1)),
      links_(random_of(number, 2)),
      scripts_(random_of(number, 3)),
      strays_(random_of(number, 4)) {
    faults_ = pick(4) != 0;
    delays_ = pick(2) != 0;
    test::system_options o;
    o.slots = {2 + pick(5), 2 + pick(5), 0};
    o.payload = pick(3) == 0;
    o.devices = 1 + pick(3);
    o.max_batch = 1 + pick(3);
    o.seats = o.max_batch + pick(3);
    o.run_steps = 1 + pick(3);
    o.publish_every = 1 + pick(2);
    o.profile = test::card_profile();
    o.script = [this](ipc::process_life) { return draw_script(); };
    o.links = [this] { return draw_fate(); };
    most_requests_ = 1 + pick(10);
    sources_ = o.slots[1] >= 3 && pick(3) != 0;
    test::random_stage_options drawn;
    drawn.strays = pick(2) == 0;
    drawn.background = false;
    drawn.slot_bytes = o.payload ? test::system_rig::image_bytes : 0;
    drawn.run = [this](auto name, const auto& x, auto& here) {
      return run_stray(name, x, here);
    };
    stages_.emplace(strays_, drawn);
    o.stages = stages_->all();
    pixels_.emplace(o.stages, drawn.slot_bytes);
    liars_ = o.payload && drawn.strays && strays_.below(2) == 0;
    rig_.emplace(std::move(o));
    rig_->on_pool = [this](const auto& to, const auto& x) {
      follow_pixels(x);
      on_pool(to, x);
    };
    rig_->on_reply = [this](actors::stage_done& x) { on_reply(x); };
    rig_->on_denoise = [this](const actors::denoise& x) {
      follow_pixels(x);
      trace_ += fmt::format(
        "{} {}.{} {} {}\n", rig_->det.now().time_since_epoch().count(),
        x.ticket.id.value, x.ticket.attempt, x.state.slot, x.steps_done);
      poison(x);
    };
  }

  void run(totals& sum) {
    const auto events = 20 + pick(150);
    for (uint32_t i = 0; i < events; ++i) {
      act();
      check();
    }
    calm();
    const auto& c = rig_->tables().counts();
    sum.answered += c.answered;
    sum.with_source += with_source_;
    sum.images += rig_->options.payload ? rig_->images.size() : 0;
    sum.resumed += c.resumed;
    sum.lost += c.workers_lost;
    sum.stale += c.stale_replies;
    sum.misbehaved += misbehaved_;
    sum.on_devices += on_devices_;
    sum.resized += resized_;
    sum.impossible_sizes += impossible_sizes_;
    sum.lies += lies_;
    for (const auto n : c.stages_left_out)
      sum.left_out += n;
    for (size_t at = 0; at < poisoned_.size(); ++at)
      sum.poisoned[at] += poisoned_[at];
    sum.events += steps_;
  }

  /// Returns every hand-off, with its time and its receiver.
  const std::string& trace() const {
    return trace_;
  }

private:
  uint32_t pick(uint64_t n) {
    return static_cast<uint32_t>(random_.below(n));
  }

  runtime::process_script draw_script() {
    runtime::process_script s;
    if (!faults_)
      return s;
    s.start_delay = core::timespan{scripts_.below(300'000'000)};
    s.exit_delay = core::timespan{scripts_.below(20'000'000)};
    // The delay is longer than any silence that is allowed later.
    if (scripts_.below(8) == 0)
      s.setup_delay = core::timespan{scripts_.below(60'000'000'000)};
    if (scripts_.below(8) == 0)
      s.start_failure = core::fail(ec::io_failed, "scripted");
    if (scripts_.below(5) == 0) {
      // The exit takes longer than the supervisor waits.
      s.ignores_kill = scripts_.below(2) == 0;
      s.exit_delay = 7s;
    }
    return s;
  }

  // -- stages that misbehave --------------------------------------------------

  void on_pool(const actors::worker_address& to, const actors::run_stage& x) {
    on_devices_ += to.role == actors::role::device_stage ? 1u : 0u;
    if (!faults_)
      return;
    if (!stages_->is_stray(x.stage)) {
      if (dies_at(x.ticket.id, stages_->path().phase_of(x.stage)))
        rig_->host->crash(core::process_id{1}, actors::death::memory);
      return;
    }
    switch (strays_.below(60)) {
      case 0:
        return rig_->host->crash(to.process.process, actors::death::crash);
      case 1:
        return rig_->host->hang(to.process.process);
      default:
        return;
    }
  }

  core::result<test::told_stage::done> run_stray(
    std::string_view name, const test::told_stage::work& x,
    planning::worker_context& here) {
    if (!faults_ || strays_.below(3) != 0)
      return write_slots(name, x, here);
    marked_.insert(core::request_id{x.about});
    ++misbehaved_;
    switch (strays_.below(4)) {
      case 0:
        throw std::runtime_error("scripted");
      case 1:
        return core::fail(ec::internal, "scripted");
      case 2:
        return core::fail(ec::io_failed, "scripted");
      default:
        return test::told_stage::done{test::cannot_be_entered};
    }
  }

  void on_reply(actors::stage_done& x) {
    if (!faults_ || x.stage >= stages_->all()->size()
        || !stages_->is_stray(x.stage) || strays_.below(8) != 0)
      return;
    marked_.insert(x.ticket.id);
    ++misbehaved_;
    if (strays_.below(2) == 0)
      x.stage = static_cast<uint16_t>(x.stage + 1);
    else
      x.outcome = core::typed_body::of(actors::finish_stage::done{});
  }

  core::result<test::told_stage::done> write_slots(
    std::string_view name, const test::told_stage::work& x,
    planning::worker_context& here) {
    using planning::held;
    if (const auto& into = here.writes[held::state]) {
      std::vector<std::byte> state;
      const auto seq = here.slots.read(here.reads[held::state], state);
      if (!seq)
        return seq.why();
      if (auto done = write(here.slots, into, *seq, state); !done)
        return done.why();
    }
    if (const auto& into = here.writes[held::pixels]) {
      const auto before = here.slots.view(here.reads[held::pixels]);
      if (!before)
        return before.why();
      std::vector<std::byte> pixels;
      if (rig_->options.payload)
        pixels =
          test::redrawn(name, *before, x.seen,
                        x.becomes != core::extent{} ? x.becomes : x.seen);
      if (const auto how = lie_of(name, core::request_id{x.about});
          how != lie::none) {
        ++lies_;
        pixels.resize(how == lie::shorter ? pixels.size() / 2
                                          : pixels.size() + 1);
      }
      if (auto done = write(here.slots, into, 1, pixels); !done)
        return done.why();
    }
    return test::told_stage::done{};
  }

  // The bytes that a stage writes, in place of those of the size that it said.
  enum class lie : uint8_t { none, shorter, longer };

  lie lie_of(std::string_view stage, core::request_id id) const {
    const auto n = (id.value + test::number_of(stage)) % 6;
    return !liars_ || n > 1 ? lie::none : n == 0 ? lie::shorter : lie::longer;
  }

  bool may_be_lied_about(core::request_id id) const {
    for (size_t i = 0; i < stages_->all()->size(); ++i)
      if (lie_of(stages_->name(i), id) != lie::none)
        return true;
    return false;
  }

  static core::result<void> write(ipc::slot_store& slots,
                                  const ipc::slot_ref& into, uint64_t seq,
                                  const std::vector<std::byte>& bytes) {
    const auto buffer = slots.buffer(into);
    if (!buffer)
      return buffer.why();
    std::copy(bytes.begin(), bytes.end(), buffer->begin());
    return slots.publish(into, seq, bytes.size());
  }

  void follow_pixels(const actors::work& x) {
    if (rig_->wrong.empty())
      rig_->wrong = pixels_->handed_off(x);
    const auto* order = std::get_if<actors::run_stage>(&x);
    if (order == nullptr || !rig_->wrong.empty())
      return;
    if (const auto f = test::finish::of(*order))
      encoded_[f->who.id] = pixels_->of(f->pixels);
  }

  runtime::link_fate draw_fate() {
    runtime::link_fate f;
    if (!delays_)
      return f;
    f.delay = core::timespan{links_.below(5'000'000)};
    if (faults_ && links_.below(30) == 0)
      f.again = core::timespan{1 + links_.below(200'000'000)};
    return f;
  }

  void check() {
    ++steps_;
    const auto wrong = rig_->check();
    BOOST_REQUIRE_MESSAGE(wrong.empty(), wrong);
  }

  // -- events -----------------------------------------------------------------

  void act() {
    const auto what = pick(100);
    if (what < 10)
      submit();
    else if (what < 12)
      rig_->tell(actors::cancel_request{cancel(1 + pick(last_id_ + 1))});
    else if (what < 60)
      some_messages();
    else if (what < 88)
      pass(core::timespan{pick(40'000'000)});
    else if (what < 90)
      pass(core::timespan{pick(3'000'000'000)});
    else if (what < 94)
      take();
    else if (what < 95)
      rig_->offload->refuse(pick(2) == 0);
    else if (what < 96)
      rig_->offload->delay(core::timespan{pick(1'000'000'000)});
    else if (faults_)
      fault(core::process_id{1 + pick(rig_->options.devices + 1)});
  }

  // Runs a few messages, each of a randomly chosen actor.
  void some_messages() {
    auto& jobs = rig_->det.sched.jobs;
    for (auto n = 1 + pick(6); n > 0 && !jobs.empty(); --n) {
      const auto at = static_cast<std::ptrdiff_t>(pick(jobs.size()));
      std::rotate(jobs.begin(), jobs.begin() + at, jobs.begin() + at + 1);
      rig_->det.sched.run_once();
      check();
    }
  }

  // Advances the time. Every event that is due happens at its time, and the
  // state is checked after each.
  void pass(core::timespan t) {
    auto& det = rig_->det;
    const auto end = det.now() + t;
    while (true) {
      while (det.sched.has_job())
        some_messages();
      if (det.next_due() > end)
        break;
      det.sched.trigger_timeout();
    }
    det.advance(end - det.now());
    check();
  }

  core::request_id cancel(uint64_t id) {
    cancelled_.insert(core::request_id{id});
    return core::request_id{id};
  }

  void submit() {
    if (requests_.size() >= most_requests_)
      return;
    auto what = std::make_shared<core::request>();
    what->id = core::request_id{++last_id_};
    what->text.positive = "a ball, number " + std::to_string(last_id_);
    what->seed = pick(1000);
    what->arrived = rig_->det.now();
    what->prio = static_cast<core::priority>(pick(3));
    what->px = pick(2) == 0 ? core::extent{32, 32} : core::extent{48, 32};
    what->noise = static_cast<core::noise_source>(pick(2));
    what->fixed.variant = pick(2) == 0 ? "card@4" : "card@2";
    if (pick(3) == 0)
      what->fixed.steps = 1 + pick(8);
    if (sources_ && pick(2) == 0)
      bring_source(*what);
    what->wants_progress = pick(3) == 0;
    if (pick(5) == 0)
      what->deadline = what->arrived + core::timespan{pick(4'000'000'000)};
    if (faults_ && pick(12) == 0)
      poison_.emplace(what->id, static_cast<core::phase>(pick(3)));
    requests_.push_back(what);
    rig_->submit(std::move(what), pick(2) == 0);
  }

  void bring_source(core::request& to) {
    auto x = std::make_shared<core::source_images>();
    x->image = file_of(pick(5));
    if (pick(2) == 0) {
      x->mask = file_of(pick(5));
      to.kind = core::request_kind::edit;
    }
    x->image_px = x->mask_px = {16, 16};
    to.source = std::move(x);
    if (pick(2) == 0)
      to.fixed.strength = static_cast<float>(1 + pick(10)) / 10;
  }

  void take() {
    if (rig_->untaken.empty())
      return;
    rig_->take(rig_->untaken.front());
    rig_->untaken.erase(rig_->untaken.begin());
  }

  // A poisonous row kills its process some time after the process takes it.
  // Some steps of other rows fail.
  void poison(const actors::denoise& x) {
    if (!faults_)
      return;
    if (dies_at(x.ticket.id, core::phase::denoising)) {
      rig_->timers->after(25ms, [this, who = x.ticket] {
        for (uint32_t i = 2; i <= rig_->options.devices + 1; ++i)
          if (holds(core::process_id{i}, who))
            rig_->host->crash(core::process_id{i});
      });
    } else if (pick(25) == 0) {
      rig_->timers->after(5ms, [this, who = x.ticket, step = pick(4)] {
        rig_->host->fail_step(who, step,
                              core::fail(ec::out_of_resources, "scripted"));
      });
    }
  }

  bool dies_at(core::request_id id, core::phase at) const {
    const auto i = poison_.find(id);
    return i != poison_.end() && i->second == at;
  }

  // Returns whether the process runs that row right now.
  bool holds(core::process_id which, core::ticket who) {
    const auto* body = rig_->host->body(which);
    if (body == nullptr || body->actors.empty())
      return false;
    const auto worker =
      caf::actor_cast<actors::denoise_step_actor>(body->actors.front());
    const auto& rows = rig_->det.state<actors::denoise_step_state>(worker).rows;
    return rows.count(who) != 0;
  }

  void fault(core::process_id which) {
    switch (pick(3)) {
      case 0:
        return rig_->host->crash(which, pick(2) == 0 ? actors::death::crash
                                                     : actors::death::outside);
      case 1:
        return rig_->host->hang(which);
      default:
        return rig_->host->wake(which);
    }
  }

  // -- the end ----------------------------------------------------------------

  void calm() {
    const bool poisonous = !poison_.empty();
    faults_ = poisonous;
    rig_->offload->refuse(false);
    for (uint32_t i = 1; i <= rig_->options.devices + 1; ++i)
      rig_->host->wake(core::process_id{i});
    // Poison continues to kill until it is found.
    for (int i = 0; i < 1'000 && !over(); ++i) {
      pass(i < 200 ? 50ms : 2s);
      while (!rig_->untaken.empty())
        take();
    }
    judge();
  }

  bool over() {
    return rig_->answers.size() == requests_.size() && rig_->untaken.empty()
        && rig_->tables().rows() == 0 && all_free();
  }

  bool all_free() {
    const auto& k = rig_->tables().keeper();
    return k.census(slot_kind::state).free == k.count(slot_kind::state)
        && k.census(slot_kind::image).free == k.count(slot_kind::image);
  }

  void judge() {
    BOOST_REQUIRE_EQUAL(rig_->answers.size(), requests_.size());
    BOOST_REQUIRE_EQUAL(rig_->tables().rows(), 0u);
    BOOST_REQUIRE(all_free());
    for (const auto& what : requests_) {
      const auto& why = rig_->answers.at(what->id).failure;
      const auto code = why.code;
      if (code == ec::poison)
        ++poisoned_[why.text.find("preparing it") != std::string::npos ? 0
                    : why.text.find("running it") != std::string::npos ? 1
                                                                       : 2];
      const auto known =
        code == ec::none || code == ec::unavailable || code == ec::poison
        || (code == ec::out_of_resources)
        || ((code == ec::internal || code == ec::bad_payload
             || code == ec::io_failed)
            && marked_.count(what->id) != 0)
        || ((code == ec::internal || code == ec::invalid_argument)
            && (may_be_lied_about(what->id)
                || stages_->may_fail(what->id, code)))
        || (code == ec::cancelled && cancelled_.count(what->id) != 0)
        || (code == ec::deadline_missed && what->deadline != core::never);
      BOOST_REQUIRE_MESSAGE(known, "request " << what->id.value << ": "
                                              << core::to_string(why));
      impossible_sizes_ +=
        why.text.find(" makes an image of ") != std::string::npos ? 1u : 0u;
      if (code == ec::none)
        judge_image(*what);
    }
  }

  // Checks an answer: it is what the request gets without faults, but for what
  // its stages made of it.
  void judge_image(const core::request& what) {
    if (what.source)
      ++with_source_;
    const auto& made = encoded_.at(what.id);
    const auto px = made.px();
    if (px != made.drawn_px)
      ++resized_;
    BOOST_REQUIRE(rig_->answers.at(what.id).px == px);
    if (!rig_->options.payload)
      return;
    const auto& file = rig_->images.at(what.id);
    const auto head = image::read_header(
      {reinterpret_cast<const uint8_t*>(file.data()), file.size()});
    BOOST_REQUIRE(head);
    BOOST_REQUIRE(head->px == px);
    const auto short_by = [&](const auto& x) {
      return lie_of(x.stage, what.id) == lie::shorter;
    };
    BOOST_REQUIRE(made.by.empty() || !short_by(made.by.back()));
    // What a later stage made of too few bytes is not known here.
    if (std::none_of(made.by.begin(), made.by.end(), short_by))
      BOOST_REQUIRE(file
                    == test::undisturbed_image(what, *rig_->policy,
                                               rig_->options.profile, made));
  }

  core::philox random_;
  core::philox links_;
  core::philox scripts_;
  core::philox strays_;
  std::optional<test::random_stages> stages_;
  std::optional<test::watched_pixels> pixels_;
  // The pixels of which each request's file was last made.
  std::map<core::request_id, test::known_pixels> encoded_;
  // Requests with a stage that misbehaved.
  std::set<core::request_id> marked_;
  // Stages write other bytes than the size that they said has.
  bool liars_ = false;
  uint64_t misbehaved_ = 0;
  uint64_t on_devices_ = 0;
  uint64_t resized_ = 0;
  uint64_t impossible_sizes_ = 0;
  uint64_t lies_ = 0;
  bool faults_ = false;
  bool delays_ = false;
  bool sources_ = false;
  uint64_t with_source_ = 0;
  size_t most_requests_ = 0;
  uint64_t last_id_ = 0;
  uint64_t steps_ = 0;
  std::array<uint64_t, 3> poisoned_{};
  std::string trace_;
  std::vector<std::shared_ptr<const core::request>> requests_;
  std::set<core::request_id> cancelled_;
  std::map<core::request_id, core::phase> poison_;
  // The last member, so that it is destroyed first.
  std::optional<test::system_rig> rig_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(random_system_test)

BOOST_AUTO_TEST_CASE(every_request_is_answered_once_by_the_real_actors) {
  size_t first = 0;
  auto count = test::scaled(100'000);
  if (const char* alone = std::getenv("ATELIER_TEST_SCHEDULE")) {
    first = std::strtoull(alone, nullptr, 10);
    count = 1;
  }
  totals sum;
  for (auto i = first; i < first + count; ++i)
    BOOST_TEST_CONTEXT("ATELIER_TEST_SEED=" << test::seed()
                                            << " ATELIER_TEST_SCHEDULE=" << i) {
      schedule{i}.run(sum);
    }
  BOOST_TEST_MESSAGE(
    count << " schedules, " << sum.events << " checks: " << sum.answered
          << " answered, " << sum.with_source << " with a source, "
          << sum.images << " images compared, " << sum.resumed << " resumed, "
          << sum.lost << " workers lost, " << sum.stale << " stale replies, "
          << sum.misbehaved << " stages misbehaved, " << sum.left_out
          << " left out, " << sum.on_devices << " stages on devices, "
          << sum.resized << " of another size, " << sum.impossible_sizes
          << " impossible sizes, " << sum.lies
          << " lies, poisoned in preparing " << sum.poisoned[0]
          << ", in denoising " << sum.poisoned[1] << ", in finishing "
          << sum.poisoned[2]);
  // The schedules contain all the situations that they test.
  if (count >= 500)
    for (const auto met :
         {sum.answered, sum.with_source, sum.images, sum.resumed, sum.lost,
          sum.stale, sum.misbehaved, sum.left_out, sum.on_devices, sum.resized,
          sum.impossible_sizes, sum.lies, sum.poisoned[0], sum.poisoned[1],
          sum.poisoned[2]})
      BOOST_TEST(met > 0u);
  BOOST_TEST(count > 0u);
}

BOOST_AUTO_TEST_CASE(the_same_schedule_is_the_same_to_the_nanosecond) {
  size_t compared = 0;
  for (uint64_t i = 0; i < 50; ++i) {
    totals sum;
    schedule first{i};
    first.run(sum);
    schedule second{i};
    second.run(sum);
    BOOST_REQUIRE_EQUAL(first.trace(), second.trace());
    compared += first.trace().size();
  }
  BOOST_TEST(compared > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
