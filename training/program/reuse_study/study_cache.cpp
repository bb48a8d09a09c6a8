// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/training/program/reuse_study/study_cache.hpp>

#include <thread>
#include <utility>

namespace atelier::runtime::reuse_study {

study_cache::study_cache(std::shared_ptr<index::kept_work> inner)
  : inner_(std::move(inner)) {}

void study_cache::begin_request() {
  const std::lock_guard hold{lock_};
  nearest_.reset();
  kept_.reset();
}

std::optional<double> study_cache::nearest() const {
  const std::lock_guard hold{lock_};
  return nearest_;
}

std::optional<bool> study_cache::wait_until_kept(
  std::chrono::seconds patience) {
  std::unique_lock hold{lock_};
  changed_.wait_for(hold, patience, [&] { return kept_.has_value(); });
  return kept_;
}

void study_cache::know(std::string) {}

planning::compared study_cache::compares() const {
  return inner_->compares();
}

std::vector<planning::match> study_cache::near(std::string_view key,
                                               std::string_view text,
                                               const index::search_terms& by) {
  auto out = find(key, text, by);
  if (!out.empty()) {
    const std::lock_guard hold{lock_};
    nearest_ = out.front().similarity;
  }
  return out;
}

core::result<index::payload> study_cache::state(uint64_t entry,
                                                uint32_t steps) {
  return inner_->state(entry, steps);
}

core::result<index::payload> study_cache::image(uint64_t entry, core::extent px,
                                                uint32_t skips) {
  return inner_->image(entry, px, skips);
}

void study_cache::drop_torn(uint64_t entry) {
  inner_->drop_torn(entry);
}

bool study_cache::keep(std::string_view key, std::string_view text,
                       index::leftover what) {
  const auto failed = inner_->counts().failed;
  bool kept = inner_->keep(key, text, std::move(what));
  // A cache that keeps later says so by its counts.
  while (kept && inner_->counts().pending > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  kept = kept && inner_->counts().failed == failed;
  if (kept)
    learn(key, text);
  {
    const std::lock_guard hold{lock_};
    kept_ = kept;
  }
  changed_.notify_all();
  return kept;
}

index::kept_counts study_cache::counts() const {
  return inner_->counts();
}

std::vector<planning::match> study_cache::find(std::string_view key,
                                               std::string_view text,
                                               const index::search_terms& by) {
  return inner_->near(key, text, by);
}

void study_cache::learn(std::string_view, std::string_view) {}

any_entry_cache::any_entry_cache(std::shared_ptr<index::kept_work> inner,
                                 std::vector<std::string> texts, uint64_t seed)
  : study_cache(std::move(inner)), seed_(seed), texts_(std::move(texts)) {}

void any_entry_cache::expect(uint64_t request,
                             std::optional<double> similarity) {
  const std::lock_guard hold{lock_};
  request_ = request;
  similarity_ = similarity;
}

std::vector<planning::match> any_entry_cache::find(
  std::string_view key, std::string_view, const index::search_terms& by) {
  const std::lock_guard hold{lock_};
  if (!similarity_ || texts_.empty())
    return {};
  core::philox random{seed_, core::purpose::sampling,
                      core::request_id{request_ + 1}};
  auto one = by;
  one.most = 1;
  auto found = inner().near(key, texts_[random.below(texts_.size())], one);
  for (auto& x : found) {
    x.similarity = *similarity_;
    // The request has another text.
    x.seeded = false;
  }
  return found;
}

void any_entry_cache::learn(std::string_view, std::string_view text) {
  know(std::string{text});
}

void any_entry_cache::know(std::string text) {
  const std::lock_guard hold{lock_};
  texts_.push_back(std::move(text));
}

} // namespace atelier::runtime::reuse_study
