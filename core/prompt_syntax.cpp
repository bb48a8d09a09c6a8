// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/detail/prompt_characters.hpp>
#include <atelier/core/prompt_syntax.hpp>
#include <atelier/core/utf8.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace atelier::core {

namespace {

using detail::is_space;
using detail::is_word;

constexpr size_t most_marks = 16;
constexpr size_t most_shown_bytes = 80;

std::string_view strip(std::string_view x) {
  return trim(x, is_space);
}

/// Returns the beginning of the text on one line.
std::string shorten(std::string_view x) {
  std::string out{beginning_of(x, most_shown_bytes)};
  std::ranges::replace_if(out, is_space, ' ');
  return out.size() < x.size() ? out + "..." : out;
}

bool is_number(std::string_view x) {
  x = strip(x);
  if (!x.empty() && (x.front() == '-' || x.front() == '+'))
    x.remove_prefix(1);
  size_t digits = 0;
  size_t dots = 0;
  // Ends at the first other byte: brackets inside others are read again for
  // each of them.
  for (const char c : x) {
    if (is_digit(c))
      ++digits;
    else if (c != '.' || ++dots > 1)
      return false;
  }
  return digits > 0;
}

/// The positions of a bracket and its parts in the prompt.
struct open_bracket {
  size_t offset;
  /// The bracket's own bar and colons.
  std::optional<size_t> bar = std::nullopt;
  std::optional<size_t> first_colon = std::nullopt;
  std::optional<size_t> last_colon = std::nullopt;
};

class reader {
public:
  reader(std::string_view text, marks_taken which)
    : text_(text),
      takes_weights_(which == marks_taken::all),
      dropped_(text.size() + 1, 0) {}

  unmarked_prompt run() {
    for (size_t i = 0; i < text_.size();) {
      const char c = text_[i];
      if (c == '\\' && i + 1 < text_.size() && is_bracket(text_[i + 1])) {
        if (takes_weights_)
          drop(i, i + 1);
        i += 2;
        continue;
      }
      if (c == '<') {
        i = take_network(i);
        continue;
      }
      if (const auto end = take_word(i); end > i) {
        i = end;
        continue;
      }
      take_sign(i);
      ++i;
    }
    out_.plain = text_of(0, text_.size());
    return std::move(out_);
  }

private:
  static bool is_bracket(char c) {
    return c == '(' || c == ')' || c == '[' || c == ']';
  }

  /// Omits [from, to) from the plain text.
  void drop(size_t from, size_t to) {
    if (from >= to)
      return;
    ++dropped_[from];
    --dropped_[to];
  }

  void add(prompt_mark what, size_t from, size_t to) {
    ++out_.count;
    // The first network is always reported.
    const bool first_network =
      what == prompt_mark::network && !std::exchange(has_network_, true);
    if (out_.marks.size() >= most_marks && !first_network)
      return;
    // The shown text of a mark is short, so only the beginning of a long mark
    // is read.
    const auto most = std::min(to, from + 4 * most_shown_bytes);
    out_.marks.push_back({what, shorten(text_.substr(from, to - from)),
                          shorten(strip(text_of(from, most)))});
  }

  /// Returns the text that remains of [from, to).
  /// @pre no omitted range begins before `from` and ends in it, or from is 0
  std::string text_of(size_t from, size_t to) const {
    std::string out;
    int64_t depth = 0;
    for (size_t i = from; i < to; ++i) {
      depth += dropped_[i];
      if (depth <= 0)
        out += text_[i];
    }
    return out;
  }

  void take_sign(size_t i) {
    switch (text_[i]) {
      case '(':
        round_.push_back({i});
        last_is_round_.push_back(true);
        break;
      case '[':
        square_.push_back({i});
        last_is_round_.push_back(false);
        break;
      case ')':
        close(i, true);
        break;
      case ']':
        close(i, false);
        break;
      case '|':
        if (!last_is_round_.empty() && !last_is_round_.back()
            && !square_.back().bar)
          square_.back().bar = i;
        break;
      case ':':
        if (!last_is_round_.empty())
          note_colon((last_is_round_.back() ? round_ : square_).back(), i);
        break;
      default:
        break;
    }
  }

  static void note_colon(open_bracket& of, size_t i) {
    if (!of.first_colon)
      of.first_colon = i;
    of.last_colon = i;
  }

  /// Closes a bracket. Brackets of the other kind that are open inside it have
  /// no partner.
  void close(size_t i, bool round) {
    auto& mine = round ? round_ : square_;
    if (mine.empty())
      return;
    while (last_is_round_.back() != round) {
      (round ? square_ : round_).pop_back();
      last_is_round_.pop_back();
    }
    const auto x = mine.back();
    mine.pop_back();
    last_is_round_.pop_back();
    const auto what = round ? close_round(x, i) : close_square(x, i);
    if (!takes_weights_
        && (what == prompt_mark::emphasis || what == prompt_mark::weight))
      return;
    drop(x.offset, x.offset + 1);
    drop(i, i + 1);
    add(what, x.offset, i + 1);
  }

  prompt_mark close_round(const open_bracket& x, size_t end) {
    if (!x.last_colon
        || !is_number(text_.substr(*x.last_colon + 1, end - *x.last_colon - 1)))
      return prompt_mark::emphasis;
    if (takes_weights_)
      drop(*x.last_colon, end);
    return prompt_mark::weight;
  }

  prompt_mark close_square(const open_bracket& x, size_t end) {
    if (x.bar) {
      drop(*x.bar, end);
      return prompt_mark::alternation;
    }
    if (!x.last_colon
        || !is_number(text_.substr(*x.last_colon + 1, end - *x.last_colon - 1)))
      return prompt_mark::emphasis;
    const auto first = *x.first_colon;
    const auto last = *x.last_colon;
    const auto from = strip(text_.substr(x.offset + 1, first - x.offset - 1));
    if (first != last && from.empty()) {
      // [:other:0.5]
      drop(x.offset + 1, first + 1);
      drop(last, end);
    } else {
      drop(first, end);
    }
    return prompt_mark::schedule;
  }

  /// Returns the position at which to continue.
  size_t take_network(size_t i) {
    constexpr std::array<std::string_view, 3> kinds{
      "lora:", "hypernet:", "lyco:"};
    const auto rest = text_.substr(i + 1);
    const bool one = std::ranges::any_of(kinds, [&](std::string_view kind) {
      return same_word(rest.substr(0, kind.size()), kind);
    });
    constexpr size_t longest = 512;
    const auto end =
      one ? rest.substr(0, longest).find('>') : std::string_view::npos;
    if (end == std::string_view::npos)
      return i + 1;
    const auto behind = i + 1 + end + 1;
    drop(i, behind);
    add(prompt_mark::network, i, behind);
    return behind;
  }

  /// Takes BREAK and AND. Returns the position at which to continue, or `i` if
  /// the text at `i` is neither.
  size_t take_word(size_t i) {
    if (i > 0 && is_word(text_[i - 1]))
      return i;
    for (const auto& [word, what] :
         {std::pair<std::string_view, prompt_mark>{"BREAK", prompt_mark::chunk},
          {"AND", prompt_mark::composition}}) {
      const auto end = i + word.size();
      if (text_.substr(i, word.size()) != word
          || (end < text_.size() && is_word(text_[end])))
        continue;
      if (what == prompt_mark::composition ? !has_small_letters()
                                           : !takes_weights_)
        return end;
      if (what == prompt_mark::chunk)
        drop(i, end);
      add(what, i, end);
      return end;
    }
    return i;
  }

  /// Returns whether the prompt has small letters. If all letters are capitals,
  /// AND is a word like the others.
  bool has_small_letters() {
    if (!small_)
      small_ =
        std::ranges::any_of(text_, [](char c) { return c >= 'a' && c <= 'z'; });
    return *small_;
  }

  std::string_view text_;
  bool takes_weights_;
  /// Counts the omitted ranges that begin (+) or end (-) at each position.
  std::vector<int32_t> dropped_;
  std::vector<open_bracket> round_;
  std::vector<open_bracket> square_;
  /// For each open bracket, in order, whether it is round.
  std::vector<bool> last_is_round_;
  std::optional<bool> small_;
  bool has_network_ = false;
  unmarked_prompt out_;
};

std::string_view name_of(prompt_mark x) {
  switch (x) {
    case prompt_mark::weight:
    case prompt_mark::emphasis:
      return "a weight of words";
    case prompt_mark::alternation:
      return "alternation of words";
    case prompt_mark::schedule:
      return "a change of words between steps";
    case prompt_mark::chunk:
      return "the end of a chunk";
    case prompt_mark::composition:
      return "AND";
    case prompt_mark::network:
      return "a network named in the prompt";
  }
  return {};
}

// Returns the text that remains of a mark, quoted.
std::string left_of(const marked_text& x) {
  if (x.mark == prompt_mark::composition)
    return "'and'";
  return x.plain.empty() || x.mark == prompt_mark::chunk
         ? std::string{"nothing"}
         : fmt::format("'{}'", x.plain);
}

} // namespace

unmarked_prompt read_prompt_syntax(std::string_view prompt, marks_taken which) {
  return reader{prompt, which}.run();
}

std::string words_of(std::string_view prompt, prompt_grammar syntax) {
  return syntax == prompt_grammar::webui ? read_prompt_syntax(prompt).plain
                                         : std::string{prompt};
}

bool is_deliberate(const marked_text& x) {
  // [word] rarely has another meaning.
  return x.mark != prompt_mark::emphasis || x.written.starts_with('[');
}

std::string told_as_text(const marked_text& x) {
  if (is_weight(x.mark))
    return fmt::format("'{}' is read as plain text; prompt_syntax 'webui' "
                       "reads it as {}",
                       x.written, name_of(x.mark));
  return fmt::format("'{}' is read as plain text, because {} is not supported; "
                     "write {} instead",
                     x.written, name_of(x.mark), left_of(x));
}

std::string told_as_left_out(const marked_text& x) {
  return fmt::format("'{}' is read as {}, because {} is not supported",
                     x.written, left_of(x), name_of(x.mark));
}

} // namespace atelier::core
