// SPDX-License-Identifier: Apache-2.0
#include "support/fake_journal.hpp"
#include <atelier/runtime/http/detail/jobs/journal_notes.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

namespace {

/// A job with two images, which the journal keeps.
struct rig {
  rig() {
    job_request what;
    what.id = "a";
    what.images.resize(2);
    x = new_entry(7, what, {});
    sut.accept({7, what, {}}, [](const auto&) {});
    x->journal.keep();
  }

  void end(job_state how, failure why = {}) const {
    x->known.state = how;
    x->known.why = std::move(why);
    x->known.completed = std::chrono::system_clock::time_point{};
  }

  static std::shared_ptr<const generated_image> image(size_t bytes) {
    generated_image out;
    out.bytes.resize(bytes);
    return std::make_shared<const generated_image>(std::move(out));
  }

  const std::optional<journalled_end>& noted() const {
    return journal->there.jobs.at(0).end;
  }

  std::shared_ptr<test::fake_journal> journal =
    std::make_shared<test::fake_journal>();
  const journal_notes sut{journal};
  std::shared_ptr<job_entry> x;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(journal_notes_test, rig)

BOOST_AUTO_TEST_CASE(drawn_job_stays_open_until_its_images_are_in_files) {
  end(job_state::completed);
  x->known.results = {image(3), image(3)};
  sut.end(*x, true);
  BOOST_TEST(!noted().has_value());
  x->known.results = {image(0), image(3)};
  sut.end(*x, false);
  BOOST_TEST_REQUIRE(noted().has_value());
  // Only an image whose bytes are in a file can be found there.
  BOOST_TEST(noted()->images.at(0) == x->known.results[0]);
  BOOST_TEST(noted()->images.at(1) == nullptr);
}

BOOST_AUTO_TEST_CASE(job_that_was_not_drawn_to_its_end_is_noted_at_once) {
  end(job_state::failed, {"poison", "twice", {}});
  x->known.results = {image(3), nullptr};
  sut.end(*x, true);
  BOOST_TEST_REQUIRE(noted().has_value());
  BOOST_TEST(noted()->why.code == "poison");
}

BOOST_AUTO_TEST_CASE(job_that_ends_with_the_engine_stays_open) {
  sut.end(*x, false);
  BOOST_TEST(!noted().has_value());
  end(job_state::failed, {"stopping", "the engine is stopping", {}});
  sut.end(*x, false);
  BOOST_TEST(!noted().has_value());
}

BOOST_AUTO_TEST_CASE(changes_of_a_job_that_is_not_kept_are_not_noted) {
  x->journal.refuse({"full", "no room", {}});
  x->rows.cancel(1);
  end(job_state::cancelled);
  sut.catch_up(*x, false);
  sut.cancel_image(*x, 1);
  bool called = false;
  BOOST_TEST(
    !sut.suspect(*x, 0, {"finishing", 0, 3, 1}, [&] { called = true; }));
  BOOST_TEST(!called);
  BOOST_TEST(!noted().has_value());
  BOOST_TEST(journal->there.jobs[0].cancelled_images.empty());
}

BOOST_AUTO_TEST_CASE(catching_up_notes_cancelled_images_and_the_end) {
  x->rows.cancel(1);
  sut.catch_up(*x, false);
  BOOST_TEST(!noted().has_value());
  BOOST_TEST(
    (journal->there.jobs[0].cancelled_images == std::vector<uint32_t>{1}));
  end(job_state::cancelled);
  sut.catch_up(*x, false);
  BOOST_TEST_REQUIRE(noted().has_value());
  BOOST_TEST((noted()->cancelled_images == std::vector<uint32_t>{1}));
}

BOOST_AUTO_TEST_CASE(trial_of_a_suspect_image_begins_once_it_is_noted) {
  journal->holds = true;
  bool called = false;
  const auto go_on = [&] { called = true; };
  BOOST_TEST(sut.suspect(*x, 1, {"finishing", 0, 3, 1}, go_on));
  BOOST_TEST(!called);
  journal->write();
  BOOST_TEST(called);
  BOOST_TEST(journal->there.jobs.at(0).was.wanted.images.at(1).suspected.trials
             == 1u);
  end(job_state::cancelled);
  BOOST_TEST(!sut.suspect(*x, 1, {"finishing", 0, 3, 2}, go_on));
}

BOOST_AUTO_TEST_CASE(without_a_journal_nothing_is_noted) {
  const journal_notes none{nullptr};
  BOOST_TEST(!none);
  BOOST_TEST(!none.is_behind());
  none.forget({1, 2});
  sut.forget({7});
  BOOST_TEST(journal->there.jobs.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
