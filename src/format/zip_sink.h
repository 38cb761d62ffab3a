/* An archive that libzip writes to an open file. Given a name, libzip would use its own temporary
 * file, which remains after a signal. */
#ifndef ABUT_FORMAT_ZIP_SINK_H
#define ABUT_FORMAT_ZIP_SINK_H

#include <zip.h>

typedef struct zip_sink {
  int file;         /* empty, supports seeking; owned by the caller */
  zip_uint64_t at;  /* position of the next byte */
  zip_uint64_t end; /* number of bytes */
  zip_error_t error;
} zip_sink;

/* Makes the source of a new archive; NULL on failure. *sink must outlive it. */
zip_source_t *zip_sink_create(zip_sink *sink, int file, zip_error_t *error);

#endif
