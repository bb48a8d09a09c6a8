// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/detail/caption_tokens.hpp>
#include <atelier/gpu/models/files/word_characters.hpp>

#include <utility>

namespace atelier::gpu::detail {

caption_tokens::caption_tokens(std::string_view text) {
  for (auto i = size_t{0}; i < text.size();) {
    auto end = i;
    while (end < text.size() && is_letter(text[end]))
      ++end;
    if (end > i) {
      caption_token next;
      next.text = text.substr(i, end - i);
      next.word = find_word(lower(next.text));
      all_.push_back(std::move(next));
      i = end;
      continue;
    }
    constexpr std::string_view stops = ",.;:!?\n";
    if (stops.find(text[i]) != std::string_view::npos) {
      caption_token next;
      next.comma = true;
      all_.push_back(std::move(next));
    }
    ++i;
  }
}

const lexicon_word* caption_tokens::word_at(size_t i) const {
  return i < all_.size() ? all_[i].word : nullptr;
}

bool caption_tokens::is(size_t i, word_kind kind) const {
  const auto* x = word_at(i);
  return x != nullptr && x->kind == kind;
}

bool caption_tokens::is_text(size_t i, std::string_view text) const {
  const auto* x = word_at(i);
  return x != nullptr && x->text == text;
}

size_t caption_tokens::skip(size_t i, word_kind kind) const {
  return is(i, kind) ? i + 1 : i;
}

size_t caption_tokens::skip_article(size_t i) const {
  return skip(skip(i, word_kind::article), word_kind::definite);
}

size_t caption_tokens::skip_of_image(size_t i) const {
  if (!is(i, word_kind::of))
    return i;
  const auto noun = skip_article(i + 1);
  return is_text(noun, "picture") ? noun + 1 : i;
}

bool caption_tokens::joins_object(size_t i) const {
  return is(i, word_kind::of) && skip_of_image(i) == i;
}

namespace {

// Parses C [to C]. The result ends at its start if no colour follows.
background_words colours_at(const caption_tokens& in, size_t i) {
  if (!in.is(i, word_kind::colour))
    return {i, i, i, {}};
  const auto second = in.skip(i + 1, word_kind::to);
  if (second > i + 1 && in.is(second, word_kind::colour))
    return {second + 1, i, second, {}};
  return {i + 1, i, i, {}};
}

} // namespace

std::optional<background_words> background_at(const caption_tokens& in,
                                              size_t i) {
  const auto before = i;
  i = in.skip(i, word_kind::preposition);
  const auto after_on = i > before && in.is_text(before, "on");
  i = in.skip_article(i);
  std::optional<background_grade> grade;
  if (in.is(i, word_kind::grade))
    grade = static_cast<background_grade>(in.word_at(i++)->value);
  if (in.is(i, word_kind::texture) && in.is_text(i + 2, "background"))
    ++i; // "a plain white background"
  auto out = colours_at(in, i);
  const auto noun = out.end;
  const auto named =
    in.is(noun, word_kind::gradient) || in.is(noun, word_kind::background);
  if (out.end > i && named) {
    out.end = noun + 1;
    if (in.is(noun, word_kind::gradient))
      out.end = in.skip(out.end, word_kind::background);
  } else if (named) {
    // "gradient [background] [fading] from C to C, background fading from"
    auto first = noun + 1;
    first = in.skip(first, word_kind::background);
    first = in.skip(first, word_kind::fading);
    first = in.skip(first, word_kind::from);
    out = colours_at(in, first);
    if (out.end == first || out.from == out.to)
      return {};
  } else {
    const auto alone = after_on && out.end > i && out.from == out.to
                    && (out.end == in.size() || in[out.end].comma
                        || in.is(out.end, word_kind::conjunction));
    if (!alone)
      return {};
  }
  if (out.from == out.to)
    grade = background_grade::plain;
  out.grade = grade;
  return out;
}

std::optional<relation_words> relation_at(const caption_tokens& in, size_t i) {
  i = in.skip(i, word_kind::is);
  if (in.is(i, word_kind::between))
    return {{i + 1, relation::between}};
  if (in.is(i, word_kind::relation_word))
    return {{i + 1, static_cast<relation>(in.word_at(i)->value)}};
  i = in.skip(i, word_kind::preposition);
  i = in.skip_article(in.skip(i, word_kind::to));
  if (in.is(i, word_kind::column) && in.joins_object(i + 1))
    return {{i + 2, in.word_at(i)->value == 0 ? relation::left_of
                                              : relation::right_of}};
  return {};
}

} // namespace atelier::gpu::detail
