// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include <atelier/planning/demand/trace.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

namespace {

using namespace atelier;
using namespace atelier::planning;

std::string faults_of(std::string_view text) {
  const auto t = parse_trace(text, "a.txt");
  BOOST_REQUIRE_MESSAGE(!t, text);
  return t.why().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(trace_test)

BOOST_AUTO_TEST_CASE(traces_are_read) {
  const auto t = parse_trace("368.0,1236\n# a remark\n\n509,2011\r\n", "t");
  BOOST_REQUIRE(static_cast<bool>(t));
  BOOST_REQUIRE(t->arrivals.size() == 2u);
  BOOST_TEST((t->arrivals[0] == traced_arrival{0.368, 1236}));
  BOOST_TEST((t->arrivals[1] == traced_arrival{0.509, 2011}));
  BOOST_TEST(t->moved == 0u);
}

BOOST_AUTO_TEST_CASE(faults_of_traces_are_told_with_their_line) {
  BOOST_TEST(faults_of("1,2\nx,3\n-1,2\n")
             == "a.txt:2: 'x,3' is not MILLISECONDS,NUMBER\n"
                "a.txt:3: ms: '-1' is not a number in 0..31622400000; times "
                "count from the start of the trace, not from 1970");
  BOOST_TEST(faults_of("").find("no arrivals") != std::string::npos);
  BOOST_TEST(faults_of("\n\n").find("no arrivals") != std::string::npos);
  for (const char* bad : {"1", "1,", ",1", "1,2,3", "1,-2", "1;2", "1,2x"})
    BOOST_TEST(faults_of(bad).find("a.txt:1:") == 0u, bad);
  std::string many = "1,1\n";
  for (int i = 0; i < 1000; ++i)
    many += "x\n";
  const auto told = faults_of(many);
  BOOST_TEST(std::count(told.begin(), told.end(), '\n') == 100);
}

BOOST_AUTO_TEST_CASE(lines_out_of_order_are_sorted_and_counted) {
  const auto t = parse_trace("20,1\n10,2\n30,3\n20,4\n30,5\n", "t");
  BOOST_REQUIRE(static_cast<bool>(t));
  BOOST_TEST(t->moved == 2u);
  std::vector<uint64_t> contents;
  for (const auto& a : t->arrivals)
    contents.push_back(a.content);
  BOOST_TEST(contents == (std::vector<uint64_t>{2, 1, 4, 3, 5}));
}

BOOST_AUTO_TEST_CASE(a_first_line_of_names_says_what_columns_mean) {
  const auto t = parse_trace(
    "ms, variant,n,steps,size,mask,tenant,prompt,deadline_ms,failed,warm_up\n"
    "1500,a@30,4,40,512x768,0.25,ann,7,120000,1,1\n"
    "0,b@4,,,,,,,,,\n"
    "2000,a@30,1,30,,0,bob,7,,0,0\n",
    "t");
  BOOST_REQUIRE_MESSAGE(t, (t ? "" : t.why().text));
  BOOST_REQUIRE(t->arrivals.size() == 3u);
  BOOST_TEST(t->moved == 1u);
  const auto& bare = t->arrivals[0];
  BOOST_TEST(bare.seconds == 0);
  BOOST_TEST(t->variants[bare.variant].text == "b@4");
  BOOST_TEST(t->variants[bare.variant].line == 3u);
  BOOST_TEST(bare.images == 1u);
  BOOST_TEST(bare.steps == 0u);
  BOOST_TEST(bare.tenant == no_name);
  BOOST_TEST(bare.masked < 0);
  BOOST_TEST(!bare.failed);
  BOOST_TEST(!bare.warm_up);
  const auto& full = t->arrivals[1];
  BOOST_TEST(full.seconds == 1.5);
  BOOST_TEST(t->variants[full.variant].text == "a@30");
  BOOST_TEST(full.images == 4u);
  BOOST_TEST(full.steps == 40u);
  BOOST_TEST((full.px == core::extent{512, 768}));
  BOOST_TEST(full.masked == 0.25f);
  BOOST_TEST(t->tenants[full.tenant].text == "ann");
  BOOST_TEST(full.content == 7u);
  BOOST_TEST(full.deadline_ms == 120'000.f);
  BOOST_TEST(full.failed);
  BOOST_TEST(full.warm_up);
  // An edit that masks nothing is not an edit.
  BOOST_TEST(t->arrivals[2].masked < 0);
  BOOST_TEST(t->variants.size() == 2u);
}

BOOST_AUTO_TEST_CASE(traces_of_spreadsheets_are_read) {
  const std::string mark = "\xEF\xBB\xBF";
  const auto pairs =
    parse_trace(mark + "\"0\",\"7\"\r\n\"500\", \"8\"\r\n", "t");
  BOOST_TEST_REQUIRE(pairs.operator bool());
  BOOST_TEST_REQUIRE(pairs->arrivals.size() == 2u);
  BOOST_TEST(pairs->arrivals[1].seconds == 0.5);
  BOOST_TEST(pairs->arrivals[1].content == 8u);
  const auto cells = parse_trace(mark + "\"ms\",\"n\"\n\"0\",\"3\"\n", "t");
  BOOST_TEST_REQUIRE(cells.operator bool());
  BOOST_TEST(cells->arrivals[0].images == 3u);
  BOOST_TEST(!parse_trace("\"0,7\n", "t"));
}

BOOST_AUTO_TEST_CASE(dates_are_no_times_of_a_trace) {
  for (const std::string columns : {"", "ms,content\n"}) {
    const std::string line = columns.empty() ? "1" : "2";
    BOOST_TEST(faults_of(columns + "1700000000000,1\n")
               == "a.txt:" + line
                    + ": ms: '1700000000000' is not a number in "
                      "0..31622400000; times count from the start of the "
                      "trace, not from 1970");
    for (const std::string time : {"-1", "nan", "inf"})
      BOOST_TEST(
        faults_of(columns + time + ",1\n")
          .starts_with("a.txt:" + line + ": ms: '" + time + "' is not "));
    BOOST_TEST(bool{parse_trace(columns + "31622400000,1\n", "t")});
  }
}

BOOST_AUTO_TEST_CASE(faults_of_columns_are_told_with_name_value_and_range) {
  BOOST_TEST(faults_of("ms,colour\n1,2\n")
             == "a.txt:1: 'colour' is not a column; the columns are "
                  + trace_columns());
  BOOST_TEST(faults_of("n\n1\n").find("a.txt:1: the column 'ms', the time")
             == 0u);
  BOOST_TEST(faults_of("ms,n,n\n1,1,1\n").find("'n' occurs twice")
             != std::string::npos);
  BOOST_TEST(faults_of("ms,content,prompt\n1,1,1\n").find("both say")
             != std::string::npos);
  BOOST_TEST(faults_of("ms,n\n1,0\n2,1000\n3,x\n")
             == "a.txt:2: n: '0' is not a whole number in 1..256\n"
                "a.txt:3: n: '1000' is not a whole number in 1..256\n"
                "a.txt:4: n: 'x' is not a whole number in 1..256");
  BOOST_TEST(faults_of("ms,mask\n1,1.5\n")
             == "a.txt:2: mask: '1.5' is not a number in 0..1");
  BOOST_TEST(faults_of("ms,mask\n1,nan\n").find("mask: 'nan'")
             != std::string::npos);
  BOOST_TEST(faults_of("ms,size\n1,512\n").find("size: '512' is not WIDTHxH")
             != std::string::npos);
  for (const std::string column : {"failed", "warm_up"})
    BOOST_TEST(faults_of("ms," + column + "\n1,2\n").find("in 0..1")
               != std::string::npos);
  BOOST_TEST(faults_of("ms,steps\n,1\n").find("a.txt:2: ms: ''") == 0u);
  BOOST_TEST(faults_of("ms,steps\n1\n").find("fewer than the 2 values")
             != std::string::npos);
  BOOST_TEST(faults_of("ms,steps\n1,2,3\n").find("more than the 2 values")
             != std::string::npos);
  BOOST_TEST(faults_of("ms,steps\n").find("no arrivals") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_request_of_several_images_has_an_entry_for_each) {
  const auto t = parse_trace("ms,n\n0,1\n5,3\n9,2\n", "t");
  BOOST_REQUIRE(static_cast<bool>(t));
  const auto each = one_image_each(t->arrivals);
  std::vector<uint32_t> requests;
  for (const auto& x : each)
    requests.push_back(x.request);
  BOOST_TEST(requests == (std::vector<uint32_t>{0, 1, 1, 1, 2, 2}));
  BOOST_TEST(each[3].seconds == each[1].seconds);
  const auto single = parse_trace("ms\n0\n5\n9\n", "t");
  BOOST_REQUIRE(static_cast<bool>(single));
  BOOST_TEST(!is_one_image_each(single->arrivals));
  BOOST_TEST(is_one_image_each(one_image_each(single->arrivals)));
  BOOST_TEST(!is_one_image_each(each));
}

BOOST_AUTO_TEST_CASE(ten_million_lines_are_read_in_seconds) {
  // A hundredth of the lines is read unless the full count is set.
  const size_t lines = test::scaled(10'000'000);
  std::string text;
  for (size_t i = 0; i < lines; ++i) {
    text += std::to_string(i);
    text += ",7\n";
  }
  const auto t = parse_trace(text, "t");
  BOOST_REQUIRE(static_cast<bool>(t));
  BOOST_TEST(t->arrivals.size() == lines);
  if (lines == 10'000'000)
    BOOST_TEST(!parse_trace(text + "99999999,7\n", "t"));
}

BOOST_AUTO_TEST_SUITE_END()
