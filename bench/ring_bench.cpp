// SPDX-License-Identifier: Apache-2.0
// How long does it take to pass a payload to another process through a slot and
// a ring, and how much of that is the copy?
//
// The floor is the copy by itself, in the same transfers. The peer is
// zmq_pickle_peer.py, in the same run. Both clocks are CLOCK_MONOTONIC. A
// transfer lasts from before the copy until the receiver has the message that
// names the slot.
#include <atelier/ipc/arena.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr core::process_id receiver{1};
constexpr core::incarnation life{1};
constexpr size_t largest = 8u << 20;
constexpr uint32_t slots = 8;
constexpr size_t warm_up = 20;
constexpr core::timespan gap = 200us;

struct bench_case {
  size_t bytes;
  size_t count;
};

constexpr bench_case cases[] = {
  {64, 4000}, {128u << 10, 2000}, {1u << 20, 1000}, {8u << 20, 200}};

struct message {
  ipc::slot_ref slot;
  // Nonzero if the receiver must copy and compare every byte.
  uint32_t compare = 0;
  uint64_t number = 0;
  int64_t arrived = 0;
};

int64_t now() {
  return clock_type::now().time_since_epoch().count();
}

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "ring_bench: %s\n", why);
  std::exit(1);
}

void make_payload(std::vector<std::byte>& into, uint64_t number) {
  for (size_t i = 0; i < into.size(); i += 8) {
    auto word = (number + i) * 0x9E3779B97F4A7C15ull;
    std::memcpy(into.data() + i, &word, 8);
  }
}

void push(ipc::ring_writer& out, const message& m) {
  if (auto ok = out.push(std::as_bytes(std::span{&m, 1})); !ok || !*ok)
    stop("the ring is full");
}

message pop(ipc::ring_reader& in, core::timespan spin) {
  static std::vector<std::byte> bytes;
  auto popped = in.pop(bytes, 30s, spin);
  if (!popped || !*popped)
    stop("nothing came");
  message m;
  std::memcpy(&m, bytes.data(), sizeof m);
  return m;
}

void receive(int descriptor, core::timespan spin, size_t bytes) {
  auto arena = ipc::arena_view::adopt(descriptor);
  if (!arena)
    stop("the receiver cannot open the arena");
  auto& x = **arena;
  ipc::ring_life ring{x.host_epoch(), life};
  const auto rings = *x.rings(receiver);
  ipc::ring_reader in{rings.inbound, ring};
  ipc::ring_writer out{rings.outbound, ring};
  std::vector<std::byte> copy;
  std::vector<std::byte> expected(bytes);
  for (;;) {
    auto m = pop(in, spin);
    m.arrived = now();
    auto seen = x.view(m.slot);
    if (!seen || seen->size() != bytes)
      stop("the receiver sees no payload");
    if (m.compare != 0) {
      make_payload(expected, m.number);
      if (!x.read(m.slot, copy) || copy != expected)
        stop("the payload is not what was sent");
    }
    push(out, m);
  }
}

struct spans {
  std::vector<double> copy;
  std::vector<double> publish;
  std::vector<double> ring;
  std::vector<double> whole;
};

double percentile(std::vector<double> xs, double p) {
  std::sort(xs.begin(), xs.end());
  return xs[static_cast<size_t>(p * static_cast<double>(xs.size() - 1))];
}

spans measure(ipc::arena_owner& arena, bench_case what, core::timespan spin) {
  const auto rings = *arena.begin_life(receiver);
  auto parent = getpid();
  auto child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
      receive(arena.descriptor(), spin, what.bytes);
    _exit(1);
  }
  ipc::ring_life ring{arena.host_epoch(), life};
  ipc::ring_writer out{rings.inbound, ring};
  ipc::ring_reader in{rings.outbound, ring};
  std::vector<std::byte> payload(what.bytes);
  static uint32_t generation = 0;
  spans all;
  for (uint64_t i = 0; i < warm_up + what.count; ++i) {
    message m;
    m.number = i;
    m.compare = i < warm_up;
    m.slot = {arena.id(), static_cast<uint32_t>(i % slots), ++generation,
              ipc::slot_kind::image};
    arena.open(m.slot);
    if (m.compare != 0)
      make_payload(payload, i);
    std::this_thread::sleep_for(gap);
    auto start = now();
    auto into = arena.buffer(m.slot);
    std::memcpy(into->data(), payload.data(), payload.size());
    auto copied = now();
    if (!arena.publish(m.slot, 1, payload.size()))
      stop("cannot publish");
    auto published = now();
    push(out, m);
    m = pop(in, 0s);
    if (m.number != i)
      stop("an answer to another message");
    if (i < warm_up)
      continue;
    auto us = [](int64_t x) { return static_cast<double>(x) / 1e3; };
    all.copy.push_back(us(copied - start));
    all.publish.push_back(us(published - copied));
    all.ring.push_back(us(m.arrived - published));
    all.whole.push_back(us(m.arrived - start));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return all;
}

void print(const char* name, const std::vector<double>& xs) {
  std::printf("  %-10s %8.2f %8.2f\n", name, percentile(xs, 0.5),
              percentile(xs, 0.99));
}

// Returns the peer's p50 by size. The result is empty if the peer cannot run.
std::map<size_t, double> run_peer(int protocol) {
  std::string command =
    "/usr/bin/python3 " ATELIER_BENCH_DIR "/zmq_pickle_peer.py "
    + std::to_string(protocol) + " " + std::to_string(gap.count() / 1000);
  for (auto x : cases)
    command += " " + std::to_string(x.bytes) + " "
             + std::to_string(std::min<size_t>(x.count, 1000));
  std::map<size_t, double> found;
  auto* pipe = popen(command.c_str(), "r");
  size_t bytes = 0;
  double p50 = 0;
  double p99 = 0;
  while (pipe && fscanf(pipe, "%zu %lf %lf", &bytes, &p50, &p99) == 3) {
    std::printf("  %8zu B  %8.1f %8.1f\n", bytes, p50, p99);
    found[bytes] = p50;
  }
  if (pipe)
    pclose(pipe);
  return found;
}

} // namespace

int main() {
  auto arena = ipc::arena_owner::make_shared_memory(
    {{0, slots, 0}, {0, largest, 0}, 2, 1 << 16});
  if (!arena)
    stop(arena.why().text.c_str());
  std::map<size_t, double> awake;
  std::printf("hand-off, us%17s %8s\n", "p50", "p99");
  for (auto spin : {core::timespan{30s}, core::timespan{0}}) {
    for (auto what : cases) {
      auto all = measure(**arena, what, spin);
      std::printf("%zu B, receiver %s\n", what.bytes,
                  spin > 0s ? "awake" : "asleep");
      print("copy", all.copy);
      print("publish", all.publish);
      print("ring", all.ring);
      print("whole", all.whole);
      if (spin > 0s)
        awake[what.bytes] = percentile(all.whole, 0.5);
    }
  }
  // Protocol 4 is pickle's default. Protocol 5 is the newest one, made for
  // large arrays.
  for (int protocol : {4, 5}) {
    std::printf("peer: pickle protocol %d over ZeroMQ (ipc), us\n", protocol);
    std::fflush(stdout);
    auto peer = run_peer(protocol);
    if (peer.empty())
      std::printf("  not run: install python3-zmq and python3-numpy\n");
    for (auto [bytes, p50] : peer)
      std::printf("%8zu B: %.1f times as fast as the peer\n", bytes,
                  p50 / awake[bytes]);
  }
  return 0;
}
