// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/load_mix.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/planning_files.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;
using setter = std::function<void(generation&)>;

constexpr std::string_view names_of_mixes[] = {
  "steps",       "size",  "guidance", "sampler", "priority",
  "deadline_ms", "model", "variant",  "format",  "cache"};
constexpr double most_weight = 1e9;
constexpr uint64_t most_deadline_ms = 86'400'000;
constexpr size_t most_choices = 1000;

result<setter> word(std::string_view option, std::string_view label,
                    const std::string& text,
                    const std::function<void(generation&, std::string)>& set) {
  const auto words = choices_of(option);
  if (std::find(words.begin(), words.end(), text) == words.end())
    return fail(ec::invalid_argument, "{}: {} is not one of {}", label,
                show_value(text), list_choices(words));
  return setter{[set, text](generation& x) { set(x, text); }};
}

/// Reads one value of a field.
result<setter> read_one(std::string_view name, std::string_view label,
                        const std::string& text, const core::limits& within) {
  if (name == "steps") {
    const auto x = parse_whole(label, text, 1, within.steps);
    if (!x)
      return x.why();
    return setter{
      [n = static_cast<uint32_t>(*x)](generation& to) { to.steps = n; }};
  }
  if (name == "size") {
    const auto x = parse_size(label, text, within);
    if (!x)
      return x.why();
    return setter{[px = *x](generation& to) {
      to.width = px.width;
      to.height = px.height;
    }};
  }
  if (name == "guidance") {
    const auto x = parse_decimal(label, text, within.guidance);
    if (!x)
      return x.why();
    return setter{[g = *x](generation& to) { to.guidance = g; }};
  }
  if (name == "deadline_ms") {
    const auto x = parse_whole(label, text, 1, most_deadline_ms);
    if (!x)
      return x.why();
    return setter{[after = std::chrono::milliseconds{*x}](generation& to) {
      to.deadline = after;
    }};
  }
  if (name == "sampler")
    return word("--sampler", label, text,
                [](generation& x, std::string y) { x.sampler = std::move(y); });
  if (name == "priority")
    return word("--priority", label, text, [](generation& x, std::string y) {
      x.priority = std::move(y);
    });
  if (name == "format")
    return word("--format", label, text,
                [](generation& x, std::string y) { x.format = std::move(y); });
  if (name == "cache")
    return word("--cache", label, text,
                [](generation& x, std::string y) { x.cache = std::move(y); });
  if (auto ok = check_text(label, text, 256); !ok)
    return ok.why();
  if (name == "model")
    return setter{[text](generation& to) { to.model = text; }};
  return setter{[text](generation& to) { to.variant = text; }};
}

} // namespace

std::string load_mix::fields() {
  return fmt::format("{}", fmt::join(names_of_mixes, ", "));
}

result<void> load_mix::add(std::string_view text, const core::limits& within) {
  const auto equal = text.find('=');
  const auto name = text.substr(0, equal);
  if (equal == text.npos
      || std::find(std::begin(names_of_mixes), std::end(names_of_mixes), name)
           == std::end(names_of_mixes))
    return fail(ec::invalid_argument,
                "--mix: {} is not FIELD=VALUE[:WEIGHT],... with a field of {}",
                show_value(text), fields());
  for (const auto& other : fields_)
    if (other.name == name)
      return fail(ec::invalid_argument, "--mix: {} occurs twice", name);
  const auto label = fmt::format("--mix {}", name);
  field added;
  added.name = name;
  auto rest = text.substr(equal + 1);
  for (;;) {
    const auto comma = rest.find(',');
    auto item = rest.substr(0, comma);
    choice one;
    if (const auto colon = item.find(':'); colon != item.npos) {
      const auto weight =
        parse_number(label, item.substr(colon + 1), 0, most_weight);
      if (!weight)
        return weight.why();
      one.weight = *weight;
      item = item.substr(0, colon);
    }
    one.text = item;
    if (item == "none") {
      one.set = [](generation&) {};
    } else {
      auto set = read_one(name, label, one.text, within);
      if (!set)
        return set.why();
      one.set = std::move(*set);
    }
    added.weights += one.weight;
    added.choices.push_back(std::move(one));
    if (added.choices.size() > most_choices)
      return fail(ec::invalid_argument, "{}: more than {} values", label,
                  most_choices);
    if (comma == rest.npos)
      break;
    rest.remove_prefix(comma + 1);
  }
  if (!(added.weights > 0))
    return fail(ec::invalid_argument, "{}: all weights are 0", label);
  fields_.push_back(std::move(added));
  return {};
}

void load_mix::draw(core::philox& random, generation& to) const {
  for (const auto& f : fields_) {
    auto left = random.uniform() * f.weights;
    const choice* drawn = nullptr;
    for (const auto& c : f.choices) {
      if (c.weight <= 0)
        continue;
      drawn = &c;
      left -= c.weight;
      if (left < 0)
        break;
    }
    drawn->set(to);
  }
}

void load_mix::each(
  const std::function<void(const std::string&, const generation&)>& f) const {
  for (const auto& x : fields_)
    for (const auto& c : x.choices) {
      generation with;
      c.set(with);
      f(fmt::format("--mix {}={}", x.name, c.text), with);
    }
}

} // namespace atelier::runtime::cli
