#include <holdfast/holdfast.hpp>

#include <mutex>

class account {
 public:
  explicit account(const holdfast::client& client) : lock_(client.recursive_mutex("account/7")) {}

  void deposit(int cents) {
    const std::lock_guard guard(lock_);
    balance_ += cents;
  }
  void deposit_twice(int cents) {
    const std::lock_guard guard(lock_);  // deposit() locks it again in the same thread
    deposit(cents);
    deposit(cents);
  }

 private:
  holdfast::recursive_mutex lock_;
  int balance_ = 0;
};

int main_of_account(const holdfast::client& client) {
  account one(client);
  one.deposit_twice(500);
  return 0;
}
