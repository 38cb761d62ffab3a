/* The choice of a rank's device among those shared by the ranks of a node. */
#ifndef ABUT_MPI_OWN_DEVICE_H
#define ABUT_MPI_OWN_DEVICE_H

#include <abut/device.h>
#include <stddef.h>

typedef struct own_device {
  abut_device_choice choice;
  bool chosen;   /* false: it is the default device, which a rank cannot have to itself */
  uint32_t idle; /* unused units of its share, if it is bound to fewer cores */
} own_device;

/* Returns the number of cores that this process may run on; 0: unknown. */
size_t own_cores(void);
/* Returns a rank's part of a device: its units, at least 1, and the index among parts of this size.
 * The part is no larger than the rank's cores. Launchers bind each rank to one core by default, but
 * a driver starts as many threads as the machine has cores. *idle: see own_device. */
abut_device_choice own_part(uint32_t device, uint32_t units, size_t cores, size_t rank,
                            size_t ranks, uint32_t *idle);
/* Assigns GPUs in turn, or an equal part of a CPU. `rank` of `ranks` on this node. */
abut_status find_own_device(size_t rank, size_t ranks, own_device *own);

#endif
