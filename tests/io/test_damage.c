/* Good files cut at every byte, and with bytes changed: an error or a valid result, never more.
 * Each of the many reads is a check only where it fails. */
#include "sample_read.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { FLIPS = 4000 };

/* A copy of exactly `count` bytes, so that a sanitizer sees what is read beyond. */
static abut_status read_copy(sample_kind kind, const char *bytes, size_t count)
{
  char *copy = malloc(count ? count : 1);
  require(copy != NULL);
  memcpy(copy, bytes, count);
  abut_status status = sample_read(kind, copy, count);
  if (status != ABUT_SUCCESS) {
    if (status != ABUT_ERROR_FORMAT || strncmp(abut_last_error(), "t:", 2) != 0) {
      check(false, "%s, %s", abut_status_name(status), abut_last_error());
    }
  }
  free(copy);
  return status;
}

static void cut_everywhere(void)
{
  for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
    sample s[SAMPLE_LIMIT];
    size_t count = samples_make((sample_kind)kind, s);
    for (size_t i = 0; i < count; i++) {
      CHECK_OK(read_copy((sample_kind)kind, s[i].bytes, s[i].count));
      for (size_t length = 0; length < s[i].count; length++) {
        abut_status status = read_copy((sample_kind)kind, s[i].bytes, length);
        if (status == ABUT_SUCCESS && s[i].count - length > sample_loss((sample_kind)kind, i)) {
          check(false, "kind %d, sample %zu: %zu of %zu bytes were taken", kind, i, length,
                s[i].count);
        }
      }
      free(s[i].bytes);
    }
  }
}

static void change_bytes(void)
{
  uint64_t x = 88172645463325252u;
  for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
    sample s[SAMPLE_LIMIT];
    size_t count = samples_make((sample_kind)kind, s), refused = 0;
    for (int k = 0; k < FLIPS; k++) {
      sample *one = &s[(size_t)k % count];
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      size_t at = (size_t)(x >> 20) % one->count;
      char before = one->bytes[at];
      one->bytes[at] = k % 2 ? (char)(before ^ (1 << (x & 7))) : (char)(x >> 8);
      refused += read_copy((sample_kind)kind, one->bytes, one->count) != ABUT_SUCCESS;
      one->bytes[at] = before;
    }
    CHECK(refused > FLIPS / 20); /* the damage did reach the parsers */
    for (size_t i = 0; i < count; i++) {
      free(s[i].bytes);
    }
  }
}

static void only_noise(void)
{
  uint64_t x = 1;
  size_t taken = 0;
  for (int k = 0; k < 500; k++) {
    char bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      bytes[i] = (char)(x >> 56);
    }
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
      taken += read_copy((sample_kind)kind, bytes, sizeof bytes) == ABUT_SUCCESS;
    }
  }
  CHECK_EQUAL(taken, 0);
}

int main(void)
{
  cut_everywhere();
  change_bytes();
  only_noise();
  return check_finish();
}
