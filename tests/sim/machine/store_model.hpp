// The parts of the simulator that each store provides besides its judge: a model of its server, its
// troubles, and what only it knows of its protocol. Redis': tests/sim/redis/redis_store.hpp.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cohort/turn.hpp"
#include "seam/capabilities.hpp"
#include "seam/registry.hpp"
#include "tests/sim/machine/peer.hpp"
#include "tests/sim/machine/plan.hpp"
#include "tests/sim/machine/rules.hpp"

namespace holdfast::sim {

// The purpose of a connection, judged by its client's requests.
struct connection_use {
  bool asks = false;         // it has sent more than its handshake
  bool listens = false;      // to messages
  bool will_listen = false;  // it was made for that
  bool confirms = false;     // asks what replicas have
  std::string client{};      // if it listens: the client's id, where that can be seen
};

class store_model {
 public:
  virtual ~store_model() = default;
  // That the client opens; the options of every store may follow.
  virtual std::string url(int client) const = 0;
  // The backends that the URL may name.
  virtual std::span<const seam::scheme> schemes() const { return seam::schemes(); }
  virtual const seam::capabilities& can() const = 0;
  // How long a waiter may be late for a lock that has become free, where nobody tells it.
  virtual moment longest_pause() const { return {}; }
  // Rules that its schedules give no occasion to judge by.
  virtual rule_set unjudged() const { return {}; }
  // How long it may grant nothing after the end of all trouble.
  virtual moment recovery_max() const { return {}; }
  // A request for the lock waits in the server until what another client has begun there has ended.
  virtual bool is_held_up(int /*lock*/) const { return false; }
  // How long a release may wait for requests of other clients, where there is no trouble.
  virtual moment longest_release() const { return {}; }
  // Clients listen to messages even while no user waits.
  virtual bool always_listens() const { return true; }
  // How long a waiter that is lost may delay those behind it. Zero: for a ttl.
  virtual moment window_of_waiter() const { return {}; }
  // Whether a client that is closed can know that nothing of it arrives any more.
  virtual bool proves_ends() const { return true; }
  // Whether claims have connections of their own: one that is sound says nothing of the others.
  virtual bool needs_each_connection() const { return false; }
  // Whether clients repeat a connection that one of several servers refuses.
  virtual bool needs_each_server() const { return true; }
  // One-way trips within which a client renews what it holds, with room to spare.
  virtual int trips_of_renewal() const { return 20; }
  // Of a client, where its requests carry none that the model could learn.
  virtual std::string name_of_client(int) const { return {}; }

  // Whether the server there grants locks. Clients connect to others to find those that do.
  virtual bool has_locks(const std::string& /*host*/) const { return true; }
  // Whether that client's network leads there.
  virtual bool is_reached(const std::string& /*host*/, int /*client*/) const { return true; }
  // Its server. Whatever these cause is delivered to the peers before they return.
  virtual bool accepts(const std::string& /*host*/) const { return true; }
  // A handle, not zero, never used twice.
  virtual int connect(peer&, const std::string& host) = 0;
  virtual void receive(int connection, std::string_view bytes) = 0;
  virtual void disconnect(int connection) = 0;
  virtual bool is_connected(int connection) const = 0;
  // Its server does what the connection brings, and sends what its client waits for.
  virtual bool is_in_service(int connection) const { return is_connected(connection); }
  // Of several servers behind one name: the connection's, and the one whose grants count.
  virtual int server_of(int /*connection*/) const { return 0; }
  virtual int leading_server() const { return 0; }
  // Grants over the connection count.
  virtual bool leads(int connection) const { return server_of(connection) == leading_server(); }
  virtual moment stands_until(int /*connection*/) const { return {}; }  // its server

  // Its protocol, of what clients write.
  virtual void learn(std::string_view bytes, connection_use&) const = 0;
  // Where to cut the bytes in two; `share`, from 0 to below 1, picks the place among all that there
  // are. 0: nowhere.
  virtual std::size_t cut_at(std::string_view bytes, double share) const = 0;
  virtual bool is_refusal(std::string_view /*reply*/) const { return false; }
  virtual std::string show(std::string_view bytes) = 0;         // for the digest and the trace
  virtual std::string claim_of(const detail::turn&) const = 0;  // as the judge's view has it

  // Its troubles: all that are not the machine's. One that it does not know does nothing.
  virtual void happen(const fault&) = 0;
  virtual void restart() = 0;                    // with all data
  virtual bool only_refuses(trouble) const = 0;  // it ends, and nothing follows
  virtual void heal() = 0;                       // all of them
  // What may not be left of locks that no client has or wants, by the names of keys or nodes, a
  // while after the last client was closed; `of_crashed`: or crashed.
  virtual std::vector<std::string> left(bool of_crashed) = 0;
};

}  // namespace holdfast::sim
