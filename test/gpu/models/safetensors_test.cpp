// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"
#include <atelier/gpu/models/files/float_types.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>

#include <cstring>

using namespace atelier;
using core::ec;
using gpu::tensor_type;

namespace {

struct fixture : test::scratch_folder {
  /// Writes a header and that many bytes of data, which count up.
  void make(const std::string& header, size_t data_bytes) const {
    const uint64_t length = header.size();
    std::string text(8, '\0');
    std::memcpy(text.data(), &length, 8);
    text += header;
    for (size_t i = 0; i < data_bytes; ++i)
      text += static_cast<char>(i);
    write("x.safetensors", text);
  }

  auto open() const {
    return gpu::safetensors_file::open(path / "x.safetensors");
  }

  /// Returns why a file is refused, after checking that the reason names the
  /// file.
  std::string refusal(ec code = ec::bad_payload) const {
    const auto opened = open();
    if (opened)
      return "opened";
    BOOST_TEST((opened.why().code == code), opened.why().text);
    const auto start = (path / "x.safetensors").string() + ": ";
    BOOST_TEST(opened.why().text.starts_with(start), opened.why().text);
    return opened.why().text.substr(
      std::min(start.size(), opened.why().text.size()));
  }

  std::string refusal_of(const std::string& header,
                         size_t data_bytes = 0) const {
    make(header, data_bytes);
    return refusal();
  }
};

std::string entry(const std::string& name, const std::string& type,
                  const std::string& shape, const std::string& range) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape
       + ",\"data_offsets\":" + range + "}";
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(safetensors_test, fixture)

BOOST_AUTO_TEST_CASE(tensors_and_metadata_are_found) {
  make("{\"__metadata__\":{\"format\":\"pt\",\"a\":\"b\"},"
         + entry("y", "U8", "[2]", "[4,6]") + ","
         + entry("x", "F32", "[1,1]", "[0,4]") + "}   ",
       6);
  const auto sut = *open();
  BOOST_TEST((sut->names() == std::vector<std::string>{"x", "y"}));
  BOOST_TEST(sut->metadata().at("a") == "b");
  const auto y = *sut->find("y");
  BOOST_TEST((y.type == tensor_type::uint8));
  BOOST_TEST((y.shape == std::vector<int64_t>{2}));
  BOOST_TEST((y.bytes[0] == std::byte{4}));
  BOOST_TEST(!sut->find("z"));
}

BOOST_AUTO_TEST_CASE(an_empty_file_of_no_tensors_is_one) {
  make("{}", 0);
  BOOST_TEST((*open())->names().empty());
}

BOOST_AUTO_TEST_CASE(empty_tensors_and_scalars_are_tensors) {
  make("{" + entry("a", "F32", "[0]", "[0,0]") + ","
         + entry("b", "F32", "[3,0,7]", "[0,0]") + ","
         + entry("s", "F32", "[]", "[0,4]") + ","
         + entry("z", "F16", "[0]", "[4,4]") + "}",
       4);
  const auto sut = *open();
  BOOST_TEST(sut->find("b")->bytes.empty());
  BOOST_TEST(sut->find("s")->shape.empty());
  BOOST_TEST(sut->find("s")->bytes.size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_tensor_may_lie_at_any_address) {
  auto header = "{" + entry("a", "U8", "[1]", "[0,1]") + ","
              + entry("b", "F32", "[1]", "[1,5]") + "}";
  header.append(8 - header.size() % 8, ' ');
  make(header, 5);
  const auto sut = *open();
  const auto b = *sut->find("b");
  BOOST_TEST(!gpu::is_aligned(b));
  float value = 0;
  std::memcpy(&value, b.bytes.data(), 4);
  BOOST_TEST(value != 0);
}

BOOST_AUTO_TEST_CASE(keys_that_stand_there_twice_are_named) {
  const auto x = entry("x", "U8", "[1]", "[0,1]");
  BOOST_TEST(refusal_of("{" + x + "," + x + "}", 1)
             == "tensor x: it occurs twice");
  BOOST_TEST(refusal_of("{\"__metadata__\":{},\"__metadata__\":{}}")
             == "__metadata__ occurs twice");
  BOOST_TEST(refusal_of("{\"__metadata__\":{\"k\":\"a\",\"k\":\"a\"}}")
             == "__metadata__.k occurs twice");
  for (const auto* key :
       {"\"dtype\":\"U8\"", "\"shape\":[1]", "\"data_offsets\":[0,1]"})
    BOOST_TEST(refusal_of("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],"
                          "\"data_offsets\":[0,1],"
                            + std::string{key} + "}}",
                          1)
                 .ends_with(" occurs twice"));
}

BOOST_AUTO_TEST_CASE(ranges_that_overlap_leave_holes_or_a_rest_are_refused) {
  const auto a = entry("a", "U8", "[2]", "[0,2]");
  BOOST_TEST(
    refusal_of("{" + a + "," + entry("b", "U8", "[2]", "[1,3]") + "}", 3)
    == "tensor b: its data begin at byte 1, before the end of those "
       "before at 2");
  BOOST_TEST(
    refusal_of("{" + a + "," + entry("b", "U8", "[2]", "[0,2]") + "}", 2)
      .starts_with("tensor b: its data begin at byte 0, before"));
  BOOST_TEST(
    refusal_of("{" + a + "," + entry("b", "U8", "[1]", "[3,4]") + "}", 4)
    == "tensor b: its data begin at byte 3, behind the end of those "
       "before at 2");
  BOOST_TEST(refusal_of("{" + entry("a", "U8", "[1]", "[1,2]") + "}", 2)
               .starts_with("tensor a: its data begin at byte 1"));
  BOOST_TEST(refusal_of("{" + a + "}", 3)
             == "1 bytes after the last tensor, which ends at byte 2 of the "
                "data");
  BOOST_TEST(refusal_of("{}", 1).starts_with("1 bytes after the last tensor"));
}

BOOST_AUTO_TEST_CASE(a_truncated_file_is_refused) {
  make("{" + entry("x", "F32", "[4]", "[0,16]") + "}", 16);
  const auto whole = read("x.safetensors");
  for (size_t n = 0; n < whole.size(); ++n) {
    write("x.safetensors", whole.substr(0, n));
    BOOST_TEST(refusal() != "opened", n);
  }
  write("x.safetensors", whole.substr(0, whole.size() - 1));
  BOOST_TEST(refusal()
             == "tensor x: data_offsets [0, 16] outside the 15 bytes of data");
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_file_is_refused) {
  for (const uint64_t length :
       {uint64_t{3}, uint64_t{100'000'001}, uint64_t{1} << 63, ~uint64_t{0}}) {
    std::string text(8, '\0');
    std::memcpy(text.data(), &length, 8);
    write("x.safetensors", text + "{}");
    BOOST_TEST(refusal().ends_with("is not in 2..2"), length);
  }
  write("x.safetensors", "");
  BOOST_TEST(refusal() == "0 bytes are too few for a header");
}

BOOST_AUTO_TEST_CASE(sizes_that_do_not_fit_are_refused) {
  for (const auto* shape :
       {"[3]", "[4611686018427387904,4]", "[9223372036854775807,2,2]",
        "[4294967296,4294967296]"})
    BOOST_TEST(refusal_of("{" + entry("x", "U8", shape, "[0,4]") + "}", 4)
               == "tensor x: 4 bytes do not fit its shape and dtype");
  BOOST_TEST(refusal_of("{" + entry("x", "F64", "[1]", "[0,4]") + "}", 4)
             == "tensor x: 4 bytes do not fit its shape and dtype");
  BOOST_TEST(refusal_of("{" + entry("x", "U8", "[1]", "[1,0]") + "}", 4)
             == "tensor x: data_offsets [1, 0] outside the 4 bytes of data");
  BOOST_TEST(
    refusal_of("{" + entry("x", "U8", "[9223372036854775808]", "[0,4]") + "}",
               4)
      .starts_with("tensor x: shape: more than 8 axes, or a side"));
  BOOST_TEST(
    refusal_of("{" + entry("x", "U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]") + "}", 1)
      .starts_with("tensor x: shape: more than 8 axes"));
}

BOOST_AUTO_TEST_CASE(an_unknown_or_wrong_value_is_named) {
  BOOST_TEST(refusal_of("{" + entry("x", "F8_E4M3", "[1]", "[0,1]") + "}", 1)
             == "tensor x: dtype F8_E4M3 is not supported");
  const auto with = [&](const std::string& member) {
    return refusal_of("{\"x\":{" + member + "}}", 1);
  };
  BOOST_TEST(with("") == "tensor x: dtype is missing");
  BOOST_TEST(with("\"dtype\":\"U8\"") == "tensor x: shape is missing");
  BOOST_TEST(with("\"dtype\":\"U8\",\"shape\":[1]")
             == "tensor x: data_offsets is missing");
  BOOST_TEST(with("\"color\":1")
             == "tensor x: color is not a key of the "
                "format");
  for (const auto* member :
       {"\"dtype\":8", "\"dtype\":null", "\"shape\":1", "\"shape\":[1.5]",
        "\"shape\":[-1]", "\"shape\":[\"1\"]", "\"shape\":[[1]]",
        "\"shape\":[1,]", "\"data_offsets\":[0]", "\"data_offsets\":[0,1,2]",
        "\"data_offsets\":\"0,1\"", "\"data_offsets\":[0,-1]"})
    BOOST_TEST(with(member).starts_with("tensor x: "), member);
  BOOST_TEST(
    refusal_of("{\"__metadata__\":{\"k\":1}}").starts_with("__metadata__.k: "));
  BOOST_TEST(refusal_of("{\"__metadata__\":[]}").starts_with("the header is"));
}

BOOST_AUTO_TEST_CASE(a_header_that_is_no_json_object_is_refused) {
  for (const auto* header : {"", "x", "[]", "1", "null", "  ", " []", "\"a\""})
    BOOST_TEST(refusal_of(header) == "the header does not begin with '{'",
               header);
  for (const auto* header :
       {"{", "{\"", "{\"x\"", "{\"x\":", "{\"x\":1}", "{\"x\":{}", "{}{}",
        "{},", "{,}", "{\"x\":{},}", "{x:{}}", "{'x':{}}"})
    BOOST_TEST(refusal_of(header) != "opened", header);
}

BOOST_AUTO_TEST_CASE(names_that_are_not_text_are_refused_or_shown_safely) {
  BOOST_TEST(refusal_of("{" + entry("a\xff", "U8", "[1]", "[0,1]") + "}", 1)
               .ends_with("not UTF-8"));
  BOOST_TEST(
    refusal_of("{" + entry("a\\n\\u001b[2J", "X", "[1]", "[0,1]") + "}")
    == "tensor a??[2J: dtype X is not supported");
  const std::string longest(100'000, 'n');
  BOOST_TEST(refusal_of("{" + entry(longest, "X", "[1]", "[0,1]") + "}").size()
             < 400u);
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_refused_without_following_it) {
  for (const auto* start : {"{\"x\":", "{\"x\":{\"shape\":", "{"}) {
    make(start + std::string(5'000'000, '['), 0);
    BOOST_TEST(refusal() != "opened");
    make(start + std::string(5'000'000, '{'), 0);
    BOOST_TEST(refusal() != "opened");
  }
}

BOOST_AUTO_TEST_CASE(files_of_other_formats_are_called_by_name) {
  const std::string rest(64, 'x');
  write("x.safetensors", "PK\x03\x04" + rest);
  BOOST_TEST(refusal().starts_with("it is a PyTorch file (.ckpt"));
  write("x.safetensors", "\x80\x02" + rest);
  BOOST_TEST(refusal().starts_with("it is a PyTorch file (.ckpt"));
  write("x.safetensors", "GGUF" + rest);
  BOOST_TEST(refusal().starts_with("it is a GGUF file"));
  write("x.safetensors", "version https://git-lfs.github.com/spec/v1\n" + rest);
  BOOST_TEST(refusal().starts_with("it is a Git LFS pointer"));
  write("x.safetensors", "<!DOCTYPE html><html>" + rest);
  BOOST_TEST(refusal().starts_with("it is a web page"));
  write("x.safetensors", "{\"_class_name\": \"UNet2DConditionModel\"}" + rest);
  BOOST_TEST(refusal() == "it is JSON without weights");
}

BOOST_AUTO_TEST_CASE(headers_that_the_reference_reads_are_read) {
  for (const auto* metadata : {"", "\"__metadata__\":null,"}) {
    make(std::string{" \n{"} + metadata + entry("a", "U8", "[1]", "[0,1]")
           + "}",
         1);
    const auto sut = open();
    BOOST_REQUIRE_MESSAGE(sut, (sut ? "" : sut.why().text));
    BOOST_TEST((*sut)->find("a").has_value());
    BOOST_TEST((*sut)->metadata().empty());
  }
  BOOST_TEST(refusal_of("{\"__metadata__\":nullx}") != "opened");
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_refused) {
  BOOST_TEST(refusal(ec::not_found) == "No such file or directory");
  std::filesystem::create_directory(path / "x.safetensors");
  BOOST_TEST(refusal(ec::bad_payload) == "not a regular file");
  std::filesystem::remove(path / "x.safetensors");
  BOOST_REQUIRE(::mkfifo((path / "x.safetensors").c_str(), 0600) == 0);
  BOOST_TEST(refusal(ec::bad_payload) == "not a regular file");
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  test::tensor_box box;
  box.add("half", {3}, tensor_type::float16);
  box.add("byte", {5}, tensor_type::uint8);
  box.add("single", {2, 3});
  box.add("none", {0, 4});
  box.write(path / "x.safetensors", {{"format", "pt"}});
  const auto sut = *open();
  BOOST_TEST(sut->metadata().at("format") == "pt");
  BOOST_TEST(sut->names().size() == 4u);
  for (const auto& name : sut->names()) {
    const auto x = *sut->find(name);
    BOOST_TEST(gpu::is_aligned(x), name);
    BOOST_TEST((x.type == box[name].type));
    BOOST_TEST((x.shape == box[name].shape));
    BOOST_TEST(
      std::equal(x.bytes.begin(), x.bytes.end(), box[name].bytes.begin()));
  }
  BOOST_TEST((names() == std::set<std::string>{"x.safetensors"}));
}

BOOST_AUTO_TEST_CASE(tensors_are_converted_and_laid_straight_on_the_way) {
  test::tensor_box box;
  box.add("m", {2, 3}, {1, 2, 3, 4, 5, 6});
  auto turned = box["m"];
  turned.shape = {3, 2};
  turned.transposed = true;
  BOOST_REQUIRE(gpu::write_safetensors(path / "x.safetensors",
                                       {{"m", turned, tensor_type::bfloat16}}));
  const auto sut = *open();
  const auto x = *sut->find("m");
  BOOST_TEST((x.type == tensor_type::bfloat16));
  BOOST_TEST((x.shape == std::vector<int64_t>{3, 2}));
  std::vector<float> values(6);
  gpu::detail::convert(x.type, x.bytes, tensor_type::float32,
                       std::as_writable_bytes(std::span{values}));
  BOOST_TEST((values == std::vector<float>{1, 4, 2, 5, 3, 6}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written_is_refused_and_leaves_nothing) {
  test::tensor_box box;
  box.add("x", {2}, {1, 70'000});
  box.add("n", {2}, tensor_type::int64);
  const auto x = box["x"];
  auto short_x = x;
  short_x.bytes = x.bytes.first(4);
  const auto file = path / "x.safetensors";
  const auto write = [&](const std::vector<gpu::named_tensor>& tensors) {
    const auto ok = gpu::write_safetensors(file, tensors);
    BOOST_TEST_REQUIRE(!ok);
    BOOST_TEST((ok.why().code == ec::invalid_argument));
    BOOST_TEST(names().empty());
    return ok.why().text;
  };
  BOOST_TEST(write({{"x", x, {}}, {"x", x, {}}})
             == "tensor x: it occurs twice");
  BOOST_TEST(write({{"x", short_x, {}}})
             == "tensor x: 4 bytes do not fit its shape and type");
  BOOST_TEST(write({{"\xff", x, {}}}).starts_with("tensor ?: its name"));
  BOOST_TEST(write({{"__metadata__", x, {}}}).find("its name")
             != std::string::npos);
  BOOST_TEST(write({{"n", box["n"], tensor_type::float32}})
             == "tensor n: I64 cannot be written as F32");
  BOOST_TEST(write({{"x", x, tensor_type::int8}})
             == "tensor x: F32 cannot be written as I8");
  BOOST_TEST(write({{"x", x, tensor_type::float16}})
             == "tensor x: it holds numbers outside the range of F16");
}

BOOST_AUTO_TEST_CASE(writing_that_is_ended_leaves_nothing) {
  test::tensor_box box;
  box.add("a", {1000});
  box.add("b", {1000});
  const auto ok = gpu::write_safetensors(path / "x.safetensors", box.list(), {},
                                         [](uint64_t n) { return n < 8000; });
  BOOST_TEST_REQUIRE(!ok);
  BOOST_TEST((ok.why().code == ec::cancelled));
  BOOST_TEST(names().empty());
  BOOST_TEST(
    !gpu::write_safetensors(path / "no" / "x.safetensors", box.list()));
}

BOOST_AUTO_TEST_SUITE_END()
