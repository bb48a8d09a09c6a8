// SPDX-License-Identifier: Apache-2.0
// The life of slots between three processes: the test holds the keeper and the
// rows, a denoiser fills state slots step by step, and a finisher reads them.
// Both are killed at random moments: running, stopped, or during a copy. The
// file is long because the three sides of one protocol belong together.
//
//   test --work--> denoiser --done--> test --check--> finisher --checked-->
//   test
#include "ipc/child_process.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/keeper.hpp>

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <deque>
#include <map>
#include <random>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using ipc::slot_ref;
using ipc::slot_state;

constexpr core::process_id denoiser{1};
constexpr core::process_id finisher{2};
constexpr std::array workers = {denoiser, finisher};
constexpr uint64_t steps = 3;
constexpr size_t payload_bytes = 4096;
constexpr size_t rows_at_once = 8;
constexpr ipc::arena_sizes sizes = {
  {6, 0, 0}, {payload_bytes, 0, 0}, 3, 1 << 12};

enum class verb : uint32_t { work, done, check, checked, fault };

// The point at which a worker kills itself, so that this point is certainly
// hit.
enum class suicide : uint32_t { no, in_copy, before_publish, before_reply };

struct message {
  verb what = verb::fault;
  suicide when = suicide::no;
  core::ticket who;
  slot_ref slot;
  // The progress of a dead denoiser.
  slot_ref from;
  uint64_t seq = 0;
};

uint64_t word_of(core::request_id id, uint64_t seq, uint64_t i) {
  return (id.value * 0x9E3779B97F4A7C15ull + seq) * 0xBF58476D1CE4E5B9ull + i;
}

void die_if(bool now) {
  if (now)
    raise(SIGKILL);
}

void fill(std::span<std::byte> into, core::request_id id, uint64_t seq,
          suicide when) {
  for (size_t i = 0; i < payload_bytes / 8; ++i) {
    auto word = word_of(id, seq, i);
    std::memcpy(into.data() + 8 * i, &word, 8);
    die_if(when == suicide::in_copy && seq == 2 && i == 100);
  }
}

bool is_whole(const std::vector<std::byte>& bytes, core::request_id id,
              uint64_t seq) {
  for (size_t i = 0; i < payload_bytes / 8; ++i) {
    auto word = word_of(id, seq, i);
    if (bytes.size() != payload_bytes
        || std::memcmp(bytes.data() + 8 * i, &word, 8) != 0)
      return false;
  }
  return true;
}

// Runs every step that the earlier slot lacks; replies done or fault.
message denoise(ipc::arena& arena, message m) {
  uint64_t seq = 0;
  auto wrong = m;
  wrong.what = verb::fault;
  if (m.from) {
    std::vector<std::byte> copy;
    auto got = arena.read(m.from, copy);
    if (!got && got.why().code != core::ec::not_found)
      return wrong;
    if (got && !is_whole(copy, m.who.id, *got))
      return wrong;
    seq = got ? *got : 0;
    auto into = arena.buffer(m.slot);
    if (got && seq == steps) {
      std::memcpy(into->data(), copy.data(), copy.size());
      if (!arena.publish(m.slot, seq, payload_bytes))
        return wrong;
    }
  }
  while (seq < steps) {
    auto into = arena.buffer(m.slot);
    if (!into)
      return wrong;
    fill(*into, m.who.id, ++seq, m.when);
    die_if(m.when == suicide::before_publish && seq == steps);
    if (!arena.publish(m.slot, seq, payload_bytes))
      return wrong;
  }
  m.what = verb::done;
  m.seq = seq;
  return m;
}

message check(ipc::arena& arena, message m) {
  std::vector<std::byte> copy;
  auto got = arena.read(m.slot, copy);
  auto good = got && *got == steps && is_whole(copy, m.who.id, steps);
  m.what = good ? verb::checked : verb::fault;
  return m;
}

void run_worker(int descriptor, core::process_id me, core::incarnation life) {
  auto arena = ipc::arena_view::adopt(descriptor);
  if (!arena)
    _exit(2);
  ipc::ring_life ring{(*arena)->host_epoch(), life};
  const auto rings = *(*arena)->rings(me);
  ipc::ring_reader in{rings.inbound, ring};
  ipc::ring_writer out{rings.outbound, ring};
  std::vector<std::byte> bytes;
  for (;;) {
    auto popped = in.pop(bytes, 60s);
    if (!popped || !*popped)
      _exit(3);
    message m;
    std::memcpy(&m, bytes.data(), sizeof m);
    auto when = m.when;
    m = m.what == verb::work ? denoise(**arena, m) : check(**arena, m);
    die_if(when == suicide::before_reply);
    while (!*out.push(std::as_bytes(std::span{&m, 1})))
      out.wait_for_room(sizeof m, 60s);
  }
}

// A request in progress, with the scheduler's knowledge about it.
struct row {
  enum class stage { waiting, denoising, ready, finishing };
  stage at = stage::waiting;
  uint32_t attempt = 0;
  slot_ref slot;
  // The slot that the resuming denoiser reads.
  slot_ref old;
};

class host {
public:
  host(ipc::arena_owner& arena, uint64_t seed) : arena_(arena), rng_(seed) {
    for (auto p : workers)
      start(p);
  }

  void run(uint64_t requests, size_t kills) {
    auto every = std::max<uint64_t>(1, requests / kills);
    auto heard = std::chrono::steady_clock::now();
    while (answered_ < requests && faults_ == 0) {
      while (rows_.size() < rows_at_once && next_ <= requests)
        rows_.emplace(next_++, row{});
      dispatch();
      auto before = answered_;
      auto any = listen(0s);
      if (!any)
        any = listen(50us);
      if (answered_ > before && answered_ / every > before / every)
        murder(workers[rng_() % 2]);
      for (auto p : workers)
        if (child(p).ended())
          bury(p);
      auto now = std::chrono::steady_clock::now();
      if (any)
        heard = now;
      BOOST_REQUIRE_MESSAGE(now - heard < 30s, "nobody moves any more");
    }
    BOOST_TEST(faults_ == 0u);
    BOOST_TEST(answered_ == requests);
    BOOST_TEST(rows_.empty());
    BOOST_TEST(keeper_.check() == "");
    BOOST_TEST(keeper_.census(ipc::slot_kind::state).free == sizes.slots[0]);
  }

  uint64_t deaths() const {
    return deaths_;
  }

private:
  struct worker {
    test::child_process process;
    uint32_t life = 0;
    ipc::ring_writer to;
    ipc::ring_reader from;
    // Messages for which the ring has no room now, because the control process
    // never waits.
    std::deque<message> later;
  };

  worker& at(core::process_id p) {
    return workers_[p.value - 1];
  }

  test::child_process& child(core::process_id p) {
    return at(p).process;
  }

  ipc::process_life life_of(core::process_id p) {
    return {p, core::incarnation{at(p).life}};
  }

  void start(core::process_id p) {
    auto& w = at(p);
    core::incarnation life{++w.life};
    ipc::ring_life ring{arena_.host_epoch(), life};
    const auto rings = *arena_.begin_life(p);
    w.to = {rings.inbound, ring};
    w.from = {rings.outbound, ring};
    w.later.clear();
    w.process = test::child_process{
      [from = arena_.descriptor(), p, life] { run_worker(from, p, life); }};
  }

  void send(core::process_id p, const message& m) {
    at(p).later.push_back(m);
    flush(p);
  }

  void flush(core::process_id p) {
    auto& w = at(p);
    while (!w.later.empty()
           && *w.to.push(std::as_bytes(std::span{&w.later.front(), 1})))
      w.later.pop_front();
  }

  suicide sometimes() {
    return rng_() % 2000 == 0 ? static_cast<suicide>(1 + rng_() % 3)
                              : suicide::no;
  }

  static core::ticket ticket_of(uint64_t id, const row& x) {
    return {core::request_id{id}, x.attempt};
  }

  void dispatch() {
    constexpr std::array kinds = {ipc::slot_kind::state};
    for (auto& [id, x] : rows_) {
      message m;
      if (x.at == row::stage::waiting) {
        ++x.attempt;
        m.who = ticket_of(id, x);
        // A resuming row needs a second slot before it can free its first one.
        // If new rows took all slots, one death could stop every row.
        auto spare = x.slot ? 0u : 1u;
        auto granted =
          keeper_.grant(m.who, life_of(denoiser), kinds, {spare, 0, 0});
        if (!granted) {
          --x.attempt;
          continue;
        }
        m.slot = granted->front();
        // No other row and no living process may have it.
        for (auto& [other_id, other] : rows_)
          faults_ += other.slot == m.slot || other.old == m.slot;
        arena_.open(m.slot);
        x.old = x.slot;
        x.slot = m.slot;
        if (x.old) {
          faults_ += !keeper_.begin_read(x.old, m.who, life_of(denoiser));
          m.from = x.old;
        }
        x.at = row::stage::denoising;
        m.what = verb::work;
        m.when = sometimes();
        send(denoiser, m);
      } else if (x.at == row::stage::ready) {
        ++x.attempt;
        m.who = ticket_of(id, x);
        m.slot = x.slot;
        faults_ += !keeper_.begin_read(x.slot, m.who, life_of(finisher));
        x.at = row::stage::finishing;
        m.what = verb::check;
        m.when = sometimes();
        send(finisher, m);
      }
    }
  }

  // Takes the messages of both; waits for the first one.
  bool listen(core::timespan most) {
    bool any = false;
    for (auto p : workers) {
      flush(p);
      while (hear(p, any ? 0s : most))
        any = true;
      most = 0s;
    }
    return any;
  }

  bool hear(core::process_id p, core::timespan most) {
    auto popped = at(p).from.pop(bytes_, most);
    BOOST_REQUIRE_MESSAGE(bool(popped), (popped ? "" : popped.why().text));
    if (!*popped)
      return false;
    message m;
    BOOST_REQUIRE(bytes_.size() == sizeof m);
    std::memcpy(&m, bytes_.data(), sizeof m);
    accept(m);
    return true;
  }

  void accept(const message& m) {
    auto found = rows_.find(m.who.id.value);
    if (m.what == verb::fault)
      ++faults_;
    if (found == rows_.end() || found->second.attempt != m.who.attempt)
      return;
    auto& x = found->second;
    if (m.what == verb::done && x.at == row::stage::denoising) {
      keeper_.release(x.slot, m.who);
      drop_old(x, m.who);
      x.at = row::stage::ready;
    } else if (m.what == verb::checked && x.at == row::stage::finishing) {
      keeper_.end_read(x.slot, m.who);
      keeper_.end_request(m.who.id);
      rows_.erase(found);
      ++answered_;
    }
  }

  void drop_old(row& x, core::ticket who) {
    if (!x.old)
      return;
    keeper_.end_read(x.old, who);
    keeper_.supersede(x.old);
    x.old = {};
  }

  void murder(core::process_id p) {
    auto& w = at(p);
    if (rng_() % 3 == 0) {
      w.process.signal(SIGSTOP);
      // The other process continues beside the stopped one.
      for (int i = 0; i < 20; ++i) {
        dispatch();
        listen(50us);
      }
    }
    keeper_.suspect(life_of(p));
    for (const auto& [id, x] : rows_)
      if (p == denoiser && x.at == row::stage::denoising)
        faults_ += keeper_.state_of(x.slot) != slot_state::quarantined;
    w.process.signal(SIGKILL);
    w.process.wait();
    bury(p);
  }

  // Drains the last messages of the dead process, then decides.
  void bury(core::process_id p) {
    ++deaths_;
    while (hear(p, 0s)) {
    }
    keeper_.confirm_exit(life_of(p));
    for (auto& [id, x] : rows_) {
      if (p == denoiser && x.at == row::stage::denoising) {
        // If the dead process published nothing, the state that it was to
        // resume still counts.
        if (x.old && *arena_.published(x.slot) == 0) {
          keeper_.supersede(x.slot);
          x.slot = x.old;
        } else if (x.old) {
          keeper_.supersede(x.old);
        }
        x.old = {};
        x.at = row::stage::waiting;
      } else if (p == finisher && x.at == row::stage::finishing) {
        x.at = row::stage::ready;
      }
    }
    auto broken = keeper_.check();
    BOOST_REQUIRE_MESSAGE(broken.empty(), broken);
    start(p);
  }

  ipc::arena_owner& arena_;
  std::mt19937_64 rng_;
  ipc::keeper keeper_{arena_.id(), sizes.slots};
  std::array<worker, workers.size()> workers_;
  std::map<uint64_t, row> rows_;
  std::vector<std::byte> bytes_;
  uint64_t next_ = 1;
  uint64_t answered_ = 0;
  uint64_t deaths_ = 0;
  uint64_t faults_ = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(hand_off_process_test)

BOOST_AUTO_TEST_CASE(no_death_loses_or_doubles_a_slot) {
  auto arena = ipc::arena_owner::make_shared_memory(sizes);
  BOOST_REQUIRE(arena);
  auto requests = test::scaled(1'000'000);
  auto kills = std::max<size_t>(5, test::scaled(500));
  host h{**arena, test::seed()};
  h.run(requests, kills);
  BOOST_TEST(h.deaths() >= kills);
  BOOST_TEST_MESSAGE(requests << " hand-offs, " << h.deaths() << " deaths");
}

BOOST_AUTO_TEST_SUITE_END()
