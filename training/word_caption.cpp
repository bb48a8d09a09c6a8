// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/caption.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace atelier::gpu {

namespace {

using namespace std::string_view_literals;
using wording = std::span<const std::string_view>;

// Returns synonyms, the plainest first.
wording words_for(object_shape x) {
  static constexpr std::string_view circle[] = {"circle", "disk"};
  static constexpr std::string_view ring[] = {"ring", "hoop"};
  static constexpr std::string_view cross[] = {"cross", "plus"};
  static constexpr std::string_view diamond[] = {"diamond", "rhombus"};
  static constexpr std::string_view crescent[] = {"crescent", "moon"};
  static constexpr std::string_view others[] = {"square", "triangle", "star",
                                                "heart", "hexagon"};
  switch (x) {
    case object_shape::circle:
      return circle;
    case object_shape::square:
      return wording{others}.subspan(0, 1);
    case object_shape::triangle:
      return wording{others}.subspan(1, 1);
    case object_shape::star:
      return wording{others}.subspan(2, 1);
    case object_shape::ring:
      return ring;
    case object_shape::cross:
      return cross;
    case object_shape::diamond:
      return diamond;
    case object_shape::heart:
      return wording{others}.subspan(3, 1);
    case object_shape::crescent:
      return crescent;
    case object_shape::hexagon:
      return wording{others}.subspan(4, 1);
  }
  return {};
}

wording words_for(object_size x) {
  static constexpr std::string_view small[] = {"small", "little", "tiny"};
  static constexpr std::string_view large[] = {"large", "big", "huge"};
  return x == object_size::small ? wording{small} : wording{large};
}

wording words_for(object_texture x) {
  static constexpr std::string_view plain[] = {"plain", "solid"};
  static constexpr std::string_view striped[] = {"striped"};
  static constexpr std::string_view dotted[] = {"dotted", "spotted"};
  switch (x) {
    case object_texture::plain:
      return plain;
    case object_texture::striped:
      return striped;
    case object_texture::dotted:
      return dotted;
  }
  return {};
}

wording words_for(relation x) {
  static constexpr std::string_view above[] = {"above", "over"};
  static constexpr std::string_view below[] = {"below", "under"};
  static constexpr std::string_view left[] = {"to the left of", "left of"};
  static constexpr std::string_view right[] = {"to the right of", "right of"};
  static constexpr std::string_view between[] = {"between"};
  switch (x) {
    case relation::above:
      return above;
    case relation::below:
      return below;
    case relation::left_of:
      return left;
    case relation::right_of:
      return right;
    case relation::between:
      return between;
  }
  return {};
}

// Builds one caption. Without a generator it always chooses the plainest words.
class writer {
public:
  writer(const description& what, core::philox* from)
    : what_(what), from_(from), told_(what.objects.size(), false) {}

  std::string write() {
    terse_ = chance(0.15);
    places_first_ = chance(0.15);
    const auto background_first = chance(0.15);
    const auto led_in = draw();
    const auto joined = draw();
    auto background = background_phrase(background_first);
    auto text = join(clauses(), joined);
    if (!terse_ && !background_first && !places_first_ && !text.empty()) {
      if (led_in > 0.95)
        text.insert(0, "there is ");
      else if (led_in > 0.9)
        text.insert(0, "a picture of ");
    }
    if (background.empty())
      return text;
    if (text.empty())
      return background;
    if (background_first)
      return background + ", " + text;
    return text + (terse_ ? ", " : " ") + background;
  }

private:
  double draw() {
    return from_ == nullptr ? 0 : from_->uniform();
  }

  bool chance(double probability) {
    return draw() > 1 - probability;
  }

  // Picks the plainest in half of all cases, and otherwise any other with equal
  // probability.
  size_t pick(size_t count) {
    const auto at = draw();
    if (count < 2 || at < 0.5)
      return 0;
    const auto others = static_cast<double>(count - 1);
    return 1 + static_cast<size_t>((at - 0.5) * 2 * others);
  }

  std::string_view one_of(wording words) {
    return words[pick(words.size())];
  }

  static void add(std::string& to, std::string_view word) {
    if (word.empty())
      return;
    if (!to.empty())
      to += ' ';
    to += word;
  }

  static std::string_view article_for(std::string_view phrase) {
    return phrase.starts_with("orange") ? "an" : "a";
  }

  std::string_view colour_word(const described_object& x) {
    const auto variant = pick(2);
    if (!x.colour)
      return {};
    if (x.colour == object_colour::purple && variant == 1)
      return "violet";
    return to_string(*x.colour);
  }

  std::string_view colour_word(background_colour x) {
    const auto variant = pick(2);
    return x == background_colour::grey && variant == 1 ? "grey" : to_string(x);
  }

  std::string place_phrase(grid_place x) {
    const auto i = static_cast<size_t>(x);
    const auto form = pick(3);
    const auto other_word = pick(2) == 1;
    const auto row = i / 3 == 0 ? (other_word ? "upper"sv : "top"sv)
                                : (other_word ? "lower"sv : "bottom"sv);
    const auto column = i % 3 == 0 ? "left"sv : "right"sv;
    std::string out;
    if (x == grid_place::centre) {
      constexpr std::string_view names[] = {"center", "middle", "centre"};
      add(out, terse_ ? ""sv : (other_word ? "at the"sv : "in the"sv));
      add(out, names[form]);
    } else if (i / 3 == 1) {
      add(out, terse_ ? ""sv : (other_word ? "at the"sv : "on the"sv));
      add(out, column);
      add(out, form == 2 ? "side" : "");
    } else if (i % 3 == 1) {
      add(out, terse_ ? ""sv : "at the"sv);
      add(out, form == 2 ? row : to_string(x));
      add(out, form == 2 ? "side" : "");
    } else {
      add(out, terse_ ? ""sv : (form == 0 ? "at the"sv : "in the"sv));
      add(out, row);
      add(out, column);
      add(out, form == 0 ? "" : "corner");
    }
    return out;
  }

  // Names an object for the first time.
  std::string first_mention(size_t i, bool place_may_lead) {
    const auto& x = what_.objects[i];
    told_[i] = true;
    const auto noun = one_of(words_for(x.shape));
    const auto colour = colour_word(x);
    const auto size = one_of(words_for(x.size.value_or(object_size::small)));
    const auto texture =
      one_of(words_for(x.texture.value_or(object_texture::plain)));
    const auto form = pick(3);
    const auto place = place_phrase(x.place.value_or(grid_place::centre));
    const auto patterned = x.texture && x.texture != object_texture::plain;
    const auto as_noun = patterned && form == 1;
    std::string out;
    add(out, x.size ? size : ""sv);
    if (form != 2)
      add(out, x.texture && !as_noun ? texture : ""sv);
    add(out, colour);
    if (form == 2)
      add(out, x.texture ? texture : ""sv);
    add(out, noun);
    if (!terse_)
      out.insert(0, std::string{article_for(out)} + " ");
    if (as_noun) {
      const auto striped = x.texture == object_texture::striped;
      add(out, "with");
      add(out, striped ? "stripes" : texture == "spotted" ? "spots" : "dots");
    }
    if (x.place && places_first_ && place_may_lead)
      return place + " " + out;
    add(out, x.place ? place : ""sv);
    return out;
  }

  // Names an object that was mentioned before.
  std::string mention_again(size_t i) {
    const auto& x = what_.objects[i];
    std::string out = "the";
    const auto noun = one_of(words_for(x.shape));
    add(out, colour_word(x));
    add(out, noun);
    return out;
  }

  // Returns the words after the subject of relation `x` if all other objects
  // that it names are next in order, or all were mentioned before; otherwise
  // returns an empty text.
  std::string rest_of(const described_relation& x) {
    const auto of_three = x.kind == relation::between;
    const auto last = of_three ? x.second : x.first;
    const auto inside = x.first < told_.size() && last < told_.size();
    if (!inside)
      return {};
    const auto next = x.first == x.subject + 1 && !told_[x.first]
                   && (!of_three || last == x.first + 1);
    const auto before = told_[x.first] && told_[last];
    if (!next && !before)
      return {};
    const auto mention = [&](size_t i) {
      return next ? first_mention(i, false) : mention_again(i);
    };
    std::string out{one_of(words_for(x.kind))};
    add(out, mention(x.first));
    if (of_three) {
      add(out, "and");
      add(out, mention(last));
    }
    return out;
  }

  std::vector<std::string> clauses() {
    std::vector<std::string> out;
    auto left = what_.relations;
    for (auto i = size_t{0}; i < told_.size(); ++i) {
      if (told_[i])
        continue;
      const auto related =
        std::ranges::find(left, i, &described_relation::subject);
      auto clause = first_mention(i, related == left.end());
      if (related != left.end())
        if (const auto rest = rest_of(*related); !rest.empty()) {
          add(clause, rest);
          left.erase(related);
        }
      out.push_back(std::move(clause));
    }
    for (const auto& x : left)
      if (x.subject < told_.size()) {
        auto clause = mention_again(x.subject);
        add(clause, rest_of(x));
        out.push_back(std::move(clause));
      }
    return out;
  }

  std::string join(const std::vector<std::string>& parts, double how) const {
    std::string out;
    for (auto i = size_t{0}; i < parts.size(); ++i) {
      if (i > 0) {
        const auto last = i + 1 == parts.size();
        if (terse_ || (!last && how < 0.85))
          out += ", ";
        else if (how > 0.6 && how < 0.85)
          out += ", and ";
        else
          out += " and ";
      }
      out += parts[i];
    }
    return out;
  }

  std::string background_phrase(bool at_front) {
    const auto form = pick(3);
    const auto against = chance(0.2);
    const auto x = what_.background.value_or(described_background{});
    const auto from = colour_word(x.from);
    const auto to = colour_word(x.to);
    if (!what_.background)
      return {};
    std::string out;
    if (x.grade == background_grade::plain) {
      // "on white", without its noun, is only used at the end.
      if (!terse_ && form == 2 && !at_front)
        return "on " + std::string{from};
      add(out, from);
      add(out, "background");
    } else {
      add(out, x.grade ? to_string(*x.grade) : ""sv);
      if (form == 0) {
        add(out, from);
        add(out, "to");
        add(out, to);
        add(out, "gradient background");
      } else {
        const auto fading = form == 2 && !x.grade;
        add(out, fading ? "background fading from" : "gradient from");
        add(out, from);
        add(out, "to");
        add(out, to);
      }
    }
    if (!terse_)
      out.insert(0, against ? "against a " : "on a ");
    return out;
  }

  const description& what_;
  core::philox* from_;
  std::vector<bool> told_;
  bool terse_ = false;
  bool places_first_ = false;
};

} // namespace

std::string word(const description& what, core::philox& from) {
  return writer{what, &from}.write();
}

std::string word_plainly(const description& what) {
  return writer{what, nullptr}.write();
}

} // namespace atelier::gpu
