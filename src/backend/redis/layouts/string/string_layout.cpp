#include "backend/redis/layouts/string/string_layout.hpp"

#include "backend/redis/layouts/string/names.hpp"
#include "backend/redis/layouts/string/queries.hpp"
#include "backend/redis/layouts/string/raise_reply.hpp"

namespace holdfast::redis {

namespace {

constexpr core::capabilities abilities{
    .life = core::lifetime::ttl,
    .queue = core::order::fifo,
    .wanted = core::contention_signal::push,
    .modes = core::bit_of(lock_mode::exclusive) | core::bit_of(lock_mode::shared) |
             core::bit_of(lock_mode::permit),
    .tokens = true,
    .durable = true,
    .processes = true,
    .breakable = true,
    .shown_by_renewal = true,
    .writer_preference = true,
    .downgrade = true,
};

}  // namespace

string_layout::string_layout(io::client_reactor& r, const settings& s)
    : reactor_(r),
      settings_(s),
      client_(core::random_u64(r.env())),
      claims_(s.rules),
      raise_reply_(std::make_unique<raise_reply>(*this)) {}

string_layout::~string_layout() = default;

const core::capabilities& string_layout::can() const noexcept { return abilities; }

void string_layout::attach(topology& t) {
  over_ = t.nodes().front();
  pushes_ = over_->subscribe(channel_of(client_), *this, env().now());
}

void string_layout::detach() noexcept {
  orphans_.drop_all();
  pushes_.reset();
}

std::string string_layout::name_fault(std::string_view name) const {
  return std::string(key_fault(settings_.prefix + std::string(name)));
}

std::unique_ptr<core::claim> string_layout::open(std::string_view name, core::claim_sink& sink) {
  return std::make_unique<claim>(*this, settings_.prefix + std::string(name), sink);
}

void string_layout::inspect(std::string_view prefix, core::holders_handler& to) {
  start_inspection(*over_, settings_.prefix, prefix, to);
}

void string_layout::holders(std::string_view name, core::holders_handler& to) {
  start_holders_query(*over_, settings_.prefix, name, to);
}

void string_layout::break_lock(std::string_view name, std::string_view seen,
                               core::decision_handler& to) {
  start_breaking(*over_, settings_.prefix + std::string(name), seen, to);
}

void string_layout::write(const guarded_write& w, core::decision_handler& to) {
  start_guarded_write(*over_, w, to);
}

void string_layout::withdraw_all(time_point now) {
  if (over_->is_ready(lane::commands)) orphans_.resend_all(now);
}

void string_layout::write_requests(transport&, lane what, request_writer& to) {
  if (what == lane::renewals) return renewals_.write(to, env().now());
  if (collected_.has_unsent()) collected_.write(to);
}

}  // namespace holdfast::redis
