// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/layout.hpp>

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <functional>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;
using ipc::arena_owner;
using ipc::arena_view;
using ipc::slot_kind;

constexpr ipc::arena_sizes sizes = {{2, 1, 1}, {128, 64, 64}, 3, 1024};

bool exists(const std::string& name) {
  struct stat info;
  return stat(("/dev/shm/" + name).c_str(), &info) == 0;
}

// Maps the header of an object without the arena.
class raw_header {
public:
  explicit raw_header(const std::string& name)
    : fd_(shm_open(name.c_str(), O_RDWR, 0)),
      memory_(mmap(nullptr, sizeof(ipc::arena_header), PROT_READ | PROT_WRITE,
                   MAP_SHARED, fd_, 0)) {}

  raw_header(const raw_header&) = delete;
  raw_header& operator=(const raw_header&) = delete;

  ~raw_header() {
    munmap(memory_, sizeof(ipc::arena_header));
    close(fd_);
  }

  ipc::arena_header* operator->() {
    return static_cast<ipc::arena_header*>(memory_);
  }

  int fd() const {
    return fd_;
  }

private:
  int fd_;
  void* memory_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(arena_test)

BOOST_AUTO_TEST_CASE(what_one_mapping_publishes_the_other_reads) {
  auto owner = arena_owner::make_shared_memory(sizes, 0s);
  BOOST_REQUIRE(owner);
  auto& x = **owner;
  auto view = arena_view::open_shared_memory(x.name());
  BOOST_REQUIRE(view);
  auto& y = **view;
  BOOST_TEST((y.sizes() == x.sizes()));
  BOOST_TEST(y.id() == x.id());
  BOOST_TEST(y.id() != 0u);
  ipc::slot_ref slot{x.id(), 1, 1, slot_kind::state};
  x.open(slot);
  auto into = y.buffer(slot);
  BOOST_REQUIRE(into);
  BOOST_TEST(reinterpret_cast<uintptr_t>(into->data()) % 64 == 0u);
  std::memset(into->data(), 7, into->size());
  BOOST_REQUIRE(y.publish(slot, 4, 128));
  std::vector<std::byte> copy;
  BOOST_TEST(*x.read(slot, copy) == 4u);
  BOOST_TEST((copy == std::vector<std::byte>(128, std::byte{7})));
  ipc::ring_life life{x.host_epoch(), core::incarnation{1}};
  ipc::ring_writer writer{x.inbound(core::process_id{2}), life};
  ipc::ring_reader reader{y.inbound(core::process_id{2}), life};
  BOOST_TEST(*writer.push(copy));
  std::vector<std::byte> out;
  BOOST_TEST(*reader.pop(out, 0s));
  BOOST_TEST((out == copy));
}

BOOST_AUTO_TEST_CASE(
  the_object_is_private_to_the_user_and_ends_with_its_owner) {
  auto owner = *arena_owner::make_shared_memory(sizes, 0s);
  auto name = owner->name();
  struct stat info;
  BOOST_REQUIRE(stat(("/dev/shm/" + name).c_str(), &info) == 0);
  BOOST_TEST((info.st_mode & 0777) == 0600u);
  // Every page is allocated, so that no later write can fail.
  BOOST_TEST(info.st_blocks * 512 >= info.st_size);
  auto view = *arena_view::open_shared_memory(name);
  view.reset();
  BOOST_TEST(exists(name));
  owner.reset();
  BOOST_TEST(!exists(name));
  BOOST_TEST(
    (arena_view::open_shared_memory(name).why().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(two_engines_live_side_by_side) {
  auto a = *arena_owner::make_shared_memory(sizes, 0s);
  auto b = *arena_owner::make_shared_memory(sizes, 0s);
  BOOST_TEST(a->name() != b->name());
  BOOST_TEST(b->id() > a->id());
  BOOST_REQUIRE(ipc::remove_stale(0s));
  BOOST_TEST(exists(a->name()));
  BOOST_TEST(exists(b->name()));
}

BOOST_AUTO_TEST_CASE(a_foreign_object_is_refused) {
  auto owner = *arena_owner::make_shared_memory(sizes, 0s);
  raw_header raw{owner->name()};

  struct row {
    const char* what;
    std::function<void()> change;
    std::function<void()> restore;
  };

  auto bytes = static_cast<off_t>(raw->total_bytes);
  const row table[] = {
    {"magic", [&] { raw->magic = 0; }, [&] { raw->magic = ipc::arena_magic; }},
    {"layout", [&] { ++raw->layout; }, [&] { --raw->layout; }},
    {"build", [&] { ++raw->build; }, [&] { --raw->build; }},
    {"total_bytes", [&] { ++raw->total_bytes; }, [&] { --raw->total_bytes; }},
    {"slots", [&] { ++raw->slots[1]; }, [&] { --raw->slots[1]; }},
    {"many slots", [&] { raw->slots[0] = ~0u; }, [&] { raw->slots[0] = 2; }},
    {"slot_bytes", [&] { raw->slot_bytes[0] = ~0ull; },
     [&] { raw->slot_bytes[0] = 128; }},
    {"ring_bytes", [&] { raw->ring_bytes = 1000; },
     [&] { raw->ring_bytes = 1024; }},
    {"processes", [&] { raw->processes = 0; }, [&] { raw->processes = 3; }},
    {"longer object", [&] { (void)!ftruncate(raw.fd(), bytes + 4096); },
     [&] { (void)!ftruncate(raw.fd(), bytes); }},
    {"shorter object", [&] { (void)!ftruncate(raw.fd(), bytes - 64); },
     [&] { (void)!ftruncate(raw.fd(), bytes); }},
  };
  for (const auto& x : table) {
    x.change();
    auto refused = arena_view::open_shared_memory(owner->name());
    BOOST_TEST_CONTEXT(x.what) {
      BOOST_REQUIRE(!refused);
      BOOST_TEST((refused.why().code == ec::incompatible));
      BOOST_TEST(!refused.why().text.empty());
    }
    x.restore();
    BOOST_TEST((arena_view::open_shared_memory(owner->name()) ? true : false));
  }
}

BOOST_AUTO_TEST_CASE(an_empty_or_missing_object_is_refused) {
  auto name = "atelier-test-" + std::to_string(getpid());
  auto fd = shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
  BOOST_TEST(
    (arena_view::open_shared_memory(name).why().code == ec::incompatible));
  BOOST_REQUIRE(ftruncate(fd, 8) == 0);
  BOOST_TEST(
    (arena_view::open_shared_memory(name).why().code == ec::incompatible));
  close(fd);
  shm_unlink(name.c_str());
  for (auto* missing : {"", "atelier-none", "../shm/x", "a/b"})
    BOOST_TEST(
      (arena_view::open_shared_memory(missing).why().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(sizes_outside_their_range_are_refused) {
  auto refused = [](auto change) {
    auto x = sizes;
    change(x);
    auto made = arena_owner::make_private(x);
    return !made && made.why().code == ec::bad_config;
  };
  BOOST_TEST(refused([](auto& x) { x.processes = 0; }));
  BOOST_TEST(refused([](auto& x) { x.processes = ~0u; }));
  BOOST_TEST(refused([](auto& x) { x.ring_bytes = 0; }));
  BOOST_TEST(refused([](auto& x) { x.ring_bytes = 1000; }));
  BOOST_TEST(refused([](auto& x) { x.ring_bytes = 1ull << 63; }));
  BOOST_TEST(refused([](auto& x) { x.slot_bytes[0] = 100; }));
  BOOST_TEST(refused([](auto& x) { x.slot_bytes[1] = 0; }));
  BOOST_TEST(refused([](auto& x) { x.slot_bytes[2] = 1ull << 62; }));
  BOOST_TEST(refused([](auto& x) { x.slots[0] = ~0u; }));
  BOOST_TEST(refused([](auto& x) {
    x.slots[0] = 1u << 24;
    x.slot_bytes[0] = 1ull << 40;
  }));
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_is_an_error_at_the_start) {
  auto x = sizes;
  x.slots[0] = 1024;
  x.slot_bytes[0] = 1ull << 34;
  auto made = arena_owner::make_shared_memory(x, 0s);
  BOOST_REQUIRE(!made);
  BOOST_TEST((made.why().code == ec::out_of_resources));
  BOOST_TEST(!exists("atelier-" + std::to_string(geteuid()) + "-"
                     + std::to_string(getpid()) + "-0"));
}

BOOST_AUTO_TEST_CASE(the_process_table_names_lives) {
  auto x = *arena_owner::make_private(sizes);
  core::process_id worker{2};
  x->begin_life(worker, core::incarnation{3});
  BOOST_TEST(x->process(worker).pid == 0);
  BOOST_TEST(x->process(worker).life.value == 3u);
  auto start = ipc::start_time_of(getpid());
  BOOST_TEST(start != 0u);
  x->set_process(worker, {getpid(), start, core::incarnation{3}});
  BOOST_TEST(x->process(worker).pid == getpid());
  BOOST_TEST(x->process(worker).start_time == start);
  BOOST_TEST(ipc::start_time_of(0) == 0u);
  BOOST_TEST(ipc::start_time_of(-1) == 0u);
  BOOST_TEST(x->inbound(core::process_id{0}) == nullptr);
  BOOST_TEST(x->outbound(core::process_id{3}) == nullptr);
  BOOST_TEST(x->process(core::process_id{3}).pid == 0);
}

BOOST_AUTO_TEST_SUITE_END()
