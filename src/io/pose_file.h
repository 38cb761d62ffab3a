/* Files of poses that are read by ranges. */
#ifndef ABUT_IO_POSE_FILE_H
#define ABUT_IO_POSE_FILE_H

#include "format/npy_range.h"

/* A file on disk is closed by the pose file, and where that fails by the caller. */
typedef npy_bytes pose_bytes;

/* Opens a .npy, or the .npz of these bytes, which must outlive it. *file is NULL on failure. */
abut_status pose_file_open_npy(const char *name, pose_bytes from, abut_pose_file **file,
                               abut_pose_file_info *info);
abut_status pose_file_open_npz(const char *name, const char *bytes, size_t count,
                               abut_pose_file **file, abut_pose_file_info *info);

/* All poses of a .npy. */
abut_status pose_file_load(const char *path, abut_poses *poses);

#endif
