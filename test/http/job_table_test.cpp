// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/job_table.hpp>

#include <boost/test/unit_test.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <random>

using namespace std::chrono_literals;

namespace atelier::runtime::http::detail {

namespace {

std::shared_ptr<const generated_image> image(size_t bytes) {
  generated_image x;
  x.bytes.resize(bytes);
  return std::make_shared<const generated_image>(std::move(x));
}

std::shared_ptr<job_entry> job(uint64_t number, bool keeps = true) {
  auto x = std::make_shared<job_entry>();
  x->number = number;
  x->known.id = "a" + std::to_string(number);
  x->keeps = x->named = keeps;
  return x;
}

void end(job_table& to, const std::shared_ptr<job_entry>& x,
         core::time_point now, job_state how = job_state::completed) {
  x->known.state = how;
  x->ended_at = now;
  to.end(x);
}

} // namespace

BOOST_AUTO_TEST_SUITE(job_table_test)

BOOST_AUTO_TEST_CASE(parts_agree_through_a_random_schedule) {
  std::mt19937_64 random{test::seed()};
  const auto draw = [&](uint64_t below) { return random() % below; };
  for (size_t round = 0; round < test::scaled(20'000); ++round) {
    job_table sut{{6, 4, 3000 + draw(4000), 10s, 2000 + draw(4000)}};
    core::time_point now;
    uint64_t last = 0;
    for (int i = 0; i < 60; ++i) {
      now += std::chrono::milliseconds{draw(2000)};
      std::vector<std::shared_ptr<job_entry>> all;
      for (const auto& [number, x] : sut.all())
        all.push_back(x);
      const auto any = all.empty() ? nullptr : all[draw(all.size())];
      switch (draw(7)) {
        case 0:
        case 1:
          if (sut.make_room(draw(2) == 0 ? "ann" : "bob")) {
            const auto x = job(++last, draw(4) > 0);
            x->known.owner = draw(2) == 0 ? "ann" : "bob";
            x->priority = static_cast<uint32_t>(draw(3));
            if (draw(2) == 0)
              x->journal.keep();
            sut.add(x);
          }
          break;
        case 2:
          if (any && any->known.state == job_state::queued) {
            sut.begin(*any);
            any->known.state = job_state::running;
          }
          break;
        case 3:
          if (any && !any->has_ended()) {
            for (uint64_t n = draw(3); n > 0; --n)
              any->known.results.push_back(image(draw(1500)));
            end(sut, any, now,
                draw(2) == 0 ? job_state::completed : job_state::cancelled);
          }
          break;
        case 4:
          for (const auto& x : sut.unstored()) {
            const auto images = x->known.results;
            for (uint32_t n = 0; n < images.size(); ++n)
              if (images[n] && !images[n]->bytes.empty()
                  && sut.make_disk_room(*x, *images[n]))
                BOOST_TEST(sut.stored(*x, n));
            sut.store_no_more(*x);
          }
          break;
        case 5:
          if (any)
            sut.use(*any, now);
          break;
        case 6:
          if (draw(3) == 0 && any)
            sut.remove(*any);
          else
            sut.expire(now);
          break;
      }
      BOOST_REQUIRE_MESSAGE(sut.check().empty(), sut.check());
    }
  }
}

BOOST_AUTO_TEST_CASE(image_in_a_file_takes_no_memory) {
  job_table sut{{}};
  const auto x = job(1);
  generated_image large;
  large.bytes.resize(100'000);
  large.prompt.assign(5000, 'a');
  large.negative.assign(5000, 'b');
  large.model = "tiny";
  x->known.results = {
    std::make_shared<const generated_image>(std::move(large))};
  sut.add(x);
  end(sut, x, {});
  BOOST_TEST(sut.kept_bytes() > 110'000u);
  BOOST_REQUIRE(sut.stored(*x, 0));
  const auto& kept = *x->known.results[0];
  BOOST_TEST(kept.bytes.capacity() == 0u);
  BOOST_TEST(kept.prompt.capacity() < 100u);
  BOOST_TEST(kept.negative.capacity() < 100u);
  BOOST_TEST(kept.model == "tiny");
  BOOST_TEST(sut.kept_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(cancelled_jobs_of_a_key_displace_nothing_of_another_key) {
  job_table sut{{20, 4}};
  core::time_point now;
  uint64_t last = 0;
  const auto enter = [&](const char* owner, job_state how, size_t bytes) {
    BOOST_REQUIRE(sut.make_room(owner));
    const auto x = job(++last);
    x->known.owner = owner;
    if (bytes > 0)
      x->known.results = {image(bytes)};
    sut.add(x);
    x->known.state = how;
    x->ended_at = now += 1s;
    sut.end(x);
    BOOST_REQUIRE_MESSAGE(sut.check().empty(), sut.check());
    return x->number;
  };
  // Ann has more jobs than Bob at first.
  std::vector<uint64_t> of_ann;
  for (int i = 0; i < 14; ++i)
    of_ann.push_back(enter("ann", job_state::completed, 100));
  of_ann.push_back(enter("ann", job_state::failed, 0));
  for (int i = 0; i < 200; ++i)
    enter("bob", job_state::cancelled, 0);
  for (const auto number : of_ann)
    BOOST_TEST(sut.find(number) != nullptr);
  // Bob's images take their places from whoever has the most jobs: both keys
  // end with the same number of jobs.
  for (int i = 0; i < 200; ++i)
    enter("bob", job_state::completed, 100);
  const auto ann_has = std::ranges::count_if(
    of_ann, [&](uint64_t x) { return sut.find(x) != nullptr; });
  BOOST_TEST(ann_has == 10);
  BOOST_TEST(sut.find(of_ann.back()) != nullptr);
  BOOST_TEST(sut.find(of_ann.front()) == nullptr);
}

BOOST_AUTO_TEST_CASE(open_jobs_of_an_owner_come_newest_first) {
  job_table sut{{}};
  for (uint64_t number = 1; number <= 4; ++number) {
    const auto x = job(number);
    x->known.owner = number == 2 ? "bob" : "ann";
    sut.add(x);
    if (number == 3)
      end(sut, x, {});
  }
  const auto open = sut.open_of("ann");
  BOOST_TEST_REQUIRE(open.size() == 2u);
  BOOST_TEST(open[0]->number == 4u);
  BOOST_TEST(open[1]->number == 1u);
  BOOST_TEST(sut.open_of("cid").empty());
}

BOOST_AUTO_TEST_CASE(check_tells_what_the_parts_disagree_on) {
  job_table sut{{}};
  const auto x = job(1);
  sut.add(x);
  BOOST_TEST(sut.check() == "");
  x->known.state = job_state::running;
  BOOST_TEST(sut.check()
             == "job 1 (a1): its place in the queue does not match its state");
  x->known.state = job_state::completed;
  BOOST_TEST(sut.check()
             == "job 1 (a1): its state does not match the list of ended jobs");
}

BOOST_AUTO_TEST_CASE(images_that_go_from_files_are_told_once) {
  job_table sut{{10, 4, 1 << 20, 10s, 3000}};
  const auto x = job(1);
  x->journal.keep();
  x->known.results = {image(500)};
  sut.add(x);
  end(sut, x, core::time_point{} + 1s);
  BOOST_REQUIRE(sut.make_disk_room(*x, *x->known.results[0]));
  BOOST_REQUIRE(sut.stored(*x, 0));
  const auto y = job(2);
  y->known.results = {image(1000)};
  sut.add(y);
  end(sut, y, core::time_point{} + 2s);
  BOOST_REQUIRE(sut.make_disk_room(*y, *y->known.results[0]));
  BOOST_TEST(x->known.expired);
  const auto dropped = sut.take_dropped();
  BOOST_REQUIRE(dropped.size() == 1u);
  BOOST_TEST(dropped[0].first == 1u);
  BOOST_TEST(sut.take_dropped().empty());
  BOOST_TEST(sut.take_expired().size() == 1u);
  sut.remove(*x);
  BOOST_TEST(sut.take_forgotten().size() == 1u);
  BOOST_TEST(sut.forgotten(job_name{"a1"}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
