// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/image_rows.hpp>

#include <boost/test/unit_test.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <random>

namespace atelier::runtime::http::detail {

using numbers = std::vector<uint64_t>;
using indices = std::vector<uint32_t>;

BOOST_AUTO_TEST_SUITE(image_rows_test)

BOOST_AUTO_TEST_CASE(image_is_open_from_its_submission_to_its_end) {
  image_rows sut{2};
  BOOST_TEST(sut.is_due(1));
  BOOST_TEST((sut.open() == numbers{}));
  sut.submitted(1, 7);
  BOOST_TEST(!sut.is_due(1));
  BOOST_TEST((sut.open() == numbers{7}));
  BOOST_TEST(sut.finish(1));
  BOOST_TEST((sut.open() == numbers{}));
  BOOST_TEST(!sut.is_due(1));
  BOOST_TEST(sut.is_due(0));
}

BOOST_AUTO_TEST_CASE(answer_before_the_request_is_known_leaves_nothing_open) {
  image_rows sut{1};
  BOOST_TEST(sut.finish(0));
  sut.submitted(0, 7);
  BOOST_TEST((sut.open() == numbers{}));
  BOOST_TEST(!sut.is_due(0));
}

BOOST_AUTO_TEST_CASE(image_that_was_put_back_is_due_until_the_next_request) {
  image_rows sut{1};
  sut.submitted(0, 7);
  sut.put_back(0);
  BOOST_TEST(sut.is_due(0));
  BOOST_TEST((sut.open() == numbers{}));
  sut.submitted(0, 8);
  BOOST_TEST(!sut.is_due(0));
  BOOST_TEST((sut.open() == numbers{8}));
}

BOOST_AUTO_TEST_CASE(image_put_back_before_its_request_is_known_is_due) {
  image_rows sut{1};
  sut.put_back(0);
  sut.submitted(0, 7);
  BOOST_TEST(sut.is_due(0));
  // Only that request was put back.
  sut.submitted(0, 8);
  BOOST_TEST((sut.open() == numbers{8}));
}

BOOST_AUTO_TEST_CASE(image_ends_once) {
  image_rows sut{2};
  BOOST_TEST(sut.cancel(0));
  BOOST_TEST(!sut.cancel(0));
  BOOST_TEST(!sut.finish(0));
  BOOST_TEST(sut.finish(1));
  BOOST_TEST(!sut.cancel(1));
  BOOST_TEST((sut.cancelled() == indices{0}));
}

BOOST_AUTO_TEST_CASE(drawn_image_did_the_steps_that_were_known) {
  image_rows sut{2};
  sut.expect(0, 8);
  sut.step(0, 3, 9);
  BOOST_TEST(sut[0].steps_done == 3u);
  BOOST_TEST(sut[0].steps == 9u);
  sut.drawn(0, 5);
  BOOST_TEST(sut[0].steps_done == 9u);
  sut.drawn(1, 5);
  BOOST_TEST(sut[1].steps == 5u);
  BOOST_TEST(sut[1].steps_done == 5u);
}

BOOST_AUTO_TEST_CASE(image_is_never_open_and_due_or_ended) {
  std::mt19937_64 random{test::seed()};
  const auto below = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  for (size_t round = 0; round < test::scaled(20'000); ++round) {
    image_rows sut{3};
    uint64_t request = 0;
    for (int i = 0; i < 30; ++i) {
      const auto index = below(3);
      const bool ended = sut[index].ended;
      switch (below(4)) {
        case 0:
          if (sut.is_due(index))
            sut.submitted(index, ++request);
          break;
        case 1:
          if (!ended)
            sut.put_back(index);
          break;
        case 2:
          BOOST_TEST(sut.finish(index) == !ended);
          break;
        default:
          BOOST_TEST(sut.cancel(index) == !ended);
      }
      BOOST_TEST((!ended || sut[index].ended));
      const auto open = sut.open();
      for (uint32_t k = 0; k < sut.size(); ++k) {
        const auto& row = sut[k];
        BOOST_TEST((!row.cancelled || row.ended));
        if (sut.is_due(k) || row.ended)
          BOOST_TEST((row.request == 0
                      || std::find(open.begin(), open.end(), row.request)
                           == open.end()));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
