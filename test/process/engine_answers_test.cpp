// SPDX-License-Identifier: Apache-2.0
// Every request gets one answer, which is the same in each mode.
#include <atelier/core/image/codec.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/process_table.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;
using test::mode;

namespace {

const auto modes = boost::unit_test::data::make({mode::single, mode::split});

const std::string slow_card =
  "devices=[{name='cpu:0',test_card_step_ms=20,max_batch=2,seats=2}]";

generation small(uint32_t steps) {
  generation x;
  x.prompt = "a";
  x.width = x.height = 64;
  x.steps = steps;
  x.seed = 1;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_answers_test)

BOOST_AUTO_TEST_CASE(the_plan_in_force_is_told_with_its_ways) {
  auto sut = test::start(mode::single);
  const auto s = sut->status();
  BOOST_TEST(s.plan_version > 0u);
  BOOST_TEST_REQUIRE(!s.routes.empty());
  std::vector<double> sums(s.routes.front().shares.size());
  bool taken = false;
  const auto made = test::image_in(
    test::answers_to(*sut, test::mixed_requests(1, test::seed())).front());
  for (const auto& r : s.routes) {
    BOOST_TEST_REQUIRE(r.shares.size() == sums.size());
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += r.shares[i];
    for (const auto& stage : r.stages)
      BOOST_TEST(!stage.empty());
    taken = taken || r.name == made.route;
  }
  for (const auto sum : sums)
    BOOST_TEST(std::abs(sum - 1) < 1e-9);
  BOOST_TEST(taken, made.route);
  BOOST_TEST(sut->stop(1s));
}

BOOST_AUTO_TEST_CASE(the_rule_of_a_strength_says_how_many_steps_run) {
  auto sut = test::start(mode::split);
  const std::pair<const char*, uint32_t> rules[] = {{"diffusers", 15},
                                                    {"webui", 16}};
  for (const auto& [rule, run] : rules) {
    auto wanted = small(20);
    wanted.image = test::image_file(64, 64, 1, core::image_format::png);
    wanted.sampler = "euler";
    wanted.strength = 0.75f;
    wanted.strength_rule = rule;
    const auto made = test::image_in(test::answers_to(*sut, {wanted}).front());
    BOOST_TEST(made.steps_run == run, rule);
    BOOST_TEST(made.strength_rule == rule);
    BOOST_TEST(made.strength == 0.75f);
  }
  BOOST_TEST(sut->stop(1s));
}

BOOST_AUTO_TEST_CASE(images_are_the_same_in_every_mode_and_run) {
  const auto wanted =
    test::mixed_requests(20 + test::scaled(2000), test::seed());
  std::vector<std::vector<answer>> runs;
  for (const auto how : {mode::single, mode::split, mode::split}) {
    auto sut = test::start(how);
    runs.push_back(test::answers_to(*sut, wanted));
    BOOST_TEST(test::comes_to_rest(*sut));
    const auto s = sut->status();
    BOOST_TEST(s.accepted == wanted.size());
    BOOST_TEST(s.answered == wanted.size());
    BOOST_TEST(s.failed + s.cancelled + s.refused == 0u);
    BOOST_TEST(sut->stop(1s));
  }
  size_t with_image = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto& first = test::image_in(runs[0][i]);
    BOOST_TEST(first.seed == *wanted[i].seed);
    BOOST_TEST(first.steps == *wanted[i].steps);
    const auto with = *core::parse_sampler(first.sampler);
    BOOST_TEST(first.steps_run
               == core::steps_of_share(with, first.steps, first.strength,
                                       core::strength_rule::diffusers));
    with_image += wanted[i].image.empty() ? 0u : 1u;
    BOOST_TEST(first.prompt == wanted[i].prompt);
    BOOST_TEST(first.format == wanted[i].format);
    for (size_t run = 1; run < runs.size(); ++run)
      test::check_same_image(first, test::image_in(runs[run][i]));
  }
  BOOST_TEST(with_image > 0u);
}

BOOST_DATA_TEST_CASE(what_a_mask_leaves_stays_to_the_bit, modes, how) {
  auto sut = test::start(how);
  generation x = small(5);
  x.image = test::image_file(64, 64, 1, core::image_format::png);
  // The mask is white right of the middle.
  image::bitmap mask{{64, 64}, 3, {}};
  for (int i = 0; i < 64 * 64; ++i)
    mask.bytes.insert(mask.bytes.end(), 3, i % 64 < 32 ? 0 : 255);
  x.mask = *image::encode(mask.view(), {});
  const auto a = test::answers_to(*sut, {x})[0];
  const auto& made = test::image_in(a);
  BOOST_TEST(made.steps_run == 5u);
  BOOST_TEST(made.strength == 1.0f);
  BOOST_TEST(made.notes.empty());
  const auto before = *image::decode(x.image);
  const auto after = *image::decode(made.bytes);
  size_t changed = 0;
  for (size_t i = 0; i < before.bytes.size(); ++i) {
    if (i / 3 % 64 < 32)
      BOOST_REQUIRE(after.bytes[i] == before.bytes[i]);
    else
      changed += after.bytes[i] != before.bytes[i] ? 1u : 0u;
  }
  BOOST_TEST(changed > before.bytes.size() / 3);
}

BOOST_DATA_TEST_CASE(many_images_go_through_the_fewest_slots, modes, how) {
  auto sut = test::start(how, {"arena.image_slots=3", "arena.state_slots=3"});
  std::vector<generation> wanted;
  for (uint64_t i = 0; i < 24; ++i) {
    auto x = small(3);
    if (i % 3 != 0)
      x.image = test::image_file(40, 40, i, core::image_format::jpeg);
    if (i % 3 == 2)
      x.mask = test::image_file(30, 30, i, core::image_format::webp);
    wanted.push_back(std::move(x));
  }
  for (const auto& a : test::answers_to(*sut, wanted))
    test::image_in(a);
  BOOST_TEST(test::comes_to_rest(*sut));
}

BOOST_DATA_TEST_CASE(an_image_that_breaks_off_fails_its_request, modes, how) {
  auto sut = test::start(how);
  auto x = small(3);
  x.image = test::image_file(64, 64, 1, core::image_format::png);
  x.image.resize(x.image.size() / 2);
  const auto a = test::answers_to(*sut, {x})[0];
  BOOST_TEST(test::code_of(a) == "bad_payload");
  BOOST_TEST(std::get<failure>(a).text.starts_with("image: png image"));
  x.image = {'n', 'o'};
  const auto refused = sut->submit(x);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(refused));
  BOOST_TEST(std::get<failure>(refused).code == "bad_payload");
  BOOST_TEST(test::comes_to_rest(*sut));
}

BOOST_DATA_TEST_CASE(images_beyond_the_memory_wait_at_the_door, modes, how) {
  auto sut = test::start(
    how, {slow_card, "limits.source_kib=512", "limits.sources_mib=1"});
  auto x = small(20);
  // The file has 230 KB of noise.
  x.image = test::image_file(280, 280, 1, core::image_format::png);
  std::vector<std::future<answer>> accepted;
  size_t refused = 0;
  for (int i = 0; i < 8; ++i) {
    auto got = sut->submit(x);
    if (auto* s = std::get_if<submission>(&got)) {
      accepted.push_back(std::move(s->result));
      continue;
    }
    ++refused;
  }
  for (auto& result : accepted)
    refused += test::code_of(result.get()) == "overloaded" ? 1u : 0u;
  BOOST_TEST(refused == 4u);
  BOOST_TEST(test::comes_to_rest(*sut));
}

BOOST_AUTO_TEST_CASE(a_batch_changes_no_image) {
  auto wanted = test::mixed_requests(10, test::seed());
  for (auto& x : wanted)
    x.deterministic = true;
  auto sut = test::start(mode::single);
  const auto together = test::answers_to(*sut, wanted);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto alone = test::answers_to(*sut, {wanted[i]});
    test::check_same_image(test::image_in(together[i]),
                           test::image_in(alone[0]));
  }
}

BOOST_DATA_TEST_CASE(many_threads_hand_in_and_each_gets_its_own, modes, how) {
  auto sut = test::start(how);
  const auto wanted = test::mixed_requests(40, test::seed());
  std::vector<std::jthread> threads;
  std::mutex mutex;
  std::vector<std::string> wrong;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = t; i < wanted.size(); i += 4) {
        auto got = sut->submit(wanted[i]);
        const auto a = std::get<submission>(got).result.get();
        const auto* p = std::get_if<generated_image>(&a);
        const std::lock_guard guard{mutex};
        if (p == nullptr || p->prompt != wanted[i].prompt)
          wrong.push_back(wanted[i].prompt);
      }
    });
  threads.clear();
  BOOST_TEST(wrong.empty());
}

BOOST_DATA_TEST_CASE(progress_only_rises_up_to_the_steps, modes, how) {
  auto sut = test::start(how);
  std::vector<uint32_t> steps;
  std::atomic<bool> over = false;
  std::atomic<bool> wrong = false;
  callbacks calls;
  calls.progressed = [&](const progress& p) {
    steps.push_back(p.steps_done);
    wrong = wrong || p.steps != 12 || over;
  };
  calls.answered = [&](const answer&) { over = true; };
  auto got = sut->submit(small(12), calls);
  BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
  test::image_in(std::get<submission>(got).result.get());
  BOOST_TEST(eventually([&] { return over.load(); }));
  BOOST_TEST(sut->stop(1s));
  BOOST_TEST(!steps.empty());
  BOOST_TEST(std::is_sorted(steps.begin(), steps.end()));
  BOOST_TEST((std::adjacent_find(steps.begin(), steps.end()) == steps.end()));
  BOOST_TEST(steps.back() == 12u);
  BOOST_TEST(!wrong);
}

BOOST_DATA_TEST_CASE(previews_come_with_the_progress, modes, how) {
  auto sut = test::start(how, {slow_card});
  std::vector<preview> seen;
  callbacks calls;
  calls.progressed = [&](const progress& p) {
    if (!p.preview.rgb.empty())
      seen.push_back(p.preview);
  };
  auto wanted = small(12);
  wanted.preview_every = 3;
  auto got = sut->submit(wanted, calls);
  BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
  const auto made = std::get<submission>(got).result.get();
  auto other = test::hand_in(*sut, small(12));
  test::check_same_image(test::image_in(made),
                         test::image_in(test::await(other)));
  BOOST_TEST(sut->stop(5s));
  BOOST_TEST(!seen.empty());
  for (const auto& x : seen) {
    BOOST_TEST(x.step % 3 == 0u);
    BOOST_TEST(x.step < 12u);
    BOOST_TEST(x.width == 8u);
    BOOST_TEST(x.rgb.size() == size_t{3} * x.width * x.height);
  }
}

BOOST_DATA_TEST_CASE(running_and_waiting_requests_are_taken_back, modes, how) {
  auto sut = test::start(how, {slow_card});
  std::vector<test::in_flight> all;
  for (int i = 0; i < 8; ++i)
    all.push_back(test::hand_in(*sut, small(100)));
  BOOST_TEST(eventually([&] {
    const auto s = sut->status();
    return !s.workers.empty() && s.workers[0].running == 2;
  }));
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& x : all)
    BOOST_TEST(sut->cancel(x.accepted.request));
  for (auto& x : all)
    BOOST_TEST(test::code_of(test::await(x)) == "cancelled");
  // The limit is far below the two seconds that one of them needs.
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 1s));
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->status().cancelled == 8u);
  for (const auto& x : all)
    BOOST_TEST(!sut->cancel(x.accepted.request));
  BOOST_TEST(!sut->cancel(12345));
  BOOST_TEST(!sut->cancel(0));
}

BOOST_DATA_TEST_CASE(cancels_at_random_times_are_answered_once, modes, how) {
  auto sut = test::start(how);
  const auto wanted =
    test::mixed_requests(30 + test::scaled(1000), test::seed());
  std::vector<test::in_flight> all;
  for (size_t i = 0; i < wanted.size(); ++i) {
    all.push_back(test::hand_in(*sut, wanted[i]));
    static_cast<void>(sut->cancel(all[all.size() / 2].accepted.request));
  }
  for (auto& x : all) {
    const auto code = test::code_of(test::await(x));
    BOOST_TEST((code == "" || code == "cancelled"), code);
  }
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->stop(1s));
  for (const auto& x : all)
    BOOST_TEST(x.answers->load() == 1u);
}

BOOST_DATA_TEST_CASE(deadlines_end_what_is_late, modes, how) {
  auto sut = test::start(how, {slow_card});
  std::vector<test::in_flight> all;
  for (int i = 0; i < 6; ++i) {
    auto x = small(100);
    x.deadline = 100ms;
    all.push_back(test::hand_in(*sut, x));
  }
  for (auto& x : all)
    BOOST_TEST(test::code_of(test::await(x)) == "deadline_missed");
  auto x = small(2);
  x.deadline = 60s;
  test::image_in(test::answers_to(*sut, {x})[0]);
  BOOST_TEST(test::comes_to_rest(*sut));
}

BOOST_DATA_TEST_CASE(who_names_no_deadline_has_the_servers, modes, how) {
  auto sut = test::start(how, {slow_card, "policy.deadline_ms=100"});
  BOOST_TEST(test::code_of(test::answers_to(*sut, {small(100)})[0])
             == "deadline_missed");
  auto x = small(2);
  x.deadline = 60s;
  test::image_in(test::answers_to(*sut, {x})[0]);
  BOOST_TEST(test::comes_to_rest(*sut));
}

BOOST_DATA_TEST_CASE(too_many_are_refused_with_a_time, modes, how) {
  auto sut = test::start(how, {slow_card, "limits.requests=3"});
  std::vector<submission> accepted;
  for (int i = 0; i < 3; ++i) {
    auto got = sut->submit(small(3));
    BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
    accepted.push_back(std::get<submission>(std::move(got)));
  }
  auto refused = sut->submit(small(3));
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(refused));
  const auto& why = std::get<failure>(refused);
  BOOST_TEST(why.code == "overloaded");
  BOOST_TEST(why.text.find("limits.requests") != std::string::npos);
  BOOST_TEST((why.retry_after >= 1s));
  // A key that has nothing queued is accepted beside them.
  auto other = small(1);
  other.tenant = "ben";
  auto beside = sut->submit(other);
  BOOST_TEST_REQUIRE(std::holds_alternative<submission>(beside));
  test::image_in(std::get<submission>(beside).result.get());
  // A client with an answer may submit its next request at once.
  for (auto& x : accepted) {
    test::image_in(x.result.get());
    auto next = sut->submit(small(1));
    BOOST_TEST(std::holds_alternative<submission>(next));
  }
}

BOOST_DATA_TEST_CASE(devices_are_shared_by_shares, modes, how) {
  auto sut = test::start(how, {slow_card, "limits.steps=1000"});
  std::mutex mutex;
  std::vector<bool> of_ben;
  const auto submit = [&](const generation& x, callbacks calls = {}) {
    auto got = sut->submit(x, std::move(calls));
    BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
    return std::get<submission>(std::move(got));
  };
  // A third tenant has the device until the requests of both are there.
  std::vector<submission> before;
  for (int i = 0; i < 2; ++i) {
    auto x = small(1000);
    x.tenant = "cid";
    before.push_back(submit(x));
  }
  std::vector<submission> accepted;
  constexpr size_t each = 24;
  for (size_t i = 0; i < 2 * each; ++i) {
    auto x = small(4);
    x.seed = i;
    const bool is_ben = i % 2 == 1;
    x.tenant = is_ben ? "ben" : "ann";
    x.share = is_ben ? 5 : 1;
    callbacks calls;
    calls.answered = [&, is_ben](const answer& a) {
      const std::lock_guard guard{mutex};
      if (std::holds_alternative<generated_image>(a))
        of_ben.push_back(is_ben);
    };
    accepted.push_back(submit(x, std::move(calls)));
  }
  for (const auto& x : before)
    BOOST_TEST(sut->cancel(x.request));
  for (auto& x : accepted)
    test::image_in(x.result.get());
  sut.reset();
  BOOST_TEST_REQUIRE(of_ben.size() == 2 * each);
  // While both have work, ben has five of six.
  const auto first = std::count(of_ben.begin(), of_ben.begin() + each, true);
  BOOST_TEST(first >= 17);
  BOOST_TEST(first < static_cast<ptrdiff_t>(each));
}

BOOST_DATA_TEST_CASE(bad_input_is_refused_and_harms_nobody, modes, how) {
  auto sut = test::start(how);
  auto bad = small(1);
  bad.steps = 0;
  auto got = sut->submit(bad);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(got));
  BOOST_TEST(std::get<failure>(got).code == "invalid_argument");
  bad = small(1);
  bad.variant = "nosuch@1";
  got = sut->submit(bad);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(got));
  BOOST_TEST(std::get<failure>(got).code == "not_found");
  test::image_in(test::answers_to(*sut, {small(1)})[0]);
}

BOOST_AUTO_TEST_CASE(the_longest_texts_reach_every_process) {
  auto sut = test::start(mode::split);
  auto wanted = small(2);
  wanted.prompt.assign(128 * 1024, 'a');
  wanted.negative.assign(128 * 1024, 'b');
  // The records exceed the size of one ring.
  const auto answers =
    test::answers_to(*sut, std::vector<generation>(12, wanted));
  for (const auto& x : answers)
    BOOST_TEST(test::image_in(x).prompt.size() == 128u * 1024);
}

BOOST_DATA_TEST_CASE(a_client_may_use_the_engine_from_its_calls, modes, how) {
  auto sut = test::start(how);
  std::promise<std::future<answer>> second;
  callbacks calls;
  calls.answered = [&](const answer&) {
    sut->status();
    BOOST_TEST(!sut->cancel(77));
    auto got = sut->submit(small(1));
    second.set_value(std::move(std::get<submission>(got).result));
  };
  auto got = sut->submit(small(1), calls);
  const auto a = second.get_future().get().get();
  BOOST_TEST(test::code_of(a) == "");
}

BOOST_DATA_TEST_CASE(memory_stays_flat, modes, how) {
  const auto count = test::scaled(10'000);
  auto sut = test::start(how);
  auto run = [&](size_t n) {
    for (size_t i = 0; i < n; i += 20)
      test::answers_to(*sut, std::vector<generation>(20, small(1)));
  };
  run(std::max<size_t>(count / 2, 100));
  const auto before = test::resident_bytes();
  run(count);
  const auto after = test::resident_bytes();
  BOOST_TEST_MESSAGE(how << ": " << before / 1024 << " KiB, " << after / 1024
                         << " KiB after " << count << " requests more");
#if !defined(__SANITIZE_ADDRESS__)
  BOOST_TEST(after < before + (8u << 20) + count * 64);
#endif
}

BOOST_AUTO_TEST_SUITE_END()
