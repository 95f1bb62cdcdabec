#include "tests/sim/zookeeper/compared/random_requests.hpp"

#include "backend/zookeeper/transport/jute.hpp"

namespace holdfast::sim::zk {

using zookeeper::jute_writer;

std::string random_requests::path() {
  constexpr std::string_view usual[] =
      {"/t", "/t/a", "/t/b", "/t/a/x", "/t/c", "/t/b/x", "/t/n-0000000001", "/u"};
  constexpr std::string_view strange[] = {"",     "/",     "t",          "/t/",        "/t//a",
                                          "/t/.", "/t/..", "/zookeeper", "/t/a/x/y/z", "/t/\x01"};
  return std::string(chance(92) ? usual[below(std::size(usual))]
                                : strange[below(std::size(strange))]);
}

std::int32_t random_requests::version() { return chance(70) ? -1 : below(3); }

std::string random_requests::creation_body(std::int32_t flags) {
  std::string out;
  jute_writer w(out);
  const bool is_sequential = flags == 2 || flags == 3;
  w.write_text(is_sequential ? path() + "/n-" : path()).write_text(chance(50) ? "" : "data");
  const int list = below(20);
  if (list == 0) {
    w.write_int(0);
  } else {
    const bool is_auth = list < 4;
    w.write_int(1).write_int(list == 1 ? 17 : 31);
    w.write_text(is_auth ? "auth" : list == 5 ? "nonsense" : "world");
    w.write_text(is_auth ? "" : "anyone");
  }
  w.write_int(flags);
  return out;
}

request random_requests::creation() {
  request q;
  constexpr op kinds[] = {op::create, op::create2, op::create_container};
  q.type = kinds[below(std::size(kinds))];
  q.body = creation_body(q.type == op::create_container ? 4 : chance(3) ? 9 : below(5));
  return q;
}

std::string random_requests::removal_body() {
  std::string out;
  jute_writer(out).write_text(path()).write_int(version());
  return out;
}

std::string random_requests::setting_body(bool has_data) {
  std::string out;
  jute_writer w(out);
  w.write_text(path());
  if (has_data) w.write_text("data" + std::to_string(below(100)));
  w.write_int(version());
  return out;
}

request random_requests::group() {
  request q;
  q.type = op::multi;
  jute_writer w(q.body);
  for (int n = below(5); n > 0; --n) {
    constexpr op kinds[] = {op::create, op::create2,  op::create_container,
                            op::remove, op::set_data, op::check};
    const op kind = chance(2) ? op::exists : kinds[below(std::size(kinds))];
    w.write_int(static_cast<std::int32_t>(kind)).write_bool(false).write_int(-1);
    const bool creates = kind == op::create || kind == op::create2;
    q.body += creates                        ? creation_body(below(4))
              : kind == op::create_container ? creation_body(4)
              : kind == op::remove           ? removal_body()
                                             : setting_body(kind == op::set_data);
  }
  w.write_int(-1).write_bool(true).write_int(-1);
  return q;
}

request random_requests::watches(std::int64_t last_zxid) {
  request q;
  q.type = op::set_watches;
  jute_writer w(q.body);
  w.write_long(std::max<std::int64_t>(0, last_zxid - below(30)));
  for (int kind = 0; kind < 3; ++kind) {
    const int n = below(3);
    w.write_int(n);
    for (int i = 0; i < n; ++i) w.write_text(path());
  }
  return q;
}

request random_requests::one(std::int64_t last_zxid) {
  request q;
  const int drawn = below(100);
  if (drawn < 30) return creation();
  if (drawn < 45) {
    q.type = op::remove;
    q.body = removal_body();
  } else if (drawn < 53) {
    q.type = op::set_data;
    q.body = setting_body(true);
  } else if (drawn < 63) {
    return group();
  } else if (drawn < 66) {
    return watches(last_zxid);
  } else if (drawn < 69) {
    q.type = op::remove_watches;
    jute_writer(q.body).write_text(path()).write_int(below(3) + 1);
  } else if (drawn < 73) {
    q.type = op::ping;
  } else if (drawn < 77) {
    q.type = op::sync;
    jute_writer(q.body).write_text(path());
  } else {
    constexpr op kinds[] = {op::exists, op::exists, op::get_data, op::get_children,
                            op::get_children2};
    q.type = kinds[below(std::size(kinds))];
    jute_writer(q.body).write_text(path()).write_bool(chance(50));
  }
  return q;
}

std::vector<request> random_requests::batch(std::int64_t last_zxid) {
  std::vector<request> out;
  for (int n = below(8) + 1; n > 0; --n) {
    out.push_back(one(last_zxid));
    request& q = out.back();
    const bool is_cut = chance(2) && q.body.size() > 4 && q.type != op::set_watches;
    if (is_cut) q.body.resize(q.body.size() - static_cast<std::size_t>(below(4) + 1));
  }
  return out;
}

}  // namespace holdfast::sim::zk
