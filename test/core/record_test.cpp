// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/record.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <limits>

using namespace atelier::core;

namespace {

enum class colour : uint8_t { red, green, blue };
enum class lone : uint8_t { only };
// The values count up from 0 to 1; `far` does not follow.
enum class gap : uint8_t { first, second, far = 7 };

static_assert(enum_count<colour> == 3);
static_assert(enum_count<lone> == 1);
static_assert(enum_count<gap> == 2);

struct inner {
  std::vector<std::string> words;
  bool yes = false;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, inner& x) {
    return f(x.words, x.yes);
  }
};

std::vector<std::byte> written(auto... fields) {
  std::vector<std::byte> bytes;
  record_writer sink{bytes};
  sink(fields...);
  return bytes;
}

} // namespace

BOOST_AUTO_TEST_SUITE(record_test)

BOOST_AUTO_TEST_CASE(every_kind_of_field_comes_back) {
  const auto bytes =
    written(colour::blue, uint32_t{7}, int64_t{-1}, std::string{"a\0b", 3},
            std::chrono::nanoseconds{-5}, inner{{"one", ""}, true},
            std::vector<uint16_t>{1, 2});
  record_reader source{bytes};
  colour c{};
  uint32_t u = 0;
  int64_t i = 0;
  std::string text;
  std::chrono::nanoseconds span{};
  inner x;
  std::vector<uint16_t> list{9};
  BOOST_TEST_REQUIRE(source(c, u, i, text, span, x, list));
  BOOST_TEST(source.left() == 0u);
  BOOST_TEST((c == colour::blue && u == 7 && i == -1 && span.count() == -5));
  BOOST_TEST(text == std::string("a\0b", 3));
  BOOST_TEST((x.words == std::vector<std::string>{"one", ""} && x.yes));
  BOOST_TEST((list == std::vector<uint16_t>{1, 2}));
}

BOOST_AUTO_TEST_CASE(floats_keep_every_bit) {
  for (const double value :
       {0.0, -0.0, 0.1, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::quiet_NaN()}) {
    const auto bytes = written(value, static_cast<float>(value));
    record_reader source{bytes};
    double d = 1;
    float f = 1;
    BOOST_TEST_REQUIRE(source(d, f));
    BOOST_TEST(std::bit_cast<uint64_t>(d) == std::bit_cast<uint64_t>(value));
    BOOST_TEST(std::bit_cast<uint32_t>(f)
               == std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
}

BOOST_AUTO_TEST_CASE(a_value_without_a_name_is_told_from_an_early_end) {
  const auto unnamed = written(static_cast<colour>(3));
  record_reader source{unnamed};
  colour c{};
  BOOST_TEST(!source(c));
  BOOST_TEST((source.how() == record_reader::outcome::unnamed_value));
  const auto third = written(uint8_t{2});
  record_reader truth{third};
  bool yes = false;
  BOOST_TEST(!truth(yes));
  BOOST_TEST((truth.how() == record_reader::outcome::unnamed_value));
  const auto half = written(uint16_t{1});
  record_reader early{half};
  uint32_t u = 0;
  BOOST_TEST(!early(u));
  BOOST_TEST((early.how() == record_reader::outcome::too_short));
  // Every later read fails, too.
  uint8_t rest = 0;
  BOOST_TEST(!early(rest));
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_bytes_takes_no_memory) {
  const auto bytes = written(uint64_t{1} << 60, uint8_t{0});
  record_reader list{bytes};
  std::vector<std::string> words;
  BOOST_TEST(!list(words));
  record_reader one{bytes};
  std::string text;
  BOOST_TEST(!one(text));
  BOOST_TEST((one.how() == record_reader::outcome::too_short));
}

BOOST_AUTO_TEST_SUITE_END()
