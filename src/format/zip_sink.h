/* An archive that libzip writes into an open file. To a name it would write by a temporary file of
 * its own, which a signal leaves behind. */
#ifndef ABUT_FORMAT_ZIP_SINK_H
#define ABUT_FORMAT_ZIP_SINK_H

#include <zip.h>

typedef struct zip_sink {
  int file;         /* empty, may be sought in; stays the caller's */
  zip_uint64_t at;  /* where the next byte goes */
  zip_uint64_t end; /* how many bytes there are */
  zip_error_t error;
} zip_sink;

/* The source of a new archive, or NULL. *sink must outlive it. */
zip_source_t *zip_sink_create(zip_sink *sink, int file, zip_error_t *error);

#endif
