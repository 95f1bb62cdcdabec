// main URL: a C program of a user of the installed library. Exits 0 if it acquires a lock and gets
// the error of a busy one.
#include <holdfast/holdfast.h>
#include <stdio.h>

static int failed(holdfast_error* error) {
  fprintf(stderr, "%s\n", holdfast_error_message(error));
  holdfast_error_free(error);
  return 1;
}

int main(int argc, char** argv) {
  holdfast_client* client = NULL;
  holdfast_lease* lease = NULL;
  holdfast_lease* second = NULL;
  holdfast_error* error = NULL;
  const holdfast_acquire_options options = {.size = sizeof options, .note = "consumer"};

  if (holdfast_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &error)) return failed(error);
  if (holdfast_acquire(client, "consumer", &options, &lease, &error)) return failed(error);
  const int busy =
      holdfast_try_acquire(client, "consumer", NULL, &second, &error) == HOLDFAST_TIMED_OUT;
  printf("holdfast %s, token %lld; %s\n", holdfast_version(),
         (long long)holdfast_lease_token(lease), holdfast_error_message(error));
  holdfast_error_free(error);
  if (holdfast_lease_release(lease, &error)) return failed(error);
  holdfast_lease_free(lease);
  holdfast_client_free(client);
  return busy && second == NULL ? 0 : 1;
}
