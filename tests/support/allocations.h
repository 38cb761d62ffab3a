/* Memory that a test lets run out. A program that depends on `failing_memory` (tests/meson.build)
 * has its own and the library's calls of malloc, calloc, realloc and free sent here by the linker;
 * those of shared libraries stay as they are. */
#ifndef ABUT_TESTS_ALLOCATIONS_H
#define ABUT_TESTS_ALLOCATIONS_H

#include <stdbool.h>

/* From now on so many allocations work, of all threads; the next one fails, those after it work. */
void allocations_fail_after(long count);

/* All work again. Whether one has failed since. */
bool allocations_end(void);

/* Allocations that are not freed, over those of shared libraries that are freed here. */
long allocations_held(void);

#endif
