// SPDX-License-Identifier: Apache-2.0
// Runs the keeper through every interleaving of its events for two slots, two
// processes and two requests, and compares it with a model that shares no code
// with it.
#include <atelier/ipc/keeper.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <deque>
#include <unordered_set>

namespace {

using namespace atelier;
using ipc::slot_state;

constexpr size_t slots = 2;
constexpr size_t processes = 2;
constexpr size_t requests = 2;

constexpr core::ticket ticket_of(size_t request) {
  return {core::request_id{request + 1}, 1};
}

// The expected state of one slot, written only from the diagram in arena.md.
struct slot_model {
  slot_state state = slot_state::free;
  size_t writer = 0;
  size_t process = 0;
  bool superseded = false;
  // [request][process]
  std::array<std::array<bool, processes>, requests> reads = {};

  bool is_read() const {
    for (const auto& row : reads)
      for (auto x : row)
        if (x)
          return true;
    return false;
  }

  void settle() {
    if (state == slot_state::held && superseded && !is_read())
      *this = {};
  }
};

struct world {
  ipc::keeper keeper;
  std::array<slot_model, slots> model;
  // The reference of the last grant, and the one before it.
  std::array<ipc::slot_ref, slots> now;
  std::array<ipc::slot_ref, slots> before;
  std::array<bool, processes> suspected = {};
  std::array<uint32_t, processes> life = {1, 1};

  ipc::process_life in(size_t p) const {
    return {core::process_id{static_cast<uint32_t>(p) + 1},
            core::incarnation{life[p]}};
  }

  // Returns everything that determines the possible next events. Generations
  // and lives only rise, so they are left out.
  uint64_t key() const {
    uint64_t k = 1;
    auto put = [&](uint64_t x, uint64_t count) { k = k * count + x; };
    for (const auto& x : model) {
      put(static_cast<uint64_t>(x.state), 4);
      put(x.writer, requests);
      put(x.process, processes);
      put(x.superseded, 2);
      for (const auto& row : x.reads)
        for (auto y : row)
          put(y, 2);
    }
    for (auto x : suspected)
      put(x, 2);
    // Determines which slot is granted next.
    auto copy = keeper;
    std::array kinds = {ipc::slot_kind::state};
    auto next = copy.grant(ticket_of(0), {core::process_id{9}, {}}, kinds);
    put(next ? next->front().slot : 0, slots);
    return k;
  }
};

class exploration {
public:
  explicit exploration(uint32_t first_generation)
    : start_{ipc::keeper{7, {slots, 0, 0}, first_generation}, {}, {}, {}} {}

  size_t run() {
    visit(start_);
    while (!frontier_.empty() && faults_ == 0) {
      auto from = std::move(frontier_.front());
      frontier_.pop_front();
      expand(from);
      all_slots_can_get_free(from);
    }
    BOOST_TEST(faults_ == 0u);
    return seen_.size();
  }

private:
  void fault(const std::string& what) {
    if (faults_++ == 0)
      BOOST_TEST_MESSAGE("first fault: " << what);
  }

  void visit(const world& w) {
    if (auto broken = w.keeper.check(); !broken.empty())
      fault(broken);
    ipc::slot_census counted;
    for (size_t s = 0; s < slots; ++s) {
      const auto& x = w.model[s];
      auto state = w.keeper.state_of(w.now[s]);
      if (state.value_or(slot_state::free) != x.state)
        fault("a slot is not in the state of the model");
      if (w.keeper.state_of(w.before[s]))
        fault("a stale reference names a slot");
      counted.free += x.state == slot_state::free;
      counted.granted += x.state == slot_state::granted;
      counted.quarantined += x.state == slot_state::quarantined;
      counted.held += x.state == slot_state::held;
    }
    if (w.keeper.census(ipc::slot_kind::state) != counted)
      fault("the census is not the model's");
    if (seen_.insert(w.key()).second)
      frontier_.push_back(w);
  }

  void expand(const world& from) {
    for (size_t r = 0; r < requests; ++r) {
      for (size_t p = 0; p < processes; ++p) {
        grant(from, r, p, 1);
        grant(from, r, p, 2);
        for (size_t s = 0; s < slots; ++s)
          begin_read(from, s, r, p);
      }
      end_request(from, r);
      for (size_t s = 0; s < slots; ++s) {
        end_read(from, s, r);
        release(from, s, r);
      }
    }
    for (size_t s = 0; s < slots; ++s)
      supersede(from, s);
    for (size_t p = 0; p < processes; ++p) {
      suspect(from, p);
      confirm_exit(from, p);
    }
  }

  void grant(const world& from, size_t r, size_t p, size_t count) {
    auto w = from;
    std::vector<ipc::slot_kind> kinds(count, ipc::slot_kind::state);
    auto granted = w.keeper.grant(ticket_of(r), w.in(p), kinds);
    size_t free = 0;
    for (const auto& x : w.model)
      free += x.state == slot_state::free;
    if (granted.has_value() != (free >= count && !w.suspected[p]))
      return fault("a grant that the model does not make");
    if (!granted)
      return visit(w);
    for (const auto& ref : *granted) {
      auto& x = w.model[ref.slot];
      if (x.state != slot_state::free)
        return fault("a slot in use was granted");
      // The generation rises by one and skips 0. It cannot repeat within the
      // exploration.
      auto next = w.now[ref.slot].generation + 1;
      if (w.now[ref.slot] && ref.generation != (next == 0 ? 1 : next))
        return fault("the generation did not rise");
      if (ref.generation == 0 || ref.arena != 7)
        return fault("a wrong reference");
      x.state = slot_state::granted;
      x.writer = r;
      x.process = p;
      w.before[ref.slot] = w.now[ref.slot];
      w.now[ref.slot] = ref;
    }
    visit(w);
  }

  void begin_read(const world& from, size_t s, size_t r, size_t p) {
    auto w = from;
    auto& x = w.model[s];
    auto may = x.state != slot_state::free && !w.suspected[p];
    if (w.keeper.begin_read(w.now[s], ticket_of(r), w.in(p)) != may)
      return fault("reading allowed or refused wrongly");
    if (may)
      x.reads[r][p] = true;
    if (w.keeper.begin_read(w.before[s], ticket_of(r), w.in(p)))
      return fault("a stale reference may be read");
    visit(w);
  }

  void end_read(const world& from, size_t s, size_t r) {
    auto w = from;
    w.keeper.end_read(w.before[s], ticket_of(r));
    w.keeper.end_read(w.now[s], ticket_of(r));
    w.model[s].reads[r] = {};
    w.model[s].settle();
    visit(w);
  }

  void release(const world& from, size_t s, size_t r) {
    auto w = from;
    auto& x = w.model[s];
    auto mine = x.state != slot_state::free && x.writer == r;
    if (w.keeper.release(w.before[s], ticket_of(r))
        || w.keeper.release(w.now[s], ticket_of(r)) != mine)
      return fault("released by a stranger");
    if (mine && x.state == slot_state::granted)
      x.state = slot_state::held;
    x.settle();
    visit(w);
  }

  void supersede(const world& from, size_t s) {
    auto w = from;
    w.keeper.supersede(w.before[s]);
    w.keeper.supersede(w.now[s]);
    if (w.model[s].state != slot_state::free)
      w.model[s].superseded = true;
    w.model[s].settle();
    visit(w);
  }

  void end_request(const world& from, size_t r) {
    auto w = from;
    end(w, r);
    visit(w);
  }

  static void end(world& w, size_t r) {
    w.keeper.end_request(ticket_of(r).id);
    for (auto& x : w.model) {
      if (x.state != slot_state::free && x.writer == r)
        x.superseded = true;
      x.settle();
    }
  }

  void suspect(const world& from, size_t p) {
    auto w = from;
    w.keeper.suspect(w.in(p));
    w.suspected[p] = true;
    for (auto& x : w.model)
      if (x.state == slot_state::granted && x.process == p)
        x.state = slot_state::quarantined;
    visit(w);
  }

  void confirm_exit(const world& from, size_t p) {
    auto w = from;
    confirm(w, p);
    visit(w);
  }

  static void confirm(world& w, size_t p) {
    w.keeper.confirm_exit(w.in(p));
    ++w.life[p];
    w.suspected[p] = false;
    for (auto& x : w.model) {
      for (auto& row : x.reads)
        row[p] = false;
      if (x.process == p
          && (x.state == slot_state::granted
              || x.state == slot_state::quarantined))
        x.state = slot_state::held;
      x.settle();
    }
  }

  void all_slots_can_get_free(const world& from) {
    auto w = from;
    for (size_t p = 0; p < processes; ++p)
      confirm(w, p);
    for (size_t r = 0; r < requests; ++r)
      end(w, r);
    if (w.keeper.census(ipc::slot_kind::state).free != slots)
      fault("a slot is lost");
  }

  world start_;
  std::deque<world> frontier_;
  std::unordered_set<uint64_t> seen_;
  size_t faults_ = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(keeper_exploration_test)

BOOST_AUTO_TEST_CASE(every_interleaving_keeps_the_invariants) {
  auto states = exploration{0}.run();
  BOOST_TEST_MESSAGE(states << " states");
  BOOST_TEST(states > 1000u);
}

BOOST_AUTO_TEST_SUITE_END()
