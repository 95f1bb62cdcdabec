// main URL: a C program of a user of the installed library. Exits 0 if it acquires a lock in a new
// directory, gets the error of a busy lock, and gets the log line that names the directory.
#include <holdfast/holdfast.h>
#include <stdio.h>

static int failed(holdfast_error* error) {
  fprintf(stderr, "%s\n", holdfast_error_message(error));
  holdfast_error_free(error);
  return 1;
}

static void count_line(holdfast_log_level level, const char* line, void* lines) {
  if (level == HOLDFAST_LOG_WARNING && line[0]) ++*(int*)lines;
}

int main(int argc, char** argv) {
  holdfast_client* client = NULL;
  holdfast_lease* lease = NULL;
  holdfast_lease* second = NULL;
  holdfast_error* error = NULL;
  int lines = 0;
  const holdfast_acquire_options options = {.size = sizeof options, .note = "consumer"};

  holdfast_set_log_hook(count_line, &lines);
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
  holdfast_set_log_hook(NULL, NULL);
  return busy && second == NULL && lines == 1 ? 0 : 1;
}
