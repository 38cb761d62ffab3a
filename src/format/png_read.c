#include "format/png_read.h"

#include "base/error.h"
#include <limits.h>
#include <stdbool.h>
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
/* The header declares this one by another name than it defines it. */
#define stbi_set_unpremultiply_on_load_thread stbi__unpremultiply_on_load_thread
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

#define GREY 1
#define GREY_AND_ALPHA 2

static abut_status fail_picture(const char *name)
{
  const char *cause = stbi_failure_reason();
  const bool memory = cause && strcmp(cause, "outofmem") == 0;
  return memory ? fail(ABUT_ERROR_MEMORY, "no memory for a picture")
                : fail_at(ABUT_ERROR_FORMAT, name, 0, "not a .png that can be read: %s",
                          cause ? cause : "damaged");
}

static abut_status check_count(const char *name, size_t count)
{
  return count <= INT_MAX ? ABUT_SUCCESS
                          : fail_at(ABUT_ERROR_FORMAT, name, 0, "a picture of %zu bytes", count);
}

abut_status png_size(const char *name, const char *bytes, size_t count, size_t *columns, size_t *rows)
{
  int width = 0, height = 0, channels = 0;
  TRY(check_count(name, count));
  if (!stbi_info_from_memory((const stbi_uc *)bytes, (int)count, &width, &height, &channels)) {
    return fail_picture(name);
  }
  if (channels != GREY && channels != GREY_AND_ALPHA) {
    return fail_at(ABUT_ERROR_FORMAT, name, 0, "the picture is in colour, not in grey");
  }
  *columns = (size_t)width;
  *rows = (size_t)height;
  return ABUT_SUCCESS;
}

abut_status png_read_grey(const char *name, const char *bytes, size_t count, uint16_t **greys)
{
  int width, height, channels;
  *greys = NULL;
  TRY(check_count(name, count));
  *greys = stbi_load_16_from_memory((const stbi_uc *)bytes, (int)count, &width, &height, &channels, GREY);
  return *greys ? ABUT_SUCCESS : fail_picture(name);
}
