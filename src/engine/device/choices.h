/* Parts of devices as members of a context. */
#ifndef ABUT_DEVICE_CHOICES_H
#define ABUT_DEVICE_CHOICES_H

#include "engine/device/discovery.h"

/* Replaces `found` by the chosen part of that device. Parts are never released. */
abut_status take_part(found_device *found, const abut_device_choice *choice);

#endif
