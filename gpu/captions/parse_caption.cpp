// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/detail/caption_tokens.hpp>
#include <atelier/gpu/captions/parse_caption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace atelier::gpu {

namespace {

using detail::word_kind;

class parser {
public:
  explicit parser(std::string_view text) : tokens_(text) {}

  parsed_caption run() {
    while (at_ < tokens_.size())
      if (!take_background() && !take_relation() && !take_place())
        take_word();
    end_clause();
    if (waiting_)
      remark("nothing follows '{}'", to_string(waiting_->kind));
    if (out_.says.objects.size() > most_objects)
      remark("{} objects: pictures have at most {}", out_.says.objects.size(),
             most_objects);
    if (out_.says.objects.empty())
      remark(no_shape_remark);
    check_colours();
    return std::move(out_);
  }

private:
  // A relation whose objects have not been read yet.
  struct open_relation {
    relation kind;
    uint8_t subject;
    std::optional<uint8_t> first;
  };

  template <class... Ts>
  void remark(fmt::format_string<Ts...> text, Ts&&... xs) {
    out_.remarks.push_back(fmt::format(text, std::forward<Ts>(xs)...));
  }

  void misplace(const std::string& word, bool on_object) {
    const misplaced_colour x{word, on_object};
    if (std::ranges::find(out_.misplaced, x) == out_.misplaced.end())
      out_.misplaced.push_back(x);
  }

  // ---- the background

  bool take_background() {
    const auto found = detail::background_at(tokens_, at_);
    if (!found)
      return false;
    at_ = found->end;
    described_background x;
    x.grade = found->grade;
    for (auto [i, to] : {std::pair{found->from, &x.from}, {found->to, &x.to}}) {
      const auto named =
        detail::background_colour_named(tokens_.word_at(i)->text);
      if (!named) {
        misplace(tokens_[i].text, false);
        return true;
      }
      *to = *named;
    }
    if (x.from == x.to)
      x.grade = background_grade::plain;
    if (out_.says.background)
      remark("more than one background");
    else
      out_.says.background = x;
    return true;
  }

  // ---- relations

  bool take_relation() {
    const auto found = detail::relation_at(tokens_, at_);
    if (!found || !last_)
      return false;
    // In "a red circle above a blue star and left of a ring", it is the circle.
    const auto continued =
      at_ > 0 && tokens_.is(at_ - 1, word_kind::conjunction) && subject_;
    at_ = found->end;
    const auto subject = continued ? *subject_ : *last_;
    subject_ = subject;
    waiting_ = open_relation{found->kind, subject, {}};
    last_.reset();
    return true;
  }

  void close_relation(uint8_t object) {
    if (!waiting_)
      return;
    if (waiting_->kind == relation::between && !waiting_->first) {
      waiting_->first = object;
      return;
    }
    const auto first = waiting_->first.value_or(object);
    if (first == waiting_->subject || object == waiting_->subject)
      remark("an object has a relation with itself");
    else
      out_.says.relations.push_back(
        {waiting_->kind, waiting_->subject, first, object});
    waiting_.reset();
  }

  // ---- places

  bool take_place() {
    auto i = tokens_.skip_article(tokens_.skip(at_, word_kind::preposition));
    std::optional<size_t> row;
    std::optional<size_t> column;
    const auto start = i;
    for (; i < start + 2; ++i)
      if (tokens_.is(i, word_kind::row) && !row)
        row = tokens_.word_at(i)->value;
      else if (tokens_.is(i, word_kind::column) && !column
               && !tokens_.joins_object(i + 1))
        column = tokens_.word_at(i)->value;
      else if (!tokens_.is(i, word_kind::middle))
        break;
    if (i == start)
      return false;
    i = tokens_.skip_of_image(tokens_.skip(i, word_kind::region));
    at_ = i;
    const auto place =
      static_cast<grid_place>(row.value_or(1) * 3 + column.value_or(1));
    if (last_ && !said(*last_).place)
      said(*last_).place = place;
    else if (!next_.place)
      next_.place = place;
    else
      remark("a place without an object: {}", to_string(place));
    return true;
  }

  // ---- objects

  described_object& said(uint8_t object) {
    return out_.says.objects[object];
  }

  template <class T>
  void set(std::optional<T>& to, T value, std::string_view text) {
    if (to)
      remark("'{}' has no object", text);
    else
      to = value;
  }

  void take_word() {
    const auto& x = tokens_[at_++];
    if (x.comma) {
      end_clause();
      return;
    }
    if (x.word == nullptr) {
      if (std::ranges::find(out_.unknown_words, x.text)
          == out_.unknown_words.end())
        out_.unknown_words.push_back(x.text);
      return;
    }
    const auto value = x.word->value;
    switch (x.word->kind) {
      case word_kind::article:
        definite_ = false;
        return;
      case word_kind::definite:
        definite_ = true;
        return;
      case word_kind::conjunction:
        end_clause();
        return;
      case word_kind::size:
        set(next_.size, static_cast<object_size>(value), x.text);
        return;
      case word_kind::texture:
        set(next_.texture, static_cast<object_texture>(value), x.text);
        return;
      case word_kind::texture_noun:
        take_texture_noun(static_cast<object_texture>(value), x.text);
        return;
      case word_kind::colour:
        take_colour(x);
        return;
      case word_kind::shape:
        take_shape(static_cast<object_shape>(value));
        return;
      case word_kind::preposition:
      case word_kind::to:
      case word_kind::of:
      case word_kind::from:
      case word_kind::is:
      case word_kind::filler:
        return;
      case word_kind::row:
      case word_kind::column:
      case word_kind::middle:
      case word_kind::region:
      case word_kind::relation_word:
      case word_kind::between:
      case word_kind::background:
      case word_kind::gradient:
      case word_kind::grade:
      case word_kind::fading:
        remark("no use was found for '{}'", x.text);
        return;
    }
  }

  void take_colour(const detail::caption_token& x) {
    if (const auto named = detail::object_colour_named(x.word->text))
      set(next_.colour, *named, x.text);
    else
      misplace(x.text, true);
  }

  void take_texture_noun(object_texture texture, std::string_view text) {
    if (last_ && !said(*last_).texture)
      said(*last_).texture = texture;
    else
      remark("'{}' has no object", text);
  }

  void take_shape(object_shape shape) {
    next_.shape = shape;
    std::optional<uint8_t> object;
    if (std::exchange(definite_, false))
      object = mentioned();
    if (!object) {
      object = static_cast<uint8_t>(out_.says.objects.size());
      // Indices of objects are bytes; no real prompt has that many.
      if (*object == UINT8_MAX) {
        next_ = {};
        return;
      }
      out_.says.objects.push_back(next_);
    }
    next_ = {};
    last_ = object;
    if (waiting_)
      close_relation(*object);
    else
      subject_ = object;
  }

  // Returns the earlier object with the next one's shape and colour.
  std::optional<uint8_t> mentioned() const {
    const auto& all = out_.says.objects;
    const auto find = [&](bool any_colour) -> std::optional<uint8_t> {
      const auto it = std::ranges::find_if(all, [&](const auto& x) {
        return x.shape == next_.shape
            && (any_colour || x.colour == next_.colour);
      });
      if (it == all.end())
        return {};
      return static_cast<uint8_t>(it - all.begin());
    };
    const auto same = find(false);
    return same || next_.colour ? same : find(true);
  }

  // Handles properties without an object at a comma, "and" or the end.
  void end_clause() {
    const auto stops = at_ >= tokens_.size() || tokens_[at_ - 1].comma;
    // Distinguishes "a red circle, at the top left" from "at the top left, a
    // red circle".
    if (stops && next_.place && last_before_ && !said(*last_before_).place) {
      said(*last_before_).place = next_.place;
      next_.place.reset();
    }
    if (next_.colour || next_.size || next_.texture
        || (next_.place && at_ >= tokens_.size()))
      remark("an object has no shape");
    const auto place = next_.place;
    next_ = {};
    next_.place = place;
    if (last_)
      last_before_ = last_;
    if (!tokens_.is(at_, word_kind::relation_word)
        && !detail::relation_at(tokens_, at_))
      last_.reset();
  }

  void check_colours() {
    const auto& ground = out_.says.background;
    if (!ground)
      return;
    for (const auto& x : out_.says.objects)
      if (x.colour
          && (to_string(*x.colour) == to_string(ground->from)
              || to_string(*x.colour) == to_string(ground->to)))
        remark("a {} {} does not show on that background", to_string(*x.colour),
               to_string(x.shape));
  }

  detail::caption_tokens tokens_;
  size_t at_ = 0;
  parsed_caption out_;
  // Properties of the next object that were read before its shape.
  described_object next_;
  bool definite_ = false;
  // The current object, and the one before the last comma.
  std::optional<uint8_t> last_;
  std::optional<uint8_t> last_before_;
  std::optional<uint8_t> subject_;
  std::optional<open_relation> waiting_;
};

} // namespace

parsed_caption parse_caption(std::string_view text) {
  return parser{text}.run();
}

} // namespace atelier::gpu
