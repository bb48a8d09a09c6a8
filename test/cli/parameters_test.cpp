// SPDX-License-Identifier: Apache-2.0
// Walks the table of parameters through every route of a value. Each parameter
// gets values that are not its default. Numbers and choices also get values
// that every interface must refuse.
#include <atelier/actors/wire.hpp>
#include <atelier/core/image/parameters.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/generate.hpp>
#include <atelier/runtime/cli/parameter_options.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_infotext.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_sampler.hpp>
#include <atelier/runtime/http/detail/generation_fields.hpp>
#include <atelier/runtime/http/detail/jobs/journal_json.hpp>
#include <atelier/runtime/http/detail/parameter_fields.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <runtime/door_rig.hpp>

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

using namespace atelier;
using namespace atelier::runtime;
using nlohmann::json;

namespace {

const core::limits within;

/// Returns values that are not the default.
template <class T>
std::vector<T> values_of(const core::parameter& x) {
  if constexpr (std::is_same_v<T, bool>) {
    return {true};
  } else if constexpr (std::is_enum_v<T>) {
    std::vector<T> all;
    for (size_t i = 1; i < core::enum_count<T>; ++i)
      all.push_back(static_cast<T>(i));
    return all;
  } else {
    const auto most = core::most_of(x, within);
    return {static_cast<T>(x.least + 0.375 * (most - x.least)),
            static_cast<T>(most)};
  }
}

/// Returns the value as the public interface and JSON have it.
template <class T>
auto as_public(T x) {
  if constexpr (std::is_enum_v<T>)
    return std::string{to_string(x)};
  else
    return x;
}

/// Returns the value as it is written on the command line.
template <class T>
std::string as_text(T x) {
  return fmt::format("{}", as_public(x));
}

/// Calls f(parameter, member, member of generation, value) for each value.
template <class F>
void each_value(F f) {
  each_wanted([&](const core::parameter& x, auto at, auto member) {
    using type = typename decltype(at)::type;
    for (const type value : values_of<type>(x))
      BOOST_TEST_CONTEXT(x.name << " " << as_text(value))
    f(x, at, member, value);
  });
}

/// Returns texts of values that every interface refuses.
template <class T>
std::vector<std::string> bad_texts(const core::parameter& x) {
  if constexpr (std::is_same_v<T, bool>) {
    return {};
  } else if constexpr (std::is_enum_v<T>) {
    return {"heun", ""};
  } else {
    const auto most = core::most_of(x, within);
    const auto below = x.open                ? 0
                     : std::is_integral_v<T> ? x.least - 1
                                             : x.least - 0.5;
    return {fmt::format("{}", below), fmt::format("{}", most + 1)};
  }
}

/// Calls f(parameter, member, member of generation, text) for each bad text.
template <class F>
void each_bad_text(F f) {
  each_wanted([&](const core::parameter& x, auto at, auto member) {
    using type = typename decltype(at)::type;
    for (const auto& text : bad_texts<type>(x))
      BOOST_TEST_CONTEXT(x.name << " '" << text << "'")
    f(x, at, member, text);
  });
}

template <class Holder>
auto value_in(const Holder& x) {
  const auto* const value = held(x);
  BOOST_TEST_REQUIRE(value != nullptr);
  return *value;
}

http::detail::field_fault fault_of(json body) {
  http::detail::field_reader r{body};
  generation got;
  http::api_context with;
  http::detail::read_generation(r, with, got);
  BOOST_TEST_REQUIRE(!r.good());
  return r.why();
}

/// Reads a command line of `generate`.
struct command_line {
  explicit command_line(const std::vector<std::string>& words) {
    cli::add_generate(app, written);
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    reversed.emplace_back("generate");
    app.parse(reversed);
    good = cli::read_parameters(written.parameters, within, got);
  }

  CLI::App app;
  cli::generate_arguments written;
  generation got;
  core::result<void> good;
};

/// Returns whether the command line has its own name and words for the
/// parameter.
bool has_other_option(const core::parameter& x) {
  return x.name == "noise";
}

} // namespace

BOOST_AUTO_TEST_SUITE(parameters_test)

BOOST_AUTO_TEST_CASE(values_pass_through_json) {
  each_value([](const auto& x, auto, auto member, auto value) {
    for (const auto name : {x.name, x.also, x.localai}) {
      if (name.empty())
        continue;
      json body{{name, as_public(value)}};
      http::detail::field_reader r{body};
      generation got;
      http::api_context with;
      http::detail::read_generation(r, with, got);
      BOOST_TEST(r.good(), name);
      BOOST_TEST((value_in(got.*member) == as_public(value)), name);
    }
  });
}

BOOST_AUTO_TEST_CASE(values_pass_through_the_command_line) {
  each_value([](const auto& x, auto, auto member, auto value) {
    if (has_other_option(x))
      return;
    std::vector<std::string> words{cli::option_of(x)};
    if (!std::is_same_v<decltype(value), bool>)
      words.push_back(as_text(value));
    const command_line sut{words};
    BOOST_TEST(bool{sut.good});
    BOOST_TEST((value_in(sut.got.*member) == as_public(value)));
  });
}

BOOST_AUTO_TEST_CASE(values_pass_through_the_door_into_the_recipe) {
  each_value([](const auto& x, auto at, auto member, auto value) {
    generation wanted;
    wanted.image = test::file_of({64, 64});
    wanted.*member = as_public(value);
    const auto got = test::enter(wanted);
    BOOST_TEST_REQUIRE(bool{got}, x.name);
    const auto* const asked = core::asked_in(*got, at);
    BOOST_TEST_REQUIRE(asked != nullptr);
    BOOST_TEST((*asked == value));
    if constexpr (requires { at.used; }) {
      core::recipe how;
      core::take_asked(got->fixed, *got, how);
      BOOST_TEST((how.*at.used == value));
      const auto costs = know_variants(test::two_variants())->costs;
      const auto planned =
        planning::recipe_of(*got, {}, core::variant_id{0}, costs);
      BOOST_TEST((planned.*at.used == value));
    }
  });
}

BOOST_AUTO_TEST_CASE(values_pass_through_the_journal) {
  each_value([](const auto&, auto, auto member, auto value) {
    http::job_request job;
    job.images.resize(1);
    job.images[0].*member = as_public(value);
    std::vector<std::span<const uint8_t>> files;
    const auto text = http::detail::wanted_text(job, files);
    const auto read = http::detail::read_wanted(text, nullptr);
    BOOST_TEST((read.images.at(0).*member == job.images[0].*member));
  });
}

BOOST_AUTO_TEST_CASE(what_images_tell_passes_through_the_journal) {
  each_told([](const core::parameter& x, auto at, auto member) {
    for (const auto value : values_of<typename decltype(at)::type>(x))
      BOOST_TEST_CONTEXT(x.name) {
        generated_image p;
        p.*member = as_public(value);
        http::journalled_end end;
        end.state = http::job_state::completed;
        end.images.push_back(std::make_shared<const generated_image>(p));
        const auto read =
          http::detail::read_end(http::detail::end_text(end)).images.at(0);
        BOOST_TEST_REQUIRE(read != nullptr);
        BOOST_TEST(((*read).*member == p.*member));
      }
  });
}

BOOST_AUTO_TEST_CASE(values_pass_over_the_wire) {
  each_value([](const auto&, auto at, auto, auto value) {
    if constexpr (requires { at.used; }) {
      actors::denoise sent;
      sent.recipe.*at.used = value;
      std::vector<std::byte> bytes;
      actors::write({actors::role::denoise_step, 0, sent}, bytes);
      const auto read = actors::read_to_process(bytes);
      BOOST_TEST_REQUIRE(bool{read});
      BOOST_TEST((std::get<actors::denoise>(read->body) == sent));
    }
  });
}

BOOST_AUTO_TEST_CASE(values_pass_through_the_metadata) {
  each_value([](const auto& x, auto at, auto member, auto value) {
    core::recipe how;
    how.px = {64, 64};
    how.from_image = true;
    if constexpr (requires { at.used; })
      how.*at.used = value;
    const auto text = image::to_text(image::describe({"a", ""}, how, "base"));
    const auto told = image::parse_parameters(text).find(x.webui);
    if (x.webui.empty()) {
      BOOST_TEST(!told);
      return;
    }
    BOOST_TEST(bool{told});
    // A call that contains this text reads the same value.
    json call;
    http::detail::add_infotext(call, text);
    http::detail::field_reader r{call};
    generation got;
    http::detail::read_a1111_sampler(r, got);
    if (!x.webui_field.empty())
      if (const auto read = http::detail::read_parameter(
            r, x, at, x.webui_field, x.least, within))
        got.*member = *read;
    BOOST_TEST(r.good());
    BOOST_TEST((value_in(got.*member) == as_public(value)));
  });
}

BOOST_AUTO_TEST_CASE(json_refuses_with_field_value_and_range) {
  each_bad_text([](const auto& x, auto at, auto, const std::string& text) {
    using type = typename decltype(at)::type;
    json value = text;
    if constexpr (!std::is_enum_v<type>)
      value = json::parse(text);
    for (const auto name : {x.name, x.also}) {
      if (name.empty())
        continue;
      const auto sut = fault_of({{name, value}});
      BOOST_TEST(sut.field == name);
      BOOST_TEST(
        sut.text.starts_with(fmt::format("{} {} is n", name, value.dump())));
      if constexpr (std::is_enum_v<type>)
        for (const auto word : core::names_of<type>())
          BOOST_TEST(sut.text.find(word) != sut.text.npos);
      else
        BOOST_TEST(sut.text.ends_with(
          fmt::format("{:g}..{:g}", x.least, core::most_of(x, within))));
    }
  });
}

BOOST_AUTO_TEST_CASE(the_command_line_refuses_with_option_value_and_range) {
  each_bad_text([](const auto& x, auto at, auto, const std::string& text) {
    using type = typename decltype(at)::type;
    // The parser itself refuses an option without a value.
    if (has_other_option(x) || text.empty())
      return;
    const command_line sut{{cli::option_of(x) + "=" + text}};
    BOOST_TEST_REQUIRE(!sut.good);
    BOOST_TEST(sut.good.why().text.starts_with(
      fmt::format("{}: '{}' is not ", cli::option_of(x), text)));
    if constexpr (std::is_enum_v<type>)
      for (const auto word : core::names_of<type>())
        BOOST_TEST(sut.good.why().text.find(word) != std::string::npos);
    else
      BOOST_TEST(sut.good.why().text.ends_with(
        fmt::format("{:g}", core::most_of(x, within))));
  });
}

BOOST_AUTO_TEST_CASE(the_engine_refuses_with_field_value_and_range) {
  each_bad_text(
    [](const auto& x, auto at, auto member, const std::string& text) {
      using type = typename decltype(at)::type;
      generation wanted;
      wanted.image = test::file_of({64, 64});
      if constexpr (std::is_enum_v<type>)
        wanted.*member = text;
      else
        wanted.*member = static_cast<type>(std::stod(text));
      const auto sut = test::enter(wanted);
      BOOST_TEST_REQUIRE(!sut);
      BOOST_TEST((sut.why().code == core::ec::invalid_argument));
      const auto& why = sut.why().text;
      BOOST_TEST(http::detail::field_of(why) == x.name);
      BOOST_TEST(why.find(text) != why.npos, why);
      if constexpr (std::is_enum_v<type>)
        for (const auto word : core::names_of<type>())
          BOOST_TEST(why.find(word) != why.npos, why);
      else
        BOOST_TEST(why.ends_with(fmt::format("{:g}", core::most_of(x, within))),
                   why);
    });
}

BOOST_AUTO_TEST_SUITE_END()
