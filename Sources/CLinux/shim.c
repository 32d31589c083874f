#define _GNU_SOURCE
#include "CLinux.h"
#include <malloc.h>
#include <pthread.h>
#include <sys/socket.h>

int c_linux_accept(int listener, struct sockaddr *address, unsigned int *length) {
  return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void c_linux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

void c_linux_give_back(void) { malloc_trim(0); }
