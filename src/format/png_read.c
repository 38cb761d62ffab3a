#include "format/png_read.h"

#include "base/error.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_GIF
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_ASSERT(x) ((void)(x))
/* The header declares this function by another name than its definition. */
#define stbi_set_unpremultiply_on_load_thread stbi__unpremultiply_on_load_thread
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

#define GREY 1
#define GREY_AND_ALPHA 2

static abut_status fail_picture(const char *name)
{
  const char *cause = stbi_failure_reason();
  const bool memory = cause && strcmp(cause, "outofmem") == 0;
  return memory ? fail(ABUT_ERROR_MEMORY, "not enough memory for a picture")
                : fail_at(ABUT_ERROR_FORMAT, name, 0, "this .png cannot be read: %s",
                          cause ? cause : "damaged");
}

/* ---- damage, which stb does not check ---- */

#define SIGNATURE "\x89PNG\r\n\x1a\n"
#define SIGNATURE_BYTES 8
#define CHUNK_BYTES 12 /* a chunk's length, name and checksum */

static uint32_t big_endian(const unsigned char *p)
{
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* CRC-32 of a chunk's name and data. */
static uint32_t checksum(const unsigned char *p, size_t count)
{
  uint32_t sum = 0xffffffffu;
  for (size_t i = 0; i < count; ++i) {
    sum ^= p[i];
    for (int bit = 0; bit < 8; ++bit) {
      sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
  }
  return ~sum;
}

static abut_status check_chunks(const char *name, const unsigned char *p, size_t count)
{
  size_t at = SIGNATURE_BYTES;
  bool last = false;
  if (count < at || memcmp(p, SIGNATURE, at) != 0) {
    return fail_at(ABUT_ERROR_FORMAT, name, 0, "is not a .png");
  }
  while (!last) {
    const size_t rest = count - at;
    const size_t length = rest < CHUNK_BYTES ? 0 : big_endian(p + at);
    if (rest < CHUNK_BYTES || length > rest - CHUNK_BYTES) {
      return fail_at(ABUT_ERROR_FORMAT, name, 0, "truncated");
    }
    const unsigned char *chunk = p + at + 4;
    if (checksum(chunk, length + 4) != big_endian(chunk + 4 + length)) {
      return fail_at(ABUT_ERROR_FORMAT, name, 0, "is damaged: a checksum differs");
    }
    last = memcmp(chunk, "IEND", 4) == 0;
    at += CHUNK_BYTES + length;
  }
  return ABUT_SUCCESS;
}

/* ---- pictures ---- */

abut_status png_size(const char *name, const char *bytes, size_t count, size_t *columns,
                     size_t *rows)
{
  int width = 0, height = 0, channels = 0;
  if (count > INT_MAX) {
    return fail_at(ABUT_ERROR_FORMAT, name, 0, "the picture has %zu bytes, which is too many",
                   count);
  }
  TRY(check_chunks(name, (const unsigned char *)bytes, count));
  if (!stbi_info_from_memory((const stbi_uc *)bytes, (int)count, &width, &height, &channels)) {
    return fail_picture(name);
  }
  if (channels != GREY && channels != GREY_AND_ALPHA) {
    return fail_at(ABUT_ERROR_FORMAT, name, 0,
                   "the picture is in colour; expected a greyscale picture");
  }
  *columns = (size_t)width;
  *rows = (size_t)height;
  return ABUT_SUCCESS;
}

/* 8 and 16 bits are read separately: widening the former needs more memory in stb, which leaks if
 * that fails. */
abut_status png_read_grey(const char *name, const char *bytes, size_t count, double *greys)
{
  const stbi_uc *from = (const stbi_uc *)bytes;
  const bool wide = stbi_is_16_bit_from_memory(from, (int)count);
  int width = 0, height = 0, channels;
  stbi_us *words =
    wide ? stbi_load_16_from_memory(from, (int)count, &width, &height, &channels, GREY) : NULL;
  stbi_uc *octets =
    wide ? NULL : stbi_load_from_memory(from, (int)count, &width, &height, &channels, GREY);
  const bool good = words || octets;
  for (size_t i = 0; good && i < (size_t)width * (size_t)height; ++i) {
    greys[i] = wide ? (double)words[i] / 65535.0 : (double)octets[i] / 255.0;
  }
  free(words);
  free(octets);
  return good ? ABUT_SUCCESS : fail_picture(name);
}
