/* A context may have parts of devices. */
#ifndef ABUT_DEVICE_CHOICES_H
#define ABUT_DEVICE_CHOICES_H

#include "engine/device/discovery.h"

/* Makes `found` the chosen part of itself. Parts are never released. */
abut_status take_part(found_device *found, const abut_device_choice *choice);

#endif
