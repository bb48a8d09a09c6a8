// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/program/reuse_study/answered_line.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>

using namespace atelier;
using namespace atelier::runtime::reuse_study;

namespace {

answered_line line(uint64_t number) {
  answered_line x;
  x.number = number;
  x.prompt = "a \"red\" circle\nat the top";
  x.seed = 4294967295;
  x.session = 3;
  x.change = "one";
  x.route = "latent, K=20";
  x.reused = "latent";
  x.skipped = 20;
  x.similarity = 0.91;
  x.nearest = 0.93;
  x.steps_run = 30;
  x.text_ms = 1.5;
  x.denoise_ms = 600;
  x.decode_ms = 40;
  x.total_ms = 700;
  x.stored = true;
  x.objects_said = 3;
  x.objects_right = 2;
  x.distance = 0.125;
  return x;
}

struct fixture : test::scratch_folder {
  study_log open() const {
    auto out = study_log::open(path / "log.jsonl");
    BOOST_TEST_REQUIRE(bool{out});
    return *out;
  }

  core::error why() const {
    const auto out = study_log::open(path / "log.jsonl");
    BOOST_TEST_REQUIRE(!out);
    return out.why();
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(answered_line_test, fixture)

BOOST_AUTO_TEST_CASE(lines_come_back_as_they_were) {
  auto log = open();
  BOOST_TEST(log.lines().empty());
  answered_line plain;
  plain.number = 1;
  BOOST_TEST(bool{log.append(line(0))});
  BOOST_TEST(bool{log.append(plain)});
  const auto again = open();
  BOOST_TEST_REQUIRE(again.lines().size() == 2u);
  BOOST_TEST((again.lines()[0] == line(0)));
  BOOST_TEST((again.lines()[1] == plain));
  BOOST_TEST(again.lines()[0].device_ms() == 641.5);
}

BOOST_AUTO_TEST_CASE(an_incomplete_last_line_is_written_again) {
  auto log = open();
  BOOST_TEST(bool{log.append(line(0))});
  const auto whole = read("log.jsonl");
  write("log.jsonl", whole + whole.substr(0, 20));
  auto again = open();
  BOOST_TEST_REQUIRE(again.lines().size() == 1u);
  BOOST_TEST(bool{again.append(line(1))});
  BOOST_TEST(open().lines().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_line_that_is_no_answer_is_named) {
  write("log.jsonl", "{\"number\": 0}\n");
  BOOST_TEST((why().code == core::ec::bad_payload));
  BOOST_TEST(why().text.find("line 1") != std::string::npos);
  write("log.jsonl", "");
  auto log = open();
  BOOST_TEST(bool{log.append(line(4))});
  BOOST_TEST(why().text.find("number 4 is not its place, 0")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
