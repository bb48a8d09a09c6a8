// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/answer_head.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(answers_of_a_head)

namespace {

constexpr std::array<caption_question, 2> two_questions{
  {{"colour", 5}, {"size", 2}}};

answer_head some_head() {
  core::philox from{3, core::purpose::test, core::request_id{1}};
  return {"asked", two_questions, 8, from, torch::kCPU};
}

} // namespace

BOOST_AUTO_TEST_CASE(a_question_is_never_answered_by_a_class_it_lacks) {
  const auto head = some_head();
  const auto replies = head.replies(torch::randn({6, 3, 8}) * 100);
  BOOST_TEST(replies.sizes() == torch::IntArrayRef({6, 3, 2, 5}));
  BOOST_TEST(replies.select(2, 1).argmax(-1).max().item<int64_t>() < 2);
  // Without training all classes are equally likely, except the missing ones.
  const auto even = head.replies(torch::zeros({1, 8}));
  const auto loss = answer_loss(even, torch::tensor({{4, 1}}, torch::kInt64));
  BOOST_TEST(std::abs(loss.item<double>() - (std::log(5.0) + std::log(2.0)) / 2)
             < 1e-5);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_answered_does_not_count) {
  const auto head = some_head();
  const auto replies = head.replies(torch::randn({2, 8}));
  const auto some = answer_loss(
    replies, torch::tensor({{3, -100}, {-100, -100}}, torch::kInt64));
  const auto one = answer_loss(replies.slice(0, 0, 1).slice(1, 0, 1),
                               torch::tensor({{3}}, torch::kInt64));
  BOOST_TEST(std::abs(some.item<double>() - one.item<double>()) < 1e-5);
}

BOOST_AUTO_TEST_CASE(only_what_there_is_to_tell_is_counted) {
  // The answers are [2, 2, 5]: the first reply is class 1, the second is class
  // 0.
  auto replies = torch::zeros({2, 2, 5});
  replies.select(2, 1).select(0, 0).fill_(1);
  const auto told = tell_right(
    "right", replies, torch::tensor({{1, 0}, {1, -100}}, torch::kInt64));
  BOOST_TEST(told.sum.item<double>() == 1);
  BOOST_TEST(told.count.item<double>() == 2);
}

BOOST_AUTO_TEST_CASE(its_parameters_are_helpers) {
  std::vector<trained_parameter> all;
  some_head().add_parameters(all);
  BOOST_REQUIRE(all.size() == 2);
  for (const auto& x : all) {
    BOOST_TEST(x.helper);
    BOOST_TEST(x.value.requires_grad());
  }
  BOOST_TEST(all[0].name == "asked.weight");
}

BOOST_AUTO_TEST_SUITE_END()
