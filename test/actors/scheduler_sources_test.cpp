// SPDX-License-Identifier: Apache-2.0
// The life of a source: its files' slot, its own slot, and the holders of both
// over time.
#include "actors/scheduler_rig.hpp"
#include <atelier/actors/source_files.hpp>

#include <map>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using core::ec;
using ipc::slot_kind;
using test::finish;
using test::prepare;

constexpr auto cpu = test::scheduler_rig::life(1);
constexpr auto device = test::scheduler_rig::life(2);

struct fixture : test::scheduler_rig {
  fixture() : scheduler_rig(small()) {}

  explicit fixture(options o) : scheduler_rig(std::move(o)) {}

  // Returns options with as few image slots as a source needs.
  static options small() {
    options o;
    o.slots = {4, 3, 0};
    return o;
  }

  uint32_t images() const {
    return free_slots(slot_kind::image);
  }

  // Returns a row whose source is prepared and that a device has.
  denoise denoising() {
    add_cpu();
    add_device(device);
    id = submit_image();
    done(take<prepare>());
    return take<denoise>();
  }

  bool ends_quietly() {
    BOOST_REQUIRE(work_off());
    return quiet();
  }

  core::request_id id;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_sources_test, fixture)

BOOST_AUTO_TEST_CASE(a_source_goes_from_files_to_pixels_to_the_device) {
  add_cpu();
  id = submit_image();
  const auto p = take<prepare>();
  BOOST_TEST(static_cast<bool>(p.files));
  BOOST_TEST(static_cast<bool>(p.source));
  BOOST_TEST((p.files != p.source));
  BOOST_TEST(p.how.from_image);
  BOOST_TEST(p.how.strength == 0.8f);
  BOOST_TEST(images() == 1u);
  BOOST_TEST(static_cast<bool>(store->view(p.files)));
  done(p);
  // The files are gone, and the pixels wait for a device.
  BOOST_TEST(images() == 2u);
  add_device(device);
  const auto d = take<denoise>();
  BOOST_TEST((d.source == p.source));
  BOOST_TEST(images() == 1u);
  done(d);
  // The pixels were freed with the leg, and the image exists.
  const auto f = take<finish>();
  BOOST_TEST(images() == 1u);
  BOOST_TEST(f.how.from_image);
  done(f);
  taken(id);
  BOOST_TEST(quiet());
}

BOOST_AUTO_TEST_CASE(a_request_without_a_source_names_none) {
  add_cpu();
  add_device(device);
  submit();
  const auto p = take<prepare>();
  BOOST_TEST(!p.files);
  BOOST_TEST(!p.source);
  BOOST_TEST(!p.how.from_image);
  BOOST_TEST(images() == 3u);
  done(p);
  BOOST_TEST(!take<denoise>().source);
}

BOOST_AUTO_TEST_CASE(the_files_bytes_are_in_their_slot) {
  options o;
  o.slots = {2, 3, 0};
  o.slot_bytes = {64, 64, 0};
  fixture with_bytes{o};
  with_bytes.add_cpu();
  with_bytes.submit_image([](core::request&) {}, 5, 3);
  const auto p = with_bytes.take<prepare>();
  const auto files =
    actors::parse_source_files(*with_bytes.store->view(p.files));
  BOOST_REQUIRE(files);
  BOOST_TEST(files->image.size() == 5u);
  BOOST_TEST(files->image.front() == 'i');
  BOOST_TEST(files->mask.size() == 3u);
  BOOST_TEST(files->mask.back() == 'm');
}

BOOST_AUTO_TEST_CASE(an_edit_runs_whole_where_no_strength_is_named) {
  add_cpu();
  submit_image([](core::request& x) { x.kind = core::request_kind::edit; }, 5,
               5);
  BOOST_TEST(take<prepare>().how.strength == 1.0f);
}

BOOST_AUTO_TEST_CASE(a_share_of_the_steps_is_told_as_the_whole) {
  add_cpu();
  add_device(device);
  id = submit_image([](core::request& x) {
    x.fixed.strength = 0.5f;
    x.wants_progress = true;
  });
  done(take<prepare>());
  const auto d = take<denoise>();
  BOOST_TEST(d.recipe.steps == 4u);
  BOOST_TEST(sut->cluster().workers.at(0).steps_left == 2u);
  stepped(d, 1);
  BOOST_TEST((told == std::vector<progress>{{id, 1, 2}}));
  BOOST_TEST(sut->cluster().workers.at(0).steps_left == 1u);
}

BOOST_AUTO_TEST_CASE(the_source_stays_when_the_device_dies) {
  const auto d = denoising();
  stepped(d, 2);
  lose(device);
  BOOST_TEST(images() == 2u);
  add_device(test::scheduler_rig::life(2, 2));
  const auto again = take<denoise>();
  BOOST_TEST((again.source == d.source));
  BOOST_TEST((again.from == d.state));
  BOOST_TEST(again.steps_done == 2u);
  done(again);
  BOOST_TEST(ends_quietly());
  BOOST_TEST((failure_of(id) == ec::none));
}

BOOST_AUTO_TEST_CASE(the_source_stays_while_a_death_is_not_confirmed) {
  const auto d = denoising();
  suspect(device);
  lose(device, false);
  add_device(test::scheduler_rig::life(3));
  // The image's slot is quarantined. One is left, for the encoder.
  BOOST_TEST(count<denoise>() == 0u);
  lose(device, true);
  const auto again = take<denoise>();
  BOOST_TEST((again.source == d.source));
  done(again);
  BOOST_TEST(ends_quietly());
}

BOOST_AUTO_TEST_CASE(the_source_is_made_again_when_its_maker_dies) {
  add_cpu();
  id = submit_image();
  const auto p = take<prepare>();
  lose(cpu);
  BOOST_TEST(images() == 3u);
  add_cpu(test::scheduler_rig::life(1, 2));
  const auto again = take<prepare>();
  BOOST_TEST((again.files != p.files));
  BOOST_TEST(again.who.attempt == p.who.attempt + 1);
  done(again);
  add_device(device);
  BOOST_TEST(ends_quietly());
}

BOOST_AUTO_TEST_CASE(an_image_that_cannot_be_read_ends_its_request) {
  add_cpu();
  id = submit_image();
  reply_prepared(take<prepare>().who,
                 core::fail(ec::bad_payload, "image: broken"));
  BOOST_TEST((failure_of(id) == ec::bad_payload));
  BOOST_TEST(answer_to(id).failure.text == "image: broken");
  BOOST_TEST(quiet());
}

BOOST_AUTO_TEST_CASE(a_cancel_gives_the_source_back_when_nobody_reads_it) {
  const auto d = denoising();
  cancel(id);
  // The request's device still has the slot.
  BOOST_TEST(images() == 1u);
  reply_denoised(d.ticket, core::fail(ec::cancelled, "cancelled"));
  BOOST_TEST(quiet());
}

BOOST_AUTO_TEST_CASE(a_cancel_while_preparing_gives_everything_back) {
  add_cpu();
  id = submit_image();
  const auto p = take<prepare>();
  cancel(id);
  BOOST_TEST(images() == 1u);
  done(p);
  BOOST_TEST(quiet());
}

BOOST_AUTO_TEST_CASE(a_cancel_while_waiting_for_a_device_gives_it_back) {
  add_cpu();
  id = submit_image();
  done(take<prepare>());
  cancel(id);
  BOOST_TEST(quiet());
}

BOOST_AUTO_TEST_CASE(a_failed_step_keeps_the_source_for_the_next_attempt) {
  const auto d = denoising();
  reply_denoised(d.ticket, core::fail(ec::out_of_resources, "no memory"));
  const auto again = take<denoise>();
  BOOST_TEST((again.source == d.source));
  reply_denoised(again.ticket, core::fail(ec::internal, "broken"));
  BOOST_TEST((failure_of(id) == ec::internal));
  BOOST_TEST(quiet());
}

BOOST_AUTO_TEST_CASE(one_source_at_a_time_fits_three_slots) {
  add_cpu();
  add_device(device);
  submit_image();
  submit_image();
  submit();
  // The second request waits, and so does the row behind it in the queue.
  const auto p = take<prepare>();
  BOOST_TEST(count<prepare>() == 0u);
  BOOST_TEST(sut->counts().slot_waits > 0u);
  done(p);
  BOOST_TEST(count<prepare>() == 0u);
  BOOST_TEST(ends_quietly());
  BOOST_TEST(answers.size() == 3u);
}

BOOST_AUTO_TEST_CASE(sources_that_wait_for_a_device_leave_it_a_image) {
  add_cpu();
  submit_image();
  submit_image();
  done(take<prepare>());
  // Together they would leave one slot, and neither could ever continue.
  BOOST_TEST(count<prepare>() == 0u);
  BOOST_TEST(images() == 2u);
  add_device(device);
  BOOST_TEST(ends_quietly());
  BOOST_TEST(answers.size() == 2u);
}

BOOST_AUTO_TEST_CASE(sources_leave_a_image_and_an_encoder_their_slots) {
  options o;
  o.slots = {16, 6, 0};
  fixture sut_{o};
  sut_.add_cpu(cpu, 16);
  sut_.add_device(device, 1);
  for (int i = 0; i < 10; ++i)
    sut_.submit_image();
  // Four sources are prepared ahead, and one of them runs.
  while (auto p = sut_.next<prepare>())
    sut_.done(p->second);
  BOOST_TEST(sut_.count<denoise>() == 1u);
  BOOST_TEST(sut_.images() >= 1u);
  BOOST_TEST(sut_.ends_quietly());
  BOOST_TEST(sut_.answers.size() == 10u);
}

BOOST_AUTO_TEST_CASE(too_few_slots_for_any_source_refuse_it) {
  options o;
  o.slots = {2, 2, 0};
  fixture tiny{o};
  tiny.add_cpu();
  const auto refused = tiny.submit_image();
  BOOST_TEST((tiny.failure_of(refused) == ec::invalid_argument));
  BOOST_TEST(tiny.answer_to(refused).failure.text
             == "a source image needs 3 image slots, but only 2 exist "
                "(arena.image_slots)");
  BOOST_TEST(!tiny.answered(tiny.submit()));
}

BOOST_AUTO_TEST_CASE(the_files_that_wait_are_bounded) {
  options o;
  o.slots = {4, 8, 0};
  o.limits.sources_bytes = 20;
  fixture bounded{o};
  bounded.add_cpu();
  const auto first = bounded.submit_image([](core::request&) {}, 10, 2);
  const auto second = bounded.submit_image([](core::request&) {}, 9);
  BOOST_TEST(!bounded.answered(first));
  BOOST_TEST((bounded.failure_of(second) == ec::overloaded));
  BOOST_TEST(bounded.answer_to(second).failure.text
             == "accepted source images hold 12 bytes, 9 more exceed the limit "
                "(limits.sources_mib) of 20");
  BOOST_TEST((bounded.answer_to(second).retry_after >= 1s));
  const auto third = bounded.submit_image([](core::request&) {}, 8);
  BOOST_TEST(!bounded.answered(third));
  bounded.cancel(first);
  BOOST_TEST(
    !bounded.answered(bounded.submit_image([](core::request&) {}, 12)));
}

BOOST_AUTO_TEST_CASE(notes_of_all_workers_reach_the_answer_once_each) {
  add_cpu();
  add_device(device);
  const core::note early{core::note_code::prompt_syntax, "at the door"};
  const core::note scaled{core::note_code::mask_scaled, "mask scaled"};
  const core::note cut{core::note_code::prompt_cut, "prompt cut short"};
  id = submit_image([&](core::request& x) { x.notes = {early}; });
  const auto p = take<prepare>();
  BOOST_REQUIRE(store->publish(p.state, 1, 0));
  BOOST_REQUIRE(store->publish(p.source, 1, 0));
  test::prepared ready;
  ready.who = p.who;
  ready.notes = {scaled};
  on(ready.reply());
  auto d = take<denoise>();
  actors::denoised failed;
  failed.ticket = d.ticket;
  failed.failure = core::fail(ec::out_of_resources, "no memory");
  failed.notes = {{core::note_code::prompt_cut, "not told"}};
  on(failed);
  d = take<denoise>();
  BOOST_REQUIRE(store->publish(d.image, 1, 0));
  actors::denoised ended;
  ended.ticket = d.ticket;
  ended.notes = {cut, scaled};
  on(ended);
  const auto last = take<finish>();
  const std::vector<core::note> all{early, scaled, cut};
  BOOST_TEST((last.notes == all));
  done(last);
  BOOST_TEST((answer_to(id).notes == all));
}

BOOST_AUTO_TEST_CASE(preparing_a_large_image_may_take_its_time) {
  profile->source = 10s;
  add_cpu();
  submit_image([](core::request&) {}, 5);
  take<prepare>();
  // 0.005 megapixels take 10 s each, for four seats. The limit is 8 times that,
  // and 5 s of silence.
  tick(6s);
  BOOST_TEST(suspects.empty());
  tick(1s);
  BOOST_TEST((suspects == std::vector<ipc::process_life>{cpu}));
}

// Every row at the device takes one image slot, and a source needs three at
// once.
BOOST_AUTO_TEST_CASE(
  a_source_is_prepared_beside_a_crowd_that_takes_every_slot) {
  for (const uint32_t tenants : {0u, 2u})
    BOOST_TEST_CONTEXT(tenants) {
      options o;
      o.slots = {16, 8, 0};
      fixture rig{o};
      rig.add_cpu();
      rig.add_device(device, 16, 4);
      for (int i = 0; i < 60; ++i)
        rig.submit([&](core::request& x) {
          x.tenant = core::tenant_id{std::min(tenants, 1u)};
        });
      size_t ended = 0;
      std::optional<prepare> source;
      // Returns whether the source's preparation is sent by then.
      const auto one_more_ends = [&] {
        while (const auto p = rig.next<prepare>())
          if (p->second.source)
            source = p->second;
          else
            rig.done(p->second);
        if (const auto d = rig.next<denoise>()) {
          rig.done(d->second);
          const auto f = rig.take<finish>();
          rig.done(f);
          rig.taken(f.who.id);
          ++ended;
        }
        return source.has_value();
      };
      for (int i = 0; i < 8; ++i)
        BOOST_TEST(!one_more_ends());
      rig.id = rig.submit_image([&](core::request& x) {
        x.tenant = core::tenant_id{tenants};
        x.prio = core::priority::high;
      });
      for (int i = 0; i < 8 && !one_more_ends(); ++i) {
      }
      BOOST_REQUIRE(source.has_value());
      BOOST_TEST(ended < 20u);
      rig.done(*source);
      BOOST_TEST(rig.ends_quietly());
    }
}

// Each of these sends its next request when it has an answer, so that none of
// them has rows that it would have to leave slots for.
BOOST_AUTO_TEST_CASE(a_source_is_prepared_beside_many_of_larger_shares) {
  options o;
  o.slots = {16, 8, 0};
  fixture rig{o};
  rig.add_cpu();
  rig.add_device(device, 16, 4);
  std::map<uint64_t, uint32_t> tenant_of;
  const auto submit_for = [&](uint32_t tenant) {
    const auto request = rig.submit([&](core::request& x) {
      x.tenant = core::tenant_id{tenant};
      x.share = 2;
    });
    tenant_of[request.value] = tenant;
  };
  for (uint32_t tenant = 1; tenant <= 20; ++tenant)
    submit_for(tenant);
  rig.id = rig.submit_image(
    [&](core::request& x) { x.tenant = core::tenant_id{100}; });
  bool prepared = false;
  size_t ended = 0;
  while (!prepared && ended < 100) {
    while (const auto p = rig.next<prepare>())
      if (p->second.source)
        prepared = true;
      else
        rig.done(p->second);
    const auto d = rig.next<denoise>();
    if (!d)
      break;
    rig.done(d->second);
    const auto f = rig.take<finish>();
    rig.done(f);
    rig.taken(f.who.id);
    ++ended;
    submit_for(tenant_of.at(f.who.id.value));
  }
  BOOST_TEST(prepared);
}

BOOST_AUTO_TEST_CASE(a_source_makes_no_larger_share_wait_for_slots) {
  for (const uint32_t share : {1u, 2u})
    BOOST_TEST_CONTEXT("share " << share) {
      options o;
      o.slots = {16, 4, 0};
      fixture rig{o};
      rig.add_cpu();
      rig.add_device(device, 16, 4);
      const auto submit_for = [&](uint32_t tenant, uint32_t its) {
        return rig.submit([&](core::request& x) {
          x.tenant = core::tenant_id{tenant};
          x.share = its;
        });
      };
      const auto prepare_all = [&] {
        while (const auto p = rig.next<prepare>())
          rig.done(p->second);
      };
      // Two rows are at the device, and a source waits for three of the four
      // image slots.
      submit_for(1, 1);
      submit_for(1, 1);
      prepare_all();
      BOOST_TEST(rig.count<denoise>() == 2u);
      rig.id = rig.submit_image(
        [&](core::request& x) { x.tenant = core::tenant_id{2}; });
      BOOST_TEST(rig.count<prepare>() == 0u);
      submit_for(3, share);
      prepare_all();
      BOOST_TEST(rig.count<denoise>() == (share == 1 ? 2u : 3u));
    }
}

// Requests without a source find no slots either, and delay no drawing.
BOOST_AUTO_TEST_CASE(
  a_device_that_comes_late_gets_as_many_rows_as_slots_allow) {
  for (const bool sources : {false, true})
    BOOST_TEST_CONTEXT("sources: " << sources) {
      options o;
      o.slots = {32, 16, 0};
      fixture rig{o};
      rig.add_cpu();
      for (int i = 0; i < 60; ++i)
        if (sources && i % 8 == 7)
          rig.submit_image();
        else
          rig.submit();
      const auto prepare_all = [&] {
        while (const auto p = rig.next<prepare>())
          rig.done(p->second);
      };
      prepare_all();
      rig.add_device(device, 16, 8);
      size_t fewest = 16;
      for (int i = 0; i < 40; ++i) {
        prepare_all();
        fewest = std::min(fewest, rig.count<denoise>());
        const auto d = rig.take<denoise>();
        rig.done(d);
        while (const auto f = rig.next<finish>()) {
          rig.done(f->second);
          rig.taken(f->second.who.id);
        }
      }
      BOOST_TEST(fewest >= 8u);
      BOOST_TEST(rig.ends_quietly());
    }
}

BOOST_AUTO_TEST_CASE(nobody_leaves_slots_for_a_source_that_is_gone) {
  options o;
  o.slots = {16, 8, 0};
  fixture rig{o};
  rig.add_cpu();
  rig.add_device(device, 16, 4);
  for (int i = 0; i < 20; ++i)
    rig.submit();
  while (const auto p = rig.next<prepare>())
    rig.done(p->second);
  const auto crowd = rig.count<denoise>();
  rig.id = rig.submit_image();
  while (const auto p = rig.next<prepare>())
    rig.done(p->second);
  rig.cancel(rig.id);
  const auto first = rig.take<denoise>();
  rig.done(first);
  const auto f = rig.take<finish>();
  rig.done(f);
  rig.taken(f.who.id);
  while (const auto p = rig.next<prepare>())
    rig.done(p->second);
  BOOST_TEST(rig.count<denoise>() == crowd);
  BOOST_TEST(rig.ends_quietly());
}

BOOST_AUTO_TEST_SUITE_END()
