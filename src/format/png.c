#include "base/error.h"
#include "format/whole_file.h"
#include <abut/files.h>
#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* If memory runs out, stb continues or asserts. Therefore its blocks are in a list. The first
 * failed allocation jumps back here, where all are freed. */
typedef struct block {
  struct block *previous, *next;
} block;

static _Thread_local block *blocks;
static _Thread_local jmp_buf no_memory;

static void link_block(block *b, block *next)
{
  *b = (block){NULL, next};
  if (next) {
    next->previous = b;
  }
  blocks = b;
}

static void unlink_block(block *b)
{
  if (b->next) {
    b->next->previous = b->previous;
  }
  *(b->previous ? &b->previous->next : &blocks) = b->next;
}

static void *stb_realloc(void *memory, size_t size)
{
  block *old = memory ? (block *)memory - 1 : NULL;
  if (old) {
    unlink_block(old);
  }
  block *b = size > SIZE_MAX - sizeof *b ? NULL : realloc(old, sizeof *b + size);
  if (!b && old) {
    link_block(old, blocks);
  }
  if (!b) {
    longjmp(no_memory, 1);
  }
  link_block(b, blocks);
  return b + 1;
}

static void stb_free(void *memory)
{
  if (memory) {
    unlink_block((block *)memory - 1);
    free((block *)memory - 1);
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBIW_MALLOC(size) stb_realloc(NULL, size)
#define STBIW_REALLOC(memory, size) stb_realloc(memory, size)
#define STBIW_FREE(memory) stb_free(memory)
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

#define BYTE_LIMIT (INT_MAX / 4) /* stb uses int, and its buffer doubles */

/* Not inlined, because a jump makes local variables of setjmp's calling function undefined. */
__attribute__((noinline)) static abut_status encode(uint32_t width, uint32_t height,
                                                    const uint8_t *rgb, uint8_t **bytes,
                                                    size_t *count)
{
  int length = 0;
  unsigned char *png =
    stbi_write_png_to_mem(rgb, 3 * (int)width, (int)width, (int)height, 3, &length);
  *bytes = png ? malloc((size_t)length) : NULL;
  if (!*bytes) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory for a picture");
  }
  memcpy(*bytes, png, (size_t)length);
  *count = (size_t)length;
  return ABUT_SUCCESS;
}

abut_status abut_format_png(uint32_t width, uint32_t height, const uint8_t *rgb, uint8_t **bytes,
                            size_t *count)
{
  if (!rgb || !bytes || !count) {
    return fail(ABUT_ERROR_ARGUMENT, "rgb or the output pointer is NULL");
  }
  uint64_t row = 3 * (uint64_t)width + 1; /* a filter byte precedes each row */
  if (width == 0 || height == 0 || row > BYTE_LIMIT / height) {
    return fail(ABUT_ERROR_ARGUMENT, "a picture cannot have %u x %u pixels", width, height);
  }
  *bytes = NULL;
  blocks = NULL;
  abut_status status;
  if (setjmp(no_memory) != 0) { /* one of the forms that C allows for setjmp */
    status = fail(ABUT_ERROR_MEMORY, "not enough memory for a picture");
  } else {
    status = encode(width, height, rgb, bytes, count);
  }
  while (blocks) {
    stb_free(blocks + 1);
  }
  return status;
}

abut_status abut_write_png(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb)
{
  uint8_t *bytes = NULL;
  size_t count = 0;
  if (!path || !rgb) {
    return fail(ABUT_ERROR_ARGUMENT, "path or rgb is NULL");
  }
  TRY(abut_format_png(width, height, rgb, &bytes, &count));
  const abut_status status = whole_file_write(path, bytes, count);
  abut_free(bytes);
  return status;
}
