// SPDX-License-Identifier: Apache-2.0

// Kept work that is found by its images.

#include "index/store_rig.hpp"
#include <atelier/index/image_encoder.hpp>
#include <atelier/index/memory.hpp>
#include <atelier/index/store/store_folder.hpp>
#include <atelier/index/timely.hpp>
#include <atelier/index/veiled.hpp>

#include <boost/test/unit_test.hpp>

#include <sqlite3.h>

#include <atomic>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace atelier;
using test::code_of;
using test::kept_px;
using test::kept_states;
using test::nearest_of;

namespace {

/// The colours of images in these tests, each in every byte.
constexpr uint8_t red = 1;
constexpr uint8_t blue = 2;
/// Colours that the encoder cannot read.
constexpr uint8_t refused = 3;
constexpr uint8_t without_vector = 4;
constexpr uint8_t not_finite = 5;

std::vector<float> vector_of_colour(uint8_t which) {
  if (which == red)
    return {1, 0};
  if (which == not_finite)
    return {std::numeric_limits<float>::quiet_NaN(), 1};
  return which == blue ? std::vector<float>{0.6F, 0.8F}
                       : std::vector<float>{0, 0};
}

/// Reads the names of colours, and counts the texts that it reads.
class colour_names final : public index::text_encoder {
public:
  std::string_view name() const override {
    return "names";
  }

  std::string identity() const override {
    return "texts";
  }

  size_t dimensions() const override {
    return 2;
  }

  core::result<std::vector<float>> encode(
    std::string_view text) const override {
    ++read;
    return vector_of_colour(text.starts_with("red")    ? red
                            : text.starts_with("blue") ? blue
                                                       : 0);
  }

  mutable std::atomic<uint64_t> read{0};
};

class colours final : public index::image_encoder {
public:
  explicit colours(std::string identity = "images")
    : identity_(std::move(identity)) {}

  std::string identity() const override {
    return identity_;
  }

  size_t dimensions() const override {
    return 2;
  }

  core::result<std::vector<float>> encode(std::span<const std::byte> rgb,
                                          core::extent px) const override {
    ++read;
    thread = std::this_thread::get_id();
    if (rgb.size() != px.pixels() * 3)
      return core::fail(core::ec::invalid_argument, "another size");
    const auto colour = std::to_integer<uint8_t>(rgb.front());
    if (colour == refused)
      return core::fail(core::ec::internal, "no network");
    return vector_of_colour(colour);
  }

  uint64_t encoded() const override {
    return read;
  }

  mutable std::atomic<uint64_t> read{0};
  mutable std::thread::id thread;

private:
  const std::string identity_;
};

index::leftover picture(uint8_t colour) {
  auto out = kept_states({8});
  out.image.assign(kept_px.pixels() * 3, std::byte{colour});
  out.px = kept_px;
  return out;
}

struct seeing {
  index::store_options options(const std::string& identity = "images") {
    images = std::make_shared<colours>(identity);
    auto with = folder.options();
    with.encoder = names;
    with.images = images;
    return with;
  }

  std::shared_ptr<index::store> open(const std::string& identity = "images") {
    return folder.open(options(identity));
  }

  /// Keeps images under the texts of each other.
  static void fill(index::kept_work& sut) {
    BOOST_TEST_REQUIRE(sut.keep("k", "red", picture(blue)));
    BOOST_TEST_REQUIRE(sut.keep("k", "blue", picture(red)));
  }

  static void check_found(index::kept_work& sut) {
    BOOST_TEST(nearest_of(sut, "red") == 2u);
    BOOST_TEST(nearest_of(sut, "blue") == 1u);
  }

  /// Checks the guarantees of both kinds of kept work.
  void check(index::kept_work& sut) const {
    BOOST_TEST((sut.compares() == planning::compared::images));
    fill(sut);
    // No text was encoded for an entry.
    BOOST_TEST(names->read == 0u);
    check_found(sut);
    const auto near = sut.near("k", "red", {8});
    BOOST_TEST_REQUIRE(near.size() == 2u);
    BOOST_TEST(near[0].similarity == 1);
    BOOST_TEST(near[1].similarity == 0.6, boost::test_tools::tolerance(1e-6));
    BOOST_TEST((near[0].stored == std::vector<uint32_t>{5}));
    BOOST_TEST((code_of(sut.image(2, kept_px, 5)) == core::ec::none));
    // Without an image there is nothing to find.
    BOOST_TEST(!sut.keep("k", "red", kept_states({8})));
    BOOST_TEST(sut.counts().failed == 0u);
    for (const auto colour : {refused, without_vector, not_finite})
      BOOST_TEST(!sut.keep("k", "red", picture(colour)));
    BOOST_TEST(sut.counts().failed == 3u);
    BOOST_TEST(sut.counts().entries == 2u);
    BOOST_TEST(sut.counts().encoder.images == images->read);
    check_found(sut);
  }

  /// Opens the store again, and returns how many images it encoded.
  uint64_t read_by_a_start(const std::string& identity = "images") {
    const auto sut = open(identity);
    const auto read = images->read.load();
    check_found(*sut);
    return read;
  }

  void run(const std::string& statements) const {
    sqlite3* db = nullptr;
    const auto file = folder.path() / "cache.sqlite";
    BOOST_REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
    const int result =
      sqlite3_exec(db, statements.c_str(), nullptr, nullptr, nullptr);
    BOOST_TEST(result == SQLITE_OK, sqlite3_errmsg(db));
    sqlite3_close(db);
  }

  test::store_folder folder;
  std::shared_ptr<colour_names> names = std::make_shared<colour_names>();
  std::shared_ptr<colours> images = std::make_shared<colours>();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(image_encoder_test, seeing)

BOOST_AUTO_TEST_CASE(memory_finds_an_image_by_its_own_vector) {
  index::memory sut{{1 << 20, 10}, names, images};
  check(sut);
}

BOOST_AUTO_TEST_CASE(a_store_finds_an_image_by_its_own_vector) {
  check(*open());
}

BOOST_AUTO_TEST_CASE(without_an_encoder_of_images_prompts_are_compared) {
  index::memory sut{{1 << 20, 10}, names};
  BOOST_TEST((sut.compares() == planning::compared::prompts));
  fill(sut);
  BOOST_TEST(nearest_of(sut, "red") == 1u);
  BOOST_TEST(nearest_of(sut, "blue") == 2u);
}

BOOST_AUTO_TEST_CASE(a_start_reads_no_image_whose_vector_is_kept) {
  fill(*open());
  BOOST_TEST(read_by_a_start() == 0u);
}

BOOST_AUTO_TEST_CASE(another_encoder_reads_every_image_once) {
  fill(*open());
  BOOST_TEST(read_by_a_start("others") == 2u);
  BOOST_TEST(read_by_a_start("others") == 0u);
  BOOST_TEST(read_by_a_start() == 2u);
  // One without an identity keeps no vectors.
  BOOST_TEST(read_by_a_start({}) == 2u);
  BOOST_TEST(read_by_a_start({}) == 2u);
}

BOOST_AUTO_TEST_CASE(a_vector_that_is_damaged_or_missing_is_made_again) {
  fill(*open());
  run("UPDATE vectors SET vector = zeroblob(8) WHERE entry = 1");
  BOOST_TEST(read_by_a_start() == 1u);
  run("DELETE FROM vectors WHERE entry = 2");
  BOOST_TEST(read_by_a_start() == 1u);
  BOOST_TEST(read_by_a_start() == 0u);
}

BOOST_AUTO_TEST_CASE(many_vectors_that_are_missing_are_all_made_again) {
  constexpr size_t many = 150;
  {
    auto with = options();
    with.entries = many;
    with.bytes = 16 << 20;
    const auto sut = folder.open(with);
    for (size_t i = 0; i < many; ++i)
      BOOST_TEST_REQUIRE(
        sut->keep("k", "red", picture(i % 2 == 0 ? red : blue)));
  }
  run("DELETE FROM vectors");
  auto with = options();
  with.entries = many;
  with.bytes = 16 << 20;
  for (const uint64_t read : {many, size_t{0}}) {
    const auto sut = folder.open(with);
    BOOST_TEST(sut->near("k", "blue", {many}).size() == many);
    BOOST_TEST(images->read == read);
    images->read = 0;
  }
}

BOOST_AUTO_TEST_CASE(a_folder_that_was_filled_by_prompts_is_found_by_images) {
  auto by_prompts = folder.options();
  by_prompts.encoder = names;
  {
    const auto sut = folder.open(by_prompts);
    BOOST_TEST((sut->compares() == planning::compared::prompts));
    fill(*sut);
    BOOST_TEST(sut->keep("k", "red", kept_states({8})));
    BOOST_TEST(nearest_of(*sut, "red") == 3u);
  }
  BOOST_TEST(index::facts_of_store(folder.path())->images == 2u);
  BOOST_TEST(read_by_a_start() == 2u);
  {
    const auto sut = open();
    BOOST_TEST(sut->counts().entries == 3u);
    // The entry without an image is not found.
    BOOST_TEST(sut->near("k", "red", {8}).size() == 2u);
    BOOST_TEST((code_of(sut->state(3, 5)) == core::ec::none));
  }
  const auto sut = folder.open(by_prompts);
  BOOST_TEST(nearest_of(*sut, "red") == 3u);
  BOOST_TEST(nearest_of(*sut, "blue") == 2u);
}

BOOST_AUTO_TEST_CASE(an_image_that_a_start_cannot_encode_is_not_found) {
  auto by_prompts = folder.options();
  by_prompts.encoder = names;
  {
    const auto sut = folder.open(by_prompts);
    BOOST_TEST_REQUIRE(sut->keep("k", "red", picture(refused)));
    BOOST_TEST_REQUIRE(sut->keep("k", "red", picture(red)));
  }
  const auto sut = open();
  BOOST_TEST(sut->counts().failed == 1u);
  BOOST_TEST(sut->counts().entries == 2u);
  const auto near = sut->near("k", "red", {8});
  BOOST_TEST_REQUIRE(near.size() == 1u);
  BOOST_TEST(near.front().entry == 2u);
}

BOOST_AUTO_TEST_CASE(an_image_whose_bytes_have_changed_leaves_at_a_start) {
  fill(*open());
  run("DELETE FROM vectors");
  for (const auto& file : folder.files()) {
    if (file.filename() != "0000000000000001")
      continue;
    std::fstream bytes{file, std::ios::in | std::ios::out | std::ios::binary};
    bytes.put(static_cast<char>(red));
  }
  const auto sut = open();
  BOOST_TEST(sut->counts().dropped_torn == 1u);
  BOOST_TEST(sut->counts().entries == 1u);
  BOOST_TEST(folder.files().size() == 1u);
  BOOST_TEST(sut->near("k", "red", {8}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_wraps_it_compares_the_same) {
  const auto kept = open();
  const auto timely = std::make_shared<index::timely_work>(
    kept, index::queue_bounds{0}, index::disk_pace{});
  index::veiled_work sut{timely, index::number_veil::random()};
  BOOST_TEST((timely->compares() == planning::compared::images));
  BOOST_TEST((sut.compares() == planning::compared::images));
  BOOST_TEST(sut.keep("k", "red", picture(blue)));
  BOOST_TEST(images->read == 1u);
  // The image was not encoded by the disk's thread, whose time is bounded.
  BOOST_TEST((images->thread == std::this_thread::get_id()));
  BOOST_TEST(sut.near("k", "blue", {1}).size() == 1u);
  BOOST_TEST(!sut.keep("k", "red", kept_states({8})));
  index::memory by_words{{1 << 20, 10}};
  BOOST_TEST((by_words.compares() == planning::compared::prompts));
}

BOOST_AUTO_TEST_SUITE_END()
