/* Files on NFS that processes of several machines write into at once, each at its own places.
 *
 * A client of NFS caches pages, and where it takes a page to be as the server has it, it writes all
 * of it back, with what another client has written beside it meanwhile lost: nfs_can_extend_write
 * in fs/nfs/write.c of Linux, which does not do so while the file has a lock of a range. ROMIO's
 * ADIO_NFS locks each range that it writes, too. */
#ifndef ABUT_CLI_NFS_H
#define ABUT_CLI_NFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether an open file is on NFS. */
bool nfs_has(int file);
/* Locks what is about to be written, and gives it back once it is, for which the client sends it to
 * the server. Waits for whoever has locked it: nobody, of processes that write at places of their
 * own. false: errno tells why not. */
bool nfs_lock(int file, size_t count, uint64_t at);
bool nfs_unlock(int file, size_t count, uint64_t at);
/* Has the client look at a folder again: which names it has, and has not, is cached for up to a
 * minute, but not beyond an opening (close-to-open consistency). */
void nfs_look_again(const char *folder);

#endif
