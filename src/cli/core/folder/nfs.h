/* Files on NFS that processes on several machines write at once, each in its own places.
 *
 * An NFS client caches pages. If it takes a cached page to be up to date, it writes the whole page
 * back, which can overwrite data that another client has written to the page meanwhile:
 * nfs_can_extend_write in fs/nfs/write.c of Linux. It does not do so while a range of the file is
 * locked. ROMIO's ADIO_NFS also locks each range that it writes. */
#ifndef ABUT_CLI_NFS_H
#define ABUT_CLI_NFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether an open file is on NFS. */
bool nfs_has(int file);
/* Lock a range before it is written, and release it afterwards, at which point the client sends it
 * to the server. nfs_lock waits for other holders; processes that write disjoint ranges never wait.
 * On false, errno is set. */
bool nfs_lock(int file, size_t count, uint64_t at);
bool nfs_unlock(int file, size_t count, uint64_t at);
/* Makes the client refresh its view of a folder. Which names exist is cached for up to a minute,
 * but refreshed when a file is opened (close-to-open consistency). */
void nfs_look_again(const char *folder);

#endif
