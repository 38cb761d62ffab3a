/* Device memory that calls reuse: numbered buffers of a slot of a device. They belong to no body
 * and no pair: what one call has left there another one overwrites. */
#ifndef ABUT_DEVICE_BANK_H
#define ABUT_DEVICE_BANK_H

#include "device/device.h"

#define BANKS 2 /* of a slot: as many runs of kernels may a call need beside each other */
#define BANK_BUFFERS 160

typedef struct bank {
  buffer *buffers[BANK_BUFFERS];
} bank;

/* All banks of a device, by slot; they begin empty. */
typedef struct banks {
  bank of[DEVICE_SLOTS][BANKS];
} banks;

/* Makes a buffer of at least `bytes` where there is none so large. Buffers are kept and only
 * grow. */
abut_status bank_prepare(bank *b, device *d, size_t buffer, size_t bytes);

/* Lets go of a slot's buffers. */
void banks_empty(banks *b, size_t slot);

void banks_free(banks *b); /* NULL is allowed */

#endif
