// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/torch_info.hpp>

#include <boost/test/unit_test.hpp>

#include <charconv>

BOOST_AUTO_TEST_SUITE(torch_info_test)

BOOST_AUTO_TEST_CASE(version_is_new_enough_for_cpp20) {
  const auto info = atelier::gpu::describe_torch();
  int major = 0;
  const auto& text = info.version;
  const auto parsed =
    std::from_chars(text.data(), text.data() + text.size(), major);
  BOOST_TEST(bool(parsed.ec == std::errc{}));
  BOOST_TEST(major >= 2);
}

BOOST_AUTO_TEST_CASE(thread_counts_are_positive) {
  const auto info = atelier::gpu::describe_torch();
  BOOST_TEST(info.intra_op_threads >= 1);
  BOOST_TEST(info.inter_op_threads >= 1);
}

BOOST_AUTO_TEST_CASE(device_count_is_not_negative) {
  BOOST_TEST(atelier::gpu::describe_torch().cuda_devices >= 0);
}

BOOST_AUTO_TEST_SUITE_END()
