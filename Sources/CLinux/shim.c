#define _GNU_SOURCE
#include "CLinux.h"
#include <malloc.h>
#include <sys/mman.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

int c_linux_accept(int listener, struct sockaddr *address, unsigned int *length) {
  return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void c_linux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

void c_linux_give_back(void) { malloc_trim(0); }

void c_linux_forget(void *bytes, size_t count) {
  uintptr_t page = (uintptr_t)getpagesize(), begin = (uintptr_t)bytes;
  uintptr_t first = (begin + page - 1) & ~(page - 1), end = (begin + count) & ~(page - 1);
  if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
}
