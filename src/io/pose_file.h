/* Files of poses that are read by range. */
#ifndef ABUT_IO_POSE_FILE_H
#define ABUT_IO_POSE_FILE_H

#include "format/npy_range.h"

/* The pose file closes a file on disk; after a failure to open, the caller does. */
typedef npy_bytes pose_bytes;

/* Opens a .npy file, or an .npz archive from bytes, which must outlive it. *file is NULL on
 * failure. */
abut_status pose_file_open_npy(const char *name, pose_bytes from, abut_pose_file **file,
                               abut_pose_file_info *info);
abut_status pose_file_open_npz(const char *name, const char *bytes, size_t count,
                               abut_pose_file **file, abut_pose_file_info *info);

/* Reads all poses of a .npy file. */
abut_status pose_file_load(const char *path, abut_poses *poses);

#endif
