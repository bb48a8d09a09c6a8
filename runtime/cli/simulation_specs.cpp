// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/eviction_rule.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/planning_files.hpp>
#include <atelier/runtime/cli/simulation_specs.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

result<core::eviction_rule> parse_rule(std::string_view argument,
                                       std::string_view text) {
  if (const auto rule = core::eviction_rule_named(text))
    return *rule;
  return fail(ec::invalid_argument, "{}: {} is not one of {}", argument,
              show_value(text), fmt::join(core::eviction_rule_names, ", "));
}

// Two numbers, both in 0..1.
result<std::pair<double, double>> parse_shares(std::string_view argument,
                                               std::string_view text,
                                               std::string_view form) {
  const auto comma = text.find(',');
  if (comma == std::string_view::npos)
    return fail(ec::invalid_argument, "{}: {} is not {}", argument,
                show_value(text), form);
  const auto first = parse_number(argument, text.substr(0, comma), 0, 1);
  if (!first)
    return first.why();
  const auto second = parse_number(argument, text.substr(comma + 1), 0, 1);
  if (!second)
    return second.why();
  return std::pair{*first, *second};
}

} // namespace

result<planning::nearness> parse_similarity(std::string_view argument,
                                            std::string_view text) {
  const auto pair = parse_shares(argument, text, "MEAN,SPREAD");
  if (!pair)
    return pair.why();
  return planning::nearness{pair->first, pair->second};
}

result<planning::hit_predictor> parse_hit_predictor(std::string_view argument,
                                                    std::string_view text) {
  const auto pair = parse_shares(argument, text, "RECALL,FALSE_ALARMS");
  if (!pair)
    return pair.why();
  return planning::hit_predictor{pair->first, pair->second};
}

result<cache_spec> parse_cache(std::string_view argument,
                               std::string_view text) {
  cache_spec out;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    const auto field = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());
    const auto equals = field.find('=');
    if (equals == std::string_view::npos)
      return fail(ec::invalid_argument, "{}: {} is not FIELD=VALUE", argument,
                  show_value(field));
    const auto name = field.substr(0, equals);
    const auto value = field.substr(equals + 1);
    const auto here = fmt::format("{} {}", argument, name);
    const auto whole = [&](uint32_t& into, uint64_t most) -> result<void> {
      const auto n = parse_whole(here, value, 1, most);
      if (!n)
        return n.why();
      into = static_cast<uint32_t>(*n);
      return {};
    };
    const auto real = [&](double& into) -> result<void> {
      const auto x = parse_number(here, value, 0, 1);
      if (!x)
        return x.why();
      into = *x;
      return {};
    };
    result<void> ok;
    if (name == "entries") {
      ok = whole(out.entries, 100'000);
    } else if (name == "replace") {
      const auto rule = parse_rule(here, value);
      if (!rule)
        return rule.why();
      out.replace = *rule;
    } else if (name == "topics") {
      ok = whole(out.topics, 1'000'000);
    } else if (name == "recent") {
      ok = whole(out.recent, 1'000'000);
    } else if (name == "again") {
      ok = real(out.again);
    } else if (name == "scale") {
      ok = real(out.scale);
    } else {
      return fail(
        ec::invalid_argument,
        "{}: {} is not one of entries, replace, topics, again, recent, "
        "scale",
        argument, show_value(name));
    }
    if (!ok)
      return ok.why();
  }
  if (out.entries == 0)
    return fail(ec::invalid_argument, "{}: entries=N is missing", argument);
  return out;
}

result<edit_spec> parse_edits(std::string_view argument,
                              std::string_view text) {
  std::vector<double> numbers;
  for (;;) {
    const auto comma = text.find(',');
    const auto one = parse_number(argument, text.substr(0, comma), 0, 1);
    if (!one)
      return one.why();
    numbers.push_back(*one);
    if (comma == std::string_view::npos)
      break;
    text.remove_prefix(comma + 1);
    if (numbers.size() == 3)
      return fail(ec::invalid_argument,
                  "{}: {} is too much after SHARE,MEAN,SPREAD", argument,
                  show_value(text));
  }
  edit_spec out;
  out.share = numbers[0];
  if (numbers.size() > 1) {
    out.mean = numbers[1];
    out.spread = numbers.size() > 2 ? numbers[2] : usual_spread(out.mean);
  }
  if (auto ok = check_edits(out); !ok)
    return fail(ec::invalid_argument, "{}: {}", argument, ok.why().text);
  return out;
}

} // namespace atelier::runtime::cli
