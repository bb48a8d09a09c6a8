// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/error.hpp>
#include <atelier/core/utf8.hpp>
#include <atelier/runtime/http/multipart.hpp>

#include <algorithm>
#include <optional>

namespace atelier::runtime::http {

namespace {

using core::ec;
using core::same_word;
using core::trim;

constexpr std::string_view line_end = "\r\n";

/// Takes a value that begins at `at`: a quoted string or all up to a semicolon.
/// None where a quoted one does not end.
std::optional<std::string> take_value(std::string_view in, size_t& at) {
  if (at >= in.size() || in[at] != '"') {
    const auto end = std::min(in.find(';', at), in.size());
    std::string value{trim(in.substr(at, end - at))};
    at = end;
    return value;
  }
  std::string value;
  for (++at; at < in.size(); ++at) {
    if (in[at] == '"') {
      at = std::min(in.find(';', at), in.size());
      return value;
    }
    // Only these are escaped: browsers send a Windows path's strokes as such.
    if (in[at] == '\\' && at + 1 < in.size()
        && (in[at + 1] == '"' || in[at + 1] == '\\'))
      ++at;
    value += in[at];
  }
  return std::nullopt;
}

/// Returns a parameter of a header's value, as name in
/// 'form-data; name="a"'.
std::optional<std::string> parameter(std::string_view value,
                                     std::string_view name) {
  auto at = value.find(';');
  while (at < value.size()) {
    const auto sign = value.find('=', at);
    if (sign == std::string_view::npos)
      return std::nullopt;
    const auto key = trim(value.substr(at + 1, sign - at - 1));
    at = sign + 1;
    while (at < value.size() && value[at] == ' ')
      ++at;
    auto found = take_value(value, at);
    if (!found || same_word(key, name))
      return found;
  }
  return std::nullopt;
}

core::result<std::string> boundary_of(std::string_view content_type) {
  const auto kind = trim(content_type.substr(0, content_type.find(';')));
  if (!same_word(kind, "multipart/form-data"))
    return core::fail(ec::bad_payload, "the body is not multipart/form-data");
  auto found = parameter(content_type, "boundary");
  if (!found || found->empty() || found->size() > 70)
    return core::fail(ec::bad_payload,
                      "the form's boundary is not of 1..70 characters");
  return std::move(*found);
}

core::result<void> read_header(std::string_view line, form_part& into) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos)
    return core::fail(ec::bad_payload,
                      "a part of the form has a faulty header");
  const auto name = trim(line.substr(0, colon));
  const auto value = trim(line.substr(colon + 1));
  if (same_word(name, "content-type")) {
    into.content_type = value;
  } else if (same_word(name, "content-transfer-encoding")) {
    if (!same_word(value, "binary") && !same_word(value, "8bit")
        && !same_word(value, "7bit"))
      return core::fail(ec::bad_payload,
                        "a part of the form has a transfer encoding; it must "
                        "be sent as it is");
  } else if (same_word(name, "content-disposition")) {
    if (!same_word(trim(value.substr(0, value.find(';'))), "form-data"))
      return core::fail(ec::bad_payload, "a part of the form is not form-data");
    into.name = parameter(value, "name").value_or("");
    into.filename = parameter(value, "filename").value_or("");
  }
  return {};
}

core::result<void> read_headers(std::string_view headers, form_part& into) {
  while (!headers.empty()) {
    const auto end = std::min(headers.find(line_end), headers.size());
    if (auto good = read_header(headers.substr(0, end), into); !good)
      return good;
    headers.remove_prefix(std::min(headers.size(), end + line_end.size()));
  }
  if (into.name.empty() || core::find_utf8_fault(into.name)
      || core::find_utf8_fault(into.filename))
    return core::fail(ec::bad_payload, "a part of the form has no name");
  return {};
}

/// Takes the headers and content that `rest` begins with, up to `mark`, which
/// it leaves at its begin.
core::result<form_part> take_part(std::string_view& rest, std::string_view mark,
                                  const multipart_limits& within) {
  constexpr std::string_view blank = "\r\n\r\n";
  form_part part;
  // With the line break before it, so that a part may have no header.
  const auto most = within.header_bytes + blank.size();
  const auto head = rest.substr(0, most).find(blank);
  if (head == std::string_view::npos) {
    if (rest.size() > most)
      return core::fail(ec::invalid_argument,
                        "a part of the form has more than {} bytes of headers",
                        within.header_bytes);
    return core::fail(ec::bad_payload, "the form is cut short");
  }
  const auto headers =
    head < line_end.size() ? "" : rest.substr(line_end.size(), head - 2);
  if (auto good = read_headers(headers, part); !good)
    return good.why();
  rest.remove_prefix(head + blank.size());
  const auto end = rest.find(mark);
  if (end == std::string_view::npos)
    return core::fail(ec::bad_payload, "the form is cut short");
  part.content = rest.substr(0, end);
  rest.remove_prefix(end);
  return part;
}

} // namespace

bool is_multipart(std::string_view content_type) {
  constexpr std::string_view kind = "multipart/";
  return same_word(trim(content_type).substr(0, kind.size()), kind);
}

core::result<std::vector<form_part>> parse_multipart(
  std::string_view content_type, std::string_view body,
  multipart_limits within) {
  const auto boundary = boundary_of(content_type);
  if (!boundary)
    return boundary.why();
  const auto mark = "\r\n--" + *boundary;
  auto rest = body;
  if (body.starts_with(std::string_view{mark}.substr(2))) {
    rest.remove_prefix(mark.size() - 2);
  } else {
    const auto first = body.find(mark);
    if (first == std::string_view::npos)
      return core::fail(ec::bad_payload, "the form has no part");
    rest.remove_prefix(first + mark.size());
  }
  std::vector<form_part> parts;
  for (;;) {
    if (rest.starts_with("--"))
      return parts;
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t'))
      rest.remove_prefix(1);
    if (!rest.starts_with(line_end))
      return core::fail(ec::bad_payload, "the form is cut short");
    if (parts.size() == within.parts)
      return core::fail(ec::invalid_argument, "the form has more than {} parts",
                        within.parts);
    auto part = take_part(rest, mark, within);
    if (!part)
      return part.why();
    parts.push_back(std::move(*part));
    rest.remove_prefix(mark.size());
  }
}

} // namespace atelier::runtime::http
