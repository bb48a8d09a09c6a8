// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/detail/prompt_characters.hpp>
#include <atelier/core/prompt_weights.hpp>
#include <atelier/core/utf8.hpp>

#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace atelier::core {

namespace {

using detail::is_space;
using detail::is_word;

constexpr double round_weight = 1.1;
constexpr double square_weight = 1 / 1.1;
/// The bytes of a prompt in a message.
constexpr size_t most_quoted_bytes = 40;

constexpr std::string_view chunk_mark = "BREAK";

bool is_mark(char c) {
  return c == '\\' || c == '(' || c == ')' || c == '[' || c == ']' || c == ':';
}

/// A part of the prompt between two marks.
struct piece {
  std::string_view text;
  bool begins_chunk = false;
};

/// The pieces [from, to) that a bracket encloses.
struct bracket {
  size_t from = 0;
  size_t to = 0;
  double weight = 1;
};

/// The brackets of one kind. Brackets of the other kind do not close them.
class bracket_pairs {
public:
  void open(size_t at) {
    open_.push_back(all_.size());
    all_.push_back({at, at, 1});
  }

  bool any_open() const {
    return !open_.empty();
  }

  /// @pre any_open()
  void close(size_t at, double weight) {
    auto& x = all_[open_.back()];
    open_.pop_back();
    x.to = at;
    x.weight = weight;
  }

  void close_all(size_t at, double weight) {
    while (any_open())
      close(at, weight);
  }

  /// Returns the product of the weights of the brackets around a piece. The
  /// pieces are asked for in order.
  double weight_of(size_t at, uint64_t& visits) {
    // A bracket closes before those around it do, so the last ends first.
    for (; !around_.empty() && around_.back().first <= at; ++visits)
      around_.pop_back();
    for (; next_ < all_.size() && all_[next_].from <= at; ++next_, ++visits) {
      const auto& x = all_[next_];
      if (x.to > at)
        around_.push_back({x.to, product() * x.weight});
    }
    return product();
  }

private:
  double product() const {
    return around_.empty() ? 1 : around_.back().second;
  }

  /// In the order in which they were opened.
  std::vector<bracket> all_;
  /// The places in `all_` of the brackets that are open.
  std::vector<size_t> open_;
  size_t next_ = 0;
  /// Where each bracket around the piece ends, and the product up to it.
  std::vector<std::pair<size_t, double>> around_;
};

class weight_reader {
public:
  explicit weight_reader(std::string_view text) : text_(text) {}

  result<std::vector<weighted_text>> run(uint64_t* visits) {
    while (at_ < text_.size() && fine_)
      take_one();
    if (!fine_)
      return fine_.why();
    round_.close_all(pieces_.size(), round_weight);
    square_.close_all(pieces_.size(), square_weight);
    auto out = join();
    if (visits != nullptr)
      *visits = visits_;
    return out;
  }

private:
  void take_one() {
    const auto from = at_++;
    ++visits_;
    switch (text_[from]) {
      case '\\':
        // Before another character, a backslash is dropped.
        if (at_ < text_.size() && is_mark(text_[at_]) && text_[at_] != ':')
          pieces_.push_back({text_.substr(at_++, 1)});
        return;
      case '(':
        return round_.open(pieces_.size());
      case '[':
        return square_.open(pieces_.size());
      case ')':
        if (round_.any_open())
          return round_.close(pieces_.size(), round_weight);
        break;
      case ']':
        if (square_.any_open())
          return square_.close(pieces_.size(), square_weight);
        break;
      case ':':
        if (round_.any_open() && take_weight())
          return;
        break;
      default:
        while (at_ < text_.size() && !is_mark(text_[at_])) {
          ++at_;
          ++visits_;
        }
        return take_words(text_.substr(from, at_ - from));
    }
    pieces_.push_back({text_.substr(from, 1)});
  }

  size_t skip_spaces(size_t i) {
    while (i < text_.size() && is_space(text_[i])) {
      ++i;
      ++visits_;
    }
    return i;
  }

  /// Takes a number and the bracket that it closes, behind a colon. Returns
  /// false if there is something else.
  bool take_weight() {
    const auto from = skip_spaces(at_);
    auto i = from;
    if (i < text_.size() && (text_[i] == '+' || text_[i] == '-'))
      ++i;
    const auto digits = i;
    while (i < text_.size()
           && (text_[i] == '.' || (text_[i] >= '0' && text_[i] <= '9'))) {
      ++i;
      ++visits_;
    }
    const auto end = skip_spaces(i);
    if (i == digits || end == text_.size() || text_[end] != ')')
      return false;
    const auto written = text_.substr(from, i - from);
    const auto number = written.substr(written.front() == '+' ? 1 : 0);
    double weight = 0;
    const auto [stop, fault] =
      std::from_chars(number.data(), number.data() + number.size(), weight);
    if (fault != std::errc{} || stop != number.data() + number.size()) {
      fine_ = fail(ec::invalid_argument,
                   "the weight '{}' is not a number from -{} to {}",
                   beginning_of(written, most_quoted_bytes), most_word_weight,
                   most_word_weight);
      return true;
    }
    round_.close(pieces_.size(), weight);
    at_ = end + 1;
    return true;
  }

  /// Splits words at BREAK, which takes the spaces around it along.
  void take_words(std::string_view words) {
    bool begins_chunk = false;
    size_t from = 0;
    for (size_t i = words.find(chunk_mark); i != words.npos;
         i = words.find(chunk_mark, i)) {
      const auto end = i + chunk_mark.size();
      if ((i > 0 && is_word(words[i - 1]))
          || (end < words.size() && is_word(words[end]))) {
        i = end;
        continue;
      }
      auto to = i;
      while (to > from && is_space(words[to - 1]))
        --to;
      pieces_.push_back({words.substr(from, to - from), begins_chunk});
      begins_chunk = true;
      from = end;
      while (from < words.size() && is_space(words[from]))
        ++from;
      i = from;
    }
    pieces_.push_back({words.substr(from), begins_chunk});
  }

  result<std::vector<weighted_text>> join() {
    std::vector<weighted_text> out;
    for (size_t i = 0; i < pieces_.size(); ++i, ++visits_) {
      const auto& x = pieces_[i];
      const auto product =
        round_.weight_of(i, visits_) * square_.weight_of(i, visits_);
      // Without words there is nothing to weigh.
      const auto weight = x.text.empty() ? 1 : product;
      // NaN fails every comparison.
      if (!(std::abs(weight) <= most_word_weight))
        return fail(ec::invalid_argument,
                    "the weight {:g} of '{}' is outside -{}..{}", weight,
                    beginning_of(x.text, most_quoted_bytes), most_word_weight,
                    most_word_weight);
      if (!out.empty() && !x.begins_chunk
          && (x.text.empty() || out.back().weight == weight))
        out.back().text += x.text;
      else
        out.push_back({std::string{x.text}, weight, x.begins_chunk});
    }
    if (out.empty())
      out.emplace_back();
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
  uint64_t visits_ = 0;
  std::vector<piece> pieces_;
  bracket_pairs round_;
  bracket_pairs square_;
  result<void> fine_;
};

} // namespace

result<std::vector<weighted_text>> read_word_weights(std::string_view prompt,
                                                     uint64_t* visits) {
  return weight_reader{prompt}.run(visits);
}

} // namespace atelier::core
