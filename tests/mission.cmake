# The rows of mission.txt that a case shows, by its name: <suite>.<case>. For holdfast_add_tests().
set(mission_rules
  "cohort|lease|recursive|reentr|mutex|scoped|election|^an_observer=mission:G1"
  "token|number|guard=mission:G2"
  "^redis_study|single_node|crash|killed|stopped|restart|forg[eo]t|outage|clock=mission:G3"
  "^redis_(balancer|lineage|stale_master|replica)=mission:G3"
  "setnx=mission:R1"
  "getset=mission:R2"
  "^redis_(codec|grant_rules|lua|lua_codec|recipe|reply_lost|string_needs)[.]=mission:R3"
  "(threads|processes)_(lua_)?redis$=mission:R3"
  "(^|_)redisson(_(clients|codec|listings|lock_by_hand|migration|names|table|wire))?[.]=mission:R4"
  "^redisson_(sentinel|cluster)_table[.](lock|clients)=mission:R4"
  "^redisson_(sentinel|cluster)_table=mission:R7"
  "_redisson_redis$=mission:R4"
  "redlock=mission:R6"
  "sentinel=mission:G3"
  "^sim_(sentinel|cluster)=mission:R7"
  "redis_(sentinel|shard|slot|cluster)|(sentinel|shards|cluster)(_redisson)?_redis$=mission:R7"
  "redisson.*(fair|rw|spin|permits|fenced)=mission:R5"
  "single_node|_node_zookeeper$=mission:Z0"
  "^(curator|kazoo|zookeeper_peers)=mission:Z1"
  "^zookeeper_(contenders|locks|locks_on_ensemble|node_sequence|nodes_ahead|sequential)=mission:Z1"
  "(curator|kazoo)(_ensemble)?_zookeeper$=mission:Z1"
  "^(curator|kazoo).*(rw|semaphore|revo|downgrade)=mission:Z2"
  "^zookeeper_(permit_recipe|revocation|rw_codec|semaphore)=mission:Z2"
  "(rw|semaphore)(_ensemble)?_zookeeper$=mission:Z2"
  "^mysql_(optimistic|drafts)[.]=mission:M3"
  "^mysql_(for_update|for_update_locks|pinned)[.]|for_update_mysql$=mission:M2"
  "^mysql_records[.]|records_mysql$=mission:M1"
  "^mysql_promotion[.]=mission:M4"
  "^survey_=mission:G4"
  "^mysql_(row_locks|traps|records)[.]=mission:G3")

string(JOIN , mission_backends ${holdfast_backends} -)
add_test(NAME lint.every_built_row_of_the_mission_has_a_test
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/mission ${PROJECT_BINARY_DIR} ${mission_backends})
set_tests_properties(lint.every_built_row_of_the_mission_has_a_test PROPERTIES LABELS lint)
