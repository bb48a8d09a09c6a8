// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/edit_distance.hpp>
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

/// Returns the path without empty segments. Clients that join "http://host/v1/"
/// and "/images" send them.
std::string without_empty_segments(std::string_view path) {
  std::string out;
  for (const char c : path)
    if (c != '/' || !out.ends_with('/'))
      out += c;
  if (out.size() > 1 && out.ends_with('/'))
    out.pop_back();
  return out;
}

/// Returns the pattern with the path's segments at the places of its names.
std::string filled(std::string_view pattern, std::string_view path) {
  std::string out;
  while (!pattern.empty()) {
    const auto wanted = take_segment(pattern);
    const auto there = path.empty() ? std::string_view{} : take_segment(path);
    out += '/';
    out += is_name(wanted) && !there.empty() ? there : wanted;
  }
  return out;
}

/// Returns the bytes of a pattern beside its names.
size_t fixed_bytes(std::string_view pattern) {
  size_t sum = 0;
  while (!pattern.empty())
    if (const auto segment = take_segment(pattern); !is_name(segment))
      sum += 1 + segment.size();
  return sum;
}

std::string_view last_segment(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
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

std::vector<std::string> route_table::nearest(std::string_view asked,
                                              size_t most) const {
  // Comparing takes time by the path's length, and no route's is so long.
  constexpr size_t longest = 200;
  const auto path = without_empty_segments(asked.substr(0, longest));
  std::vector<std::pair<size_t, const std::string*>> all;
  if (!path.starts_with('/') || asked.size() > longest)
    return {};
  for (const auto& x : routes_) {
    const auto distance = core::edit_distance(filled(x.pattern, path), path);
    const auto end = last_segment(path);
    if ((distance * 3 <= fixed_bytes(x.pattern)
         || (!end.empty() && last_segment(x.pattern) == end))
        && std::none_of(all.begin(), all.end(),
                        [&](const auto& y) { return *y.second == x.pattern; }))
      all.emplace_back(distance, &x.pattern);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(most, all.size()); ++i)
    out.push_back(*all[i].second);
  return out;
}

route_table::match route_table::find(std::string_view method,
                                     std::string_view asked) const {
  const auto path = without_empty_segments(asked);
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
