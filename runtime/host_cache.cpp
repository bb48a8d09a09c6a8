// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/guarded.hpp>
#include <atelier/core/log.hpp>
#include <atelier/runtime/host_cache.hpp>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::runtime {

namespace {

using core::result;

/// A host's cache, which may be any class of the host's own.
class bordered_cache final : public index::kept_work {
  template <class F>
  auto asked(std::string_view function, F f) const {
    return core::guarded("extensions", "cache", function, std::move(f));
  }

  /// Returns `otherwise` after an exception, which is logged.
  template <class T, class F>
  T answered(std::string_view function, T otherwise, F f) const {
    auto out = asked(function, [&]() -> result<T> { return f(); });
    if (out)
      return std::move(*out);
    core::log_warn("{}", out.why().text);
    return otherwise;
  }

public:
  explicit bordered_cache(std::shared_ptr<index::kept_work> own)
    : own_(std::move(own)) {}

  planning::compared compares() const override {
    return answered("compares", planning::compared::prompts,
                    [&] { return own_->compares(); });
  }

  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const index::search_terms& by) override {
    return answered("near", std::vector<planning::match>{},
                    [&] { return own_->near(key, text, by); });
  }

  result<index::payload> state(uint64_t entry, uint32_t steps) override {
    return asked("state", [&] { return own_->state(entry, steps); });
  }

  result<index::payload> image(uint64_t entry, core::extent px,
                               uint32_t skips) override {
    return asked("image", [&] { return own_->image(entry, px, skips); });
  }

  void drop_torn(uint64_t entry) override {
    answered("drop_torn", true, [&] {
      own_->drop_torn(entry);
      return true;
    });
  }

  bool prepare(index::leftover& what) override {
    return answered("prepare", false, [&] { return own_->prepare(what); });
  }

  bool keep(std::string_view key, std::string_view text,
            index::leftover what) override {
    return answered("keep", false,
                    [&] { return own_->keep(key, text, std::move(what)); });
  }

  index::kept_counts counts() const override {
    return answered("counts", index::kept_counts{},
                    [&] { return own_->counts(); });
  }

  std::vector<float> vector_of(std::string_view key,
                               std::string_view text) override {
    return answered("vector_of", std::vector<float>{},
                    [&] { return own_->vector_of(key, text); });
  }

  std::optional<index::space_extent> extent(
    std::string_view space) const override {
    return answered("extent", std::optional<index::space_extent>{},
                    [&] { return own_->extent(space); });
  }

  std::vector<float> vectors(std::string_view space,
                             size_t most) const override {
    return answered("vectors", std::vector<float>{},
                    [&] { return own_->vectors(space, most); });
  }

  result<std::vector<index::kept_entry>> list(
    const index::entry_page& which) override {
    return asked("list", [&] { return own_->list(which); });
  }

private:
  const std::shared_ptr<index::kept_work> own_;
};

} // namespace

result<std::shared_ptr<index::kept_work>> host_cache(
  const decltype(extensions::cache)& own,
  std::shared_ptr<index::kept_work> configured) {
  if (!own || !configured)
    return configured;
  const auto wanted = configured->compares();
  auto out =
    core::guarded("extensions", "cache", {},
                  [&]() -> result<std::shared_ptr<index::kept_work>> {
                    auto made = own(std::move(configured));
                    if (!made)
                      return core::fail(core::ec::bad_config,
                                        "extensions::cache: it returned null");
                    return std::shared_ptr<index::kept_work>{
                      std::make_shared<bordered_cache>(std::move(made))};
                  });
  if (out && (*out)->compares() != wanted)
    core::log_info("extensions::cache: it compares prompts with {}, whatever "
                   "cache.compares says",
                   wanted == planning::compared::images ? "prompts" : "images");
  return out;
}

} // namespace atelier::runtime
