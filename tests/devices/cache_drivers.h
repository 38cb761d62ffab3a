/* A driver that says or does something else than the real one. */
#ifndef ABUT_TESTS_CACHE_DRIVERS_H
#define ABUT_TESTS_CACHE_DRIVERS_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum trouble { NO_TROUBLE, NOT_CREATED, NOT_ACCEPTED, NOT_BUILT, OTHER_KERNELS } trouble;

extern trouble binaries;        /* what becomes of them */
extern cl_device_info replaced; /* what the device says otherwise; 0: nothing */
extern size_t compiled;         /* programs made from source */

/* Whether the library keeps programs for the device; of the test it does for all. */
bool __real_program_cache_serves(cl_device_id device);

#endif
