#include "allocations.h"

#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

#define ALL_WORK (1L << 60)

static atomic_long until_failure = ALL_WORK; /* allocations that still work */
static atomic_bool failed;
static atomic_long held;

void allocations_fail_after(long count)
{
  atomic_store(&failed, false);
  atomic_store(&until_failure, count);
}

bool allocations_end(void)
{
  atomic_store(&until_failure, ALL_WORK);
  return atomic_load(&failed);
}

long allocations_held(void)
{
  return atomic_load(&held);
}

static bool fails(void)
{
  if (atomic_fetch_sub(&until_failure, 1) != 0) {
    return false;
  }
  atomic_store(&failed, true);
  return true;
}

static void *hold(void *memory)
{
  atomic_fetch_add(&held, memory != NULL);
  return memory;
}

void *__wrap_malloc(size_t size)
{
  return fails() ? NULL : hold(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
  return fails() ? NULL : hold(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
  return fails() ? NULL : memory ? __real_realloc(memory, size) : hold(__real_realloc(NULL, size));
}

void __wrap_free(void *memory)
{
  atomic_fetch_sub(&held, memory != NULL);
  __real_free(memory);
}
