#include "schedule/chunks.h"

#include "base/error.h"

abut_status run_chunks(size_t total, size_t chunk, chunk_function run, void *user,
                       abut_progress progress, void *progress_user)
{
  for (size_t first = 0; first < total;) {
    const size_t count = total - first < chunk ? total - first : chunk;
    TRY(run(first, count, user));
    first += count;
    if (progress && !progress(first, total, progress_user)) {
      return fail(ABUT_ERROR_CANCELLED, "stopped by the caller after %zu of %zu", first, total);
    }
  }
  return ABUT_SUCCESS;
}

abut_status size_chunk(const size_t *bytes, size_t buffers, uint64_t budget, uint64_t allocation,
                       size_t bound, size_t *chunk)
{
  uint64_t sum = 0, largest = 1;
  for (size_t i = 0; i < buffers; ++i) {
    sum += bytes[i];
    largest = bytes[i] > largest ? bytes[i] : largest;
  }
  uint64_t fits = budget / (sum ? sum : 1);
  if (allocation / largest == 0) {
    return fail(ABUT_ERROR_TOO_LARGE,
                "one pose needs a buffer of %llu bytes; the device allows %llu",
                (unsigned long long)largest, (unsigned long long)allocation);
  }
  fits = fits ? fits : 1; /* one element may exceed the budget, not the device */
  fits = allocation / largest < fits ? allocation / largest : fits;
  *chunk = bound && bound < fits ? bound : (size_t)fits;
  return ABUT_SUCCESS;
}
