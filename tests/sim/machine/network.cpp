#include "tests/sim/machine/network.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

pipe::pipe(world& w, machine& owner, sim_loop& loop, base::stream_events& e, int number,
           std::string host)
    : world_(w),
      owner_(owner),
      loop_(loop),
      events_(&e),
      number_(number),
      host_(std::move(host)),
      is_beside_(!w.store->has_locks(host_)),
      is_for_renewals_(loop.is_for_renewals() && !is_beside_) {}

void pipe::begin() {
  world_.record(event::connect, {number_, owner_.number()}, [this] { return text_with("opens"); });
  up_ = world_.time.now() + world_.delay() + world_.delay_of_connect();
  world_.time.at(up_, [me = shared_from_this()] {
    world& w = me->world_;
    if (me->left_ || me->lost_ || me->swallowing_) return;
    if (!w.store->is_reached(me->host_, me->owner_.number())) return;
    const bool is_down = !w.store->accepts(me->host_);
    me->was_refused_ = w.refuses() || (is_down && w.store->needs_each_server());
    if (w.refuses() || is_down) return me->end(w.time.now() + w.delay(), "refused");
    me->handle_ = w.store->connect(*me, me->host_);
    me->is_greeted_in_part_ = w.greets_in_part();
    me->down_ = w.time.now() + w.delay();
    me->owner_.post(me->down_, [me] {
      if (me->left_ || me->lost_ || !me->events_) return;
      me->opened_ = true;
      me->events_->on_open();
      me->loop_.flush();
    });
  });
}

std::string pipe::text_with(std::string_view what) const {
  return "client " + std::to_string(owner_.number()) + ", connection " + std::to_string(number_) +
         ' ' + std::string(what);
}

bool pipe::is_sound() const {
  if (!is_open() || lost_ || swallowing_ || !world_.store->is_in_service(handle_)) return false;
  const moment now = world_.time.now();
  return std::max({up_, down_, late_until_}) <= now + world_.longest_delay();
}

void pipe::write(std::string bytes) {
  segment all{.write = ++writes_, .bytes = std::move(bytes)};
  if (world_.is_recorded()) {
    all.shown = world_.store->show(all.bytes);
    world_.record(event::write, {number_, all.write, all.shown}, [&] {
      return text_with("writes " + std::to_string(all.write) + ": " + all.shown);
    });
  }
  if (!is_open() || swallowing_) return;
  if (!use_.asks && !use_.listens && !is_beside_) {
    world_.store->learn(all.bytes, use_);
    if (use_.listens && !use_.client.empty()) owner_.client = use_.client;
  }
  const auto send = [&](segment part) {
    up_ = std::max(up_ + 1ns, world_.time.now() + world_.delay());
    world_.time.at(up_, [me = shared_from_this(), p = std::move(part)] { me->arrive(p); });
  };
  const bool is_split = world_.chance.chance(world_.schedule.split_share);
  const std::size_t cut = is_split ? world_.store->cut_at(all.bytes, world_.chance.share()) : 0;
  if (cut == 0) return send(std::move(all));
  segment rest{all.write, segment::rest, all.bytes.substr(cut), all.shown};
  all.bytes.resize(cut);
  all.of = segment::start;
  send(std::move(all));
  if (world_.parts_wait() && world_.chance.chance(0.3)) {
    up_ += world_.chance.between(0ns, world_.schedule.ttl);
    world_.excuse_silence(owner_, up_, !use_.asks && !use_.listens);
  }
  send(std::move(rest));
}

void pipe::arrive(const segment& s) {
  if (lost_ || handle_ == 0) return;
  const moment now = world_.time.now();
  const moment until =
      std::max({late_until_, world_.server_stands_until(), world_.store->stands_until(handle_)});
  if (now < until) {
    up_ = std::max(up_, until);
    return world_.time.at(until, [me = shared_from_this(), s] { me->arrive(s); });
  }
  constexpr std::size_t kept = 8192;  // a command with its script, in parts
  if (recent_.size() > 4 * kept) recent_.erase(0, recent_.size() - kept);
  recent_ += s.bytes;
  world_.record(event::arrival, {number_, s.write, static_cast<int>(s.of)}, [&] {
    constexpr const char* parts[] = {"", "first part of ", "rest of "};
    return text_with("delivers " + std::string(parts[s.of]) + std::to_string(s.write) + ": " +
                     s.shown);
  });
  world_.serve(*this, s.bytes);
}

void pipe::deliver(std::string_view bytes) {
  if (left_ || lost_ || swallowing_) return;
  if (world_.store->is_refusal(bytes)) world_.note_refusal(owner_);
  if (is_greeted_in_part_) {
    deliver_part(bytes.substr(0, bytes.size() / 2));
    return swallow();
  }
  const double share = world_.schedule.fragment_share;
  if (share > 0 && bytes.size() > 1 && world_.chance.chance(share)) {
    const std::size_t cut = 1 + world_.chance.below(bytes.size() - 1);
    deliver_part(bytes.substr(0, cut));
    bytes.remove_prefix(cut);
  }
  deliver_part(bytes);
}

void pipe::deliver_part(std::string_view bytes) {
  down_ = std::max(down_ + 1ns, world_.time.now() + world_.delay());
  owner_.post(down_, [me = shared_from_this(), b = std::string(bytes)] {
    if (me->left_ || me->lost_ || !me->events_) return;
    me->events_->on_bytes(std::as_bytes(std::span(b)));
    if (!me->is_for_renewals_ && !me->is_beside_) me->world_.excused.answered(me->owner_);
    me->loop_.flush();
  });
}

void pipe::kicked() {
  if (!left_ && !swallowing_)
    end(std::max(down_ + 1ns, world_.time.now() + world_.delay()), "reset");
}

void pipe::gone() {
  if (std::exchange(left_, true) || !swallowing_) return;
  owner_.note_black_hole(-1);
  world_.excuse_silence(owner_, world_.time.now());
}

void pipe::swallow() noexcept {
  if (std::exchange(swallowing_, true)) return;
  owner_.note_black_hole(1);
}

void pipe::stall(bool up, bool down, moment until) {
  if (up) late_until_ = std::max(late_until_, until);
  if (down) down_ = std::max(down_, until);
}

// The client gives it up: what it has written arrives all the same, some time, or is lost.
void pipe::leave(bool at_once) {
  if (left_) return;
  gone();
  world_.record(at_once ? event::abort : event::finish, {number_},
                [&] { return text_with(at_once ? "is aborted" : "is finished"); });
  const moment now = world_.time.now();
  if (at_once && world_.chance.chance(0.3)) lost_ = true;
  if (at_once && !lost_ && world_.chance.chance(0.6)) late_until_ = now + world_.long_wait();
  server_sees_the_end(std::max({up_, late_until_, now}) + world_.delay());
  owner_.post(now, [me = shared_from_this()] { me->tell_closed("aborted"); });
}

// Lost in the network: with all that was under way, or with a part of it only.
void pipe::cut() {
  if (left_ || lost_) return;
  const moment now = world_.time.now();
  if (world_.chance.chance(0.5)) {
    late_until_ = now + world_.long_wait();
  } else {
    world_.time.at(now + world_.delay(), [me = shared_from_this()] { me->lost_ = true; });
  }
  server_sees_the_end(std::max({up_, late_until_, now}) + world_.delay());
  end(now + world_.delay(), "reset");
}

void pipe::vanish() {
  const moment now = world_.time.now();
  events_ = nullptr;
  if (left_) return;
  gone();
  if (world_.chance.chance(0.3)) late_until_ = now + world_.long_wait();
  // The end of a process is seen at once, that of a machine only by the next packet to it.
  const moment unseen = world_.chance.chance(0.7) ? 0ns : world_.long_wait();
  server_sees_the_end(std::max({up_, late_until_, now + unseen}) + world_.delay());
}

void pipe::server_sees_the_end(moment at) {
  world_.time.at(at, [me = shared_from_this()] {
    me->lost_ = true;
    if (me->handle_ != 0) me->world_.disconnect(*me);
  });
}

void pipe::end(moment at, const char* why) {
  owner_.post(at, [me = shared_from_this(), why] {
    me->gone();
    me->tell_closed(why);
  });
}

void pipe::tell_closed(const char* why) {
  if (std::exchange(closed_, true) || !events_) return;
  base::stream_events& e = *events_;
  sim_loop& loop = loop_;
  e.on_closed({errc::unavailable, why});
  loop.flush();
}

sim_stream::~sim_stream() {
  pipe_->forget();
  pipe_->leave(true);
}

void sim_stream::write(std::span<const std::byte> bytes) noexcept {
  pipe_->write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

sim_loop::sim_loop(world& w, machine& m, base::loop_user& u, base::driven_by by)
    : world_(w), machine_(m), user_(&u), driven_(by), self_(std::make_shared<sim_loop*>(this)) {}

sim_loop::~sim_loop() {
  *self_ = nullptr;
  for (const auto& p : machine_.pipes())
    if (p->is_over(*this)) p->forget();
}

std::unique_ptr<base::stream> sim_loop::connect(const base::address& to, const base::tls_terms*,
                                                base::stream_events& e) {
  auto made = world_.make_pipe(machine_, *this, e, to.host);
  if (!machine_.is_dead()) made->begin();
  return std::make_unique<sim_stream>(made);
}

void sim_loop::request_flush(bool at_once) noexcept {
  if (std::exchange(flush_is_due_, true) && !at_once) return;
  const moment wait = at_once ? 0us : world_.chance.between(0us, 200us);
  machine_.post(world_.time.now() + wait, [s = self_] {
    if (*s) (*s)->flush();
  });
}

void sim_loop::flush() {
  flush_is_due_ = false;
  user_->flush();
}

}  // namespace holdfast::sim
