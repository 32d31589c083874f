#ifndef CALLOC_COUNTER_H
#define CALLOC_COUNTER_H
#include <stdint.h>

/* What the counter writes to the file named by ALLOC_COUNTER_FILE: allocations so far, by who called malloc. */
typedef struct {
  uint64_t ours;    /* the executable and the Swift runtime */
  uint64_t nghttp2; /* libnghttp2 past its free list */
  uint64_t others;  /* libssl, libcrypto, libsqlite3, libc and the rest */
} alloc_counts;

#endif
