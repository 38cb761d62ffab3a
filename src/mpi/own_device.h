/* Which device a rank takes of those that the ranks of its node share. */
#ifndef ABUT_MPI_OWN_DEVICE_H
#define ABUT_MPI_OWN_DEVICE_H

#include <abut/device.h>
#include <stddef.h>

typedef struct own_device {
  abut_device_choice choice;
  bool chosen;   /* false: it is the default, which no rank can have for itself */
  uint32_t idle; /* compute units that would be its part, were it not bound to fewer cores */
} own_device;

/* Cores that this process may run on; 0: not known. */
size_t own_cores(void);
/* A rank's part of a device: units, 1 or more, and which of the parts of so many. As launchers bind
 * each rank to a core of its own unless they are told otherwise, and a driver's threads are as many
 * as the machine has cores, it is no larger than the rank's cores. *idle as of own_device. */
abut_device_choice own_part(uint32_t device, uint32_t units, size_t cores, size_t rank,
                            size_t ranks, uint32_t *idle);
/* GPUs by turns; of a CPU a part each. `rank` of `ranks` on this node. */
abut_status find_own_device(size_t rank, size_t ranks, own_device *own);

#endif
