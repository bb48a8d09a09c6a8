// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/encoder_memo.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace atelier::index {

encoder_memo::encoder_memo(std::shared_ptr<const text_encoder> encoder,
                           size_t most, size_t parts)
  : encoder_(std::move(encoder)), most_(most), parts_(parts) {}

std::string_view encoder_memo::name() const {
  return encoder_->name();
}

std::string encoder_memo::identity() const {
  return encoder_->identity();
}

size_t encoder_memo::dimensions() const {
  return encoder_->dimensions();
}

core::result<std::vector<float>> encoder_memo::encode(
  std::string_view text) const {
  return encoder_->encode(text);
}

core::result<std::vector<float>> encoder_memo::encode_in(
  std::string_view space, std::string_view text) const {
  const auto digest = core::sha256(std::as_bytes(std::span{text}));
  {
    const std::lock_guard hold{lock_};
    if (const auto own = shelves_.find(space); own != shelves_.end()) {
      auto& [recency, by_text] = own->second;
      if (const auto known = by_text.find(digest); known != by_text.end()) {
        recency.splice(recency.begin(), recency, known->second);
        ++recalled_;
        return known->second->vector;
      }
    }
  }
  auto made = encoder_->encode_in(space, text);
  if (made) {
    const std::lock_guard hold{lock_};
    put(space, digest, *made);
  }
  return made;
}

core::result<std::vector<std::vector<float>>> encoder_memo::encode_all(
  std::span<const std::string_view> texts) const {
  return encoder_->encode_all(texts);
}

encoder_counts encoder_memo::counts() const {
  auto out = encoder_->counts();
  const std::lock_guard hold{lock_};
  out.recalled += recalled_;
  return out;
}

void encoder_memo::put(std::string_view space, const core::sha256_digest& text,
                       const std::vector<float>& vector) const {
  const auto own = shelves_.find(space);
  // Another thread may have encoded the same text meanwhile.
  if (own != shelves_.end() && own->second.by_text.contains(text))
    return;
  const auto count = own == shelves_.end() ? 0 : own->second.recency.size();
  const auto most = parts_ == 0 ? most_ : most_ / parts_;
  if (most == 0 || (parts_ > 0 && count == 0 && shelves_.size() == parts_))
    return;
  if ((parts_ == 0 ? vectors_ : count) == most)
    drop_one(space);
  auto& [recency, by_text] = shelves_[std::string{space}];
  recency.push_front({text, vector});
  by_text.emplace(text, recency.begin());
  ++vectors_;
}

void encoder_memo::drop_one(std::string_view space) const {
  const auto largest = parts_ > 0
                       ? shelves_.find(space)
                       : std::max_element(shelves_.begin(), shelves_.end(),
                                          [](const auto& a, const auto& b) {
                                            return a.second.recency.size()
                                                 < b.second.recency.size();
                                          });
  auto& [recency, by_text] = largest->second;
  by_text.erase(recency.back().text);
  recency.pop_back();
  --vectors_;
  if (recency.empty())
    shelves_.erase(largest);
}

} // namespace atelier::index
