// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/search.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/simulation/fact_stages.hpp>

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace atelier::runtime {

namespace {

using knowledge_ptr = std::shared_ptr<simulated_knowledge>;
using planning::held;
using planning::place;

/// Source: Argus, section 4.1: its classifier answers in a few milliseconds.
constexpr core::timespan classifying = std::chrono::milliseconds{5};

planning::stage_row row_of(std::string_view name, place where) {
  const config::scheduler_settings pace;
  planning::stage_row row;
  row.name = name;
  row.place = where;
  row.hook = planning::hook::before_route;
  row.budget = pace.facts;
  row.budget_share = pace.facts_share;
  row.otherwise = planning::if_failed::go_on;
  row.on_demand = true;
  return row;
}

/// Names the request whose facts are wanted.
struct of_request {
  core::request_id id;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, of_request& x) {
    return f(x.id);
  }
};

class simulated_classify {
public:
  using work = of_request;

  struct done {
    std::vector<uint32_t> tolerated;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.tolerated);
    }
  };

  explicit simulated_classify(knowledge_ptr from) : from_(std::move(from)) {}

  planning::stage_row row() const {
    return row_of("classify", place::cpu_pool);
  }

  std::optional<work> begin(const planning::row_view& of) const {
    if (!of.asked.tolerated)
      return std::nullopt;
    return work{of.wanted.id};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return classifying;
  }

  core::result<done> run(const work& x, planning::worker_context&) const {
    return done{from_->labels_of(x.id)};
  }

  core::result<void> end(const done& x, planning::facts& known) const {
    known.tolerated = x.tolerated;
    return {};
  }

private:
  knowledge_ptr from_;
};

class simulated_mask {
public:
  using work = of_request;

  struct done {
    planning::mask_facts mask;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.mask.ratio, x.mask.template_id, x.mask.recorded);
    }
  };

  explicit simulated_mask(knowledge_ptr from) : from_(std::move(from)) {}

  planning::stage_row row() const {
    return row_of("mask", place::cpu_pool);
  }

  std::optional<work> begin(const planning::row_view& of) const {
    if (!of.asked.mask)
      return std::nullopt;
    return work{of.wanted.id};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return {};
  }

  core::result<done> run(const work& x, planning::worker_context&) const {
    return done{from_->mask(x.id)};
  }

  core::result<void> end(const done& x, planning::facts& known) const {
    known.mask = x.mask;
    return {};
  }

private:
  knowledge_ptr from_;
};

class simulated_search {
public:
  struct work {
    core::request_id id;
    bool probes = false;
    bool near = false;
    bool hit_likely = false;
    planning::compared by = planning::compared::nothing;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.id, x.probes, x.near, x.hit_likely, x.by);
    }
  };

  using done = actors::search_stage::done;

  explicit simulated_search(knowledge_ptr from) : from_(std::move(from)) {}

  planning::stage_row row() const {
    return row_of("search", place::background);
  }

  std::optional<work> begin(const planning::row_view& of) const {
    const auto& asked = of.asked;
    if (!asked.near && !asked.hit_likely)
      return std::nullopt;
    return work{of.wanted.id, of.wanted.kind == core::request_kind::probe,
                asked.near, asked.hit_likely, asked.by};
  }

  /// A predictor takes no time. A search of a lost cache waits in vain.
  core::timespan takes(const work& x, const planning::profile&) const {
    if (!x.near)
      return {};
    return from_->lost() ? 2 * row().budget : from_->searching();
  }

  core::result<done> run(const work& x, planning::worker_context&) const {
    done out;
    out.tells_near = x.near;
    out.tells_hit = x.hit_likely;
    out.near = from_->near(x.id, x.probes, x.by);
    if (x.hit_likely)
      out.hit_likely = from_->hit_likely(x.id, out.near);
    if (!x.near)
      return out;
    if (from_->lost())
      return core::fail(core::ec::unavailable, "the cache is lost");
    if (!x.probes)
      from_->searched(out.near);
    return out;
  }

  core::result<void> end(const done& x, planning::facts& known) const {
    if (x.tells_near)
      known.near = x.near;
    if (x.tells_hit)
      known.hit_likely = x.hit_likely;
    return {};
  }

private:
  knowledge_ptr from_;
};

class simulated_fetch {
public:
  struct work {
    uint64_t entry = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.entry);
    }
  };

  struct done {
    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done&) {
      return f();
    }
  };

  explicit simulated_fetch(knowledge_ptr from) : from_(std::move(from)) {}

  planning::stage_row row() const {
    planning::stage_row row;
    row.name = "fetch";
    row.place = place::background;
    row.hook = planning::hook::each_leg;
    row.slots = uses;
    row.otherwise = planning::if_failed::choose_again;
    return row;
  }

  /// Only images that are the answer are fetched: devices take the states.
  std::optional<work> begin(const planning::row_view& of) const {
    if (of.from == nullptr || of.leg != nullptr
        || of.holds[static_cast<size_t>(held::pixels)])
      return std::nullopt;
    return work{of.from->entry};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return {};
  }

  core::result<done> run(const work& x, planning::worker_context& here) const {
    if (!from_->take_image(x.entry))
      return core::fail(core::ec::not_found, "the image is gone");
    if (auto told = here.slots.publish(here.writes[held::pixels], 1, 0); !told)
      return told.why();
    return done{};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  static constexpr planning::slot_use uses[] = {
    {held::pixels, planning::access::writes,
     [](const planning::leg* in, bool) { return in == nullptr; }}};

  knowledge_ptr from_;
};

} // namespace

actors::standard_stages fact_stages(const knowledge_ptr& from) {
  actors::standard_stages out;
  out.classify = planning::make_stage(simulated_classify{from});
  out.mask = planning::make_stage(simulated_mask{from});
  out.search = planning::make_stage(simulated_search{from});
  out.fetch = planning::make_stage(simulated_fetch{from});
  return out;
}

} // namespace atelier::runtime
