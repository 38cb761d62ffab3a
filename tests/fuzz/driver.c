/* Runs a fuzz target without libFuzzer: damages its samples by a fixed sequence of random numbers.
 *
 *   fuzz_obj [SECONDS]         runs, at most 2000000 inputs
 *   fuzz_obj --seeds FOLDER    writes the samples, a corpus for libFuzzer
 *   fuzz_obj --file PATH       runs one input, a libFuzzer finding
 */
#include "fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INPUT_LIMIT 2000000
#define GROWTH 256 /* bytes that mutations may add */

static uint64_t state = 0x2545F4914F6CDD1Du;

static uint64_t random_bits(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x9E3779B97F4A7C15u >> 16;
}

static size_t random_below(size_t limit)
{
  return limit ? (size_t)(random_bits() % limit) : 0;
}

/* Copies a piece of the input over another place of it, or behind it. */
static size_t copy_piece(uint8_t *bytes, size_t count, size_t room)
{
  size_t from = random_below(count), to = random_below(count + 1);
  size_t length = random_below(count - from) % 64 + 1;
  length = length < count - from ? length : count - from;
  length = length < room - to ? length : room - to;
  memmove(bytes + to, bytes + from, length);
  return to + length > count ? to + length : count;
}

static size_t insert_word(uint8_t *bytes, size_t count, size_t room)
{
  static const char *const words[] = {"-1",   "4294967296",           "1e999", "nan", "\n",
                                      "\\\n", "\xFF\xFF\xFF\xFF",     "{",     "[",   "\"",
                                      "0",    "99999999999999999999", "/",     " "};
  const char *word = words[random_below(sizeof words / sizeof *words)];
  size_t length = strlen(word), at = random_below(count + 1);
  if (count + length > room) {
    return count;
  }
  memmove(bytes + at + length, bytes + at, count - at);
  memcpy(bytes + at, word, length);
  return count + length;
}

static size_t mutate(uint8_t *bytes, size_t count, size_t room)
{
  if (count == 0) {
    return insert_word(bytes, count, room);
  }
  size_t at = random_below(count);
  switch (random_below(6)) {
  case 0:
    bytes[at] ^= (uint8_t)(1u << random_below(8));
    return count;
  case 1:
    bytes[at] = (uint8_t)random_bits();
    return count;
  case 2:
    return random_below(4) ? count : at;
  case 3:
    memmove(bytes + at, bytes + at + 1, count - at - 1);
    return count - 1;
  case 4:
    return copy_piece(bytes, count, room);
  default:
    return insert_word(bytes, count, room);
  }
}

/* Each input is a copy of its own size, so that a sanitizer sees reading beyond it. */
static void run_one(const uint8_t *bytes, size_t count)
{
  uint8_t *copy = malloc(count ? count : 1);
  if (!copy) {
    abort();
  }
  memcpy(copy, bytes, count);
  LLVMFuzzerTestOneInput(copy, count);
  free(copy);
}

static size_t run(const sample *samples, size_t sample_count, double seconds)
{
  struct timespec start, now;
  size_t inputs = 0;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (;; inputs++) {
    const sample *s = &samples[inputs % sample_count];
    size_t room = s->count + GROWTH, count = s->count;
    uint8_t *bytes = malloc(room);
    if (!bytes) {
      abort();
    }
    memcpy(bytes, s->bytes, count);
    for (size_t i = inputs < sample_count ? 0 : 1 + random_below(6); i > 0; i--) {
      count = mutate(bytes, count, room);
    }
    run_one(bytes, count);
    free(bytes);
    clock_gettime(CLOCK_MONOTONIC, &now);
    double elapsed =
      (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
    if (elapsed > seconds || inputs + 1 == INPUT_LIMIT) {
      return inputs + 1;
    }
  }
}

static int write_samples(const sample *samples, size_t count, const char *folder)
{
  for (size_t i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/seed%zu", folder, i);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(samples[i].bytes, 1, samples[i].count, file) != samples[i].count ||
        fclose(file) != 0) {
      perror(path);
      return 1;
    }
  }
  return 0;
}

static int run_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  buffer b = {0};
  char block[4096];
  size_t got;
  if (!file) {
    perror(path);
    return 1;
  }
  while ((got = fread(block, 1, sizeof block, file)) > 0) {
    buffer_put(&b, block, got);
  }
  fclose(file);
  run_one((const uint8_t *)b.bytes, b.count);
  free(b.bytes);
  return 0;
}

int main(int argc, char **argv)
{
  sample samples[SAMPLE_LIMIT];
  size_t count = samples_make(fuzz_seeds, samples);
  int result = 0;
  if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
    result = write_samples(samples, count, argv[2]);
  } else if (argc == 3 && strcmp(argv[1], "--file") == 0) {
    result = run_file(argv[2]);
  } else {
    const double longer = getenv("ABUT_TEST_ALL") ? 4.0 : 1.0;
    printf("%zu inputs\n", run(samples, count, longer * (argc > 1 ? atof(argv[1]) : 2)));
  }
  for (size_t i = 0; i < count; i++) {
    free(samples[i].bytes);
  }
  return result;
}
