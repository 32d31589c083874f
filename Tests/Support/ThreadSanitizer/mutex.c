/* Linked into the binary that is tested under the thread sanitizer: tells it of the locks that it cannot see.

   Swift's Mutex takes a free lock in code that is compiled into its user, and instrumented there. One that is held it waits for in
   libswiftSynchronization, which is not: the sanitizer misses that the lock was taken, and calls what it protects a race. These two
   stand before the library's functions of the same names, and say what they do. Swift's calling convention has `self` in a register
   of its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);

typedef SWIFT void lock(uint32_t thread, SELF void *mutex);
typedef SWIFT void unlock(SELF void *mutex);

static _Atomic(void *) library_lock, library_unlock;

static void *found(_Atomic(void *) *known, const char *name) {
  void *function = atomic_load_explicit(known, memory_order_relaxed);
  if (!function) atomic_store_explicit(known, function = dlsym(RTLD_NEXT, name), memory_order_relaxed);
  return function;
}

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
  ((lock *)found(&library_lock, LOCK))(thread, mutex);
  __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF void *mutex) {
  __tsan_release(mutex);
  ((unlock *)found(&library_unlock, UNLOCK))(mutex);
}
