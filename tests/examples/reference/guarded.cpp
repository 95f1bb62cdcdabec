#include <holdfast/holdfast.hpp>

struct ledger {
  // UPDATE ledger SET cents = cents + ?, token = ? WHERE token <= ?
  bool book(int cents, const holdfast::fence& by);
};

bool book_five_euros(const holdfast::client& client, holdfast::guarded<ledger>& accounts) {
  const holdfast::lease lease = client.mutex("accounts").acquire();
  return accounts.with(lease, [](ledger& l, const holdfast::fence& by) {
    return l.book(500, by);  // without the fence this does not compile
  });
}
