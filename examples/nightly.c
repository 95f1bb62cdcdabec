// Runs a job on one of many machines, in C: the others skip it while it runs.
#include <holdfast/holdfast.h>
#include <stdio.h>

static int failed(holdfast_error* error) {
  fprintf(stderr, "nightly: %s\n", holdfast_error_message(error));
  holdfast_error_free(error);
  return 1;
}

static void run_job(const holdfast_lease* lease) {
  for (int step = 1; step <= 3; ++step) {
    if (!holdfast_lease_held(lease)) return;  // another machine may have begun
    printf("step %d, with token %lld\n", step, (long long)holdfast_lease_token(lease));
  }
}

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : "file:";
  holdfast_client* client = NULL;
  holdfast_lease* lease = NULL;
  holdfast_error* error = NULL;
  const holdfast_acquire_options options = {.size = sizeof options, .note = "nightly.c"};

  if (holdfast_client_open(url, NULL, &client, &error)) return failed(error);
  const holdfast_errc code =
      holdfast_try_acquire_for(client, "nightly", 5000, &options, &lease, &error);
  if (code == HOLDFAST_TIMED_OUT) {
    printf("skipped: another machine runs it\n");
  } else if (code) {
    return failed(error);
  } else {
    run_job(lease);
    if (holdfast_lease_release(lease, &error)) return failed(error);  // it was lost meanwhile
  }
  holdfast_error_free(error);
  holdfast_lease_free(lease);
  holdfast_client_free(client);
  return 0;
}
