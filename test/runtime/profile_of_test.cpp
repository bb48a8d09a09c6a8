// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/profile_of.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;

BOOST_AUTO_TEST_SUITE(profile_of_test)

BOOST_AUTO_TEST_CASE(a_variant_is_read) {
  const auto v = planning::parse_variant("base@50");
  BOOST_TEST_REQUIRE(v.operator bool());
  BOOST_TEST(v->name == "base@50");
  BOOST_TEST(v->model == "base");
  BOOST_TEST(v->steps == 50u);
  BOOST_TEST((v->precision == core::dtype::float32));
}

BOOST_AUTO_TEST_CASE(an_element_type_is_read) {
  const std::pair<const char*, core::dtype> rows[] = {
    {"a@1/f32", core::dtype::float32},
    {"a@1/f16", core::dtype::float16},
    {"a@1/bf16", core::dtype::bfloat16},
  };
  for (const auto& [name, type] : rows) {
    const auto v = planning::parse_variant(name);
    BOOST_TEST_REQUIRE(v.operator bool(), name);
    BOOST_TEST((v->precision == type), name);
    BOOST_TEST(v->model == "a");
  }
}

BOOST_AUTO_TEST_CASE(the_last_at_divides) {
  const auto v = planning::parse_variant("a@b@3");
  BOOST_TEST_REQUIRE(v.operator bool());
  BOOST_TEST(v->model == "a@b");
}

BOOST_AUTO_TEST_CASE(what_is_no_variant_is_refused) {
  for (const auto* name :
       {"", "a", "@", "@5", "a@", "a@0", "a@-1", "a@+1", "a@1.5", "a@ 1",
        "a@1 ", "a@4294967296", "a@1/", "a@1/f64", "a@1/f32/f32", "a@/f32"}) {
    const auto v = planning::parse_variant(name);
    BOOST_TEST(!v, name);
    if (!v)
      BOOST_TEST((v.why().code == core::ec::bad_config), name);
  }
}

BOOST_AUTO_TEST_CASE(variants_stand_in_the_order_of_their_first_mention) {
  config::settings x;
  x.devices.resize(2);
  x.devices[0].variants = {"b@1", "a@2"};
  x.devices[1].variants = {"a@2", "c@3"};
  const auto known = *runtime::profile_of(x);
  BOOST_TEST_REQUIRE(known.variants.size() == 3u);
  BOOST_TEST(known.variants[0].name == "b@1");
  BOOST_TEST(known.variants[1].name == "a@2");
  BOOST_TEST(known.variants[2].name == "c@3");
}

BOOST_AUTO_TEST_CASE(steps_of_one_model_are_variants_of_their_own) {
  config::settings x;
  x.devices[0].variants = {"a@2", "a@3", "a@2/f16"};
  BOOST_TEST(runtime::profile_of(x)->variants.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
