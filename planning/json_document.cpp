// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/json_reader.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace atelier::planning::detail {

namespace {

/// The fault of a text before it is parsed, and its line.
struct scan_fault {
  size_t line = 1;
  std::string text;
};

/// Scans the brackets, keys and commas of a text. The parser does not bound the
/// size of its result, compares a new key with all keys of its object, takes
/// the last of two equal keys, and frees its result by recursion.
class json_scan {
public:
  explicit json_scan(std::string_view text) : text_(text) {}

  std::optional<scan_fault> run() {
    while (at_ < text_.size() && what_.empty()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      line_ += c == '\n' ? 1u : 0u;
      if (c == '[' || c == '{')
        open();
      else if ((c == ']' || c == '}') && !inside_.empty())
        inside_.pop_back();
      else if (c == ',')
        ++values_;
      else if (c == ':' && !inside_.empty())
        add_key();
      if (values_ > most_values)
        what_ = fmt::format("more than {} values", most_values);
      ++at_;
    }
    if (what_.empty())
      return std::nullopt;
    return scan_fault{line_, std::move(what_)};
  }

private:
  void skip_string() {
    const auto begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      line_ += text_[at_] == '\n' ? 1u : 0u;
      at_ += text_[at_] == '\\' ? 2u : 1u;
    }
    at_ = std::min(at_, text_.size());
    last_ = text_.substr(begin, at_ - begin);
    ++at_;
  }

  void open() {
    ++values_;
    inside_.emplace_back();
    if (inside_.size() > most_depth)
      what_ = fmt::format("nested more than {} deep", most_depth);
  }

  void add_key() {
    auto& keys = inside_.back();
    if (!keys.insert(last_).second)
      what_ = fmt::format("the key '{}' occurs twice in an object",
                          last_.substr(0, 60));
    else if (keys.size() > most_keys)
      what_ = fmt::format("more than {} keys in an object", most_keys);
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t values_ = 1;
  /// The keys so far of each open bracket.
  std::vector<std::set<std::string_view>> inside_;
  /// The previous string.
  std::string_view last_;
  std::string what_;
};

/// Returns the line of the byte before `byte`, and the text before it.
std::string place_of(std::string_view text, size_t byte) {
  const auto before = text.substr(0, std::min(byte, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const auto line = before.substr(before.rfind('\n') + 1);
  constexpr size_t shown = 40;
  const auto end =
    line.size() > shown ? line.substr(line.size() - shown) : line;
  return fmt::format("{}: is not JSON from here on: {}", lines + 1,
                     json_reader::shown(json(end)));
}

} // namespace

core::result<json> parse_document(std::string_view text, std::string_view where,
                                  size_t most_bytes) {
  const auto bad = [&](std::string_view what) {
    return core::fail(core::ec::bad_payload, "{}: {}", where, what);
  };
  if (text.size() > most_bytes)
    return bad(
      fmt::format("{} bytes are more than {}", text.size(), most_bytes));
  if (const auto fault = json_scan{text}.run())
    return core::fail(core::ec::bad_payload, "{}:{}: {}", where, fault->line,
                      fault->text);
  try {
    auto document = json::parse(text);
    if (document.is_object())
      return document;
    return bad("is not a JSON object");
  } catch (const json::parse_error& e) {
    return core::fail(core::ec::bad_payload, "{}:{}", where,
                      place_of(text, e.byte));
  } catch (const json::exception& e) {
    // The number is outside the range of every type.
    const std::string_view why = e.what();
    return bad(why.substr(why.find("] ") + 2));
  }
}

} // namespace atelier::planning::detail
