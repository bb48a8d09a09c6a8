// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace atelier::runtime::http {

namespace {

/// Takes the segment that `from` begins with, without its slash.
std::string_view take_segment(std::string_view& from) {
  from.remove_prefix(1);
  const auto end = std::min(from.find('/'), from.size());
  const auto segment = from.substr(0, end);
  from.remove_prefix(end);
  return segment;
}

bool is_name(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

/// Returns the named parts of a path that fits the pattern, which begins with a
/// slash.
std::optional<fields> fit(std::string_view pattern, std::string_view path) {
  fields parts;
  // "*" is none.
  if (!path.starts_with('/'))
    return std::nullopt;
  while (!pattern.empty() && !path.empty()) {
    const auto wanted = take_segment(pattern);
    const auto there = take_segment(path);
    if (is_name(wanted)) {
      if (there.empty())
        return std::nullopt;
      parts.emplace_back(wanted.substr(1, wanted.size() - 2), there);
    } else if (wanted != there) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty())
    return std::nullopt;
  return parts;
}

/// Characters that both begin with.
size_t shared_length(std::string_view a, std::string_view b) {
  const auto most = std::min(a.size(), b.size());
  return static_cast<size_t>(
    std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(most),
                  b.begin())
      .first
    - a.begin());
}

} // namespace

void route_table::add(route x) {
  ATELIER_EXPECTS(!x.pattern.empty() && x.pattern.front() == '/',
                  "a pattern begins with a slash");
  ATELIER_EXPECTS(std::none_of(routes_.begin(), routes_.end(),
                               [&](const auto& y) {
                                 return y.method == x.method
                                     && y.pattern == x.pattern;
                               }),
                  "a route is added once");
  x.takes_body = x.takes_body && x.method != "GET" && x.method != "DELETE";
  routes_.push_back(std::move(x));
}

std::vector<std::string> route_table::nearest(std::string_view path,
                                              size_t most) const {
  std::vector<std::pair<size_t, const std::string*>> all;
  for (const auto& x : routes_)
    if (std::none_of(all.begin(), all.end(),
                     [&](const auto& y) { return *y.second == x.pattern; }))
      all.emplace_back(shared_length(x.pattern, path), &x.pattern);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.first > b.first;
  });
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(most, all.size()); ++i)
    out.push_back(*all[i].second);
  return out;
}

route_table::match route_table::find(std::string_view method,
                                     std::string_view path) const {
  if (method == "HEAD")
    method = "GET";
  match m;
  size_t nearest = 1;
  for (const auto& x : routes_) {
    // A path's own route goes before one with names.
    if (auto parts = fit(x.pattern, path);
        parts && (m.found == nullptr || parts->size() < m.parts.size())) {
      if (x.method == method) {
        m.found = &x;
        m.parts = std::move(*parts);
        continue;
      }
      m.allowed += (m.allowed.empty() ? "" : ", ") + x.method;
      m.errors = x.errors;
      nearest = path.size() + 1;
    }
    if (const auto n = shared_length(x.pattern, path); n > nearest) {
      nearest = n;
      m.errors = x.errors;
    }
  }
  if (m.found != nullptr)
    m.errors = m.found->errors;
  return m;
}

} // namespace atelier::runtime::http
