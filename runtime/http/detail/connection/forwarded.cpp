// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/endpoint.hpp>
#include <atelier/core/ascii.hpp>
#include <atelier/runtime/http/detail/connection/forwarded.hpp>
#include <atelier/runtime/http/detail/connection/origin.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

using core::ec;
using core::fail;
using core::lower_case;
using core::result;
using core::trim;

/// Returns the trimmed parts between marks that are in no quotes; none of a
/// blank text.
std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> out;
  if (trim(text).empty())
    return out;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == mark) {
      const auto from = std::exchange(begin, i + 1);
      out.push_back(trim(text.substr(from, i - from)));
    }
  }
  out.push_back(trim(text.substr(begin)));
  return out;
}

std::string unquoted(std::string_view x) {
  if (x.size() < 2 || x.front() != '"' || x.back() != '"')
    return std::string{x};
  std::string out;
  for (size_t i = 1; i + 1 < x.size(); ++i) {
    if (x[i] == '\\' && i + 2 < x.size())
      ++i;
    out += x[i];
  }
  return out;
}

/// Returns all fields of that name as one list.
std::string joined(const fields& headers, std::string_view name) {
  std::string out;
  for (const auto& [key, value] : headers)
    if (key == name && !value.empty())
      out += (out.empty() ? "" : ",") + value;
  return out;
}

/// Returns an address without its port and brackets.
std::string bare_address(const std::string& x) {
  if (config::parse_address(x))
    return x;
  if (const auto with_port = config::parse_endpoint(x))
    return with_port->host;
  const bool in_brackets = x.size() > 2 && x.front() == '[' && x.back() == ']';
  return in_brackets ? x.substr(1, x.size() - 2) : x;
}

bool is_trusted(std::string_view address,
                const std::vector<config::network>& trusted) {
  const auto x = config::parse_address(address);
  return x && std::any_of(trusted.begin(), trusted.end(), [&](const auto& n) {
           return contains(n, *x);
         });
}

/// Returns the place in a chain, whose last hop is the nearest, of the first
/// hop from the end that is no proxy; that of the first one if all are.
/// @param chain the addresses, which lose their ports
result<size_t> client_in(std::vector<std::string>& chain,
                         std::string_view field,
                         const std::vector<config::network>& trusted) {
  for (size_t i = chain.size(); i-- > 0;) {
    auto& hop = chain[i];
    if (hop.empty() || hop == "unknown" || hop.starts_with('_'))
      return i;
    hop = bare_address(hop);
    if (!config::parse_address(hop))
      return fail(ec::invalid_argument, "{}: '{}' is not an address", field,
                  hop.substr(0, 60));
    if (i == 0 || !is_trusted(hop, trusted))
      return i;
  }
  return size_t{0};
}

result<forwarded> read_standard_field(
  const fields& headers, const std::vector<config::network>& trusted) {
  const auto text = joined(headers, "forwarded");
  std::vector<forwarded> hops;
  std::vector<std::string> chain;
  for (const auto element : split(text, ',')) {
    forwarded hop;
    for (const auto pair : split(element, ';')) {
      const auto equals = pair.find('=');
      if (equals == std::string_view::npos)
        return fail(ec::invalid_argument, "forwarded: '{}' has no '='",
                    pair.substr(0, 60));
      const auto name = lower_case(trim(pair.substr(0, equals)));
      auto value = unquoted(trim(pair.substr(equals + 1)));
      if (name == "for")
        hop.client = std::move(value);
      else if (name == "host")
        hop.host = std::move(value);
      else if (name == "proto")
        hop.scheme = lower_case(value);
    }
    chain.push_back(hop.client);
    hops.push_back(std::move(hop));
  }
  if (hops.empty())
    return forwarded{};
  const auto at = client_in(chain, "forwarded", trusted);
  if (!at)
    return at.why();
  hops[*at].client = chain[*at];
  return std::move(hops[*at]);
}

/// Returns the value on which all proxies agree.
result<std::string> agreed(const fields& headers, std::string_view name) {
  const auto text = joined(headers, name);
  const auto values = split(text, ',');
  for (const auto& x : values)
    if (x != values.front())
      return fail(ec::invalid_argument, "{}: it has different values: '{}'",
                  name, text.substr(0, 60));
  return std::string{values.empty() ? std::string_view{} : values.front()};
}

result<forwarded> read_common_fields(
  const fields& headers, const std::vector<config::network>& trusted) {
  forwarded out;
  const auto text = joined(headers, "x-forwarded-for");
  std::vector<std::string> chain;
  for (const auto x : split(text, ','))
    chain.emplace_back(x);
  if (!chain.empty()) {
    const auto at = client_in(chain, "x-forwarded-for", trusted);
    if (!at)
      return at.why();
    out.client = chain[*at];
  }
  auto host = agreed(headers, "x-forwarded-host");
  if (!host)
    return host.why();
  auto scheme = agreed(headers, "x-forwarded-proto");
  if (!scheme)
    return scheme.why();
  out.host = std::move(*host);
  out.scheme = lower_case(*scheme);
  return out;
}

/// Puts what either says into the first one. Returns false if they differ.
bool merge(std::string& into, const std::string& other) {
  if (into.empty())
    into = other;
  return other.empty() || into == other;
}

} // namespace

result<forwarded> read_forwarded(const fields& headers, std::string_view peer,
                                 const std::vector<config::network>& trusted) {
  if (!is_trusted(peer, trusted))
    return forwarded{};
  auto out = read_standard_field(headers, trusted);
  if (!out)
    return out;
  auto other = read_common_fields(headers, trusted);
  if (!other)
    return other;
  if (!merge(out->client, other->client) || !merge(out->host, other->host)
      || !merge(out->scheme, other->scheme))
    return fail(ec::invalid_argument,
                "forwarded and x-forwarded-* contradict each other");
  if (!out->scheme.empty() && out->scheme != "http" && out->scheme != "https")
    return fail(ec::invalid_argument,
                "x-forwarded-proto: '{}' is neither http nor https",
                out->scheme.substr(0, 60));
  if (!out->host.empty() && !is_plain_host(out->host))
    return fail(ec::invalid_argument,
                "x-forwarded-host: '{}' is not a host, perhaps with a port",
                out->host.substr(0, 60));
  return out;
}

} // namespace atelier::runtime::http::detail
