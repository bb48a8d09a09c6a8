// SPDX-License-Identifier: Apache-2.0

// The journal's file, and the thread that writes it. The file is long because
// both are tried with the same records, which have a field of every kind.

#include <atelier/runtime/http/journal_file.hpp>
#include <atelier/runtime/http/journal_writer.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <support/scale.hpp>

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <thread>

namespace atelier::runtime::http {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using core::ec;

using opened = core::result<std::unique_ptr<journal_file>>;

struct folder : test::scratch_folder {
  opened open(uint64_t names = 10) const {
    return journal_file::open(file, names);
  }

  std::string bytes() const {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  /// Runs statements on the file as another program does.
  void tamper(const std::string& statements) const {
    sqlite3* it = nullptr;
    BOOST_REQUIRE(sqlite3_open(file.c_str(), &it) == SQLITE_OK);
    BOOST_TEST(sqlite3_exec(it, statements.c_str(), nullptr, nullptr, nullptr)
               == SQLITE_OK);
    sqlite3_close(it);
  }

  /// Expects that the file is refused as an invalid configuration, by its name,
  /// and unchanged.
  void expect_refused(const std::string& because) const {
    const auto before = bytes();
    const auto got = open();
    BOOST_REQUIRE(!got);
    BOOST_TEST((got.why().code == ec::bad_config));
    for (const auto& word : {file.string(), because})
      BOOST_TEST(got.why().text.find(word) != std::string::npos,
                 got.why().text << " does not say " << word);
    BOOST_TEST((bytes() == before));
  }

  const fs::path& where = path;
  const fs::path file = where / "jobs.sqlite";
};

/// Returns a job with a value in every field.
journalled_job job(uint64_t number) {
  journalled_job x;
  x.number = number;
  x.created = std::chrono::system_clock::time_point{1'700'000'000s + 5us};
  auto& w = x.wanted;
  w.kind = "edit";
  w.owner = "ann";
  w.id = "job_" + std::to_string(number);
  w.idempotency_key = "k\xff\x01" + std::to_string(number);
  w.fingerprint = "print";
  w.trace = "trace";
  w.request_id = "req_1";
  w.keeps = true;
  generation g;
  g.prompt = "a \"circle\" \xc3\xa9";
  g.negative = "square";
  g.image = {1, 0, 2};
  g.mask = {3};
  g.width = 64;
  g.height = 72;
  g.seed = UINT64_MAX;
  g.steps = 7;
  g.guidance = 4.7f;
  g.guidance_rescale = 0.1f;
  g.eta = 0.2f;
  g.karras = true;
  g.strength = 0.3f;
  g.sampler = "ddim";
  g.model = "tiny";
  g.variant = "tiny@8";
  g.format = "webp";
  g.quality = 5;
  g.priority = "high";
  g.noise = "philox";
  g.deadline = 123456789ns;
  g.deterministic = true;
  g.cache = "read";
  g.seed_drawn = true;
  g.preview_every = 3;
  g.trace = "trace";
  w.images = {g, g};
  w.images[1].seed = 1;
  return x;
}

journalled_end end(uint64_t number) {
  auto p = std::make_shared<generated_image>();
  p->request = 9;
  p->format = "webp";
  p->seed = UINT64_MAX;
  p->model = "tiny";
  p->variant = "tiny@8";
  p->route = "r";
  p->sampler = "ddim";
  p->steps = 8;
  p->steps_run = 9;
  p->guidance = 4.7f;
  p->width = 64;
  p->height = 72;
  p->sha256 = "ab";
  p->notes = {{"prompt_cut", "cut"}};
  p->prompt_class = {{"smaller_models", 2, "small@20"}};
  p->reused = {"image", 12, 0.75, 5};
  p->took.total = 12ms;
  return {number,
          job_state::failed,
          {"poison", "twice", {}},
          std::chrono::system_clock::time_point{1'700'000'001s},
          std::chrono::system_clock::time_point{1'700'000'002s},
          {nullptr, p},
          {0}};
}

void put(journal_file& to, const journal_file::record& x) {
  const auto* const one = &x;
  const auto done = to.write(std::span{&one, 1});
  BOOST_TEST(static_cast<bool>(done), (done ? "" : done.why().text));
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(journal_file_test, folder)

BOOST_AUTO_TEST_CASE(what_was_written_is_read_back_whole) {
  {
    const auto sut = open();
    BOOST_REQUIRE(sut);
    put(**sut, job(3));
  }
  const auto sut = open();
  BOOST_REQUIRE(sut);
  const auto got = (*sut)->read();
  BOOST_REQUIRE(got);
  BOOST_REQUIRE(got->jobs.size() == 1u);
  const auto& x = got->jobs[0];
  const auto y = job(3);
  BOOST_TEST(!x.end.has_value());
  BOOST_TEST(x.was.number == y.number);
  BOOST_TEST((x.was.created == y.created));
  BOOST_TEST(x.was.wanted.kind == y.wanted.kind);
  BOOST_TEST(x.was.wanted.owner == y.wanted.owner);
  BOOST_TEST(x.was.wanted.id == y.wanted.id);
  BOOST_TEST(x.was.wanted.idempotency_key == y.wanted.idempotency_key);
  BOOST_TEST(x.was.wanted.fingerprint == y.wanted.fingerprint);
  BOOST_TEST(x.was.wanted.trace == y.wanted.trace);
  BOOST_TEST(x.was.wanted.request_id == y.wanted.request_id);
  BOOST_REQUIRE(x.was.wanted.images.size() == 2u);
  for (size_t i = 0; i < 2; ++i) {
    const auto& a = x.was.wanted.images[i];
    const auto& b = y.wanted.images[i];
    BOOST_TEST(a.prompt == b.prompt);
    BOOST_TEST(a.negative == b.negative);
    BOOST_TEST((a.image == b.image));
    BOOST_TEST((a.mask == b.mask));
    BOOST_TEST(a.width == b.width);
    BOOST_TEST(a.height == b.height);
    BOOST_TEST((a.seed == b.seed));
    BOOST_TEST((a.steps == b.steps));
    BOOST_TEST((a.guidance == b.guidance));
    BOOST_TEST((a.guidance_rescale == b.guidance_rescale));
    BOOST_TEST((a.eta == b.eta));
    BOOST_TEST((a.karras == b.karras));
    BOOST_TEST((a.strength == b.strength));
    BOOST_TEST((a.sampler == b.sampler));
    BOOST_TEST((a.model == b.model));
    BOOST_TEST((a.variant == b.variant));
    BOOST_TEST(a.format == b.format);
    BOOST_TEST(a.quality == b.quality);
    BOOST_TEST(a.priority == b.priority);
    BOOST_TEST(a.noise == b.noise);
    BOOST_TEST((a.deadline == b.deadline));
    BOOST_TEST(a.deterministic == b.deterministic);
    BOOST_TEST((a.cache == b.cache));
    BOOST_TEST(a.seed_drawn == b.seed_drawn);
    BOOST_TEST(a.preview_every == b.preview_every);
    BOOST_TEST(a.trace == b.trace);
  }
}

BOOST_AUTO_TEST_CASE(an_end_is_read_back_and_files_of_images_go) {
  const auto large = [](uint64_t number) {
    auto x = job(number);
    for (auto& g : x.wanted.images)
      g.image.assign(1 << 20, 7);
    return x;
  };
  const auto sut = open();
  for (uint64_t i = 3; i < 12; ++i) {
    put(**sut, large(i));
    put(**sut, end(i));
  }
  // Both images of a job start from one file, and its freed pages are used
  // again.
  BOOST_TEST(fs::file_size(file) < 2u << 20);
  const auto got = (*sut)->read();
  BOOST_REQUIRE(got);
  BOOST_REQUIRE(got->jobs.size() == 9u);
  const auto& x = *got->jobs[0].end;
  const auto y = end(3);
  BOOST_TEST(x.number == 3u);
  BOOST_TEST((x.state == y.state));
  BOOST_TEST(x.why.code == y.why.code);
  BOOST_TEST(x.why.text == y.why.text);
  BOOST_TEST((x.started == y.started));
  BOOST_TEST((x.completed == y.completed));
  BOOST_REQUIRE(x.images.size() == 2u);
  BOOST_TEST((x.images[0] == nullptr));
  BOOST_REQUIRE((x.images[1] != nullptr));
  BOOST_TEST(x.images[1]->seed == UINT64_MAX);
  BOOST_TEST(x.images[1]->sha256 == "ab");
  BOOST_TEST(x.images[1]->guidance == 4.7f);
  BOOST_TEST((x.images[1]->notes == y.images[1]->notes));
  BOOST_TEST((x.images[1]->prompt_class == y.images[1]->prompt_class));
  BOOST_TEST((x.images[1]->reused == y.images[1]->reused));
  BOOST_TEST((x.images[1]->took.total == 12ms));
  BOOST_TEST((x.cancelled_images == y.cancelled_images));
}

BOOST_AUTO_TEST_CASE(what_is_held_against_a_image_is_read_back) {
  const auto held = [&](int64_t job_at = 0) {
    const auto sut = open();
    BOOST_REQUIRE(sut);
    const auto got = (*sut)->read();
    BOOST_REQUIRE(got);
    return got->jobs.at(static_cast<size_t>(job_at)).was.wanted.images;
  };
  const auto write = [&](const journal_file::record& x) {
    const auto sut = open();
    BOOST_REQUIRE(sut);
    put(**sut, x);
  };
  write(job(3));
  write(journalled_suspicion{3, 1, {"denoising", 1, 7, 1}});
  write(journalled_suspicion{3, 1, {"denoising", 1, 8, 2}});
  // A suspicion of an unknown job is ignored.
  write(journalled_suspicion{9, 0, {"denoising", 0, 0, 1}});
  BOOST_TEST(held()[0].suspected.trials == 0u);
  BOOST_TEST(held()[1].suspected.trials == 2u);
  BOOST_TEST(held()[1].suspected.phase == "denoising");
  BOOST_TEST(held()[1].suspected.stage == 1u);
  BOOST_TEST(held()[1].suspected.steps == 8u);
  write(journalled_suspicion{3, 1, {"denoising", 1, 8, 0}});
  BOOST_TEST(held()[1].suspected.trials == 0u);
  // The suspicion ends with its job. The next job with the same number does not
  // have it.
  write(journalled_suspicion{3, 0, {"preparing", 0, 0, 1}});
  write(journal_file::forgotten_job{3});
  write(job(3));
  BOOST_TEST(held()[0].suspected.trials == 0u);
}

BOOST_AUTO_TEST_CASE(cancelled_images_are_read_back) {
  const auto sut = open();
  BOOST_REQUIRE(sut);
  const auto cancelled = [&] {
    const auto got = (*sut)->read();
    BOOST_REQUIRE(got);
    return got->jobs.at(0).cancelled_images;
  };
  put(**sut, job(3));
  BOOST_TEST(cancelled().empty());
  put(**sut, journalled_cancellation{3, 1});
  put(**sut, journalled_cancellation{3, 0});
  put(**sut, journalled_cancellation{3, 1});
  put(**sut, journalled_cancellation{9, 0});
  BOOST_TEST((cancelled() == std::vector<uint32_t>{0, 1}));
  // The images go with their job. The next job with this number does not have
  // them.
  put(**sut, journal_file::forgotten_job{3});
  put(**sut, job(3));
  BOOST_TEST(cancelled().empty());
}

BOOST_AUTO_TEST_CASE(an_older_journal_is_opened) {
  {
    const auto sut = open();
    BOOST_REQUIRE(sut);
    put(**sut, job(3));
  }
  tamper("DROP TABLE suspicion; DROP TABLE cancelled_image");
  const auto sut = open();
  BOOST_REQUIRE(sut);
  BOOST_REQUIRE((*sut)->read());
  put(**sut, journalled_suspicion{3, 0, {"preparing", 0, 0, 1}});
  put(**sut, journalled_cancellation{3, 1});
  const auto got = (*sut)->read();
  BOOST_REQUIRE(got);
  BOOST_TEST((got->jobs.at(0).cancelled_images == std::vector<uint32_t>{1}));
  BOOST_TEST(got->jobs.at(0).was.wanted.images[0].suspected.trials == 1u);
}

BOOST_AUTO_TEST_CASE(names_of_forgotten_jobs_are_remembered_as_many_as_may_be) {
  {
    const auto sut = open(2);
    for (uint64_t i = 1; i <= 4; ++i)
      put(**sut, job(i));
    for (uint64_t i = 1; i <= 3; ++i)
      put(**sut, journal_file::forgotten_job{i});
    // Records about unknown jobs are ignored.
    put(**sut, journal_file::forgotten_job{77});
    put(**sut, end(77));
  }
  const auto sut = open(2);
  const auto got = (*sut)->read();
  BOOST_REQUIRE(got->jobs.size() == 1u);
  BOOST_TEST(got->jobs[0].was.number == 4u);
  BOOST_TEST((got->forgotten
              == std::vector<job_name>{{"job_2", "ann"}, {"job_3", "ann"}}));
}

BOOST_AUTO_TEST_CASE(names_are_of_one_owner) {
  auto of_bob = job(2);
  of_bob.wanted.id = "job_1";
  of_bob.wanted.owner = "bob";
  const auto sut = open();
  put(**sut, job(1));
  put(**sut, of_bob);
  put(**sut, journal_file::forgotten_job{2});
  const auto got = (*sut)->read();
  BOOST_REQUIRE(got->jobs.size() == 1u);
  BOOST_TEST(got->jobs[0].was.wanted.owner == "ann");
  BOOST_TEST((got->forgotten == std::vector<job_name>{{"job_1", "bob"}}));
}

BOOST_AUTO_TEST_CASE(a_file_of_version_1_is_brought_forward) {
  {
    const auto sut = open();
    put(**sut, job(1));
    put(**sut, job(2));
    put(**sut, end(2));
  }
  // This is the table of the version before.
  tamper(R"(
    CREATE TABLE old (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
      owner TEXT NOT NULL, idempotency_key TEXT NOT NULL,
      fingerprint TEXT NOT NULL, created_us INTEGER NOT NULL,
      wanted TEXT NOT NULL, ended TEXT);
    INSERT INTO old SELECT * FROM job;
    DROP TABLE job;
    ALTER TABLE old RENAME TO job;
    UPDATE job SET wanted = json_remove(wanted, '$.request_id');
    DROP TABLE forgotten;
    CREATE TABLE forgotten (at INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL);
    INSERT INTO forgotten (id) VALUES ('gone');
    PRAGMA user_version = 1;)");
  for (int i = 0; i < 2; ++i) {
    const auto sut = open();
    BOOST_TEST_REQUIRE(static_cast<bool>(sut));
    const auto got = (*sut)->read();
    BOOST_REQUIRE(got);
    BOOST_REQUIRE(got->jobs.size() == 2u);
    BOOST_TEST(got->jobs[0].was.wanted.owner == "ann");
    BOOST_TEST(got->jobs[0].was.wanted.images.size() == 2u);
    BOOST_TEST(got->jobs[0].was.wanted.request_id.empty());
    BOOST_TEST(got->jobs[1].end.has_value());
    BOOST_TEST((got->forgotten == std::vector<job_name>{"gone"}));
  }
  // From now on an id belongs to one key.
  const auto sut = open();
  auto of_bob = job(3);
  of_bob.wanted.id = "job_1";
  of_bob.wanted.owner = "bob";
  put(**sut, of_bob);
}

BOOST_AUTO_TEST_CASE(records_are_written_together_or_not_at_all) {
  const auto sut = open();
  put(**sut, job(1));
  // The second job has the first one's number.
  const journal_file::record second = job(2);
  const journal_file::record first = job(1);
  const std::vector both{&second, &first};
  const auto done = (*sut)->write(both);
  BOOST_REQUIRE(!done);
  BOOST_TEST((done.why().code == ec::io_failed));
  BOOST_TEST((*sut)->read()->jobs.size() == 1u);
  put(**sut, job(2));
}

BOOST_AUTO_TEST_CASE(it_is_its_owners_alone) {
  const auto sut = open();
  put(**sut, job(1));
  for (const auto& x : fs::directory_iterator{where})
    BOOST_TEST((x.status().permissions()
                == (fs::perms::owner_read | fs::perms::owner_write)));
}

BOOST_AUTO_TEST_CASE(it_has_one_server) {
  const auto first = open();
  BOOST_REQUIRE(first);
  const auto second = open();
  BOOST_REQUIRE(!second);
  BOOST_TEST((second.why().code == ec::unavailable));
  BOOST_TEST(second.why().text.find(file.string()) != std::string::npos);
  put(**first, job(1));
}

BOOST_AUTO_TEST_CASE(a_file_of_something_else_is_refused) {
  std::ofstream{file} << std::string(5000, 'x');
  expect_refused("broken");
}

BOOST_AUTO_TEST_CASE(a_database_of_another_program_is_refused) {
  tamper("CREATE TABLE job (number)");
  expect_refused("another program");
}

BOOST_AUTO_TEST_CASE(a_newer_version_is_refused) {
  BOOST_REQUIRE(open());
  tamper("PRAGMA user_version = 3");
  expect_refused("version 3");
}

BOOST_AUTO_TEST_CASE(a_torn_file_is_refused) {
  {
    const auto sut = open();
    for (uint64_t i = 1; i < 40; ++i)
      put(**sut, job(i));
  }
  fs::resize_file(file, fs::file_size(file) / 2);
  expect_refused("broken");
}

BOOST_AUTO_TEST_CASE(spoiled_pages_are_refused) {
  {
    const auto sut = open();
    for (uint64_t i = 1; i < 40; ++i)
      put(**sut, job(i));
  }
  {
    std::fstream out{file, std::ios::in | std::ios::out | std::ios::binary};
    out.seekp(4096);
    out << std::string(8192, '\x5a');
  }
  expect_refused("broken");
}

BOOST_AUTO_TEST_CASE(a_text_that_is_no_job_is_told) {
  {
    const auto sut = open();
    put(**sut, job(1));
  }
  for (const auto* text : {"", "{", "[]", "{\"kind\":\"x\"}",
                           "{\"kind\":\"x\",\"trace\":\"\",\"pictures\":[]}"}) {
    tamper("UPDATE job SET wanted = '" + std::string{text} + "'");
    const auto sut = open();
    BOOST_REQUIRE(sut);
    const auto got = (*sut)->read();
    BOOST_REQUIRE(!got);
    BOOST_TEST((got.why().code == ec::bad_config));
    BOOST_TEST(got.why().text.find(file.string()) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_file_of_an_image_that_is_gone_is_told) {
  {
    const auto sut = open();
    put(**sut, job(1));
  }
  tamper("DELETE FROM file");
  const auto sut = open();
  const auto got = (*sut)->read();
  BOOST_REQUIRE(!got);
  BOOST_TEST((got.why().code == ec::bad_config));
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_is_told) {
  std::ofstream{where / "file"} << "x";
  const auto got = journal_file::open(where / "file" / "jobs.sqlite", 1);
  BOOST_REQUIRE(!got);
  BOOST_TEST((got.why().code == ec::io_failed));
}

BOOST_AUTO_TEST_CASE(what_was_written_outlives_a_kill) {
  for (uint64_t run = 0; run < test::scaled(500); ++run) {
    fs::remove_all(where);
    int told[2];
    BOOST_REQUIRE(pipe(told) == 0);
    const auto child = fork();
    if (child == 0) {
      // The child reports the number of each job that must outlive it.
      auto sut = open();
      for (uint64_t i = 1;; ++i) {
        const journal_file::record x = job(i);
        const auto* const one = &x;
        if (!(*sut)->write(std::span{&one, 1})
            || ::write(told[1], &i, sizeof i) != sizeof i)
          _exit(1);
      }
    }
    close(told[1]);
    uint64_t last = 0;
    const auto wanted = 1 + run % 20;
    while (last < wanted
           && ::read(told[0], &last, sizeof last) == sizeof last) {
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (::read(told[0], &last, sizeof last) == sizeof last) {
    }
    close(told[0]);
    const auto sut = open();
    BOOST_REQUIRE(sut);
    const auto got = (*sut)->read();
    BOOST_REQUIRE(got);
    BOOST_TEST(last >= wanted);
    // One more may have been written but not reported.
    BOOST_TEST(got->jobs.size() >= last);
    BOOST_TEST(got->jobs.size() <= last + 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(journal_writer_test, folder)

BOOST_AUTO_TEST_CASE(what_many_threads_tell_is_all_written) {
  const auto count = test::scaled(2000);
  std::atomic<uint64_t> done = 0;
  {
    journal_writer sut{std::move(*open())};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (uint64_t i = 0; i < count; ++i) {
          const auto number = 1 + t * count + i;
          sut.accept(job(number), [&](const auto& x) { done += x ? 1u : 0u; });
          if (i % 2 == 1)
            sut.end(end(number));
        }
      });
    for (auto& x : threads)
      x.join();
  }
  BOOST_TEST(done == 4 * count);
  const auto sut = open();
  const auto got = (*sut)->read();
  BOOST_REQUIRE(got);
  BOOST_TEST(got->jobs.size() == 4 * count);
  uint64_t ended = 0;
  for (const auto& x : got->jobs)
    ended += x.end ? 1u : 0u;
  BOOST_TEST(ended == 4 * (count / 2));
}

BOOST_AUTO_TEST_CASE(what_comes_after_jobs_is_called_after_them) {
  journal_writer sut{std::move(*open())};
  std::promise<std::vector<int>> all;
  std::vector<int> order;
  sut.accept(job(1), [&](const auto&) { order.push_back(1); });
  sut.after_accepts([&] { order.push_back(2); });
  sut.accept(job(2), [&](const auto&) { order.push_back(3); });
  sut.after_accepts([&] { all.set_value(order); });
  BOOST_TEST((all.get_future().get() == std::vector<int>{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(
  a_disk_that_is_full_refuses_jobs_and_keeps_ends_for_later) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  {
    journal_writer sut{std::move(*open())};
    const auto accept = [&](journalled_job x) {
      std::promise<bool> done;
      sut.accept(std::move(x), [&](const auto& y) { done.set_value(bool{y}); });
      return done.get_future().get();
    };
    BOOST_TEST(accept(job(1)));
    // The limit is the present size of the file, and a little more.
    auto least = before;
    least.rlim_cur =
      std::max(fs::file_size(file), fs::file_size(file.string() + "-wal"));
    setrlimit(RLIMIT_FSIZE, &least);
    auto large = job(2);
    large.wanted.images[0].image.assign(1 << 20, 1);
    BOOST_TEST(!accept(large));
    sut.end(end(1));
    BOOST_TEST(!accept(large));
    setrlimit(RLIMIT_FSIZE, &before);
    // Its number and name were not used up.
    BOOST_TEST(accept(large));
  }
  std::signal(SIGXFSZ, ignored);
  const auto sut = open();
  const auto got = (*sut)->read();
  BOOST_REQUIRE(got);
  BOOST_REQUIRE(got->jobs.size() == 2u);
  BOOST_TEST(got->jobs[0].end.has_value());
  BOOST_TEST(!got->jobs[1].end.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
