// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/files/foreign_json.hpp>
#include <atelier/gpu/models/tokenizer/bert_tokenizer.hpp>
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>
#include <atelier/gpu/models/tokenizer/detail/bert_vocabulary.hpp>
#include <atelier/gpu/models/tokenizer/detail/clip_normal_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/word_pieces.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace atelier::gpu {

namespace {

class loaded_bert_tokenizer final : public bert_tokenizer {
public:
  static core::result<std::shared_ptr<const bert_tokenizer>> make(
    const detail::bert_words& from, const std::string& file) {
    const auto unknown = from.words.ids.find(from.tokens.unknown);
    if (unknown == from.words.ids.end())
      return core::fail(core::ec::bad_payload,
                        "{}: unk_token: {} is not in the vocabulary", file,
                        detail::in_quotes(from.tokens.unknown));
    auto out = std::shared_ptr<loaded_bert_tokenizer>(
      new loaded_bert_tokenizer(from, unknown->second));
    auto finders = detail::make_finders(
      from.words.ids, from.tokens.added,
      [&](std::string_view x) {
        return detail::bert_normal_form(x, from.form);
      },
      file);
    if (!finders)
      return finders.why();
    out->added_ = std::move(*finders);
    return std::shared_ptr<const bert_tokenizer>{std::move(out)};
  }

  std::vector<int32_t> encode(std::string_view text,
                              uint32_t most) const override {
    ATELIER_EXPECTS(most >= 2, "start and end need a place");
    std::string repaired;
    if (core::find_utf8_fault(text)) {
      repaired = detail::repaired_utf8(text);
      text = repaired;
    }
    std::vector<int32_t> out{start_};
    const auto add = [&](int32_t id) {
      if (out.size() + 1 < most)
        out.push_back(id);
    };
    for (const auto& part : added_.in_text.split(text)) {
      if (part.id) {
        add(*part.id);
        continue;
      }
      const auto normal = detail::bert_normal_form(part.text, form_);
      for (const auto& piece : added_.in_normal_form.split(normal)) {
        if (piece.id)
          add(*piece.id);
        else
          add_words(piece.text, add);
      }
    }
    out.push_back(end_);
    return out;
  }

  int32_t padding_id() const override {
    return padding_;
  }

  uint32_t vocabulary_size() const override {
    return added_.vocabulary_size;
  }

  uint32_t max_length() const override {
    return max_length_;
  }

private:
  loaded_bert_tokenizer(const detail::bert_words& from, int32_t unknown)
    : pieces_(from.words.ids, unknown),
      form_(from.form),
      max_length_(from.tokens.max_length) {
    const auto id_of = [&](const std::string& token) {
      for (const auto& x : from.tokens.added)
        if (x.content == token)
          return x.id;
      return from.words.ids.at(token);
    };
    start_ = id_of(from.tokens.start);
    end_ = id_of(from.tokens.end);
    padding_ = id_of(from.tokens.padding);
  }

  template <class Add>
  void add_words(std::string_view text, const Add& add) const {
    for (;;) {
      const auto [word, rest] = detail::next_bert_word(text);
      if (word.empty())
        return;
      pieces_.split(word, add);
      text = rest;
    }
  }

  detail::word_pieces pieces_;
  detail::bert_form form_;
  detail::token_finders added_;
  int32_t start_ = 0;
  int32_t end_ = 0;
  int32_t padding_ = 0;
  uint32_t max_length_ = 0;
};

} // namespace

core::result<std::shared_ptr<const bert_tokenizer>> bert_tokenizer::load(
  const tokenizer_files& from) {
  if (from.words().empty())
    return core::fail(core::ec::not_found,
                      "the model has no vocabulary: neither tokenizer.json nor "
                      "vocab.txt");
  const auto words = detail::read_bert_words(from);
  if (!words)
    return words.why();
  return loaded_bert_tokenizer::make(*words, from.words().string());
}

} // namespace atelier::gpu
