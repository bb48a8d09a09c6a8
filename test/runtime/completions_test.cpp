// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/ipc/keeper.hpp>
#include <atelier/runtime/completions.hpp>

#include <boost/test/unit_test.hpp>
#include <support/eventually.hpp>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <future>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;

namespace {

constexpr uint32_t arena = 1;

/// A `completions` with a store of real slots and the tickets that it returned.
struct desk {
  std::shared_ptr<ipc::heap_store> store = std::make_shared<ipc::heap_store>(
    arena, std::array<uint32_t, ipc::slot_kinds>{1, 4, 0},
    std::array<uint64_t, ipc::slot_kinds>{64, 64, 64});
  std::mutex mutex;
  std::vector<uint64_t> taken;
  runtime::completions sut{store, [this](core::request_id id) {
                             const std::lock_guard guard{mutex};
                             taken.push_back(id.value);
                           }};

  std::vector<uint64_t> given_back() {
    const std::lock_guard guard{mutex};
    return taken;
  }

  /// Puts `text` into a new image slot.
  ipc::slot_ref put(uint32_t slot, const std::string& text) {
    ipc::slot_ref ref;
    ref.arena = arena;
    ref.slot = slot;
    ref.generation = 1;
    ref.kind = ipc::slot_kind::image;
    store->open(ref);
    const auto into = store->buffer(ref);
    BOOST_TEST_REQUIRE(into.operator bool());
    std::memcpy(into->data(), text.data(), text.size());
    BOOST_TEST_REQUIRE(store->publish(ref, 1, text.size()).operator bool());
    return ref;
  }
};

/// Holds callbacks until it is opened.
class gate {
public:
  void pass() {
    std::unique_lock guard{mutex_};
    ++came_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return open_; });
  }

  /// Waits until one more callback than before has come.
  void wait_for_one() {
    std::unique_lock guard{mutex_};
    ++seen_;
    BOOST_TEST_REQUIRE(
      changed_.wait_for(guard, 30s, [this] { return came_ >= seen_; }));
  }

  void open() {
    const std::lock_guard guard{mutex_};
    open_ = true;
    changed_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t came_ = 0;
  uint64_t seen_ = 0;
  bool open_ = false;
};

std::shared_ptr<const core::request> request(uint64_t id) {
  auto x = std::make_shared<core::request>();
  x->id = core::request_id{id};
  x->text = {"prompt", "negative"};
  return x;
}

actors::answer image_of(uint64_t id, ipc::slot_ref image) {
  actors::answer a;
  a.request = request(id);
  a.image = image;
  a.recipe.seed = 5;
  a.recipe.steps = 20;
  a.steps_run = 23;
  a.sha256 = "abc";
  a.variant = "card@20";
  a.recipe.guidance_rescale = 0.5f;
  a.recipe.eta = 0.25f;
  a.recipe.karras = true;
  a.recipe.strength = 0.75f;
  a.notes = {{core::note_code::prompt_cut, "a note"}};
  return a;
}

actors::answer failure_of(uint64_t id, core::ec code) {
  actors::answer a;
  a.request = request(id);
  a.failure = core::fail(code, "why");
  a.retry_after = 3s;
  return a;
}

std::string code_of(const answer& x) {
  return std::get<failure>(x).code;
}

core::request_id id_of(uint64_t id) {
  return core::request_id{id};
}

} // namespace

BOOST_AUTO_TEST_SUITE(completions_test)

BOOST_AUTO_TEST_CASE(
  who_has_nothing_entered_enters_beside_another_tenants_crowd) {
  constexpr core::tenant_id ann{1};
  constexpr core::tenant_id ben{2};
  desk d;
  BOOST_TEST(d.sut.expect(id_of(1), {}, ann, 2).has_value());
  BOOST_TEST(d.sut.expect(id_of(2), {}, ann, 2).has_value());
  BOOST_TEST(!d.sut.admits(ann, 2));
  BOOST_TEST(!d.sut.expect(id_of(3), {}, ann, 2));
  BOOST_TEST(d.sut.admits(ben, 2));
  BOOST_TEST(d.sut.expect(id_of(3), {}, ben, 2).has_value());
  BOOST_TEST(!d.sut.expect(id_of(4), {}, ben, 2));
  // What was answered or withdrawn counts no more.
  d.sut.withdraw(id_of(2));
  d.sut.answered(image_of(1, d.put(0, "file")));
  BOOST_TEST(d.sut.wait_until_empty(0s) == false);
  d.sut.withdraw(id_of(3));
  BOOST_TEST(d.sut.wait_until_empty(1min));
  BOOST_TEST(d.sut.expect(id_of(5), {}, ann, 2).has_value());
  BOOST_TEST(d.sut.expect(id_of(6), {}, ann, 2).has_value());
  BOOST_TEST(!d.sut.expect(id_of(7), {}, ann, 2));
}

BOOST_AUTO_TEST_CASE(a_image_is_copied_and_its_slot_given_back) {
  desk d;
  auto result = d.sut.expect(id_of(1), {});
  BOOST_TEST(!d.sut.expect(id_of(2), {}, {}, 1));
  BOOST_TEST(d.sut.open() == 1u);
  BOOST_TEST(d.sut.open() == 1u);
  BOOST_TEST(d.sut.knows(id_of(1)));
  d.sut.answered(image_of(1, d.put(0, "file")));
  const auto a = result.get();
  BOOST_TEST_REQUIRE(std::holds_alternative<generated_image>(a));
  const auto& p = std::get<generated_image>(a);
  BOOST_TEST(std::string(p.bytes.begin(), p.bytes.end()) == "file");
  BOOST_TEST(p.request == 1u);
  BOOST_TEST(p.seed == 5u);
  BOOST_TEST(p.steps == 20u);
  BOOST_TEST(p.steps_run == 23u);
  BOOST_TEST(p.prompt == "prompt");
  BOOST_TEST(p.negative == "negative");
  BOOST_TEST(p.variant == "card@20");
  BOOST_TEST(p.format == "png");
  BOOST_TEST(p.guidance_rescale == 0.5f);
  BOOST_TEST(p.eta == 0.25f);
  BOOST_TEST(p.karras);
  BOOST_TEST(p.strength == 0.75f);
  BOOST_TEST((p.notes == std::vector<note>{{"prompt_cut", "a note"}}));
  BOOST_TEST((d.given_back() == std::vector<uint64_t>{1}));
}

BOOST_AUTO_TEST_CASE(what_a_prompt_tolerates_is_told_by_name) {
  auto known = std::make_shared<planning::profile>();
  known->variants.resize(2);
  known->variants[0].name = "base@50";
  known->variants[1].name = "tiny@20";
  known->ladders.resize(2);
  known->ladders[0].levels.resize(2);
  known->ladders[0].levels[1].skip = 5;
  known->ladders[1].kind = planning::ladder_kind::smaller_models;
  known->ladders[1].levels.resize(2);
  known->ladders[1].levels[1].variant = core::variant_id{1};
  desk d;
  runtime::completions sut{d.store, [](core::request_id) {}, {}, known};
  const auto told = [&](uint64_t id,
                        std::optional<std::vector<uint32_t>> tolerated) {
    auto result = sut.expect(id_of(id), {});
    auto x = image_of(id, d.put(0, "file"));
    x.tolerated = std::move(tolerated);
    sut.answered(std::move(x));
    const auto a = result.get();
    BOOST_TEST_REQUIRE(std::holds_alternative<generated_image>(a));
    return std::get<generated_image>(a).prompt_class;
  };
  BOOST_TEST((told(1, std::vector<uint32_t>{0, 1})
              == std::vector<ladder_level>{{"cached_latents", 0, "base@50"},
                                           {"smaller_models", 1, "tiny@20"}}));
  BOOST_TEST((told(2, std::nullopt).empty()));
  BOOST_TEST((told(3, std::vector<uint32_t>{}).empty()));
  // The profile lacks these levels and ladders.
  BOOST_TEST((told(4, std::vector<uint32_t>{7, 1, 0})
              == std::vector<ladder_level>{{"smaller_models", 1, "tiny@20"}}));
}

BOOST_AUTO_TEST_CASE(a_failure_keeps_code_text_and_time) {
  desk d;
  auto result = d.sut.expect(id_of(1), {});
  d.sut.answered(failure_of(1, core::ec::overloaded));
  const auto a = result.get();
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(a));
  BOOST_TEST(std::get<failure>(a).code == "overloaded");
  BOOST_TEST(std::get<failure>(a).text == "why");
  BOOST_TEST((std::get<failure>(a).retry_after == 3s));
  BOOST_TEST(std::get<failure>(a).request == 1u);
  BOOST_TEST(d.given_back().empty());
}

BOOST_AUTO_TEST_CASE(a_stale_slot_is_a_failure_and_still_given_back) {
  desk d;
  auto result = d.sut.expect(id_of(1), {});
  auto ref = d.put(0, "file");
  ++ref.generation;
  d.sut.answered(image_of(1, ref));
  BOOST_TEST(std::holds_alternative<failure>(result.get()));
  BOOST_TEST(eventually([&] { return d.given_back().size() == 1; }));
}

BOOST_AUTO_TEST_CASE(a_second_answer_reaches_nobody) {
  desk d;
  std::atomic<int> calls = 0;
  callbacks c;
  c.answered = [&](const answer&) { ++calls; };
  auto result = d.sut.expect(id_of(1), c);
  const auto ref = d.put(0, "file");
  d.sut.answered(image_of(1, ref));
  d.sut.answered(image_of(1, ref));
  d.sut.answered(failure_of(1, core::ec::internal));
  result.wait();
  // Its slot is returned nevertheless.
  BOOST_TEST(eventually([&] { return d.given_back().size() == 2; }));
  d.sut.close();
  d.sut.join();
  BOOST_TEST(calls.load() == 1);
}

BOOST_AUTO_TEST_CASE(an_answer_to_nobody_gives_its_slot_back) {
  desk d;
  d.sut.answered(image_of(8, d.put(0, "file")));
  BOOST_TEST(eventually([&] { return d.given_back().size() == 1; }));
}

BOOST_AUTO_TEST_CASE(who_has_its_answer_is_not_open_any_more) {
  desk d;
  for (uint64_t i = 1; i < 200; ++i) {
    auto result = d.sut.expect(id_of(i), {});
    d.sut.answered(failure_of(i, core::ec::internal));
    result.wait();
    BOOST_TEST_REQUIRE(d.sut.open() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(the_newest_progress_comes_before_the_answer) {
  desk d;
  gate slow;
  std::vector<uint32_t> steps;
  callbacks c;
  c.progressed = [&](const progress& p) {
    steps.push_back(p.steps_done);
    if (p.steps_done == 1)
      slow.pass();
  };
  c.answered = [&](const answer&) { steps.push_back(99); };
  auto result = d.sut.expect(id_of(1), c);
  d.sut.progressed(id_of(1), 1, 5, {});
  slow.wait_for_one();
  for (uint32_t i = 2; i <= 5; ++i)
    d.sut.progressed(id_of(1), i, 5, {});
  d.sut.answered(failure_of(1, core::ec::internal));
  d.sut.progressed(id_of(1), 5, 5, {});
  slow.open();
  BOOST_TEST(d.sut.wait_until_empty(30s));
  BOOST_TEST((steps == std::vector<uint32_t>{1, 5, 99}));
}

BOOST_AUTO_TEST_CASE(answers_overtake_the_progress_of_other_requests) {
  desk d;
  gate slow;
  std::vector<uint64_t> order;
  callbacks c;
  c.progressed = [&](const progress& p) {
    order.push_back(100 * p.request + p.steps_done);
    slow.pass();
  };
  c.answered = [&](const answer& a) {
    order.push_back(std::get<failure>(a).request);
  };
  std::vector<std::future<answer>> results;
  for (uint64_t i = 1; i <= 5; ++i)
    results.push_back(d.sut.expect(id_of(i), c));
  d.sut.progressed(id_of(1), 1, 5, {});
  slow.wait_for_one();
  d.sut.progressed(id_of(2), 1, 5, {});
  d.sut.progressed(id_of(1), 2, 5, {});
  d.sut.progressed(id_of(2), 2, 5, {});
  for (uint64_t i = 3; i <= 5; ++i)
    d.sut.answered(failure_of(i, core::ec::internal));
  slow.open();
  BOOST_TEST(eventually([&] { return d.sut.open() == 2; }));
  d.sut.answered(failure_of(1, core::ec::internal));
  d.sut.answered(failure_of(2, core::ec::internal));
  BOOST_TEST(d.sut.wait_until_empty(30s));
  BOOST_TEST((std::vector<uint64_t>(order.begin(), order.begin() + 4)
              == std::vector<uint64_t>{101, 3, 4, 5}));
}

BOOST_AUTO_TEST_CASE(a_preview_is_taken_from_the_published_state) {
  desk d;
  ipc::slot_ref state;
  state.arena = arena;
  state.generation = 1;
  state.kind = ipc::slot_kind::state;
  d.store->open(state);
  const std::vector<uint8_t> rgb = {1, 2, 3, 4, 5, 6};
  const core::latent_shape shape{1, 1, 1};
  BOOST_REQUIRE(
    gpu::begin_state(*d.store->buffer(state), shape, 3, 0, {}, {{2, 1}, rgb}));
  BOOST_REQUIRE(d.store->publish(state, 4, gpu::state_bytes(shape, 0, {2, 1})));
  gate slow;
  std::vector<preview> seen;
  callbacks c;
  c.progressed = [&](const progress& p) {
    seen.push_back(p.preview);
    slow.pass();
  };
  auto result = d.sut.expect(id_of(1), c);
  d.sut.progressed(id_of(1), 2, 5, {});
  slow.wait_for_one();
  // The report without a preview overtakes the one with a preview.
  d.sut.progressed(id_of(1), 3, 5, state);
  d.sut.progressed(id_of(1), 4, 5, {});
  slow.open();
  slow.wait_for_one();
  // The slot was granted to another request meanwhile.
  auto stale = state;
  ++stale.generation;
  d.sut.progressed(id_of(1), 5, 5, stale);
  d.sut.answered(failure_of(1, core::ec::internal));
  BOOST_TEST(d.sut.wait_until_empty(30s));
  BOOST_TEST_REQUIRE(seen.size() == 3u);
  BOOST_TEST(seen[0].rgb.empty());
  std::swap(seen[0], seen[1]);
  BOOST_TEST(seen[0].step == 3u);
  BOOST_TEST(seen[0].width == 2u);
  BOOST_TEST(seen[0].height == 1u);
  BOOST_TEST((seen[0].rgb == rgb));
  BOOST_TEST(seen[1].rgb.empty());
  BOOST_TEST(seen[2].rgb.empty());
}

BOOST_AUTO_TEST_CASE(empty_means_that_the_last_call_returned) {
  desk d;
  std::promise<void> begun;
  std::promise<void> open;
  auto opened = open.get_future().share();
  callbacks c;
  c.answered = [&](const answer&) {
    begun.set_value();
    opened.wait();
  };
  auto result = d.sut.expect(id_of(1), c);
  d.sut.answered(failure_of(1, core::ec::internal));
  begun.get_future().wait();
  BOOST_TEST(!d.sut.wait_until_empty(1ms));
  open.set_value();
  BOOST_TEST(d.sut.wait_until_empty(30s));
}

BOOST_AUTO_TEST_CASE(a_slow_client_delays_nobody_who_tells) {
  desk d;
  gate slow;
  callbacks c;
  c.answered = [&](const answer&) { slow.pass(); };
  auto first = d.sut.expect(id_of(1), c);
  auto second = d.sut.expect(id_of(2), {});
  d.sut.answered(failure_of(1, core::ec::internal));
  slow.wait_for_one();
  // These calls return although the first client's callback still runs.
  d.sut.progressed(id_of(2), 1, 2, {});
  d.sut.answered(failure_of(2, core::ec::internal));
  BOOST_TEST((second.wait_for(0s) == std::future_status::timeout));
  slow.open();
  second.wait();
}

BOOST_AUTO_TEST_CASE(a_slow_client_holds_no_slot) {
  desk d;
  gate slow;
  std::vector<std::string> images;
  callbacks c;
  c.progressed = [&](const progress&) { slow.pass(); };
  c.answered = [&](const answer& a) {
    const auto& bytes = std::get<generated_image>(a).bytes;
    images.emplace_back(bytes.begin(), bytes.end());
  };
  for (uint64_t i = 1; i <= 4; ++i)
    d.sut.expect(id_of(i), c);
  d.sut.progressed(id_of(4), 1, 2, {});
  slow.wait_for_one();
  // The same slot serves all of them while the client is called.
  auto ref = d.put(0, "one");
  for (uint64_t i = 1; i <= 3; ++i) {
    d.sut.answered(image_of(i, ref));
    BOOST_TEST(d.given_back().size() == i);
    ++ref.generation;
    d.store->open(ref);
    const auto into = d.store->buffer(ref);
    BOOST_TEST_REQUIRE(into.operator bool());
    std::memcpy(into->data(), "two", 3);
    BOOST_TEST_REQUIRE(d.store->publish(ref, 1, 3).operator bool());
  }
  slow.open();
  d.sut.close();
  BOOST_TEST(d.sut.wait_until_answered(0s));
  d.sut.join();
  BOOST_TEST((images == std::vector<std::string>{"one", "two", "two"}));
}

BOOST_AUTO_TEST_CASE(a_client_that_throws_harms_nobody) {
  const auto held = std::make_shared<desk>();
  const auto sut = std::make_shared<runtime::completions>(
    held->store, [](core::request_id) {},
    [held](core::request_id id) {
      const std::lock_guard guard{held->mutex};
      held->taken.push_back(id.value);
    });
  callbacks bad;
  bad.progressed = [](const progress&) { throw std::runtime_error{"client"}; };
  bad.suspected = [](const suspicion&, auto) { throw 7; };
  bad.answered = [](const answer&) { throw 7; };
  auto first = sut->expect(id_of(1), bad);
  auto second = sut->expect(id_of(2), {});
  sut->progressed(id_of(1), 1, 2, {});
  sut->suspected(id_of(1), {core::phase::denoising, 0, 0, 1}, true);
  BOOST_TEST(eventually([&] { return held->given_back().size() == 1; }));
  sut->answered(failure_of(1, core::ec::internal));
  sut->answered(failure_of(2, core::ec::internal));
  first.wait();
  second.wait();
  BOOST_TEST(sut->open() == 0u);
}

BOOST_AUTO_TEST_CASE(a_client_that_ends_the_thread_harms_nobody) {
  desk d;
  std::thread::id where;
  callbacks bad;
  bad.progressed = [](const progress&) { pthread_exit(nullptr); };
  bad.answered = [](const answer&) { pthread_exit(nullptr); };
  callbacks good;
  good.answered = [&](const answer&) { where = std::this_thread::get_id(); };
  auto first = d.sut.expect(id_of(1), bad);
  auto second = d.sut.expect(id_of(2), good);
  d.sut.progressed(id_of(1), 1, 2, {});
  d.sut.answered(failure_of(1, core::ec::internal));
  d.sut.answered(failure_of(2, core::ec::internal));
  BOOST_TEST(std::get<failure>(first.get()).code == "internal");
  BOOST_TEST(std::get<failure>(second.get()).code == "internal");
  BOOST_TEST(d.sut.wait_until_empty(30s));
  BOOST_TEST((where != std::thread::id{}));
  BOOST_TEST((where != std::this_thread::get_id()));
}

// Its owner waits for the callbacks when it ends, as an engine does.
BOOST_AUTO_TEST_CASE(
  a_client_may_end_the_thread_after_one_destroyed_the_owner) {
  struct waiting_owner final : runtime::completions_owner {
    std::shared_ptr<runtime::completions> of;
    std::promise<bool> ended;

    ~waiting_owner() override {
      of->close();
      ended.set_value(of->wait_until_empty(30s));
      of->join();
    }
  };

  const auto sut = std::make_shared<runtime::completions>(
    desk{}.store, [](core::request_id) {});
  auto owner = std::make_unique<waiting_owner>();
  owner->of = sut;
  auto all_called = owner->ended.get_future();
  std::vector<std::thread::id> where;
  callbacks first;
  first.answered = [&](const answer&) {
    where.push_back(std::this_thread::get_id());
    sut->destroy_later(std::move(owner));
  };
  callbacks second;
  second.answered = [](const answer&) { pthread_exit(nullptr); };
  callbacks third;
  third.answered = [&](const answer&) {
    where.push_back(std::this_thread::get_id());
  };
  auto a = sut->expect(id_of(1), first);
  auto b = sut->expect(id_of(2), second);
  auto c = sut->expect(id_of(3), third);
  sut->answered(failure_of(1, core::ec::internal));
  BOOST_TEST(code_of(a.get()) == "internal");
  BOOST_TEST(code_of(b.get()) == "stopping");
  BOOST_TEST(code_of(c.get()) == "stopping");
  BOOST_TEST(all_called.get());
  BOOST_TEST(where.size() == 2u);
}

BOOST_AUTO_TEST_CASE(an_image_without_memory_for_it_is_a_failure) {
  struct full_store : ipc::heap_store {
    using ipc::heap_store::heap_store;

    core::result<std::span<const std::byte>> view(
      const ipc::slot_ref&) const override {
      throw std::bad_alloc{};
    }
  };

  std::vector<uint64_t> taken;
  runtime::completions sut{
    std::make_shared<full_store>(arena, std::array<uint32_t, ipc::slot_kinds>{},
                                 std::array<uint64_t, ipc::slot_kinds>{}),
    [&](core::request_id id) { taken.push_back(id.value); }};
  auto result = sut.expect(id_of(1), {});
  sut.answered(image_of(1, {}));
  const auto a = result.get();
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(a));
  BOOST_TEST(std::get<failure>(a).code == "out_of_resources");
  BOOST_TEST(std::get<failure>(a).request == 1u);
  BOOST_TEST((taken == std::vector<uint64_t>{1}));
}

BOOST_AUTO_TEST_CASE(captures_end_before_the_call_counts_as_ended) {
  struct witness {
    explicit witness(gate& x) : of(x) {}

    ~witness() {
      of.pass();
    }

    gate& of;
  };

  desk d;
  gate slow;
  callbacks c;
  c.answered = [x = std::make_shared<witness>(slow)](const answer&) {};
  auto result = d.sut.expect(id_of(1), std::move(c));
  d.sut.answered(failure_of(1, core::ec::internal));
  slow.wait_for_one();
  BOOST_TEST(!d.sut.wait_until_empty(0s));
  slow.open();
  BOOST_TEST(d.sut.wait_until_empty(30s));
}

BOOST_AUTO_TEST_CASE(a_request_that_was_withdrawn_is_not_open) {
  desk d;
  std::atomic<int> calls = 0;
  callbacks c;
  c.answered = [&](const answer&) { ++calls; };
  d.sut.expect(id_of(1), c);
  d.sut.withdraw(id_of(1));
  d.sut.withdraw(id_of(2));
  BOOST_TEST(d.sut.open() == 0u);
  BOOST_TEST(d.sut.wait_until_empty(0s));
  d.sut.answered(failure_of(1, core::ec::internal));
  d.sut.close();
  d.sut.join();
  BOOST_TEST(calls.load() == 0);
}

BOOST_AUTO_TEST_CASE(closing_delivers_the_answers_that_wait) {
  desk d;
  gate slow;
  std::vector<std::string> codes;
  std::vector<std::thread::id> where;
  callbacks c;
  c.progressed = [&](const progress&) { slow.pass(); };
  c.answered = [&](const answer& a) {
    const auto* const why = std::get_if<failure>(&a);
    codes.push_back(why != nullptr ? why->code : "image");
    where.push_back(std::this_thread::get_id());
  };
  for (uint64_t i = 1; i <= 3; ++i)
    d.sut.expect(id_of(i), c);
  d.sut.progressed(id_of(1), 1, 2, {});
  slow.wait_for_one();
  d.sut.answered(image_of(2, d.put(0, "file")));
  d.sut.close();
  BOOST_TEST(!d.sut.wait_until_empty(0s));
  slow.open();
  d.sut.join();
  BOOST_TEST(
    (codes == std::vector<std::string>{"image", "stopping", "stopping"}));
  BOOST_TEST((std::count(where.begin(), where.end(), where[0]) == 3));
  BOOST_TEST((where[0] != std::this_thread::get_id()));
}

BOOST_AUTO_TEST_CASE(closing_answers_what_is_open_once) {
  desk d;
  std::atomic<int> calls = 0;
  callbacks c;
  c.answered = [&](const answer& a) {
    calls += std::get<failure>(a).code == "stopping" ? 1 : 100;
  };
  auto first = d.sut.expect(id_of(1), c);
  auto second = d.sut.expect(id_of(2), c);
  d.sut.close();
  d.sut.close();
  d.sut.join();
  BOOST_TEST(std::get<failure>(first.get()).code == "stopping");
  BOOST_TEST(std::get<failure>(second.get()).code == "stopping");
  BOOST_TEST(calls.load() == 2);
  BOOST_TEST(d.sut.open() == 0u);
  // Late messages are dropped.
  d.sut.answered(failure_of(1, core::ec::internal));
  d.sut.progressed(id_of(2), 1, 2, {});
  BOOST_TEST(calls.load() == 2);
}

BOOST_AUTO_TEST_CASE(the_pace_of_answers_is_measured) {
  desk d;
  BOOST_TEST(d.sut.seconds_per_answer() == 0);
  for (uint64_t i = 1; i < 50; ++i) {
    auto result = d.sut.expect(id_of(i), {});
    d.sut.answered(failure_of(i, core::ec::internal));
    result.wait();
  }
  BOOST_TEST(d.sut.seconds_per_answer() > 0);
  BOOST_TEST(d.sut.seconds_per_answer() < 30);
}

BOOST_AUTO_TEST_CASE(a_trial_goes_on_once_the_client_wrote_it_down) {
  std::mutex mutex;
  std::vector<uint64_t> noted;
  const auto sut = std::make_shared<runtime::completions>(
    desk{}.store, [](core::request_id) {},
    [&](core::request_id id) {
      const std::lock_guard guard{mutex};
      noted.push_back(id.value);
    });
  const auto count = [&] {
    const std::lock_guard guard{mutex};
    return noted.size();
  };
  std::promise<std::function<void()>> go_on;
  std::promise<suspicion> told;
  callbacks calls;
  calls.suspected = [&](const suspicion& x, std::function<void()> then) {
    told.set_value(x);
    go_on.set_value(std::move(then));
  };
  auto first = sut->expect(core::request_id{1}, calls);
  auto second = sut->expect(core::request_id{2}, {});
  sut->suspected(core::request_id{1}, {core::phase::denoising, 1, 7, 2}, true);
  const auto then = go_on.get_future().get();
  const auto x = told.get_future().get();
  BOOST_TEST(x.phase == "denoising");
  BOOST_TEST(x.stage == 1u);
  BOOST_TEST(x.steps == 7u);
  BOOST_TEST(x.trials == 2u);
  BOOST_TEST(count() == 0u);
  then();
  then();
  BOOST_TEST(count() == 1u);
  BOOST_TEST(x.request == 1u);
  // A client that keeps no notes delays no other client.
  sut->suspected(core::request_id{2}, {core::phase::denoising, 0, 0, 1}, true);
  BOOST_TEST(eventually([&] { return count() == 2; }));
  // A late answer no longer has an effect.
  sut->close();
  then();
  BOOST_TEST(count() == 2u);
}

BOOST_AUTO_TEST_CASE(a_trial_goes_on_once_its_client_dropped_the_call) {
  std::atomic<int> noted = 0;
  const auto sut = std::make_shared<runtime::completions>(
    desk{}.store, [](core::request_id) {}, [&](core::request_id) { ++noted; });
  std::promise<std::function<void()>> kept;
  callbacks calls;
  calls.suspected = [&](const suspicion&, std::function<void()> go_on) {
    kept.set_value(std::move(go_on));
  };
  auto result = sut->expect(core::request_id{1}, calls);
  sut->suspected(core::request_id{1}, {core::phase::denoising, 0, 0, 1}, true);
  auto go_on = kept.get_future().get();
  // Its call has returned.
  sut->answered(failure_of(1, core::ec::internal));
  result.wait();
  BOOST_TEST(noted.load() == 0);
  go_on = nullptr;
  BOOST_TEST(noted.load() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
