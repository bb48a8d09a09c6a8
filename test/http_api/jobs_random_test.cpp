// SPDX-License-Identifier: Apache-2.0
#include "support/job_rig.hpp"

#include <boost/test/unit_test.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <atomic>
#include <random>
#include <thread>

using namespace atelier;
using namespace atelier::runtime::http;
using namespace std::chrono_literals;
using test::job_rig;

namespace {

/// The events that one job's listener received, checked on arrival.
struct witness {
  std::atomic<int> ends{0};
  std::atomic<int> images{0};
  std::atomic<int> inside{0};
  std::atomic<bool> faulty{false};

  job_listener listener() {
    const auto enter = [this] {
      if (inside.fetch_add(1) != 0 || ends.load() != 0)
        faulty = true;
    };
    const auto leave = [this] { inside.fetch_sub(1); };
    return {[=, this](const job_view& v) {
              enter();
              if (v.state != job_state::running && v.cancelled_images.empty())
                faulty = true;
              leave();
            },
            [=, this](const job_view& v, uint32_t index) {
              enter();
              if (!v.results.at(index))
                faulty = true;
              ++images;
              leave();
            },
            [=, this](const job_view& v) {
              enter();
              if (v.state < job_state::completed
                  || static_cast<int>(v.images_done) != images.load())
                faulty = true;
              if (v.state == job_state::completed && v.images_done != v.images)
                faulty = true;
              ++ends;
              leave();
            }};
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(jobs_random_test)

BOOST_AUTO_TEST_CASE(every_job_of_a_random_schedule_ends_exactly_once) {
  const auto rounds = test::scaled(20'000);
  std::mt19937_64 random{test::seed()};
  const auto draw = [&](uint64_t below) { return random() % below; };
  for (size_t round = 0; round < rounds; ++round) {
    job_rig rig{{1 + static_cast<uint32_t>(draw(8)), 4, draw(4000), 10s}};
    rig.images->answers_cancel = draw(2) == 0;
    std::vector<std::unique_ptr<witness>> seen;
    std::vector<std::string> ids;
    size_t accepted = 0;
    for (int i = 0; i < 60; ++i) {
      rig.now += std::chrono::milliseconds{draw(2000)};
      const auto orders = rig.images->count();
      switch (draw(9)) {
        case 0:
        case 1: {
          if (draw(5) == 0)
            rig.images->refuse_after = orders + draw(3);
          auto what = rig.wish(1 + static_cast<uint32_t>(draw(4)));
          what.keeps = draw(2) == 0;
          if (draw(3) == 0)
            what.id = fmt::format("n{}", draw(6));
          if (draw(4) == 0)
            rig.images->on_submit = [&](uint64_t r) {
              if (r % 2 == 0)
                rig.images->finish(r);
            };
          seen.push_back(std::make_unique<witness>());
          auto got = rig.all->submit(what, seen.back()->listener());
          rig.images->refuse_after.reset();
          rig.images->on_submit = {};
          if (const auto* v = std::get_if<job_view>(&got)) {
            ++accepted;
            ids.push_back(v->id);
          } else {
            BOOST_TEST(seen.back()->ends == 0);
            BOOST_TEST(seen.back()->images == 0);
            seen.pop_back();
          }
          break;
        }
        case 2:
        case 3:
          if (orders > 0)
            rig.images->step(1 + draw(orders), 1, 2);
          break;
        case 4:
          if (orders > 0)
            rig.images->finish(1 + draw(orders));
          break;
        case 5:
          if (orders > 0)
            rig.images->fail(1 + draw(orders), "poison");
          break;
        case 6:
          if (!ids.empty())
            rig.all->cancel(ids[draw(ids.size())]);
          break;
        case 7:
          if (!ids.empty())
            rig.all->cancel_image(ids[draw(ids.size())],
                                  static_cast<uint32_t>(draw(4)));
          break;
        default:
          rig.all->tick();
          rig.all->put_away();
      }
    }
    for (uint64_t r = 1; r <= rig.images->count(); ++r)
      rig.images->finish(r);
    BOOST_TEST(rig.all->open() == 0u);
    BOOST_TEST(seen.size() == accepted);
    for (const auto& x : seen) {
      BOOST_TEST(x->ends == 1);
      BOOST_TEST(!x->faulty);
    }
    for (const auto& v : rig.all->list({}, 100))
      BOOST_TEST((v.state >= job_state::completed));
    rig.now += 10s;
    rig.all->tick();
    rig.all->put_away();
    BOOST_TEST(rig.all->list({}, 100).empty());
  }
}

BOOST_AUTO_TEST_CASE(threads_that_race_end_every_job_once) {
  const auto rounds = test::scaled(2'000);
  for (size_t round = 0; round < rounds; ++round) {
    job_rig rig;
    std::mutex many;
    rig.all = std::make_shared<jobs>(
      rig.images, job_limits{},
      jobs::clocks{[] { return std::chrono::steady_clock::now(); },
                   [] { return std::chrono::system_clock::now(); },
                   [&] {
                     static std::atomic<uint64_t> n{0};
                     return ++n;
                   }});
    constexpr size_t count = 8;
    std::vector<std::unique_ptr<witness>> seen;
    for (size_t i = 0; i < count; ++i)
      seen.push_back(std::make_unique<witness>());
    std::atomic<bool> handed_in{false};
    std::jthread engine{[&] {
      for (uint64_t done = 0; !handed_in || done < rig.images->count();) {
        if (done == rig.images->count()) {
          std::this_thread::yield();
          continue;
        }
        rig.images->step(++done, 1, 1);
        rig.images->finish(done);
      }
    }};
    std::jthread canceller{[&] {
      while (!handed_in)
        for (const auto& v : rig.all->list({}, 2)) {
          rig.all->cancel_image(name_of(v), 1);
          rig.all->cancel(name_of(v));
        }
    }};
    for (size_t i = 0; i < count; ++i)
      rig.enter(rig.wish(3), seen[i]->listener());
    handed_in = true;
    engine.join();
    canceller.join();
    for (const auto& x : seen) {
      BOOST_TEST(x->ends == 1);
      BOOST_TEST(!x->faulty);
    }
    BOOST_TEST(rig.all->open() == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
