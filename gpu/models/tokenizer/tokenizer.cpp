// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/files/foreign_json.hpp>
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>
#include <atelier/gpu/models/tokenizer/detail/byte_pairs.hpp>
#include <atelier/gpu/models/tokenizer/detail/clip_normal_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/clip_words.hpp>
#include <atelier/gpu/models/tokenizer/detail/tokenizer_settings.hpp>
#include <atelier/gpu/models/tokenizer/detail/vocabulary_file.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace atelier::gpu {

namespace {

class clip_tokenizer final : public tokenizer {
public:
  static core::result<std::shared_ptr<const tokenizer>> make(
    const detail::vocabulary& words, const detail::tokenizer_settings& as,
    const std::string& file) {
    const auto id_of = [&](const std::string& token) {
      for (const auto& x : as.added)
        if (x.content == token)
          return x.id;
      return words.ids.at(token);
    };
    // Bytes, and the token for missing ones, are looked up only in the
    // vocabulary.
    const auto unknown = words.ids.find(as.unknown);
    if (unknown == words.ids.end())
      return core::fail(core::ec::bad_payload,
                        "{}: unk_token: {} is not in the vocabulary", file,
                        detail::in_quotes(as.unknown));
    auto out = std::shared_ptr<clip_tokenizer>(
      new clip_tokenizer(words, unknown->second));
    out->start_ = id_of(as.start);
    out->end_ = id_of(as.end);
    out->padding_ = id_of(as.padding);
    out->max_length_ = as.max_length;
    for (const auto& x : as.added)
      out->added_texts_[x.id] = x.content;
    auto finders =
      detail::make_finders(words.ids, as.added, detail::clip_normal_form, file);
    if (!finders)
      return finders.why();
    out->added_ = std::move(*finders);
    return std::shared_ptr<const tokenizer>{std::move(out)};
  }

  tokens encode(std::string_view prompt, uint32_t length) const override {
    ATELIER_EXPECTS(length >= 2, "start and end need a place");
    tokens out;
    out.ids.reserve(length);
    out.ids.push_back(start_);
    uint64_t left_out = 0;
    each_id(prompt, [&](int32_t id, std::string_view) {
      if (out.ids.size() + 1 < length)
        out.ids.push_back(id);
      else
        ++left_out;
    });
    out.ids.push_back(end_);
    out.ids.resize(length, padding_);
    out.left_out = static_cast<uint32_t>(
      std::min<uint64_t>(left_out, std::numeric_limits<uint32_t>::max()));
    return out;
  }

  std::vector<int32_t> ids_of(std::string_view text) const override {
    std::vector<int32_t> out;
    each_id(text, [&](int32_t id, std::string_view) { out.push_back(id); });
    return out;
  }

  std::string part_kept(std::string_view prompt,
                        uint32_t length) const override {
    ATELIER_EXPECTS(length >= 2, "start and end need a place");
    std::string out;
    uint64_t count = 0;
    each_id(prompt, [&](int32_t, std::string_view part) {
      if (++count <= length - 2)
        out += part;
    });
    if (count <= length - 2)
      return std::string{prompt};
    // The bytes of a character may belong to two tokens.
    out.resize(core::find_utf8_fault(out).value_or(out.size()));
    return out;
  }

  int32_t start_id() const override {
    return start_;
  }

  int32_t end_id() const override {
    return end_;
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
  clip_tokenizer(const detail::vocabulary& words, int32_t unknown)
    : pairs_(words, unknown) {}

  // Calls `add` with each id and the text from the end of the previous one to
  // its own end: spaces, and the id's characters.
  template <class Add>
  void each_id(std::string_view prompt, Add add) const {
    std::string repaired;
    if (core::find_utf8_fault(prompt)) {
      repaired = detail::repaired_utf8(prompt);
      prompt = repaired;
    }
    detail::byte_pairs::workspace workspace;
    for (const auto& part : added_.in_text.split(prompt)) {
      if (part.id) {
        add(*part.id, added_texts_.at(*part.id));
        continue;
      }
      const auto text = detail::clip_normal_form(part.text);
      for (const auto& piece : added_.in_normal_form.split(text)) {
        if (piece.id) {
          add(*piece.id, added_texts_.at(*piece.id));
          continue;
        }
        const char* from = piece.text.data();
        detail::for_each_word(piece.text, [&](std::string_view word) {
          pairs_.encode(word, workspace);
          for (size_t i = 0; i < workspace.ids.size(); ++i) {
            const char* const end = word.data() + workspace.ends[i];
            add(workspace.ids[i],
                std::string_view{from, static_cast<size_t>(end - from)});
            from = end;
          }
        });
      }
    }
  }

  detail::byte_pairs pairs_;
  detail::token_finders added_;
  std::map<int32_t, std::string> added_texts_;
  int32_t start_ = 0;
  int32_t end_ = 0;
  int32_t padding_ = 0;
  uint32_t max_length_ = 0;
};

} // namespace

core::result<std::shared_ptr<const tokenizer>> tokenizer::load(
  const tokenizer_files& from) {
  const bool is_one_file = !from.tokenizer_json.empty();
  if (!is_one_file && (from.vocab.empty() || from.merges.empty()))
    return core::fail(core::ec::not_found,
                      "the model has no vocabulary: neither tokenizer.json nor "
                      "vocab.json and merges.txt");
  const auto words = is_one_file
                     ? detail::read_tokenizer_json(from.tokenizer_json)
                     : detail::read_vocabulary(from.vocab, from.merges);
  if (!words)
    return words.why();
  const auto settings =
    detail::read_settings(from, *words, detail::clip_scheme());
  if (!settings)
    return settings.why();
  return clip_tokenizer::make(*words, *settings, detail::config_name_of(from));
}

} // namespace atelier::gpu
