// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/image_shelves.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

namespace {

core::time_point at(int seconds) {
  return core::time_point{} + std::chrono::seconds{seconds};
}

} // namespace

BOOST_AUTO_TEST_SUITE(image_shelves_test)

BOOST_AUTO_TEST_CASE(job_not_asked_for_the_longest_goes_from_memory_first) {
  image_shelves sut{100, 100};
  sut.keep(1, 40, at(1));
  sut.keep(2, 40, at(2));
  BOOST_TEST(!sut.over_memory());
  sut.use(1, at(3));
  sut.keep(3, 40, at(4));
  BOOST_TEST(sut.over_memory().value() == 2u);
  BOOST_TEST(sut.forget(2));
  BOOST_TEST(!sut.over_memory());
  BOOST_TEST(sut.bytes() == 80u);
  BOOST_TEST(sut.jobs() == 2u);
  BOOST_TEST(!sut.forget(2));
}

BOOST_AUTO_TEST_CASE(image_that_goes_into_a_file_counts_there) {
  image_shelves sut{100, 100};
  sut.keep(1, 50, at(1));
  BOOST_TEST(sut.is_unstored(1));
  sut.move_into_file(1, 20, 15);
  BOOST_TEST(sut.bytes() == 30u);
  BOOST_TEST(sut.disk_bytes() == 15u);
  sut.move_into_file(1, 30, 25);
  BOOST_TEST(sut.bytes() == 0u);
  sut.store_no_more(1);
  BOOST_TEST(!sut.is_unstored(1));
  BOOST_TEST(sut.keeps(1));
  // It no longer uses memory.
  sut.keep(2, 101, at(2));
  BOOST_TEST(sut.over_memory().value() == 2u);
  BOOST_TEST(sut.forget(1));
  BOOST_TEST(sut.disk_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(files_make_room_but_not_of_the_job_that_asks) {
  image_shelves sut{100, 100};
  sut.keep_in_files(1, 50, at(1));
  sut.keep_in_files(2, 30, at(2));
  BOOST_TEST(!sut.over_disk());
  BOOST_TEST(!sut.over_disk(20, 1));
  BOOST_TEST(sut.over_disk(21, 1).value() == 2u);
  BOOST_TEST(sut.over_disk(21, 2).value() == 1u);
  sut.keep_in_files(3, 30, at(3));
  BOOST_TEST(sut.over_disk().value() == 1u);
}

BOOST_AUTO_TEST_CASE(what_never_finds_room_in_files_is_known) {
  image_shelves sut{100, 100};
  sut.keep(1, 200, at(1));
  BOOST_TEST(sut.could_store(1, 100));
  BOOST_TEST(!sut.could_store(1, 101));
  sut.move_into_file(1, 100, 60);
  BOOST_TEST(!sut.could_store(1, 41));
  BOOST_TEST(!sut.could_store(2, 1));
}

BOOST_AUTO_TEST_CASE(jobs_that_wait_for_files_come_oldest_first) {
  image_shelves sut{100, 100};
  sut.keep(2, 10, at(1));
  sut.keep(1, 10, at(2));
  sut.keep_in_files(3, 10, at(3));
  BOOST_TEST(sut.unstored() == (std::vector<uint64_t>{1, 2}),
             boost::test_tools::per_element());
  sut.forget(1);
  BOOST_TEST(!sut.is_unstored(1));
}

BOOST_AUTO_TEST_CASE(asking_for_a_job_moves_it_back_in_files_too) {
  image_shelves sut{100, 100};
  sut.keep_in_files(1, 60, at(1));
  sut.keep_in_files(2, 60, at(2));
  sut.use(1, at(3));
  sut.use(9, at(3));
  BOOST_TEST(sut.over_disk().value() == 2u);
}

BOOST_AUTO_TEST_CASE(images_go_from_the_owner_that_holds_the_most) {
  image_shelves sut{100, 100};
  sut.keep(1, 30, at(1), "ann");
  sut.keep(2, 40, at(2), "bob");
  sut.keep(3, 20, at(3), "bob");
  BOOST_TEST(!sut.over_memory());
  sut.keep(4, 40, at(4), "bob");
  BOOST_TEST(sut.over_memory().value() == 2u);
  sut.use(2, at(5));
  BOOST_TEST(sut.over_memory().value() == 3u);
  sut.forget(2);
  sut.forget(4);
  sut.keep(5, 60, at(6), "ann");
  BOOST_TEST(sut.over_memory().value() == 1u);
}

BOOST_AUTO_TEST_CASE(files_go_from_the_owner_that_holds_the_most) {
  image_shelves sut{100, 100};
  sut.keep_in_files(1, 50, at(1), "ann");
  sut.keep_in_files(2, 20, at(2), "bob");
  sut.keep_in_files(3, 20, at(3), "bob");
  // What the owner asks for counts as its own.
  BOOST_TEST(sut.over_disk(20, 3).value() == 2u);
  BOOST_TEST(sut.over_disk(11, 1).value() == 2u);
  sut.keep_in_files(4, 5, at(4), "cid");
  BOOST_TEST(sut.over_disk(6, 4).value() == 1u);
  BOOST_TEST(sut.forget(1));
  BOOST_TEST(sut.disk_bytes() == 45u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
