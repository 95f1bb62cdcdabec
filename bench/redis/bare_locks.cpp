// The commands that each layout's limit sends per cycle. A script is called by the SHA-1 of its
// text.
#include "redis/bare_locks.hpp"

#include "redis/bare_redis.hpp"

namespace bench {
namespace {

constexpr const char* lease = "30000";

using steps = std::vector<std::string>;

struct script {
  const char* text;
  const char* hash;
};

constexpr script delete_own =
    {"if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end "
     "return 0",
     "fab5aabdaac7aab1eaa85bbed1724dee07d7744a"};

constexpr script setnx_pexpire =
    {"if redis.call('setnx',KEYS[1],ARGV[1])==1 then redis.call('pexpire',KEYS[1],ARGV[2]) "
     "return 1 end return nil",
     "da6eaef321954dac8f5287a4edf163ec40aa9920"};

constexpr script hash_lock =
    {"if redis.call('exists',KEYS[1])==0 or redis.call('hexists',KEYS[1],ARGV[2])==1 then "
     "redis.call('hincrby',KEYS[1],ARGV[2],1) redis.call('pexpire',KEYS[1],ARGV[1]) return "
     "redis.call('incr',KEYS[2]) end return nil",
     "bd9b3520b107778dbb0a7c502ce7503e6e2a3b60"};

constexpr script hash_unlock =
    {"if redis.call('hexists',KEYS[1],ARGV[2])==0 then return nil end if "
     "redis.call('hincrby',KEYS[1],ARGV[2],-1)>0 then redis.call('pexpire',KEYS[1],ARGV[1]) "
     "return 0 end redis.call('del',KEYS[1]) redis.call('publish',KEYS[2],0) return 1",
     "eddc7b93f11cf0fe337bd1775e869c0553a21763"};

}  // namespace

const bare_lock set_and_compare{{delete_own.text},
                                [](const std::string& key, const char* owner) -> steps {
                                  return {formatted({"SET", key, owner, "NX", "PX", lease}),
                                          formatted({"EVALSHA", delete_own.hash, "1", key, owner})};
                                }};

const bare_lock setnx_in_a_script{{setnx_pexpire.text, delete_own.text},
                                  [](const std::string& key, const char* owner) -> steps {
                                    return {formatted({"EVALSHA", setnx_pexpire.hash, "1", key,
                                                       owner, lease}),
                                            formatted(
                                                {"EVALSHA", delete_own.hash, "1", key, owner})};
                                  }};

const bare_lock setnx_pexpire_del{{}, [](const std::string& key, const char* owner) -> steps {
                                    return {formatted({"SETNX", key, owner}),
                                            formatted({"PEXPIRE", key, lease}),
                                            formatted({"DEL", key})};
                                  }};

const bare_lock setnx_get_del{
    {}, [](const std::string& key, const char* owner) -> steps {
      return {formatted({"SETNX", key, owner}), formatted({"GET", key}), formatted({"DEL", key})};
    }};

const bare_lock hash_of_owners{{hash_lock.text, hash_unlock.text},
                               [](const std::string& key, const char* owner) -> steps {
                                 const std::string token = "redisson_lock_token:{" + key + '}';
                                 const std::string channel = "redisson_lock__channel:{" + key + '}';
                                 return {formatted({"EVALSHA", hash_lock.hash, "2", key, token,
                                                    lease, owner}),
                                         formatted({"EVALSHA", hash_unlock.hash, "2", key, channel,
                                                    lease, owner})};
                               }};

}  // namespace bench
