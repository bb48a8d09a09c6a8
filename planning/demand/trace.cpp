// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/demand/trace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

namespace atelier::planning {

namespace {

using core::ec;

constexpr size_t most_arrivals = 10'000'000;
constexpr size_t most_faults = 100;
constexpr size_t most_names = 65'536;
constexpr size_t most_name_bytes = 256;
constexpr double most_ms = 366 * 86'400'000.0;
constexpr uint64_t most_images = 256;
constexpr uint64_t most_steps = 10'000;
constexpr uint64_t most_side = 65'536;

enum class column : uint8_t {
  ms,
  content,
  variant,
  n,
  steps,
  size,
  mask,
  tenant,
  prompt,
  deadline_ms,
  failed,
  warm_up,
};

constexpr std::array<std::string_view, 12> column_names{
  "ms",   "content", "variant", "n",           "steps",  "size",
  "mask", "tenant",  "prompt",  "deadline_ms", "failed", "warm_up"};

std::string_view trimmed(std::string_view x) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!x.empty() && blank(x.front()))
    x.remove_prefix(1);
  while (!x.empty() && blank(x.back()))
    x.remove_suffix(1);
  return x;
}

/// Returns a cell without the blanks and the double quotes around it, in which
/// spreadsheets write their cells.
std::string_view cell_of(std::string_view x) {
  x = trimmed(x);
  if (x.size() < 2 || x.front() != '"' || x.back() != '"')
    return x;
  return trimmed(x.substr(1, x.size() - 2));
}

std::string shown(std::string_view x) {
  return fmt::format("'{}'", x.substr(0, 60));
}

template <class T>
bool read_whole(std::string_view text, T& into) {
  const char* last = text.data() + text.size();
  const auto at = std::from_chars(text.data(), last, into);
  return at.ec == std::errc{} && at.ptr == last;
}

/// Reads a text line by line and collects its faults.
class reader {
public:
  reader(std::string_view text, std::string_view where)
    : text_(text), where_(where) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark))
      text_.remove_prefix(byte_order_mark.size());
  }

  core::result<trace> read() {
    while (!text_.empty() && count_ <= most_faults) {
      ++number_;
      const size_t end = text_.find('\n');
      auto line = text_.substr(0, end);
      text_.remove_prefix(end == std::string_view::npos ? text_.size()
                                                        : end + 1);
      line = line.substr(0, line.find('#'));
      while (
        !line.empty()
        && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
        line.remove_suffix(1);
      if (line.empty())
        continue;
      if (!begun_ && names_columns(line)) {
        read_header(line);
        // Without a valid header, the meaning of its lines is unknown.
        if (count_ > 0)
          break;
      } else {
        read_line(line);
      }
      begun_ = true;
    }
    if (count_ == 0 && out_.arrivals.empty()) {
      number_ = std::max<size_t>(number_, 1);
      if (out_.columns.empty())
        number_ = 1;
      complain("the trace has no arrivals");
    }
    if (count_ > 0)
      return core::error{ec::bad_payload, std::move(faults_)};
    if (out_.moved > 0)
      std::stable_sort(
        out_.arrivals.begin(), out_.arrivals.end(),
        [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    return std::move(out_);
  }

private:
  void complain(std::string_view what) {
    if (count_ < most_faults)
      faults_ += fmt::format("{}{}:{}: {}", count_ > 0 ? "\n" : "", where_,
                             number_, what);
    else if (count_ == most_faults)
      faults_ += fmt::format("\n{}: more faults follow", where_);
    ++count_;
  }

  // A time may be an unusable number, such as nan, and is then not a name.
  static bool names_columns(std::string_view line) {
    const auto first = cell_of(line.substr(0, line.find(',')));
    const char letter =
      first.empty() ? ' ' : static_cast<char>(first.front() | 0x20);
    double ms = 0;
    return letter >= 'a' && letter <= 'z' && !read_whole(first, ms);
  }

  void read_header(std::string_view line) {
    for (bool more = true; more;) {
      const auto comma = line.find(',');
      const auto name = cell_of(line.substr(0, comma));
      more = comma != std::string_view::npos;
      line.remove_prefix(more ? comma + 1 : line.size());
      const auto known =
        std::find(column_names.begin(), column_names.end(), name);
      if (known == column_names.end())
        complain(fmt::format("{} is not a column; the columns are {}",
                             shown(name), trace_columns()));
      else if (std::find(out_.columns.begin(), out_.columns.end(), name)
               != out_.columns.end())
        complain(fmt::format("the column {} occurs twice", shown(name)));
      else
        columns_.push_back(static_cast<column>(known - column_names.begin()));
      out_.columns.emplace_back(name);
    }
    const auto has = [&](column x) {
      return std::find(columns_.begin(), columns_.end(), x) != columns_.end();
    };
    if (!has(column::ms))
      complain("the column 'ms', the time of arrival, is missing");
    if (has(column::content) && has(column::prompt))
      complain("the columns 'content' and 'prompt' both say what to draw: keep "
               "one");
  }

  void read_line(std::string_view line) {
    traced_arrival x;
    x.content = out_.arrivals.size();
    const auto before = count_;
    if (columns_.empty())
      read_pair(line, x);
    else
      read_cells(line, x);
    if (count_ != before)
      return;
    if (out_.arrivals.size() == most_arrivals)
      return complain(fmt::format("more than {} arrivals", most_arrivals));
    if (!out_.arrivals.empty() && x.seconds < latest_)
      ++out_.moved;
    latest_ = std::max(latest_, x.seconds);
    out_.arrivals.push_back(x);
  }

  void read_pair(std::string_view line, traced_arrival& x) {
    double ms = 0;
    const auto comma = line.find(',');
    if (comma == std::string_view::npos
        || !read_whole(cell_of(line.substr(0, comma)), ms)
        || !read_whole(cell_of(line.substr(comma + 1)), x.content))
      return complain(
        fmt::format("{} is not MILLISECONDS,NUMBER", shown(line)));
    x.seconds = seconds(ms, line.substr(0, comma));
  }

  /// Returns a time in seconds. A date, which counts from 1970, would begin the
  /// trace with decades of waiting.
  double seconds(double ms, std::string_view cell) {
    if (!(ms >= 0 && ms <= most_ms))
      complain(fmt::format("ms: {} is not a number in 0..{}; times count from "
                           "the start of the trace, not from 1970",
                           shown(cell), most_ms));
    return ms / 1000;
  }

  void read_cells(std::string_view line, traced_arrival& x) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const auto comma = line.find(',');
      const bool more = comma != std::string_view::npos;
      if (more == (i + 1 == columns_.size()))
        return complain(fmt::format("the line has {} than the {} values of the "
                                    "columns",
                                    more ? "more" : "fewer", columns_.size()));
      read_cell(columns_[i], cell_of(line.substr(0, comma)), x);
      line.remove_prefix(more ? comma + 1 : line.size());
    }
  }

  void read_cell(column of, std::string_view cell, traced_arrival& x) {
    if (cell.empty() && of != column::ms)
      return;
    switch (of) {
      case column::ms: {
        double ms = 0;
        x.seconds = seconds(read_whole(cell, ms) ? ms : -1, cell);
        break;
      }
      case column::content:
      case column::prompt:
        whole(of, cell, 0, UINT64_MAX, x.content);
        break;
      case column::variant:
        x.variant = named(of, cell, out_.variants, variants_);
        break;
      case column::tenant:
        x.tenant = named(of, cell, out_.tenants, tenants_);
        break;
      case column::n:
        whole(of, cell, 1, most_images, x.images);
        break;
      case column::steps:
        whole(of, cell, 1, most_steps, x.steps);
        break;
      case column::size:
        size(cell, x.px);
        break;
      case column::mask: {
        double share = 0;
        real(of, cell, 0, 1, share);
        x.masked = share > 0 ? static_cast<float>(share) : -1;
        break;
      }
      case column::deadline_ms: {
        double ms = 0;
        real(of, cell, 1, most_ms, ms);
        x.deadline_ms = static_cast<float>(ms);
        break;
      }
      case column::failed:
        x.failed = yes(of, cell);
        break;
      case column::warm_up:
        x.warm_up = yes(of, cell);
        break;
    }
  }

  template <class T>
  void whole(column of, std::string_view cell, uint64_t least, uint64_t most,
             T& into) {
    uint64_t value = 0;
    if (read_whole(cell, value) && value >= least && value <= most)
      into = static_cast<T>(value);
    else
      complain(fmt::format("{}: {} is not a whole number in {}..{}",
                           name_of(of), shown(cell), least, most));
  }

  bool yes(column of, std::string_view cell) {
    uint32_t value = 0;
    whole(of, cell, 0, 1, value);
    return value != 0;
  }

  void real(column of, std::string_view cell, double least, double most,
            double& into) {
    double value = 0;
    if (read_whole(cell, value) && value >= least && value <= most)
      into = value;
    else
      complain(fmt::format("{}: {} is not a number in {}..{}", name_of(of),
                           shown(cell), least, most));
  }

  void size(std::string_view cell, core::extent& into) {
    const auto cross = cell.find('x');
    core::extent px;
    if (cross != std::string_view::npos
        && read_whole(cell.substr(0, cross), px.width)
        && read_whole(cell.substr(cross + 1), px.height) && px.width > 0
        && px.height > 0 && px.width <= most_side && px.height <= most_side)
      into = px;
    else
      complain(fmt::format("size: {} is not WIDTHxHEIGHT, both in 1..{}",
                           shown(cell), most_side));
  }

  uint32_t named(column of, std::string_view cell,
                 std::vector<traced_name>& names,
                 std::map<std::string, uint32_t, std::less<>>& known) {
    if (const auto at = known.find(cell); at != known.end())
      return at->second;
    if (cell.size() > most_name_bytes || names.size() == most_names) {
      complain(fmt::format("{}: {} exceeds the limit of {} names of at most {} "
                           "bytes each",
                           name_of(of), shown(cell), most_names,
                           most_name_bytes));
      return no_name;
    }
    const auto number = static_cast<uint32_t>(names.size());
    known.emplace(cell, number);
    names.push_back({std::string{cell}, number_});
    return number;
  }

  static std::string_view name_of(column x) {
    return column_names[static_cast<size_t>(x)];
  }

  std::string_view text_;
  std::string_view where_;
  trace out_;
  std::vector<column> columns_;
  std::map<std::string, uint32_t, std::less<>> variants_;
  std::map<std::string, uint32_t, std::less<>> tenants_;
  std::string faults_;
  size_t count_ = 0;
  size_t number_ = 0;
  bool begun_ = false;
  double latest_ = 0;
};

} // namespace

std::string trace_columns() {
  return fmt::format("{}", fmt::join(column_names, ", "));
}

core::result<trace> parse_trace(std::string_view text, std::string_view where) {
  return reader{text, where}.read();
}

std::vector<traced_arrival> one_image_each(std::vector<traced_arrival> of) {
  const bool single = std::all_of(of.begin(), of.end(),
                                  [](const auto& x) { return x.images <= 1; });
  for (size_t i = 0; i < of.size(); ++i)
    of[i].request = static_cast<uint32_t>(i);
  if (single)
    return of;
  std::vector<traced_arrival> out;
  out.reserve(of.size());
  for (const traced_arrival& x : of)
    out.insert(out.end(), std::max(x.images, 1u), x);
  return out;
}

bool is_one_image_each(std::span<const traced_arrival> of) {
  for (size_t i = 0; i < of.size(); ++i)
    if (of[i].images > 1 || of[i].request != i)
      return false;
  return true;
}

} // namespace atelier::planning
