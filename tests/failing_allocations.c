// Loaded before the C library: lets one allocation fail, of those of at least some size.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static long left; // until the one that fails; 0: none does
static size_t least;

void arm(long nth, size_t size) {
    least = size;
    __atomic_store_n(&left, nth, __ATOMIC_SEQ_CST);
}

// 0: it has failed.
long disarm(void) { return __atomic_exchange_n(&left, 0, __ATOMIC_SEQ_CST); }

static int fails(size_t size, void *caller) {
    Dl_info from;
    if (size < least || __atomic_load_n(&left, __ATOMIC_SEQ_CST) <= 0)
        return 0;
    // The loader ends the process itself where a thread's variables find no room.
    if (!dladdr(caller, &from) || strstr(from.dli_fname, "/ld-"))
        return 0;
    if (__atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return fails(n, __builtin_return_address(0)) ? NULL : __libc_malloc(n); }

void *calloc(size_t n, size_t size) {
    return fails(n * size, __builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n) {
    return fails(n, __builtin_return_address(0)) ? NULL : __libc_realloc(old, n);
}
