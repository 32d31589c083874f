/* Preloaded into a server under test: counts calls of malloc and its kin by the library that made them.
   The counts are kept in a shared mapping, so that the test reads them while the server runs. */
#define _GNU_SOURCE
#include "include/CAllocCounter.h"
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

enum { OURS, NGHTTP2, OTHERS };
typedef struct { uintptr_t begin, end; int owner; } range;
static range ranges[256];
static int range_count;
static _Atomic uint64_t *shared;

static int owner_of(const char *path) {
  if (!*path || strstr(path, "libswift") || strstr(path, "libFoundation") || strstr(path, "libBlocksRuntime")) return OURS;
  if (strstr(path, "libnghttp2")) return NGHTTP2;
  return strstr(path, ".so") ? OTHERS : OURS;
}

static int note(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size; (void)unused;
  for (int i = 0; i < info->dlpi_phnum && range_count < 256; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
    uintptr_t begin = info->dlpi_addr + p->p_vaddr;
    ranges[range_count++] = (range){begin, begin + p->p_memsz, owner_of(info->dlpi_name)};
  }
  return 0;
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("ALLOC_COUNTER_FILE");
  if (!path) return;
  dl_iterate_phdr(note, NULL);
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(alloc_counts)) != 0) return;
  void *mapping = mmap(NULL, sizeof(alloc_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapping != MAP_FAILED) shared = mapping;
}

static void tick(void *caller) {
  if (!shared) return;
  uintptr_t address = (uintptr_t)caller;
  int owner = OTHERS;
  for (int i = 0; i < range_count; i++)
    if (address >= ranges[i].begin && address < ranges[i].end) { owner = ranges[i].owner; break; }
  atomic_fetch_add_explicit(&shared[owner], 1, memory_order_relaxed);
}

void *malloc(size_t n) { tick(__builtin_return_address(0)); return __libc_malloc(n); }
void *calloc(size_t a, size_t b) { tick(__builtin_return_address(0)); return __libc_calloc(a, b); }
void *realloc(void *p, size_t n) { tick(__builtin_return_address(0)); return __libc_realloc(p, n); }
void *memalign(size_t a, size_t n) { tick(__builtin_return_address(0)); return __libc_memalign(a, n); }
void *aligned_alloc(size_t a, size_t n) { tick(__builtin_return_address(0)); return __libc_memalign(a, n); }
int posix_memalign(void **out, size_t a, size_t n) {
  tick(__builtin_return_address(0));
  *out = __libc_memalign(a, n);
  return *out ? 0 : 12;
}
