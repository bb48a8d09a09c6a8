// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/layout.hpp>

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;
using ipc::arena_owner;
using ipc::arena_view;
using ipc::slot_kind;

constexpr ipc::arena_sizes sizes = {{2, 1, 1}, {128, 64, 64}, 3, 1024};

// Maps a copy of the owner's descriptor, as a child would.
core::result<std::unique_ptr<arena_view>> view_of(const arena_owner& x) {
  return arena_view::adopt(dup(x.descriptor()));
}

size_t count_descriptors() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// An anonymous object that no arena made.
class raw_object {
public:
  explicit raw_object(uint64_t bytes)
    : fd_(memfd_create("test", MFD_ALLOW_SEALING)) {
    BOOST_TEST_REQUIRE(ftruncate(fd_, static_cast<off_t>(bytes)) == 0);
  }

  raw_object(const raw_object&) = delete;
  raw_object& operator=(const raw_object&) = delete;

  ~raw_object() {
    close(fd_);
  }

  void seal() const {
    BOOST_TEST_REQUIRE(
      fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
  }

  void write(const ipc::arena_header& header) const {
    BOOST_TEST_REQUIRE(pwrite(fd_, &header, sizeof header, 0)
                       == static_cast<ssize_t>(sizeof header));
  }

  core::result<std::unique_ptr<arena_view>> adopt() const {
    return arena_view::adopt(dup(fd_));
  }

private:
  int fd_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(arena_test)

BOOST_AUTO_TEST_CASE(what_one_mapping_publishes_the_other_reads) {
  auto owner = arena_owner::make_shared_memory(sizes);
  BOOST_REQUIRE(owner);
  auto& x = **owner;
  auto view = view_of(x);
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
  ipc::ring_writer writer{x.rings(core::process_id{2})->inbound, life};
  ipc::ring_reader reader{y.rings(core::process_id{2})->inbound, life};
  BOOST_TEST(*writer.push(copy));
  std::vector<std::byte> out;
  BOOST_TEST(*reader.pop(out, 0s));
  BOOST_TEST((out == copy));
}

BOOST_AUTO_TEST_CASE(the_memory_is_reserved_and_keeps_its_size) {
  const auto owner = *arena_owner::make_shared_memory(sizes);
  struct stat info;
  BOOST_REQUIRE(fstat(owner->descriptor(), &info) == 0);
  // Every page is allocated, so that no later write can fail.
  BOOST_TEST(info.st_blocks * 512 >= info.st_size);
  // Without pages, a process that touches the memory would die.
  BOOST_TEST(ftruncate(owner->descriptor(), 0) != 0);
  BOOST_TEST(ftruncate(owner->descriptor(), info.st_size + 4096) != 0);
  // It has no name by which another process could open it.
  BOOST_TEST(info.st_nlink == 0u);
}

BOOST_AUTO_TEST_CASE(the_descriptor_ends_with_its_owner) {
  const auto before = count_descriptors();
  auto owner = *arena_owner::make_shared_memory(sizes);
  BOOST_TEST(count_descriptors() == before + 1);
  BOOST_TEST((fcntl(owner->descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
  // Children's standard streams are opened over the lower ones.
  BOOST_TEST(owner->descriptor() > STDERR_FILENO);
  const auto view = *view_of(*owner);
  BOOST_TEST(count_descriptors() == before + 1);
  owner.reset();
  BOOST_TEST(count_descriptors() == before);
  BOOST_TEST((view->sizes() == sizes));
}

BOOST_AUTO_TEST_CASE(
  a_host_without_standard_input_gives_its_children_the_arena) {
  const auto kept = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  const auto owner = arena_owner::make_shared_memory(sizes);
  dup2(kept, STDIN_FILENO);
  close(kept);
  BOOST_REQUIRE(owner);
  BOOST_TEST((*owner)->descriptor() > STDERR_FILENO);
  BOOST_TEST(view_of(**owner).operator bool());
}

BOOST_AUTO_TEST_CASE(two_engines_live_side_by_side) {
  const auto a = *arena_owner::make_shared_memory(sizes);
  const auto b = *arena_owner::make_shared_memory(sizes);
  BOOST_TEST(a->id() != b->id());
  const ipc::slot_ref of_a{a->id(), 1, 1, slot_kind::state};
  a->open(of_a);
  BOOST_TEST((b->buffer(of_a).why().code == ec::incompatible));
}

BOOST_AUTO_TEST_CASE(a_foreign_object_is_refused) {
  const auto bytes = ipc::lay_out(sizes)->total_bytes;

  struct row {
    const char* what;
    uint64_t object_bytes;
    std::function<void(ipc::arena_header&)> change;
  };

  const row table[] = {
    {"magic", bytes, [](auto& x) { x.magic = 0; }},
    {"layout", bytes, [](auto& x) { ++x.layout; }},
    {"build", bytes, [](auto& x) { ++x.build; }},
    {"total_bytes", bytes, [](auto& x) { ++x.total_bytes; }},
    {"slots", bytes, [](auto& x) { ++x.slots[1]; }},
    {"many slots", bytes, [](auto& x) { x.slots[0] = ~0u; }},
    {"slot_bytes", bytes, [](auto& x) { x.slot_bytes[0] = ~0ull; }},
    {"ring_bytes", bytes, [](auto& x) { x.ring_bytes = 1000; }},
    {"processes", bytes, [](auto& x) { x.processes = 0; }},
    {"longer object", bytes + 4096, [](auto&) {}},
    {"shorter object", bytes - 64, [](auto&) {}},
  };
  const auto sound = [&](ipc::arena_header& x) {
    ipc::describe(x, sizes, bytes, core::epoch{1});
    x.magic = ipc::arena_magic;
  };
  {
    const raw_object raw{bytes};
    ipc::arena_header header{};
    sound(header);
    raw.write(header);
    // The size of an object without seals could change under its readers.
    BOOST_TEST((raw.adopt().why().code == ec::incompatible));
    raw.seal();
    BOOST_TEST(raw.adopt().operator bool());
  }
  for (const auto& x : table)
    BOOST_TEST_CONTEXT(x.what) {
      const raw_object raw{x.object_bytes};
      ipc::arena_header header{};
      sound(header);
      x.change(header);
      raw.write(header);
      raw.seal();
      const auto refused = raw.adopt();
      BOOST_REQUIRE(!refused);
      BOOST_TEST((refused.why().code == ec::incompatible));
      BOOST_TEST(!refused.why().text.empty());
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_arena_is_refused) {
  for (const uint64_t bytes : {0u, 8u}) {
    const raw_object raw{bytes};
    raw.seal();
    BOOST_TEST((raw.adopt().why().code == ec::incompatible));
  }
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  BOOST_TEST((arena_view::adopt(ends[0]).why().code == ec::incompatible));
  close(ends[1]);
  BOOST_TEST((arena_view::adopt(-1).why().code == ec::incompatible));
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
  const auto before = count_descriptors();
  const auto made = arena_owner::make_shared_memory(x);
  BOOST_REQUIRE(!made);
  BOOST_TEST((made.why().code == ec::out_of_resources));
  const auto& text = made.why().text;
  BOOST_TEST(text.starts_with("no 33554433 MiB of memory for the arena: "),
             text);
  BOOST_TEST(text.find("arena.image_slots") != std::string::npos, text);
  BOOST_TEST(count_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(a_life_begins_with_a_sound_header) {
  // Any process that has the memory may have damaged it.
  const auto owner = *arena_owner::make_shared_memory(sizes);
  const auto damage = [&](auto change) {
    void* at = mmap(nullptr, sizeof(ipc::arena_header), PROT_READ | PROT_WRITE,
                    MAP_SHARED, owner->descriptor(), 0);
    BOOST_TEST_REQUIRE((at != MAP_FAILED));
    change(*static_cast<ipc::arena_header*>(at));
    munmap(at, sizeof(ipc::arena_header));
  };
  const std::function<void(ipc::arena_header&)> table[] = {
    [](auto& x) { x.magic = 0; },
    [](auto& x) { ++x.layout; },
    [](auto& x) { ++x.epoch; },
    [](auto& x) { ++x.build; },
    [](auto& x) { ++x.total_bytes; },
    [](auto& x) { x.slots[2] = ~0u; },
    [](auto& x) { x.slot_bytes[0] = ~0ull; },
    [](auto& x) { x.ring_bytes = 1; },
    [](auto& x) { ++x.processes; },
  };
  for (const auto& change : table) {
    damage(change);
    // The owner reads none of it.
    BOOST_TEST((owner->sizes() == sizes));
    const auto rings = owner->begin_life(core::process_id{2});
    BOOST_REQUIRE(rings);
    BOOST_TEST(rings->inbound.capacity == sizes.ring_bytes);
    const auto view = view_of(*owner);
    BOOST_REQUIRE(view);
    BOOST_TEST(((*view)->sizes() == sizes));
    BOOST_TEST((*view)->id() == owner->id());
  }
}

BOOST_AUTO_TEST_CASE(only_other_processes_have_rings) {
  const auto x = *arena_owner::make_private(sizes);
  for (const auto none : {0u, 3u}) {
    BOOST_TEST(
      (x->rings(core::process_id{none}).why().code == ec::invalid_argument));
    BOOST_TEST((x->begin_life(core::process_id{none}).why().code
                == ec::invalid_argument));
  }
  const auto there = x->rings(core::process_id{2});
  BOOST_REQUIRE(there);
  BOOST_TEST(there->inbound.capacity == sizes.ring_bytes);
  BOOST_TEST(there->outbound.capacity == sizes.ring_bytes);
  BOOST_TEST(there->inbound.memory != there->outbound.memory);
}

BOOST_AUTO_TEST_SUITE_END()
