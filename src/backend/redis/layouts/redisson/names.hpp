// The names that Redisson's locks have at a server, and their owners.
// Source: RedissonObject.prefixName() and suffixName(), RedissonBaseLock.getLockName() of Redisson.
#pragma once
#include <string>
#include <string_view>

#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::redisson {

// A random UUID, version 4.
std::string uuid_of(const retrying_owner&);
// What all owners of one client begin with.
std::string new_client_id(core::environment&);
// "<client id>:<thread id>". The thread id is a positive Java long, another one for every acquire.
std::string owner_of(std::string_view client_id, const retrying_owner&);
// Also those of Redisson.
bool is_owner(std::string_view text) noexcept;

// Of the key of a lock: "prefix:{key}", and "{key}:suffix". A key with braces of its own gets none.
std::string prefixed(std::string_view prefix, std::string_view key);
std::string suffixed(std::string_view key, std::string_view suffix);

// The keys of such a lock would lie on several nodes of a cluster.
std::string name_fault(std::string_view name);

}  // namespace holdfast::redis::redisson
