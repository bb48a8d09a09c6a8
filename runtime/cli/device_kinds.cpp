// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/device_kind.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/runtime/cli/device_kinds.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/planning_files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;

// Reads one --kind, and lists it where it has a file.
core::result<planning::device_group> read_kind(std::string_view text,
                                               planning::profile& known) {
  const auto wrong = [&] {
    return fail(ec::invalid_argument,
                "--kind: {} is not NAME=N or NAME=N:FILE, NAME 1..64 of the "
                "characters a-z, A-Z, 0-9, ., _ and -",
                show_value(text));
  };
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    return wrong();
  planning::device_group out;
  out.kind = text.substr(0, equals);
  if (!config::is_kind_name(out.kind))
    return wrong();
  const auto rest = text.substr(equals + 1);
  const auto colon = rest.find(':');
  const auto option = fmt::format("--kind {}", out.kind);
  const auto count =
    parse_whole(option, rest.substr(0, colon), 1, most_workers);
  if (!count)
    return count.why();
  out.count = static_cast<uint32_t>(*count);
  if (colon == std::string_view::npos)
    return out;
  const std::string file{rest.substr(colon + 1)};
  const auto measured = read_profile(option, file);
  if (!measured)
    return measured.why();
  auto own = planning::kind_from(known, out.kind, *measured);
  if (std::none_of(own.variants.begin(), own.variants.end(),
                   [](const auto& v) { return v.has_value(); }))
    return fail(ec::invalid_argument,
                "{}: {} has none of the variants of --profiles", option,
                show_value(file));
  known.kinds.push_back(std::move(own));
  return out;
}

} // namespace

core::result<std::vector<planning::device_group>> read_devices(
  const std::optional<std::string>& workers,
  const std::vector<std::string>& kinds, planning::profile& known) {
  if (kinds.empty()) {
    const auto n =
      parse_whole("--workers", workers.value_or("16"), 1, most_workers);
    if (!n)
      return n.why();
    return std::vector{planning::device_group{{}, static_cast<uint32_t>(*n)}};
  }
  if (workers)
    return fail(ec::invalid_argument, "--kind: it sets the number of devices, "
                                      "like --workers: leave one of them out");
  std::vector<planning::device_group> out;
  uint64_t all = 0;
  for (const auto& text : kinds) {
    auto one = read_kind(text, known);
    if (!one)
      return one.why();
    if (std::any_of(out.begin(), out.end(),
                    [&](const auto& g) { return g.kind == one->kind; }))
      return fail(ec::invalid_argument, "--kind: '{}' occurs twice", one->kind);
    all += one->count;
    out.push_back(std::move(*one));
  }
  if (all > most_workers)
    return fail(ec::invalid_argument,
                "--kind: {} devices of all kinds are not 1..{}", all,
                most_workers);
  return out;
}

uint32_t count_of(const std::vector<planning::device_group>& groups) {
  uint32_t all = 0;
  for (const auto& g : groups)
    all += g.count;
  return all;
}

} // namespace atelier::runtime::cli
