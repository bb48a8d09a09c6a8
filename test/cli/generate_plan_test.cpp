// SPDX-License-Identifier: Apache-2.0
#include "scratch_folder.hpp"
#include <atelier/core/image/codec.hpp>
#include <atelier/runtime/cli/generate_plan.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

struct fixture : test::scratch_folder {
  fixture() {
    arguments.prompts = {"a"};
    arguments.output = path.string();
  }

  core::result<generate_plan> read_plan() {
    return plan_generate(arguments, common, in, [] { return uint64_t{7}; });
  }

  /// Returns the fault, after checking that no file was left behind.
  std::string refusal() {
    const auto before = names();
    const auto plan = read_plan();
    BOOST_TEST_REQUIRE(!plan);
    BOOST_TEST((names() == before));
    return plan.why().text;
  }

  std::vector<uint8_t> write_image(const std::string& name, core::extent px) {
    const std::vector<uint8_t> pixels(image::bytes_of(px, 3), 70);
    auto file = *image::encode({px, 3, pixels}, {});
    write(name, {file.begin(), file.end()});
    return file;
  }

  generate_arguments arguments;
  common_arguments common;
  std::istringstream in;
};

using field = std::optional<std::string> generate_arguments::*;

} // namespace

BOOST_FIXTURE_TEST_SUITE(generate_plan_test, fixture)

BOOST_AUTO_TEST_CASE(nothing_given_leaves_the_choice_to_the_policy) {
  const auto sut = read_plan();
  BOOST_TEST_REQUIRE(bool{sut});
  BOOST_TEST(sut->images() == 1u);
  BOOST_TEST(sut->seed == 7u);
  BOOST_TEST(sut->common.width == 0u);
  BOOST_TEST(!sut->common.steps);
  BOOST_TEST(!sut->common.guidance);
  BOOST_TEST(!sut->common.sampler);
  BOOST_TEST(!sut->common.guidance_rescale);
  BOOST_TEST(!sut->common.eta);
  BOOST_TEST(!sut->common.karras);
  BOOST_TEST(!sut->common.strength);
  BOOST_TEST(sut->common.image.empty());
  BOOST_TEST(sut->common.mask.empty());
  BOOST_TEST(sut->common.noise == "torch_cpu");
  BOOST_TEST(sut->common.priority == "normal");
  BOOST_TEST(sut->common.format == "png");
  BOOST_TEST((sut->existing == on_existing::refuse));
  BOOST_TEST(names().empty());
}

BOOST_AUTO_TEST_CASE(everything_given_is_handed_on) {
  common.set = {"limits.requests=3"};
  common.log = "error";
  arguments.prompts = {"a", ""};
  arguments.count = "3";
  arguments.seed = "18446744073709551613";
  arguments.parameters["steps"] = "150";
  arguments.parameters["guidance"] = "7.5";
  arguments.parameters["guidance_rescale"] = "0.7";
  arguments.parameters["eta"] = "1";
  arguments.parameters["karras"] = "true";
  arguments.parameters["sampler"] = "euler";
  arguments.size = "64x128";
  arguments.negative = "dull";
  arguments.model = "test_card";
  arguments.variant = "test_card@20";
  arguments.rng = "philox";
  arguments.deadline_ms = "1500";
  arguments.priority = "high";
  arguments.processes = "single";
  arguments.format = "webp";
  arguments.quality = "100";
  arguments.force = true;
  arguments.parameters["deterministic"] = "true";
  const auto sut = read_plan();
  BOOST_TEST_REQUIRE(bool{sut});
  const auto& x = sut->common;
  BOOST_TEST(sut->images() == 6u);
  BOOST_TEST(sut->seed_of(2) == UINT64_MAX);
  BOOST_TEST(sut->seed_of(3) == UINT64_MAX - 2);
  BOOST_TEST(sut->prompt_of(2) == "a");
  BOOST_TEST(sut->prompt_of(3) == "");
  BOOST_TEST(*x.steps == 150u);
  BOOST_TEST(*x.guidance == 7.5f);
  BOOST_TEST(*x.guidance_rescale == 0.7f);
  BOOST_TEST(*x.eta == 1.0f);
  BOOST_TEST(*x.karras);
  BOOST_TEST(*x.sampler == "euler");
  BOOST_TEST(x.width == 64u);
  BOOST_TEST(x.height == 128u);
  BOOST_TEST(x.negative == "dull");
  BOOST_TEST(*x.model == "test_card");
  BOOST_TEST(*x.variant == "test_card@20");
  BOOST_TEST(x.noise == "philox");
  BOOST_TEST((*x.deadline == std::chrono::milliseconds{1500}));
  BOOST_TEST(x.priority == "high");
  BOOST_TEST(x.format == "webp");
  BOOST_TEST(x.quality == 100u);
  BOOST_TEST(x.deterministic);
  BOOST_TEST(sut->window == 3u);
  BOOST_TEST((sut->existing == on_existing::replace));
  BOOST_TEST(
    (sut->engine.set
     == std::vector<std::string>{"limits.requests=3", "log.level=\"error\"",
                                 "processes.mode=\"single\""}));
}

BOOST_AUTO_TEST_CASE(bad_values_are_refused_by_their_options_name) {
  struct row {
    /// A field, or a parameter by its name.
    std::variant<field, const char*> which;
    const char* value;
    const char* says;
  };

  const row rows[] = {
    {&generate_arguments::count, "0", "-n: '0' is not a whole number in 1.."},
    {&generate_arguments::count, "1000001", "-n: "},
    {&generate_arguments::seed, "-1",
     "--seed: '-1' is not a whole number in 0"},
    {"steps", "0", "--steps: "},
    {"steps", "151",
     "--steps: '151' is not a whole number "
     "in 1..150"},
    {"guidance", "nan", "--guidance: "},
    {"guidance_rescale", "1.5",
     "--guidance-rescale: '1.5' is not a number in 0..1"},
    {"eta", "-1", "--eta: '-1' is not a number in 0..1"},
    {"strength", "0", "--strength: '0' is not a number above 0 and at most 1"},
    {"strength", "nan", "--strength: 'nan' is not"},
    {"strength", "0.5", "--strength: '0.5' has no effect without --init IMAGE"},
    {&generate_arguments::image, "/no/such.png",
     "--init: cannot read '/no/such.png': No such file or directory"},
    {&generate_arguments::image, "/",
     "--init: cannot read '/': Is a directory"},
    {&generate_arguments::image, "/dev/null",
     "--init: cannot read '/dev/null': it is a device, not a regular file"},
    {&generate_arguments::image, "/dev/zero",
     "--init: cannot read '/dev/zero': it is a device, not a regular file"},
    {&generate_arguments::image, "/proc/self/status",
     "--init: cannot read '/proc/self/status': it is a file of the kernel, "},
    {&generate_arguments::prompts_file, "/proc/self/status",
     "--prompts: cannot read '/proc/self/status': it is a file of the "},
    {"sampler", "heun", "--sampler: 'heun' is not ddim, "},
    {&generate_arguments::size, "10x10", "--size: "},
    {&generate_arguments::negative, "\xff", "--negative: "},
    {&generate_arguments::model, "", "--model: "},
    {&generate_arguments::variant, "", "--variant: "},
    {&generate_arguments::rng, "dice", "--rng: 'dice' is not torch or philox"},
    {&generate_arguments::deadline_ms, "0", "--deadline-ms: "},
    {&generate_arguments::priority, "urgent", "--priority: "},
    {&generate_arguments::processes, "many", "--processes: "},
    {&generate_arguments::prompts_file, "/no/such", "--prompts: "},
    {&generate_arguments::format, "gif", "--format: "},
    {&generate_arguments::quality, "101", "--quality: "},
    {&generate_arguments::output, "/proc/x.png", "-o: "},
    {&generate_arguments::output, "-", "-o: "},
  };
  for (const auto& x : rows) {
    const auto before = arguments;
    if (const auto* const at = std::get_if<field>(&x.which))
      arguments.** at = x.value;
    else
      arguments.parameters[std::get<const char*>(x.which)] = x.value;
    const auto text = refusal();
    BOOST_TEST(text.starts_with(x.says), text);
    arguments = before;
  }
}

BOOST_AUTO_TEST_CASE(images_are_read_whole) {
  const auto image = write_image("a.png", {16, 8});
  const auto mask = write_image("m.png", {4, 4});
  arguments.output = (path / "out").string();
  arguments.image = (path / "a.png").string();
  arguments.parameters["strength"] = "0.5";
  auto sut = read_plan();
  BOOST_TEST_REQUIRE(bool{sut});
  BOOST_TEST(sut->common.image == image);
  BOOST_TEST(sut->common.mask.empty());
  BOOST_TEST(*sut->common.strength == 0.5f);
  arguments.edit = true;
  arguments.parameters["strength"].reset();
  arguments.mask = (path / "m.png").string();
  sut = read_plan();
  BOOST_TEST_REQUIRE(bool{sut});
  BOOST_TEST(sut->common.mask == mask);
  BOOST_TEST(!sut->common.strength);
}

BOOST_AUTO_TEST_CASE(an_edit_names_what_is_missing_or_wrong) {
  write_image("a.png", {16, 8});
  write("t.txt", "text");
  arguments.edit = true;
  BOOST_TEST(refusal().starts_with("IMAGE is missing"));
  arguments.image = "/no/such.png";
  BOOST_TEST(refusal().starts_with("--mask is missing"));
  arguments.mask = (path / "t.txt").string();
  BOOST_TEST(refusal().starts_with("IMAGE: cannot read '/no/such.png': No "));
  arguments.image = (path / "a.png").string();
  BOOST_TEST(refusal().find("t.txt': image of 4 bytes is neither PNG nor JPEG "
                            "nor WebP")
             != std::string::npos);
  BOOST_TEST((read_plan().why().code == core::ec::bad_payload));
}

BOOST_AUTO_TEST_CASE(bad_common_options_are_refused) {
  common.config = "/no/such.toml";
  BOOST_TEST(refusal().starts_with("--config: "));
  common = {};
  common.config = path.string();
  BOOST_TEST(refusal().starts_with("--config: "));
  common = {};
  common.set = {"no-equals"};
  BOOST_TEST(refusal().starts_with("--set: "));
  common.set = {"limits.such=1"};
  BOOST_TEST(refusal().find("limits.such") != std::string::npos);
  common = {};
  common.log = "loud";
  BOOST_TEST(refusal().starts_with("--log: "));
  common = {};
  common.data = "/dev/null";
  BOOST_TEST(refusal().starts_with("--data: "));
}

BOOST_AUTO_TEST_CASE(the_seeds_must_not_overflow) {
  arguments.count = "2";
  arguments.seed = "18446744073709551615";
  BOOST_TEST(refusal().starts_with("--seed: "));
  arguments.seed = "18446744073709551614";
  BOOST_TEST(bool{read_plan()});
}

BOOST_AUTO_TEST_CASE(prompts_come_from_words_then_from_the_file) {
  in.str("b\n\nc\n");
  arguments.prompts_file = "-";
  const auto sut = read_plan();
  BOOST_TEST_REQUIRE(bool{sut});
  BOOST_TEST((sut->prompts == std::vector<std::string>{"a", "b", "c"}));
}

BOOST_AUTO_TEST_CASE(no_prompt_is_refused_and_an_empty_one_is_not) {
  arguments.prompts.clear();
  BOOST_TEST(refusal().starts_with("PROMPT is missing"));
  arguments.prompts = {""};
  BOOST_TEST(bool{read_plan()});
}

BOOST_AUTO_TEST_CASE(the_configurations_limits_bound_the_arguments) {
  common.set = {"limits.steps=30"};
  arguments.parameters["steps"] = "31";
  BOOST_TEST(refusal() == "--steps: '31' is not a whole number in 1..30");
}

BOOST_AUTO_TEST_CASE(a_server_makes_the_images_where_one_is_named) {
  arguments.server = "http://a:1";
  arguments.key = "k";
  arguments.model = "a model of its own";
  arguments.count = "5";
  const auto sut = read_plan();
  BOOST_TEST_REQUIRE(bool{sut});
  BOOST_TEST_REQUIRE(sut->server.has_value());
  BOOST_TEST(sut->server->url == "http://a:1");
  BOOST_TEST(sut->server->key.value() == "k");
  BOOST_TEST(sut->server->connections == 5u);
  BOOST_TEST(sut->common.model.value() == "a model of its own");
  arguments.count = "500";
  BOOST_TEST(read_plan()->window == 32u);
}

BOOST_AUTO_TEST_CASE(what_is_the_servers_own_is_not_asked_of_it) {
  for (const field f :
       {&generate_arguments::device, &generate_arguments::dtype,
        &generate_arguments::policy, &generate_arguments::processes,
        &generate_arguments::timeline}) {
    arguments = {};
    arguments.prompts = {"a"};
    arguments.output = path.string();
    arguments.server = "http://a:1";
    arguments.*f = "x";
    BOOST_TEST(refusal().starts_with("--server: "));
  }
  arguments = {};
  arguments.prompts = {"a"};
  arguments.output = path.string();
  arguments.key = "k";
  BOOST_TEST(refusal() == "--key: it has no effect without --server");
}

BOOST_AUTO_TEST_CASE(too_many_images_in_all_are_refused) {
  arguments.prompts = {"a", "b"};
  arguments.count = "500001";
  BOOST_TEST(refusal().starts_with("-n: "));
}

BOOST_AUTO_TEST_CASE(an_existing_image_is_found_before_the_work) {
  arguments.seed = "5";
  arguments.count = "3";
  write("00002-7.png", "");
  BOOST_TEST(refusal().find("00002-7.png exists already; --force")
             != std::string::npos);
  arguments.force = true;
  BOOST_TEST(bool{read_plan()});
}

BOOST_AUTO_TEST_SUITE_END()
