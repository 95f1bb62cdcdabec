// The seeds from which the simulator's schedules notice a mutant.
#include "tests/mutants/killer.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include <cstdint>

#include "tests/sim/program/playable.hpp"
#include "tests/sim/redis/layouts.hpp"

namespace holdfast::mutants {
namespace {

struct killer_seed {
  std::string_view mutant;
  std::uint64_t seed;  // one that shows it, or one not far before
  std::string_view layout = "string";
  int servers = 1;
  int masters = 0;   // of a cluster
  int replicas = 0;  // that have to confirm what counts
  int sentinels = 0;
};

constexpr killer_seed seeds[] = {
    {"deadline_from_reply", 168},
    {"late_reply_accepted", 501},
    {"delete_without_owner", 14},
    {"renew_without_owner", 923},
    {"broken_lock_kept", 9},
    {"dead_head_not_skipped", 28},
    {"notified_before_it_is_written", 808},
    {"refused_hand_over_empties_the_queue", 433262},
    {"granted_without_its_message", 5002373},
    {"notes_of_the_lost_kept", 2247},
    {"no_timer_for_the_runner_up", 6330},
    {"wake_up_not_passed_on", 184},
    {"last_waiter_first", 1},
    {"newcomer_first", 1},
    {"loss_not_told", 9},
    {"reader_passes_the_queue", 39},
    {"zombie_reader_renewed", 62},
    {"permits_of_the_dead_kept", 229},
    {"permits_counted_as_one", 13},
    {"lost_permits_not_counted_again", 2761},
    {"readers_behind_a_leaver_forgotten", 222},
    {"holder_not_notified", 31},
    {"lock_all_takes_what_is_held", 9},
    {"lock_all_takes_some", 52},
    {"lock_all_passes_the_queue", 221},
    {"set_and_number_apart", 28653},
    {"only_next_waiter_looks", 89},
    {"pushed_look_believed", 883235},
    {"line_not_peeked", 18545},
    {"floor_kept", 67},
    {"predecessor_not_killed", 15},
    {"old_sample_accepted", 1950},
    {"waiter_given_up", 27},
    {"outage_dated_back", 1040},
    {"turn_before_release", 68},
    {"settled_outcome_kept", 65},
    {"multi_deadlocks", 247},
    {"linger_kept", 21},
    {"token_blocks", 5},
    {"guard_admits_all", 1},
    {"deadline_from_reply", 4226, "string", 1, sim::usual_cluster},
    {"delete_without_owner", 1, "string", 1, sim::usual_cluster},
    {"renew_without_owner", 1006, "string", 1, sim::usual_cluster},
    {"name_not_probed", 7, "string", 2},
    {"own_history_not_asked", 35571, "redisson-fair", 2},
    {"place_of_the_lost_kept", 670, "redisson-fair", 2},
    {"copied_place_kept", 940000657, "redisson-fair", 2},
    {"leases_unconfirmed", 8, "string", 2},
    {"lanes_at_two_servers", 15, "string", 2},
    {"greeted_lane_kept", 99120487, "string", 2},
    {"replaced_master_joined", 38, "string", 2},
    {"silent_replica_believed", 218, "string", 2},
    {"push_of_another_server", 31, "string", 2},
    {"connections_left_behind", 31, "string", 2},
    {"idle_wait_believed", 9, "string", 2, 0, 1},
    {"lacking_replicas_ignored", 6, "string", 2, 0, 1},
    {"replies_of_old_reign_believed", 146297258181144, "string", 2, 0, 1},
    {"grant_before_replicas", 1, "string", 2, 0, 1},
    {"push_before_replicas", 14, "string", 2, 0, 1},
    {"messages_held_as_replies", 1, "string", 2, 0, 1},
    {"messages_held_as_replies", 5, "redisson", 2, 0, 1},
    {"announced_master_ignored", 36, "string", 2, 0, 0, sim::usual_sentinels},
    {"one_sentinel_suffices", 15, "string", 2, 0, 0, sim::usual_sentinels},
    {"delete_without_owner", 19, "lua"},
    {"renew_without_owner", 146, "lua"},
    {"lock_without_ttl", 1, "lua"},
    {"poll_never_wakes", 1, "lua"},
    {"withdrawal_dropped", 500732, "lua"},
    {"owner_id_reused", 11, "lua"},
    {"late_reply_accepted", 1689, "lua"},
    {"deadline_from_reply", 168, "lua"},
    {"waiter_given_up", 11, "lua"},
    {"delete_without_owner", 34, "redisson"},
    {"lock_without_ttl", 1, "redisson"},
    {"double_count", 85, "redisson"},
    {"foreign_renewal", 470, "redisson"},
    {"broken_lock_kept", 9, "redisson"},
    {"no_wake_on_expiry", 218, "redisson"},
    {"release_not_published", 4, "redisson"},
    {"withdrawal_dropped", 606, "redisson"},
    {"late_reply_accepted", 2264, "redisson"},
    {"dead_fair_head", 66, "redisson-fair"},
    {"fair_waiters_spin", 4, "redisson-fair"},
    {"only_the_head_knows_the_lease", 500624, "redisson-fair"},
    {"fair_queue_passed", 1, "redisson-fair"},
    {"double_count", 33, "redisson-fair"},
    {"foreign_renewal", 534, "redisson-fair"},
    {"no_wake_on_expiry", 180, "redisson-fair"},
    {"writer_joins_readers", 8, "redisson-rw"},
    {"readers_not_shown", 1, "redisson-rw"},
    {"double_count", 75686220595234, "redisson-rw"},
    {"foreign_renewal", 79631377170768, "redisson-rw"},
    {"no_wake_on_expiry", 21, "redisson-rw"},
    {"withdrawal_dropped", 279166037786626, "redisson-rw"},
    {"lost_request_repeated", 2320, "curator-rw"},
    {"old_name_watched", 53160332820651, "curator-rw"},
    {"downgrade_loses_the_place", 2, "curator-rw"},
    {"downgrade_loses_the_place", 2, "kazoo-rw"},
    {"lease_beyond_total_holds", 1, "curator-semaphore"},
    {"removal_by_path_repeated", 70, "node"},
    {"write_at_follower_renews", 4650, "node"},
    {"event_after_attaching_grants", 24101, "kazoo"},
    {"read_only_server_believed", 123, "curator"},
    {"sequence_limit_ignored", 553, "curator"},
    {"sequence_limit_ignored", 553, "curator-rw"},
    {"sequence_limit_ignored", 553, "curator-semaphore"},
    {"create_repeated", 147, "curator"},
    {"queued_with_the_lost_session", 35, "curator"},
    {"own_end_unseen", 368, "curator"},
    {"change_taken_for_the_end", 1, "curator"},
    {"predecessor_that_gave_up", 1, "curator"},
    {"end_of_farthest_believed", 2600, "curator"},
    {"number_of_another_node", 1, "curator"},
    {"watches_not_set_again", 4, "curator"},
    {"unknown_acquire_dropped", 99776934576470, "curator"},
    {"owner_id_reused", 9, "curator"},
    {"late_reply_accepted", 149177119343045, "curator"},
    {"renegotiated_timeout_believed", 82, "curator"},
    {"deadline_by_any_reply", 5507, "curator"},
    {"late_acknowledgement_counted", 239, "curator"},
    {"attachment_alone_renews", 617, "curator"},
    {"lapsed_session_believed", 276607759089664, "curator"},
    {"passing_lock_shown_free", 60096, "curator"},
    {"row_number_below_clock", 6, "row"},
    {"row_taken_unexpired", 1, "row"},
    {"row_members_ignored", 6, "row"},
    {"row_number_unread", 1, "row"},
    {"row_permits_not_counted", 8, "row"},
    {"delete_without_owner", 6, "row"},
    {"statements_overtake", 592, "row"},
    {"withdrawal_overtakes", 592, "row"},
    {"lost_mysql_connection_not_killed", 93, "row"},
    {"unknown_acquire_dropped", 246616265195635, "row"},
    {"deadline_from_reply", 167, "row"},
    {"late_reply_accepted", 152260991844354, "row"},
    {"owner_id_reused", 1, "row"},
    {"waited_grant_believed", 1, "named"},
    {"heartbeat_omitted", 222, "named"},
    {"kill_believed_at_once", 86, "named"},
    {"cut_connection_holds", 743, "named"},
    {"idle_timeout_ignored", 878, "named"},
    {"loss_not_told", 11, "named"},
    {"demoted_holder_kept", 3, "named", 2},
    {"demoted_holder_kept", 7, "for-update", 2},
    {"replica_grant_believed", 2, "named", 2},
    {"replica_grant_believed", 3, "for-update", 2},
    {"former_primary_kept", 6, "row", 2},
    {"read_only_mysql_believed", 2, "row", 2},
    {"second_phase_missing", 1, "redlock"},
    {"late_vote_raised", 65, "redlock"},
    {"deadline_from_reply", 1243, "redlock"},
};

std::optional<sim::playable> played_by(const killer_seed& k) {
  if (k.masters > 0) return sim::playable_of_cluster(k.layout, k.masters);
  if (k.sentinels > 0) return sim::playable_of_sentinels(k.layout, k.replicas);
  return k.servers == 2 ? sim::playable_of_two(k.layout, k.replicas)
                        : sim::playable_named(k.layout);
}

std::string name_of(const killer_seed& k) {
  const std::string of = k.masters > 0     ? "schedules_of_cluster"
                         : k.sentinels > 0 ? "schedules_with_sentinels"
                         : k.replicas > 0  ? "schedules_with_a_replica"
                         : k.servers == 2  ? "schedules_of_two"
                                           : "schedules";
  return of + (k.layout == "string" ? std::string() : '_' + std::string(k.layout));
}

std::string survived_schedules(const killer_seed& k, const mutant& m) {
  constexpr std::uint64_t schedules_max = 10'000;
  const auto layout = played_by(k);
  const auto play = [&](std::uint64_t seed, sim::recording r = sim::recording::off) {
    return layout->play(layout->draw(seed), nullptr, r);
  };
  plant(m);
  std::uint64_t seed = k.seed;
  while (seed < k.seed + schedules_max && play(seed).complaint.empty()) ++seed;
  check_planted();
  if (seed == k.seed + schedules_max) {
    remove_planted();
    return "no schedule from seed " + std::to_string(k.seed) +
           " on finds it; `./dev sim --minutes 1 " +
           (k.masters > 0     ? "--cluster " + std::to_string(k.masters)
            : k.sentinels > 0 ? "--sentinels " + std::to_string(k.sentinels)
                              : "--servers " + std::to_string(k.servers)) +
           (k.replicas > 0 ? " --replicas " + std::to_string(k.replicas) : std::string()) +
           " --layout " + std::string(k.layout) + " --mutant " + m.name + "` may find another seed";
  }
  const sim::result broken = play(seed, sim::recording::on);
  remove_planted();
  const sim::result well = play(seed, sim::recording::on);
  const std::string at = ", seed " + std::to_string(seed);
  if (!well.complaint.empty()) return "with no fault planted: " + well.complaint + at;
  return well.digest == broken.digest ? "the schedule is the same without it" + at : "";
}

}  // namespace

void add_schedules(std::vector<killer>& out, std::string_view mutant_name) {
  for (const killer_seed& k : seeds)
    if (k.mutant == mutant_name && played_by(k))
      out.push_back({name_of(k), [&k](const mutant& m) { return survived_schedules(k, m); }});
}

}  // namespace holdfast::mutants
#else
void holdfast::mutants::add_schedules(std::vector<killer>&, std::string_view) {}
#endif
