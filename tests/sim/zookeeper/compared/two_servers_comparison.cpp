// The differences between the answers of the two servers.
#include <algorithm>
#include <utility>

#include "tests/sim/zookeeper/compared/two_servers.hpp"
#include "tests/sim/zookeeper/compared/whole_frames.hpp"

namespace holdfast::sim::zk {

using zookeeper::jute_reader;
using zookeeper::jute_writer;

namespace {

constexpr std::int32_t timeout_ms = 40'000;

std::string first_difference(const std::vector<std::string>& real,
                             const std::vector<std::string>& model) {
  for (std::size_t i = 0; i < std::max(real.size(), model.size()); ++i) {
    const std::string a = i < real.size() ? real[i] : "(nothing)";
    const std::string b = i < model.size() ? model[i] : "(nothing)";
    if (a != b) return "\n  real:  " + a + "\n  model: " + b + '\n';
  }
  return {};
}

}  // namespace

std::string two_servers::client::compared(std::size_t replies, bool in_any_order) {
  auto real = real_frames(replies), model = model_frames();
  if (in_any_order) {
    std::ranges::sort(real);
    std::ranges::sort(model);
  }
  const std::string difference = first_difference(real, model);
  return difference.empty() ? "" : name_ + ": " + difference;
}

std::string two_servers::client::connects() { return connects_with(0, "", 0, ""); }

std::string two_servers::client::connects_as(const client& other) {
  return connects_with(other.real_session_, other.real_password_, other.model_session_,
                       other.model_password_);
}

std::string two_servers::client::connects_with(std::int64_t real, std::string_view real_password,
                                               std::int64_t model,
                                               std::string_view model_password) {
  const auto greeting = [&](std::int64_t session, std::string_view password) {
    std::string out;
    zookeeper::append_frame(out, [&](std::string& to) {
      jute_writer(to).write_int(0).write_long(0).write_int(timeout_ms).write_long(session);
      jute_writer(to).write_text(password).write_bool(false);
    });
    return out;
  };
  send_to_real(greeting(real, real_password));
  send_to_model(greeting(model, model_password));
  while (frame_at(real_bytes_).data() == nullptr)
    if (!read_more()) break;
  const auto read = [](std::string& bytes, std::int64_t& session, std::string& password) {
    const std::string frame = next_frame(bytes);
    jute_reader r(bytes_of(frame));
    std::string out = std::to_string(r.read_int()) + ' ' + std::to_string(r.read_int());
    session = r.read_long();
    password = r.read_text();
    return out + ' ' + std::to_string(session != 0) + ' ' + std::to_string(password.size()) + ' ' +
           std::to_string(r.left());
  };
  const std::string theirs = read(real_bytes_, real_session_, real_password_);
  const std::string ours = read(model_bytes_, model_session_, model_password_);
  if (real_session_ != 0) {
    servers_.real_names_.sessions[real_session_] = name_;
    servers_.model_names_.sessions[model_session_] = name_;
  }
  return theirs == ours ? "" : name_ + " connects\n  real:  " + theirs + "\n  model: " + ours;
}

std::string two_servers::client::differs(std::vector<request> all) { return differs(all, all); }

std::string two_servers::client::differs(std::vector<request> to_real,
                                         std::vector<request> to_model) {
  number(to_real);
  for (std::size_t i = 0; i < to_model.size(); ++i) to_model[i].xid = to_real[i].xid;
  send_to_real(encoded(to_real));
  send_to_model(encoded(to_model));
  return compared(to_real.size(), false);
}

std::string two_servers::client::is_in_step(bool in_any_order) {
  wait_for_all_written();
  std::vector<request> one(1);
  one.front().type = op::sync;
  jute_writer(one.front().body).write_text("/");
  number(one);
  send(encoded(one));
  return compared(1, in_any_order);
}

std::string two_servers::client::catches_up(bool in_any_order) {
  std::vector<request> one(1);
  one.front().type = op::ping;
  number(one);
  send(encoded(one));
  return compared(1, in_any_order);
}

std::string two_servers::client::ends_with(std::vector<request> all, bool in_any_order) {
  number(all);
  return ends_with(encoded(all), in_any_order);
}

std::string two_servers::client::ends_with(std::string_view bytes, bool in_any_order) {
  send(bytes);
  while (read_more()) {}
  if (!is_closed_) return name_ + ": the real server did not close\n";
  std::vector<std::string> real;
  while (frame_at(real_bytes_).data() != nullptr) {
    const std::string frame = next_frame(real_bytes_);
    if (xid_of(bytes_of(frame)) == nudge_xid) continue;
    real.push_back(
        shown_reply(bytes_of(frame), asked_[xid_of(bytes_of(frame))], servers_.real_names_));
  }
  if (!is_kicked_) return name_ + ": the model did not close\n";
  std::vector<std::string> model = model_frames();
  if (in_any_order) {
    std::ranges::sort(real);
    std::ranges::sort(model);
  }
  const std::string difference = first_difference(real, model);
  return difference.empty() ? "" : name_ + ": " + difference;
}

std::string two_servers::client::answers_word(std::string_view word) {
  send(word);
  while (read_more()) {}
  constexpr std::string_view label = "\nMode: ";
  const auto mode = [&](const std::string& text) {
    const std::size_t at = text.find(label);
    return at == text.npos ? text : text.substr(at, text.find('\n', at + 1) - at);
  };
  return mode(real_bytes_) == mode(model_bytes_) && is_kicked_ ? "" : real_bytes_ + model_bytes_;
}

}  // namespace holdfast::sim::zk
