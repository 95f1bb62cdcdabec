#include "subject.hpp"

namespace contract {

namespace {

#ifdef HOLDFAST_WITH_REDIS
constexpr std::string_view no_tokens = "the lock has no counter";
constexpr std::string_view only_owners = "the lock's key stores owners only";
constexpr std::string_view several_nodes =
    "a name with } and without { is refused: its keys would be on several nodes of a cluster";

// For the layouts of Redisson's locks whose key is a hash of owners.
std::vector<expected_failure> failures_of_redisson() {
  return {
      {"inspect_shows_the_holder_and_its_note", only_owners},
      {"the_value_of_a_leader_is_observed", only_owners},
      {"names_are_data", several_nodes},
      {"a_lingering_lock_is_acquired_again_under_its_grant",
       "the holder is not notified that another client waits"},
  };
}

std::vector<expected_failure> failures_of_redlock() {
  return {{"inspect_shows_the_holder_and_its_note", only_owners},
          {"the_value_of_a_leader_is_observed", only_owners},
          {"a_lingering_lock_is_acquired_again_under_its_grant",
           "the holder is not notified that another client waits"}};
}

std::vector<expected_failure> failures_of_readers_and_writers() {
  std::vector<expected_failure> out = failures_of_redisson();
  out.push_back({"inspect_shows_each_reader", only_owners});
  return out;
}

std::vector<expected_failure> failures_of_study() {
  return {{"a_token_grows_from_grant_to_grant", no_tokens},
          {"a_token_grows_from_thread_to_thread", no_tokens},
          {"a_token_grows_from_client_to_client", no_tokens},
          {"a_token_grows_over_a_crash", no_tokens},
          {"inspect_shows_the_holder_and_its_note", only_owners},
          {"the_value_of_a_leader_is_observed", only_owners}};
}

std::vector<expected_failure> failures_of_getset() {
  constexpr std::string_view own_release =
      "a release is two commands, and the client's next attempt can come between them";
  std::vector<expected_failure> out = failures_of_study();
  for (const std::string_view behaviour :
       {"the_guards_of_the_standard_library_work",
        "a_lingering_lock_is_acquired_again_under_its_grant", "lock_guard_takes_several",
        "a_stop_before_the_call_leaves_one_attempt"})
    out.push_back({.behaviour = behaviour, .reason = own_release, .plays_max = 20});
  return out;
}

std::vector<expected_failure> failures_of_permits() {
  constexpr std::string_view no_numbers = "Redisson's permits have no tokens";
  constexpr std::string_view no_note = "a permit is an id of 16 bytes, without a note";
  return {
      {"a_token_grows_from_grant_to_grant", no_numbers},
      {"a_token_grows_from_thread_to_thread", no_numbers},
      {"a_token_grows_from_client_to_client", no_numbers},
      {"a_token_grows_over_a_crash", no_numbers},
      {"tokens_of_permits_differ_and_grow", no_numbers},
      {"inspect_shows_the_holder_and_its_note", no_note},
      {"one_holder_of_permits_can_be_broken", no_note},
      {"names_are_data", several_nodes},
      {"a_large_request_is_not_passed_by_small_ones", "Redisson's permits have no queue"},
      {"permits_that_there_cannot_be_are_refused", "a claim has at most 1000 permits"},
      {"another_number_of_permits_is_reported",
       "the number of permits stays stored after the last release"},
      {"a_mutex_and_a_semaphore_of_one_name_are_reported", "the layout has no mutex"},
  };
}
#endif

#ifdef HOLDFAST_WITH_ZOOKEEPER
// For the layouts of Curator's and kazoo's read-write locks.
std::vector<expected_failure> failures_of_reading_nodes() {
  constexpr std::string_view own_nodes = "each reader has a node and a token of its own";
  std::vector<expected_failure> out;
  for (const std::string_view behaviour :
       {"queued_readers_enter_together", "readers_that_share_have_one_token_and_one_owner",
        "a_later_group_has_a_larger_token", "a_downgrade_lets_readers_in_under_its_token",
        "readers_that_wait_enter_at_a_downgrade", "inspect_shows_each_reader"})
    out.push_back({behaviour, own_nodes});
  // The other reader's session is short: if the machine stalls, it ends as well.
  out.push_back({.behaviour = "the_owner_of_a_share_breaks_all_of_its_group",
                 .reason = own_nodes,
                 .plays_max = 20});
  return out;
}
#endif

#ifdef HOLDFAST_WITH_ZOOKEEPER
std::vector<expected_failure> failures_of_semaphore_nodes() {
  return {{"permits_that_there_cannot_be_are_refused", "a claim has at most 1000 permits"},
          {"a_mutex_and_a_semaphore_of_one_name_are_reported", "the layout has no mutex"}};
}

// Common to its layouts; on one server unless stated otherwise.
subject_under_test at_zookeeper(subject_under_test layout) {
  if (!layout.make) layout.make = make_zookeeper_subject;
  layout.life = lifetime::session;
  layout.has_outages = true;
  layout.is_missing = zookeeper_is_missing;
  return layout;
}

subject_under_test curator_at_zookeeper() {
  return at_zookeeper({.name = "curator_zookeeper",
                       .options = "layout=curator",
                       .modes = of_a_mutex,
                       .can = {.fifo = true,
                               .durable = true,
                               .processes = true,
                               .breakable = true,
                               .shared = true,
                               .permits = true},
                       .most_not_applicable = 38});
}

subject_under_test curator_rw_at_zookeeper() {
  return at_zookeeper(
      {.name = "curator_rw_zookeeper",
       .options = "layout=curator-rw",
       .modes = but_permits,
       .can = {.fifo = true, .durable = true, .processes = true, .breakable = true, .shared = true},
       .downgrades = true,
       .has_time = false,
       .most_not_applicable = 20,
       .expected_failures = failures_of_reading_nodes()});
}

subject_under_test curator_semaphore_at_zookeeper() {
  return at_zookeeper(
      {.name = "curator_semaphore_zookeeper",
       .options = "layout=curator-semaphore",
       .modes = with_permits,
       .can =
           {.fifo = true, .durable = true, .processes = true, .breakable = true, .permits = true},
       .has_time = false,
       .most_not_applicable = 71,
       .expected_failures = failures_of_semaphore_nodes()});
}

// The same on an ensemble, without what takes long.
subject_under_test on_three_servers(subject_under_test s, std::string_view name, in_modes modes,
                                    std::size_t most_not_applicable) {
  s.name = name;
  s.make = make_zookeeper_ensemble_subject;
  s.modes = modes;
  s.has_time = false;
  s.most_not_applicable = most_not_applicable;
  return s;
}
#endif

#ifdef HOLDFAST_WITH_REDIS
subject_under_test string_in_redis() {
  return {.name = "redis",
          .make = make_redis_subject,
          .can = {.ttl = true,
                  .fifo = true,
                  .durable = true,
                  .processes = true,
                  .breakable = true,
                  .shared = true,
                  .permits = true},
          .has_outages = true,
          .downgrades = true,
          .most_not_applicable = 10};
}

subject_under_test string_in_a_cluster() {
  subject_under_test s = string_in_redis();
  s.expected_failures = {{"names_are_data", several_nodes}};
  return s;
}

// A break removes the lock at one shard. The other shard excludes rivals until the holder has
// noticed the loss, so it cannot name the rival as the reason.
subject_under_test string_in_changing_shards() {
  subject_under_test s = string_in_redis();
  s.expected_failures = {{"a_loss_has_a_reason", "the former shard still excludes other clients"}};
  return s;
}

subject_under_test redisson_in_redis() {
  return {.name = "redisson_redis",
          .make = make_redis_subject,
          .options = "layout=redisson",
          .modes = of_a_mutex,
          .can =
              {.ttl = true, .processes = true, .breakable = true, .shared = true, .permits = true},
          .has_outages = true,
          .most_not_applicable = 35,
          .expected_failures = failures_of_redisson()};
}

// The same on other servers.
subject_under_test on(subject_under_test s, std::string_view name,
                      std::unique_ptr<subject> (*make)(std::string_view)) {
  s.name = name;
  s.make = make;
  return s;
}
#endif

#ifdef HOLDFAST_WITH_MYSQL
// Of the connections that share or hold a row.
std::vector<expected_failure> failures_of_row_locks() {
  std::vector<expected_failure> out;
  for (const std::string_view behaviour :
       {"queued_readers_enter_together", "readers_that_share_have_one_token_and_one_owner",
        "a_later_group_has_a_larger_token", "readers_that_wait_enter_at_a_downgrade",
        "inspect_shows_each_reader"})
    out.push_back({behaviour, "each reader has a connection and a token of its own"});
  out.push_back(
      {"an_observer_is_notified_of_each_leader", "the server does not list the holders of rows"});
  return out;
}

// Common to the strategies whose locks connections of MySQL hold.
subject_under_test held_by_connections(subject_under_test strategy) {
  strategy.make = make_mysql_subject;
  strategy.life = lifetime::connection;
  strategy.has_outages = true;
  strategy.is_missing = mysql_is_missing;
  strategy.expected_failures.push_back({"a_lingering_lock_is_acquired_again_under_its_grant",
                                        "the holder is not notified that another client waits"});
  for (const std::string_view behaviour :
       {"names_are_data", "long_names_differ_to_the_last_byte",
        "inspect_shows_the_holder_and_its_note", "the_value_of_a_leader_is_observed",
        "inspect_finds_by_prefix", "bad_options_are_refused", "one_lock_given_twice_is_refused",
        "a_lease_without_a_deadline_is_not_promised_one"})
    strategy.expected_failures.push_back({behaviour, "the server does not list such locks"});
  return strategy;
}
#endif

}  // namespace

const std::vector<subject_under_test>& subjects_under_test() {
  static const std::vector<subject_under_test> all = {
#ifdef HOLDFAST_WITH_MEMORY
      {.name = "memory",
       .make = make_memory_subject,
       .can = {.ttl = true, .fifo = true, .breakable = true, .shared = true, .permits = true},
       .has_outages = true,
       .downgrades = true,
       .most_not_applicable = 6},
#endif
#ifdef HOLDFAST_WITH_REDIS
      string_in_redis(),
      on(string_in_redis(), "sentinel_redis", make_sentinel_subject),
      on(redisson_in_redis(), "sentinel_redisson_redis", make_sentinel_subject),
      on(string_in_redis(), "shards_redis", make_shards_subject),
      on(string_in_changing_shards(), "changing_shards_redis", make_changing_shards_subject),
      on(string_in_a_cluster(), "cluster_redis", make_cluster_subject),
      on(redisson_in_redis(), "cluster_redisson_redis", make_cluster_subject),
      {.name = "lua_redis",
       .make = make_redis_subject,
       .options = "layout=lua",
       .modes = of_a_mutex,
       .can = {.ttl = true, .processes = true, .breakable = true},
       .has_tokens = false,
       .has_outages = true,
       .most_not_applicable = 35,
       .expected_failures = {{"a_token_grows_from_grant_to_grant", no_tokens},
                             {"a_token_grows_from_thread_to_thread", no_tokens},
                             {"a_token_grows_from_client_to_client", no_tokens},
                             {"a_token_grows_over_a_crash", no_tokens},
                             {"inspect_shows_the_holder_and_its_note", only_owners},
                             {"the_value_of_a_leader_is_observed", only_owners}}},
      {.name = "setnx_redis",
       .make = make_redis_subject,
       .options = "layout=setnx&unsafe=1",
       .modes = of_a_mutex,
       .can = {.ttl = true, .processes = true, .breakable = true, .unsafe = true},
       .has_tokens = false,
       .has_outages = true,
       .most_not_applicable = 35,
       .expected_failures = failures_of_study()},
      {.name = "getset_redis",
       .make = make_redis_subject,
       .options = "layout=getset&unsafe=1&stale-after=30s",
       .modes = of_a_mutex,
       .can = {.ttl = true, .processes = true, .breakable = true, .unsafe = true},
       .has_tokens = false,
       .has_outages = true,
       .most_not_applicable = 35,
       .expected_failures = failures_of_getset()},
      {.name = "redlock_redis",
       .make = make_redlock_subject,
       .modes = of_a_mutex,
       .can = {.ttl = true, .durable = true, .processes = true, .breakable = true},
       .has_outages = true,
       .most_not_applicable = 35,
       .expected_failures = failures_of_redlock()},
      redisson_in_redis(),
      {.name = "redisson_rw_redis",
       .make = make_redis_subject,
       .options = "layout=redisson-rw",
       .modes = but_permits,
       .can = {.ttl = true, .durable = true, .processes = true, .breakable = true, .shared = true},
       .has_outages = true,
       .downgrades = true,
       .prefers_writers = false,
       .most_not_applicable = 14,
       .expected_failures = failures_of_readers_and_writers()},
      {.name = "redisson_spin_redis",
       .make = make_redis_subject,
       .options = "layout=redisson-spin",
       .modes = of_a_mutex,
       .can = {.ttl = true, .processes = true, .breakable = true},
       .has_outages = true,
       .most_not_applicable = 35,
       .expected_failures = failures_of_redisson()},
      {.name = "redisson_fair_redis",
       .make = make_redis_subject,
       .options = "layout=redisson-fair",
       .modes = of_a_mutex,
       .can = {.ttl = true, .fifo = true, .processes = true, .breakable = true},
       .has_outages = true,
       .most_not_applicable = 35,
       .expected_failures = failures_of_redisson()},
      {.name = "redisson_permits_redis",
       .make = make_redis_subject,
       .options = "layout=redisson-permits",
       .modes = with_permits,
       .can = {.ttl = true, .processes = true, .breakable = true, .permits = true},
       .has_tokens = false,
       .has_outages = true,
       .most_not_applicable = 66,
       .expected_failures = failures_of_permits()},
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
      curator_at_zookeeper(),
      curator_rw_at_zookeeper(),
      at_zookeeper({.name = "kazoo_zookeeper",
                    .options = "layout=kazoo",
                    .modes = of_a_mutex,
                    .can = {.fifo = true, .durable = true, .processes = true, .breakable = true},
                    .has_time = false,
                    .most_not_applicable = 40}),
      at_zookeeper({.name = "kazoo_rw_zookeeper",
                    .options = "layout=kazoo-rw",
                    .modes = but_permits,
                    .can = {.fifo = true,
                            .durable = true,
                            .processes = true,
                            .breakable = true,
                            .shared = true},
                    .downgrades = true,
                    .has_time = false,
                    .most_not_applicable = 20,
                    .expected_failures = failures_of_reading_nodes()}),
      curator_semaphore_at_zookeeper(),
      on_three_servers(curator_at_zookeeper(), "curator_ensemble_zookeeper", of_a_mutex, 40),
      on_three_servers(curator_rw_at_zookeeper(), "curator_rw_ensemble_zookeeper",
                       {mode::writer, mode::shared}, 60),
      on_three_servers(curator_semaphore_at_zookeeper(), "curator_semaphore_ensemble_zookeeper",
                       with_permits, 71),
      at_zookeeper(
          {.name = "node_zookeeper",
           .options = "layout=node&unsafe=1",
           .modes = of_a_mutex,
           .can = {.durable = true, .processes = true, .unsafe = true},
           .has_time = false,
           .most_not_applicable = 45,
           .expected_failures = {{"a_lingering_lock_is_acquired_again_under_its_grant",
                                  "the holder is not notified that another client waits"}}}),
#endif
      {.name = "file",
       .make = make_file_subject,
       .life = lifetime::process,
       .can = {.durable = true, .processes = true, .shared = true, .permits = true},
       .most_not_applicable = 20},
#ifdef HOLDFAST_WITH_MYSQL
      {.name = "mysql",
       .make = make_mysql_subject,
       .can = {.ttl = true,
               .durable = true,
               .processes = true,
               .breakable = true,
               .shared = true,
               .permits = true},
       .has_outages = true,
       .prefers_writers = false,
       .is_missing = mysql_is_missing,
       .most_not_applicable = 35,
       .expected_failures = {{"a_lingering_lock_is_acquired_again_under_its_grant",
                              "the holder is not notified that another client waits"},
                             {"a_large_request_is_not_passed_by_small_ones",
                              "the permits of `row` have no queue"}}},
      {.name = "records_mysql",
       .make = make_mysql_subject,
       .options = "strategy=insert",
       .modes = of_a_mutex,
       .can = {.ttl = true, .durable = true, .processes = true, .breakable = true},
       .has_outages = true,
       .is_missing = mysql_is_missing,
       .most_not_applicable = 35,
       .expected_failures = {{"a_lingering_lock_is_acquired_again_under_its_grant",
                              "the holder is not notified that another client waits"}}},
      held_by_connections({.name = "named_mysql",
                           .options = "strategy=named",
                           .modes = of_a_mutex,
                           .can = {.fifo = true, .durable = true, .processes = true},
                           .most_not_applicable = 45}),
      held_by_connections({.name = "for_update_mysql",
                           .options = "strategy=for-update",
                           .modes = but_permits,
                           .can = {.durable = true, .processes = true, .shared = true},
                           .most_not_applicable = 30,
                           .expected_failures = failures_of_row_locks()}),
#endif
      {.name = "shared_file",
       .make = make_shared_file_subject,
       .life = lifetime::process,
       .can = {.durable = true, .processes = true, .shared = true, .permits = true},
       .has_time = false,
       .most_not_applicable = 22},
  };
  return all;
}

std::string with_options(std::string url, std::string_view options) {
  if (options.empty()) return url;
  url += url.find('?') == url.npos ? '?' : '&';
  return url.append(options);
}

}  // namespace contract
