// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/evaluation/session_captions.hpp>

#include <boost/test/unit_test.hpp>

#include <map>
#include <set>

using namespace atelier;
using gpu::session_change;

namespace {

constexpr size_t many = 1000;

bool are_equal(const gpu::session_caption& a, const gpu::session_caption& b) {
  return a.said.text == b.said.text && a.said.says == b.said.says
      && a.session == b.session && a.change == b.change && a.seed == b.seed;
}

} // namespace

BOOST_AUTO_TEST_SUITE(session_captions_test)

BOOST_AUTO_TEST_CASE(the_first_captions_are_the_same_however_many_are_drawn) {
  const auto few = gpu::draw_sessions(3, 40);
  const auto more = gpu::draw_sessions(3, 80);
  BOOST_TEST_REQUIRE(few.size() == 40u);
  for (size_t i = 0; i < few.size(); ++i)
    BOOST_TEST(are_equal(few[i], more[i]), few[i].said.text);
  const auto other = gpu::draw_sessions(4, 40);
  size_t same = 0;
  for (size_t i = 0; i < few.size(); ++i)
    same += few[i].said.text == other[i].said.text ? 1u : 0u;
  BOOST_TEST(same < 5u);
}

BOOST_AUTO_TEST_CASE(a_session_repeats_its_caption_nearly_with_one_seed) {
  std::map<uint64_t, gpu::session_caption> last;
  std::map<session_change, size_t> changes;
  size_t other_words = 0;
  for (const auto& x : gpu::draw_sessions(1, many)) {
    ++changes[x.change];
    BOOST_TEST(x.seed <= UINT32_MAX);
    const auto at = last.find(x.session);
    BOOST_TEST((at == last.end()) == (x.change == session_change::first));
    if (at != last.end()) {
      const auto& before = at->second;
      BOOST_TEST(x.seed == before.seed);
      BOOST_TEST(x.said.says.objects.size() == before.said.says.objects.size());
      if (x.change == session_change::reworded) {
        BOOST_TEST((x.said.says == before.said.says));
        other_words += x.said.text != before.said.text ? 1u : 0u;
      }
    }
    last.insert_or_assign(x.session, x);
  }
  // Four captions of a session on average.
  BOOST_TEST(last.size() > many / 5);
  BOOST_TEST(last.size() < many / 3);
  for (const auto x :
       {session_change::reworded, session_change::one, session_change::two})
    BOOST_TEST(changes[x] > many / 20, gpu::to_string(x));
  BOOST_TEST(other_words > changes[session_change::reworded] * 3 / 4);
}

BOOST_AUTO_TEST_CASE(one_thing_changes_or_two) {
  std::map<uint64_t, gpu::description> last;
  size_t same = 0, all = 0;
  for (const auto& x : gpu::draw_sessions(2, many)) {
    if (x.change == session_change::one || x.change == session_change::two) {
      ++all;
      same += x.said.says == last.at(x.session) ? 1u : 0u;
    }
    last.insert_or_assign(x.session, x.said.says);
  }
  BOOST_TEST(same * 50 < all);
}

BOOST_AUTO_TEST_CASE(everything_said_can_be_shown) {
  for (const auto& x : gpu::draw_sessions(5, many)) {
    const auto& says = x.said.says;
    std::set<gpu::grid_place> places;
    for (const auto& object : says.objects) {
      if (object.place)
        BOOST_TEST(places.insert(*object.place).second, x.said.text);
      if (object.colour && says.background)
        BOOST_TEST(
          (to_string(*object.colour) != to_string(says.background->from)
           && to_string(*object.colour) != to_string(says.background->to)),
          x.said.text);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
