#include "CAllocationCount.h"

#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__)

// The program's own malloc comes before that of the C library, which says how to replace it:
// <https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html>. These pass everything on, so that what
// they return can be freed by the library's own free.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static __thread int64_t count;

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count++;
    return __libc_realloc(memory, size);
}

int64_t allocation_count(void) { return count; }

#else

int64_t allocation_count(void) { return -1; }

#endif
