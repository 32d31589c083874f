#define _GNU_SOURCE
#include "freelist.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two classes to a doubling: 32, 48, 64, 96, … 4096 bytes. Larger blocks are a connection's own and go to libc. */
enum { CLASSES = 15, LARGE = 255, STEP = 16, LARGEST = 4096 };

/* Before each block: its class and its usable size; 16 bytes, which keeps the block aligned as malloc's are. */
typedef struct header {
  size_t class_index;
  size_t usable;
} header;

struct c_freelist {
  void *head[CLASSES];
  /* The class of each size, in steps of 16 bytes, which every class's size is a multiple of. */
  unsigned char class_of[LARGEST / STEP + 1];
  size_t kept_bytes, kept_bytes_max;
  uint64_t served, misses, live;
};

static inline size_t size_of(size_t class_index) {
  return ((class_index & 1) ? (size_t)48 : (size_t)32) << (class_index >> 1);
}

c_freelist *c_freelist_new(size_t kept_bytes_max) {
  c_freelist *list = calloc(1, sizeof *list);
  if (!list) return NULL;
  list->kept_bytes_max = kept_bytes_max;
  unsigned char class_index = 0;
  for (size_t step = 0; step <= LARGEST / STEP; step++) {
    if (step * STEP > size_of(class_index)) class_index++;
    list->class_of[step] = class_index;
  }
  return list;
}

void c_freelist_release_kept(c_freelist *list) {
  for (int i = 0; i < CLASSES; i++) {
    for (void *block = list->head[i]; block;) {
      void *next = *(void **)block;
      free((header *)block - 1);
      block = next;
    }
    list->head[i] = NULL;
  }
  list->kept_bytes = 0;
}

void c_freelist_delete(c_freelist *list) {
  c_freelist_release_kept(list);
  free(list);
}

/* Gives the whole pages in a new block back to the system, which has them ready again, zeroed, when they are first written. */
static void discard_pages(void *block, size_t size) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = ((uintptr_t)block + page - 1) / page * page, end = ((uintptr_t)block + size) / page * page;
  if (begin < end) madvise((void *)begin, end - begin, MADV_DONTNEED);
}

static void *from_libc(c_freelist *list, size_t class_index, size_t usable) {
  header *h = usable <= SIZE_MAX - sizeof *h ? malloc(sizeof *h + usable) : NULL;
  if (!h) return NULL;
  h->class_index = class_index;
  h->usable = usable;
  list->misses++;
  list->live++;
  return h + 1;
}

void *c_freelist_malloc(size_t size, void *self) {
  c_freelist *list = self;
  list->served++;
  if (size > LARGEST) {
    /* The 16 KB that nghttp2 makes frames in, once for each connection: ours are small, so that most of it is never written. What
       the C library has in hand was somebody's already, and every idle connection would have all of it in memory. */
    void *large = from_libc(list, LARGE, size);
    if (large) discard_pages(large, size);
    return large;
  }
  size_t class_index = list->class_of[(size + STEP - 1) / STEP];
  void *block = list->head[class_index];
  if (!block) return from_libc(list, class_index, size_of(class_index));
  list->head[class_index] = *(void **)block;
  list->kept_bytes -= ((header *)block - 1)->usable;
  list->live++;
  return block;
}

void c_freelist_free(void *block, void *self) {
  c_freelist *list = self;
  if (!block) return;
  header *h = (header *)block - 1;
  list->live--;
  if (h->class_index == LARGE || list->kept_bytes + h->usable > list->kept_bytes_max) {
    free(h);
    return;
  }
  *(void **)block = list->head[h->class_index];
  list->head[h->class_index] = block;
  list->kept_bytes += h->usable;
}

void *c_freelist_calloc(size_t count, size_t size, void *self) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  void *block = c_freelist_malloc(bytes, self);
  if (block) memset(block, 0, bytes);
  return block;
}

void *c_freelist_realloc(void *block, size_t size, void *self) {
  if (!block) return c_freelist_malloc(size, self);
  size_t usable = ((header *)block - 1)->usable;
  if (usable >= size) return block;
  void *larger = c_freelist_malloc(size, self);
  if (!larger) return NULL;
  memcpy(larger, block, usable);
  c_freelist_free(block, self);
  return larger;
}

uint64_t c_freelist_served(const c_freelist *list) { return list->served; }
uint64_t c_freelist_misses(const c_freelist *list) { return list->misses; }
uint64_t c_freelist_live(const c_freelist *list) { return list->live; }
size_t c_freelist_kept_bytes(const c_freelist *list) { return list->kept_bytes; }
