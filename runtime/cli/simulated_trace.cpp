// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/planning_files.hpp>
#include <atelier/runtime/cli/simulated_trace.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace atelier::runtime::cli {

namespace {

/// Returns the profile's variants by the trace's names.
core::result<std::vector<uint32_t>> variants_of(const planning::trace& read,
                                                const planning::profile& known,
                                                const std::string& path) {
  std::vector<uint32_t> out;
  for (const auto& name : read.variants) {
    const auto found = planning::find_variant(known, name.text);
    if (!found) {
      std::vector<std::string_view> names;
      for (const auto& v : known.variants)
        names.push_back(v.name);
      return core::fail(core::ec::invalid_argument,
                        "{}:{}: variant: '{}' is not in the profile; it has {}",
                        path, name.line, name.text, fmt::join(names, ", "));
    }
    out.push_back(found->value);
  }
  return out;
}

} // namespace

core::result<std::string> read_requests(std::string_view argument,
                                        const std::string& path,
                                        bool draws_edits, scenario& into) {
  auto read = read_trace(argument, path);
  if (!read)
    return read.why();
  const auto& columns = read->columns;
  if (draws_edits
      && std::find(columns.begin(), columns.end(), "mask") != columns.end())
    return core::fail(core::ec::invalid_argument,
                      "--edits: the column 'mask' of {} says which requests "
                      "are edits",
                      path);
  const auto known = variants_of(*read, *into.profile, path);
  if (!known)
    return known.why();
  for (auto& a : read->arrivals)
    if (a.variant != planning::no_name)
      a.variant = (*known)[a.variant];
  into.trace = std::move(read->arrivals);
  into.trace_moved = read->moved;
  if (read->moved == 0)
    return std::string{};
  return fmt::format("{}: {} of {} lines were out of order; they were sorted",
                     path, read->moved, into.trace.size());
}

} // namespace atelier::runtime::cli
