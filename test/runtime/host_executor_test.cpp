// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/runtime/host_executor.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace atelier;
using core::ec;

namespace {

core::ticket row(uint64_t n) {
  return {core::request_id{n}, 1};
}

/// An executor whose functions a test supplies.
struct scripted : gpu::executor {
  void connect(gpu::executor_events events) override {
    if (throws)
      throw std::runtime_error{"no ears"};
    to = std::move(events);
  }

  void open(const gpu::open_job& job) override {
    if (throws)
      throw std::runtime_error{"no door"};
    opened.push_back(job.ticket);
  }

  void run(const gpu::run_job& job) override {
    if (throws)
      throw std::bad_alloc{};
    ran.push_back(job.rows);
  }

  void interrupt() override {
    throw 7;
  }

  void decode(core::ticket) override {
    if (throws)
      throw std::runtime_error{"no eyes"};
  }

  bool load(const std::vector<core::variant_id>&,
            const std::vector<core::variant_id>&) override {
    if (throws)
      throw std::runtime_error{"no room"};
    return true;
  }

  void forget(const std::vector<core::variant_id>&) override {
    throw 7;
  }

  std::vector<core::variant_id> resident() const override {
    return there;
  }

  void close(core::ticket) override {
    throw 7;
  }

  void rouse() override {
    throw 7;
  }

  gpu::executor_events to;
  bool throws = false;
  std::vector<core::variant_id> there;
  std::vector<core::ticket> opened;
  std::vector<std::vector<core::ticket>> ran;
};

struct rig {
  std::shared_ptr<scripted> own = std::make_shared<scripted>();
  executor_setup from = [] {
    executor_setup x;
    x.device = "cpu:0";
    x.profile =
      std::make_shared<const planning::profile>(test::three_variants());
    return x;
  }();
  std::shared_ptr<gpu::executor> sut;
  std::vector<gpu::run_report> runs;
  std::vector<gpu::decode_report> decodings;
  std::vector<gpu::load_report> loadings;

  core::error make() {
    auto made = runtime::make_host_executor(
      {"own", [this](const executor_setup&) { return own; }}, from);
    if (!made)
      return made.why();
    sut = *made;
    sut->connect(
      {[this](gpu::run_report x) { runs.push_back(std::move(x)); },
       [this](gpu::decode_report x) { decodings.push_back(std::move(x)); },
       [this](gpu::load_report x) { loadings.push_back(std::move(x)); }});
    return {};
  }

  void open(uint64_t n) {
    gpu::open_job job;
    job.ticket = row(n);
    sut->open(job);
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(host_executor_test)

BOOST_AUTO_TEST_CASE(what_it_tells_is_handed_on) {
  rig x;
  BOOST_TEST((x.make() == core::error{}));
  x.open(1);
  x.open(2);
  x.sut->run({{row(1), row(2)}, 1});
  BOOST_TEST((x.own->ran.at(0) == std::vector{row(1), row(2)}));
  gpu::run_report done;
  done.rows = {{row(1), 3, true, {}}, {row(2), 4, true, {}}};
  done.steps = 1;
  x.own->to.ran(done);
  BOOST_TEST_REQUIRE(x.runs.size() == 1u);
  BOOST_TEST(x.runs[0].rows[1].steps_done == 4u);
  BOOST_TEST(x.runs[0].steps == 1u);
  x.sut->decode(row(1));
  gpu::decode_report image;
  image.ticket = row(1);
  x.own->to.decoded(image);
  BOOST_TEST(x.decodings.size() == 1u);
  BOOST_TEST(x.sut->load({}, {}));
}

BOOST_AUTO_TEST_CASE(a_row_that_was_not_opened_fails_in_its_run) {
  rig x;
  BOOST_TEST((x.make() == core::error{}));
  x.open(1);
  x.own->throws = true;
  x.open(2);
  x.own->throws = false;
  x.sut->run({{row(1), row(2)}, 1});
  // The host's executor does not see the other row.
  BOOST_TEST((x.own->ran.at(0) == std::vector{row(1)}));
  gpu::run_report done;
  done.rows = {{row(1), 1, true, {}}};
  x.own->to.ran(done);
  BOOST_TEST_REQUIRE(x.runs.size() == 1u);
  BOOST_TEST_REQUIRE(x.runs[0].rows.size() == 2u);
  BOOST_TEST(x.runs[0].rows[0].failure.text
             == "executor 'own' threw in open: no door");
  BOOST_TEST((x.runs[0].rows[1].failure == core::error{}));
  // By itself the row fails at once.
  x.sut->run({{row(2)}, 1});
  BOOST_TEST(x.runs.size() == 2u);
  BOOST_TEST(x.own->ran.size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_calls_throw_fails_what_they_were_for) {
  rig x;
  BOOST_TEST((x.make() == core::error{}));
  x.open(1);
  x.own->throws = true;
  x.sut->run({{row(1)}, 1});
  BOOST_TEST_REQUIRE(x.runs.size() == 1u);
  BOOST_TEST((x.runs[0].rows.at(0).failure
              == core::fail(ec::out_of_resources,
                            "executor 'own' threw in run: out of memory")));
  x.sut->decode(row(1));
  BOOST_TEST_REQUIRE(x.decodings.size() == 1u);
  BOOST_TEST(x.decodings[0].failure.text
             == "executor 'own' threw in decode: no eyes");
  BOOST_TEST(!x.sut->load({}, {}));
  BOOST_TEST_REQUIRE(x.loadings.size() == 1u);
  BOOST_TEST(x.loadings[0].failure.text
             == "executor 'own' threw in load: no room");
  // These calls concern no row.
  x.sut->interrupt();
  x.sut->forget({});
  x.sut->rouse();
  x.sut->close(row(1));
}

BOOST_AUTO_TEST_CASE(what_nobody_asked_for_is_left_out) {
  rig x;
  BOOST_TEST((x.make() == core::error{}));
  x.own->to.ran({});
  gpu::decode_report image;
  image.ticket = row(1);
  x.own->to.decoded(image);
  BOOST_TEST(x.runs.empty());
  BOOST_TEST(x.decodings.empty());
  // It reports the same row a second time, and rows of another run.
  x.open(1);
  x.sut->run({{row(1)}, 1});
  gpu::run_report done;
  done.rows = {{row(9), 1, true, {}}};
  x.own->to.ran(done);
  x.own->to.ran(done);
  BOOST_TEST_REQUIRE(x.runs.size() == 1u);
  BOOST_TEST_REQUIRE(x.runs[0].rows.size() == 1u);
  BOOST_TEST((x.runs[0].rows[0].ticket == row(1)));
  BOOST_TEST(x.runs[0].rows[0].failure.text
             == "executor 'own' said nothing of the row");
  x.sut->decode(row(1));
  x.sut->close(row(1));
  x.own->to.decoded(image);
  BOOST_TEST(x.decodings.empty());
}

BOOST_AUTO_TEST_CASE(what_it_tells_after_its_end_goes_nowhere) {
  rig x;
  BOOST_TEST((x.make() == core::error{}));
  x.open(1);
  x.sut->run({{row(1)}, 1});
  x.sut.reset();
  x.own->to.ran({});
  x.own->to.loaded({});
  BOOST_TEST(x.runs.empty());
  BOOST_TEST(x.loadings.empty());
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_asked_is_not_made) {
  rig x;
  x.own->throws = true;
  BOOST_TEST(x.make().text
             == "devices: cpu:0: executor 'own' threw in connect: no ears");
  x.own->throws = false;
  x.own->there = {core::variant_id{3}};
  BOOST_TEST(x.make().text
             == "devices: cpu:0: executor 'own': its resident variant 3 is "
                "outside 0..3");
}

BOOST_AUTO_TEST_SUITE_END()
