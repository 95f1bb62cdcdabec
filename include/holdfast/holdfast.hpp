// holdfast: the distributed lock for C++. Includes the whole library except holdfast/asio.hpp.
//
//   namespace hf = holdfast;
//   auto client = hf::client::open("redis://localhost");  // "": a local directory, no server
//   auto nightly = client.mutex("nightly");
//   std::lock_guard guard(nightly);
#pragma once
#include <holdfast/client.hpp>
#include <holdfast/clock.hpp>
#include <holdfast/election.hpp>
#include <holdfast/error.hpp>
#include <holdfast/guard.hpp>
#include <holdfast/guarded.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/log.hpp>
#include <holdfast/memory.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/mysql.hpp>
#include <holdfast/optimistic.hpp>
#include <holdfast/options.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/url.hpp>
#include <holdfast/version.hpp>
