#ifndef CLINUX_FREELIST_H
#define CLINUX_FREELIST_H
#include <stddef.h>
#include <stdint.h>

/*
 * An allocator for one thread: freed blocks wait in a list by size class and are handed out again, so that a steady
 * load asks the C library for nothing. Its functions have the signatures of nghttp2_mem; `self` is the list.
 * It is in C because C code calls it some twenty times a request, with no frame of Swift in between.
 */
typedef struct c_freelist c_freelist;

/* A list that keeps at most `kept_bytes_max` of freed blocks; beyond it they go back to the C library. */
c_freelist *c_freelist_new(size_t kept_bytes_max);
/* Returns every kept block to the C library, and the list itself; nothing it handed out may be in use. */
void c_freelist_delete(c_freelist *list);

void *c_freelist_malloc(size_t size, void *self);
void c_freelist_free(void *block, void *self);
void *c_freelist_calloc(size_t count, size_t size, void *self);
void *c_freelist_realloc(void *block, size_t size, void *self);

/* Returns every kept block to the C library. */
void c_freelist_release_kept(c_freelist *list);

/* How often the list was asked for a block. */
uint64_t c_freelist_served(const c_freelist *list);
/* How often the C library had to be asked: the allocations that were not served from a list. */
uint64_t c_freelist_misses(const c_freelist *list);
/* Blocks handed out and not yet freed. */
uint64_t c_freelist_live(const c_freelist *list);
/* Bytes of freed blocks that wait to be handed out again. */
size_t c_freelist_kept_bytes(const c_freelist *list);

/* Gives free memory of the C library back to the system; that takes milliseconds after a burst. */
void c_linux_give_back(void);
/* Gives the whole pages within these bytes back to the system; what they held is lost. */
void c_linux_forget(void *bytes, size_t count);

#endif
