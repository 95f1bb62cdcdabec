#include "backend/zookeeper/diagnosis/diagnosis.hpp"

#include <algorithm>

namespace holdfast::zookeeper {

std::vector<finding> diagnose_ensemble(base::environment& env, const settings& s,
                                       duration granted) {
  ensemble_facts facts{.asked = s.session_timeout,
                       .granted = granted,
                       .op_timeout = s.op_timeout,
                       .attach = s.attach,
                       .has_tls = s.tls.has_value(),
                       .has_user = !s.credentials.empty()};
  for (const base::address& at : s.servers) facts.servers.push_back(diagnose_server(env, s, at));
  if (std::ranges::any_of(facts.servers, &server_facts::serves)) {
    facts.tree = diagnose_tree(env, s);
  } else {
    facts.tree.unread = {errc::unavailable, "no server serves"};
  }
  return grade_all(facts);
}

}  // namespace holdfast::zookeeper
