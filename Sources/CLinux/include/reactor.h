// The kernel interfaces of the event loop that Swift's Glibc module leaves out, and macros it cannot import.
#ifndef CLINUX_REACTOR_H
#define CLINUX_REACTOR_H
#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

// `errno` is a macro over a function call.
static inline int c_linux_errno(void) { return errno; }

// `epoll_data_t` is a union in a packed structure; this fills the member we use.
static inline struct epoll_event c_linux_epoll_event(uint32_t events, uint64_t key) {
  struct epoll_event event;
  event.events = events;
  event.data.u64 = key;
  return event;
}

// `accept4` needs _GNU_SOURCE, which must not leak into headers (it changes types that Glibc also declares).
struct sockaddr;
int c_linux_accept(int listener, struct sockaddr *address, unsigned int *length);

// Names the calling thread for debuggers and `ps -L`; 15 bytes at most.
void c_linux_name_thread(const char *name);
#endif
