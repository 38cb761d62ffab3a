#include "format/zip_sink.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

static zip_int64_t put(zip_sink *s, const char *bytes, zip_uint64_t count)
{
  zip_uint64_t left = count < SSIZE_MAX ? count : SSIZE_MAX;
  const zip_int64_t all = (zip_int64_t)left;
  while (left) {
    const ssize_t done = pwrite(s->file, bytes, (size_t)left, (off_t)s->at);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done < 0) {
      zip_error_set(&s->error, ZIP_ER_WRITE, errno);
      return -1;
    }
    bytes += done;
    left -= (zip_uint64_t)done;
    s->at += (zip_uint64_t)done;
  }
  s->end = s->at > s->end ? s->at : s->end;
  return all;
}

static zip_int64_t seek(zip_sink *s, void *arguments, zip_uint64_t count)
{
  const zip_int64_t to = zip_source_seek_compute_offset(s->at, s->end, arguments, count, &s->error);
  if (to >= 0) {
    s->at = (zip_uint64_t)to;
  }
  return to < 0 ? -1 : 0;
}

static zip_int64_t describe(void *out)
{
  zip_stat_t *info = out;
  zip_stat_init(info);
  info->size = 0;
  info->valid |= ZIP_STAT_SIZE;
  return (zip_int64_t)sizeof *info;
}

/* Nothing is read, but libzip requires a readable source. */
static zip_int64_t obey(void *user, void *data, zip_uint64_t count, zip_source_cmd_t command)
{
  zip_sink *s = user;
  switch (command) {
  case ZIP_SOURCE_SUPPORTS:
    return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                          ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                          ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE,
                                          ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE,
                                          ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE,
                                          ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE,
                                          ZIP_SOURCE_SUPPORTS, -1);
  case ZIP_SOURCE_STAT:
    return describe(data);
  case ZIP_SOURCE_ERROR:
    return zip_error_to_data(&s->error, data, count);
  case ZIP_SOURCE_WRITE:
    return put(s, data, count);
  case ZIP_SOURCE_SEEK_WRITE:
    return seek(s, data, count);
  case ZIP_SOURCE_TELL_WRITE:
    return (zip_int64_t)s->at;
  default:
    return 0;
  }
}

zip_source_t *zip_sink_create(zip_sink *sink, int file, zip_error_t *error)
{
  *sink = (zip_sink){.file = file};
  zip_error_init(&sink->error);
  return zip_source_function_create(obey, sink, error);
}
