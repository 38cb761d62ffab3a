/* Pose files from bytes. */
#ifndef ABUT_IO_POSES_H
#define ABUT_IO_POSES_H

#include <abut/files.h>

/* *out is empty on failure. */
abut_status poses_parse_csv(const char *name, const char *bytes, size_t count, abut_poses *out);
abut_status poses_parse_npz(const char *name, const char *bytes, size_t count, abut_poses *out);

#endif
