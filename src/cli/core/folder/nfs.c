#include "core/folder/nfs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

/* Only Linux's NFS client has been examined. */
bool nfs_has(int file)
{
#ifdef __linux__
  struct statfs about;
  return fstatfs(file, &about) == 0 && about.f_type == NFS_SUPER_MAGIC;
#else
  (void)file;
  return false;
#endif
}

/* POSIX locks belong to the process, which opens each array once. */
static bool lock(int file, short type, size_t count, uint64_t at)
{
  int code;
  do {
    struct flock range = {.l_type = type,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)at,
                          .l_len = (off_t)count};
    code = fcntl(file, F_SETLKW, &range);
  } while (code != 0 && errno == EINTR);
  return code == 0;
}

bool nfs_lock(int file, size_t count, uint64_t at)
{
  return lock(file, F_WRLCK, count, at);
}

bool nfs_unlock(int file, size_t count, uint64_t at)
{
  return lock(file, F_UNLCK, count, at);
}

void nfs_look_again(const char *folder)
{
  const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file >= 0) {
    close(file);
  }
}
