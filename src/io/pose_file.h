/* Files of poses that are read by ranges. */
#ifndef ABUT_IO_POSE_FILE_H
#define ABUT_IO_POSE_FILE_H

#include <abut/files.h>

/* Where a file's bytes are: on disk, or in memory. */
typedef struct pose_bytes {
  const char *bytes; /* or NULL */
  uint64_t count;
  int file;          /* without bytes; the pose file closes it, and where it fails the caller */
} pose_bytes;

/* Opens a .npy, or the .npz of these bytes, which must outlive it. *file is NULL on failure. */
abut_status pose_file_open_npy(const char *name, pose_bytes from, abut_pose_file **file, abut_pose_file_info *info);
abut_status pose_file_open_npz(const char *name, const char *bytes, size_t count, abut_pose_file **file,
                               abut_pose_file_info *info);

/* All poses of a .npy. */
abut_status pose_file_load(const char *path, abut_poses *poses);

#endif
