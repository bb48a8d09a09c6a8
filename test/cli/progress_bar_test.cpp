// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/progress_bar.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::runtime::cli;
using namespace std::chrono_literals;

namespace {

const progress_bar::time_point start{};

} // namespace

BOOST_AUTO_TEST_SUITE(progress_bar_test)

BOOST_AUTO_TEST_CASE(short_work_shows_nothing) {
  const progress_bar sut{3, start};
  BOOST_TEST(!sut.line(start + 999ms, 80));
  BOOST_TEST(sut.line(start + 1s, 80).has_value());
}

BOOST_AUTO_TEST_CASE(running_images_count_by_their_steps) {
  progress_bar sut{4, start};
  sut.step(0, 5, 20);
  sut.step(1, 10, 20);
  BOOST_TEST(sut.share() == 0.1875);
  sut.finish(0);
  BOOST_TEST(sut.share() == 0.375);
}

BOOST_AUTO_TEST_CASE(many_images_show_their_rate_and_time_left) {
  progress_bar sut{4, start};
  sut.finish(0);
  const auto line = *sut.line(start + 2s, 60);
  BOOST_TEST(line.ends_with("] 1/4  0.50 images/s  6 s left"));
  BOOST_TEST(line.size() < 60u);
}

BOOST_AUTO_TEST_CASE(one_image_shows_its_steps) {
  progress_bar sut{1, start};
  sut.step(0, 10, 40);
  BOOST_TEST(
    sut.line(start + 5s, 80)->ends_with(" 0/1  2.0 steps/s  15 s left"));
}

BOOST_AUTO_TEST_CASE(nothing_done_promises_nothing) {
  const progress_bar sut{2, start};
  BOOST_TEST(sut.line(start + 5s, 80)->find("left") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(steps_of_no_known_number_do_no_harm) {
  progress_bar sut{1, start};
  sut.step(0, 3, 0);
  BOOST_TEST(sut.share() == 0.);
  sut.step(0, 30, 20);
  BOOST_TEST(sut.share() == 1.);
}

BOOST_AUTO_TEST_CASE(no_line_is_wider_than_the_terminal) {
  progress_bar sut{1000000, start};
  sut.finish(0);
  for (uint32_t columns = 0; columns < 200; ++columns)
    BOOST_TEST(sut.line(start + 100h, columns)->size()
               <= (columns > 0 ? columns - 1 : 0));
}

BOOST_AUTO_TEST_CASE(durations_are_short) {
  BOOST_TEST(show_duration(0) == "0 s");
  BOOST_TEST(show_duration(59) == "59 s");
  BOOST_TEST(show_duration(59.5) == "1:00");
  BOOST_TEST(show_duration(3599) == "59:59");
  BOOST_TEST(show_duration(3661) == "1:01:01");
}

BOOST_AUTO_TEST_SUITE_END()
