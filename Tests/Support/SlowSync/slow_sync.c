// Preloaded into a server, delays its syncs of files as a slow disk would: the first one of each second, or every one.
//
// SLOW_SYNC_MS: milliseconds of delay. SLOW_SYNC_EVERY_MS: milliseconds from the beginning of one delayed sync to that of the next; 0
// delays every one. SLOW_SYNC_COUNT: a file that gets a byte for each delay.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_llong next_at;

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static long long number(const char *name) {
  const char *text = getenv(name);
  return text ? atoll(text) : 0;
}

static void delay(void) {
  long long span = number("SLOW_SYNC_MS"), now = now_ms(), due = atomic_load(&next_at);
  if (span <= 0 || now < due || !atomic_compare_exchange_strong(&next_at, &due, now + number("SLOW_SYNC_EVERY_MS"))) return;
  const char *count = getenv("SLOW_SYNC_COUNT");
  int file = count ? open(count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (file >= 0) {
    if (write(file, "s", 1) < 0) { /* The test then finds none. */ }
    close(file);
  }
  struct timespec rest = {span / 1000, span % 1000 * 1000000};
  nanosleep(&rest, NULL);
}

int fdatasync(int file) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  delay();
  return real(file);
}

int fsync(int file) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  delay();
  return real(file);
}
