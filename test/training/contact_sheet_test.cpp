// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/contact_sheet.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(contact_sheet_test)

namespace {

sheet_cell cell(uint8_t value, std::string text) {
  sheet_cell x;
  x.image.px = {32, 32};
  x.image.bytes.assign(32 * 32 * 3, value);
  x.text = std::move(text);
  return x;
}

uint8_t at(const image::bitmap& in, uint32_t x, uint32_t y) {
  return in.bytes[(size_t{y} * in.px.width + x) * 3];
}

} // namespace

BOOST_AUTO_TEST_CASE(images_stand_in_rows_over_their_text) {
  const std::vector<sheet_cell> cells{cell(10, "one"), cell(20, ""),
                                      cell(30, "a few words that wrap")};
  const auto sheet = contact_sheet(cells, {2, 2, 3});
  const auto width = sheet.px.width / 2;
  const auto height = sheet.px.height / 2;
  BOOST_TEST(at(sheet, width / 2, 30) == 10);
  BOOST_TEST(at(sheet, width + width / 2, 30) == 20);
  BOOST_TEST(at(sheet, width / 2, height + 30) == 30);
  BOOST_TEST(at(sheet, width + width / 2, height + 30) == 255);
  const auto ink_below = [&](uint32_t column, uint32_t row) {
    auto count = 0;
    for (auto y = row * height + 70; y < (row + 1) * height; ++y)
      for (auto x = column * width; x < (column + 1) * width; ++x)
        count += at(sheet, x, y) == 0 ? 1 : 0;
    return count;
  };
  BOOST_TEST(ink_below(0, 0) > 10);
  BOOST_TEST(ink_below(1, 0) == 0);
  BOOST_TEST(ink_below(0, 1) > ink_below(0, 0));
}

BOOST_AUTO_TEST_CASE(text_that_does_not_fit_is_cut_off) {
  const std::vector<sheet_cell> cells{
    cell(0, std::string(1000, 'x') + " and more words")};
  const auto sheet = contact_sheet(cells, {1, 1, 2});
  BOOST_TEST(sheet.bytes.size() == sheet.px.pixels() * 3);
  BOOST_TEST(contact_sheet({}).bytes.empty());
}

BOOST_AUTO_TEST_SUITE_END()
