// Connections between machines and the server, in virtual time.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/network.hpp"
#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/machine/timeline.hpp"

namespace holdfast::sim {

class world;
class sim_loop;

struct segment {  // what arrives at once: a write of the client, or a part of one
  int write = 0;  // of the connection's, from 1
  enum part : int { whole, start, rest } of = whole;
  std::string bytes;
  std::string shown{};  // all of the write; only where it is recorded
};

// One connection, from connect() until nothing of it can arrive any more. Each direction keeps its
// order. What the client has written is on its way: it arrives even when the client has given the
// connection up, unless the server closed it or the network loses it.
class pipe final : public peer, public std::enable_shared_from_this<pipe> {
 public:
  pipe(world&, machine& owner, sim_loop& loop, base::stream_events&, int number, std::string host);

  void begin();
  // The client's end.
  void write(std::string bytes);
  void leave(bool at_once);  // abort, or SHUT_WR
  void forget() noexcept { events_ = nullptr; }
  bool is_open() const noexcept { return opened_ && !left_; }
  // What may happen to it.
  void cut();
  void stall(bool up, bool down, moment until);
  void swallow() noexcept;
  bool swallows() const noexcept { return swallowing_; }
  void vanish();  // the machine is gone

  machine& owner() noexcept { return owner_; }
  int number() const noexcept { return number_; }
  int handle() const noexcept { return handle_; }
  bool alive() const noexcept { return !left_ && !lost_; }
  // It is over for both ends, and says nothing of what its client uses.
  bool may_be_forgotten() const noexcept {
    const bool was_used = use_.asks || use_.listens || use_.will_listen || use_.confirms;
    return left_ && !events_ && !was_used && !was_refused_;
  }
  bool is_opening() const noexcept { return alive() && !opened_; }
  // Open, to a server in service, and neither direction is stopped.
  bool is_sound() const;
  bool is_for_renewals() const noexcept { return is_for_renewals_; }
  // To a server that grants no locks.
  bool is_beside() const noexcept { return is_beside_; }
  bool was_refused() const noexcept { return was_refused_; }
  bool is_over(const sim_loop& l) const noexcept { return &l == &loop_; }
  const connection_use& use() const noexcept { return use_; }
  const std::string& recent() const noexcept { return recent_; }  // its last requests
  // Whether they have the text in them.
  bool has_brought(std::string_view text) const noexcept {
    const auto is_in = [&](std::string_view part) {
      return ::memmem(part.data(), part.size(), text.data(), text.size()) != nullptr;
    };
    const std::string_view all = recent_;  // most often the last request has it
    return is_in(all.substr(all.size() - std::min<std::size_t>(all.size(), 1024))) || is_in(all);
  }

  void deliver(std::string_view bytes) override;
  void kicked() override;

 private:
  void arrive(const segment&);
  void deliver_part(std::string_view bytes);
  std::string text_with(std::string_view what) const;
  void end(moment at, const char* why);
  void tell_closed(const char* why);
  void server_sees_the_end(moment at);
  void gone();  // for the client

  world& world_;
  machine& owner_;
  sim_loop& loop_;
  base::stream_events* events_;
  const int number_;
  const std::string host_;  // that it goes to
  const bool is_beside_;
  const bool is_for_renewals_;
  int handle_ = 0;        // at the server; 0: not there yet
  moment up_{}, down_{};  // when the last message of that direction arrives
  moment late_until_{};   // what is under way arrives then, not earlier
  bool opened_ = false, left_ = false, lost_ = false, closed_ = false;
  bool was_refused_ = false;
  bool swallowing_ = false, is_greeted_in_part_ = false;
  connection_use use_;
  int writes_ = 0;
  std::string recent_;
};

class sim_stream final : public base::stream {
 public:
  explicit sim_stream(std::shared_ptr<pipe> p) noexcept : pipe_(std::move(p)) {}
  ~sim_stream() override;
  void write(std::span<const std::byte>) noexcept override;
  void abort() noexcept override { pipe_->leave(true); }
  void finish() noexcept override { pipe_->leave(false); }

 private:
  const std::shared_ptr<pipe> pipe_;
};

class sim_loop final : public base::event_loop {
 public:
  sim_loop(world&, machine&, base::loop_user&, base::driven_by);
  ~sim_loop() override;
  std::unique_ptr<base::stream> connect(const base::address&, const base::tls_terms*,
                                        base::stream_events&) override;
  void request_flush(bool at_once) noexcept override;
  void attend() noexcept override {}
  // No thread blocks in a simulation, except one that closes its client.
  base::caller_driver* driver() noexcept override {
    return is_for_renewals() ? nullptr : machine_.driver();
  }
  void forked() noexcept override {}
  void flush();  // as before it sleeps
  bool is_for_renewals() const noexcept { return driven_ == base::driven_by::thread; }

 private:
  world& world_;
  machine& machine_;
  base::loop_user* user_;
  const base::driven_by driven_;
  std::shared_ptr<sim_loop*> self_;  // null inside once it is gone
  bool flush_is_due_ = false;
};

}  // namespace holdfast::sim
