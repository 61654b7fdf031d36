#ifndef C_ALLOCATION_COUNT_H
#define C_ALLOCATION_COUNT_H

#include <stdint.h>

/// Calls of malloc, calloc and realloc by this thread so far; -1 where they are not counted (only glibc's are).
int64_t allocation_count(void);

#endif
