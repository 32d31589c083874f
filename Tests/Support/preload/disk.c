/* Preloaded into a server under test: a disk on which syncs of a store's database fail while the file DISK_FAULT_FILE is there. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(int file) {
  const char *fault = getenv("DISK_FAULT_FILE");
  if (!fault || access(fault, F_OK) != 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t count = readlink(link, path, sizeof path - 1);
  if (count < 0) return 0;
  path[count] = 0;
  const char *suffix = "gateway.sqlite";
  size_t length = strlen(path);
  return length >= strlen(suffix) && strcmp(path + length - strlen(suffix), suffix) == 0;
}

static int synced(int file, long call) {
  if (fails(file)) {
    errno = EIO;
    return -1;
  }
  return (int)syscall(call, file);
}

int fdatasync(int file) { return synced(file, SYS_fdatasync); }
int fsync(int file) { return synced(file, SYS_fsync); }
