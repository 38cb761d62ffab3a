/* Reads pose files from bytes. */
#ifndef ABUT_IO_POSES_H
#define ABUT_IO_POSES_H

#include "format/npz.h"

/* *out is empty on failure. */
abut_status poses_parse_csv(const char *name, const char *bytes, size_t count, abut_poses *out);
abut_status poses_parse_npz(const char *name, const char *bytes, size_t count, abut_poses *out);

/* Finds the members of an archive with the poses of both bodies, and their format. */
abut_status poses_find_members(const char *name, zip_t *archive, abut_pose_kind *kind,
                               zip_int64_t found[2]);

#endif
