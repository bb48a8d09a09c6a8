// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/detail/jobs/image_storage.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>

#include <filesystem>

using namespace std::chrono_literals;

namespace atelier::runtime::http::detail {

namespace {

namespace fs = std::filesystem;

/// Ended jobs, and a folder for their images.
struct rig : test::scratch_folder {
  rig() {
    auto opened = result_files::open(folder);
    BOOST_REQUIRE(opened);
    files = *opened;
    sut = std::make_unique<image_storage>(lock, table, files,
                                          [this](const job_entry& x) {
                                            stored.push_back(x.number);
                                            if (when_stored)
                                              when_stored();
                                          });
  }

  /// Returns an entry whose images are `sizes` bytes.
  std::shared_ptr<job_entry> entry(const std::vector<size_t>& sizes) {
    job_request what;
    what.id = "a" + std::to_string(table.next_number());
    what.keeps = true;
    what.images.resize(sizes.size());
    auto x = new_entry(table.next_number(), what, {});
    for (size_t i = 0; i < sizes.size(); ++i) {
      generated_image one;
      one.bytes.assign(sizes[i], static_cast<uint8_t>(i + 1));
      one.steps_run = 4;
      x->known.results[i] =
        std::make_shared<const generated_image>(std::move(one));
    }
    return x;
  }

  std::shared_ptr<job_entry> ended(const std::vector<size_t>& sizes) {
    auto x = entry(sizes);
    table.add(x);
    x->known.state = job_state::completed;
    table.end(x);
    return x;
  }

  size_t count() const {
    return static_cast<size_t>(
      std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
  }

  const fs::path folder = path / "results";
  std::mutex lock;
  job_table table{{10, 4, 1 << 20, 10s, 6000}};
  std::shared_ptr<const result_files> files;
  std::vector<uint64_t> stored;
  std::function<void()> when_stored;
  std::unique_ptr<image_storage> sut;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(image_storage_test, rig)

BOOST_AUTO_TEST_CASE(image_leaves_memory_once_its_file_is_written) {
  const auto x = ended({100, 200});
  sut->store();
  BOOST_TEST(count() == 2u);
  BOOST_TEST(x->known.results[1]->bytes.empty());
  BOOST_TEST(table.kept_bytes() == 0u);
  BOOST_TEST((stored == std::vector<uint64_t>{1}));
  const auto whole = sut->with_bytes(1, x->known);
  BOOST_TEST((whole.results[1]->bytes == std::vector<uint8_t>(200, 2)));
  BOOST_TEST((sut->sizes(1, x->known) == std::vector<uint64_t>{100, 200}));
}

BOOST_AUTO_TEST_CASE(images_stay_in_memory_while_the_disk_fails) {
  std::vector<std::string> lines;
  auto log = core::start_log("warn", [&](core::log_level, std::string_view x) {
    lines.emplace_back(x);
  });
  BOOST_REQUIRE(log);
  const auto x = ended({100});
  const auto y = ended({100});
  fs::remove_all(folder);
  sut->store();
  sut->store();
  BOOST_TEST(stored.empty());
  BOOST_TEST(x->known.results[0]->bytes.size() == 100u);
  fs::create_directories(folder);
  sut->store();
  BOOST_TEST((stored == std::vector<uint64_t>{1, 2}));
  BOOST_TEST(y->known.results[0]->bytes.empty());
  (*log).reset();
  // A failure and its end are logged once each.
  BOOST_TEST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(lines[0].starts_with("results of jobs stay in memory"));
  BOOST_TEST(lines[1] == "results of jobs are written to files again");
}

BOOST_AUTO_TEST_CASE(files_of_images_that_are_no_longer_kept_are_removed) {
  const auto x = ended({100});
  sut->store();
  const auto y = ended({4000});
  sut->store();
  // There is no room for both.
  BOOST_TEST(x->known.expired);
  BOOST_TEST(count() == 1u);
  table.remove(*y);
  sut->remove_dropped();
  BOOST_TEST(count() == 0u);
}

BOOST_AUTO_TEST_CASE(job_that_is_forgotten_meanwhile_leaves_no_file) {
  ended({100});
  const auto y = ended({100});
  when_stored = [&] { table.remove(*y); };
  sut->store();
  BOOST_TEST(count() == 1u);
  BOOST_TEST(!files->size(2, 0).has_value());
}

BOOST_AUTO_TEST_CASE(image_above_the_limit_of_the_disk_stays_in_memory) {
  const auto x = ended({7000, 100});
  sut->store();
  BOOST_TEST(count() == 1u);
  BOOST_TEST(x->known.results[0]->bytes.size() == 7000u);
  BOOST_TEST((stored == std::vector<uint64_t>{1}));
}

BOOST_AUTO_TEST_CASE(view_says_that_images_expired_whose_file_is_missing) {
  const auto x = ended({100, 200});
  sut->store();
  files->remove(1, 1);
  const auto seen = sut->with_bytes(1, x->known);
  BOOST_TEST(seen.expired);
  BOOST_TEST(seen.results[0] == nullptr);
  BOOST_TEST((sut->sizes(1, x->known) == std::vector<uint64_t>{100, 0}));
}

BOOST_AUTO_TEST_CASE(restored_images_are_those_whose_files_are_there) {
  BOOST_REQUIRE(files->put(1, 0, std::vector<uint8_t>(100)));
  const auto x = entry({0, 0});
  const auto images = x->known.results;
  x->known.results.assign(2, nullptr);
  x->known.state = job_state::cancelled;
  BOOST_TEST(sut->restore(*x, images) == weight_of_file(100));
  BOOST_TEST(x->known.results[0] == images[0]);
  BOOST_TEST(x->known.results[1] == nullptr);
  BOOST_TEST(x->rows[0].steps_done == 4u);
  BOOST_TEST(x->rows[0].ended);
  BOOST_TEST(!x->known.expired);
}

BOOST_AUTO_TEST_CASE(completed_job_that_lacks_a_file_has_expired) {
  BOOST_REQUIRE(files->put(1, 0, std::vector<uint8_t>(100)));
  const auto x = entry({0, 0});
  const auto images = x->known.results;
  x->known.results.assign(2, nullptr);
  x->known.state = job_state::completed;
  BOOST_TEST(sut->restore(*x, images) == 0u);
  BOOST_TEST(x->known.expired);
  BOOST_TEST(x->known.results[0] == nullptr);
  BOOST_TEST(count() == 0u);
}

BOOST_AUTO_TEST_CASE(without_files_images_stay_in_memory) {
  image_storage none{lock, table, nullptr, {}};
  const auto x = ended({100});
  none.store();
  none.remove_dropped();
  BOOST_TEST(x->known.results[0]->bytes.size() == 100u);
  BOOST_TEST((none.sizes(1, x->known) == std::vector<uint64_t>{100}));
  BOOST_TEST(none.with_bytes(1, x->known).results[0]->bytes.size() == 100u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
