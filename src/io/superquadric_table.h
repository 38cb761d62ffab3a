/* Reads tables of superquadrics from bytes. */
#ifndef ABUT_IO_SUPERQUADRIC_TABLE_H
#define ABUT_IO_SUPERQUADRIC_TABLE_H

#include <abut/files.h>

/* Reads text, or .npy data, which is recognised by its first bytes. `scale` is the table's unit
 * [m]. *out is empty on failure. */
abut_status superquadric_table_parse(const char *name, const char *bytes, size_t count,
                                     double scale, abut_superquadrics *out);

#endif
