#include "spring/run.h"

#include "base/error.h"
#include "geometry/spring.h"

#define AT(id) ARG_BUFFER(memory_buffer(r->memory, id))
#define CLOUDS                                                                               \
  ARG_BUFFER(r->heads), ARG_BUFFER(r->shapes), ARG_BUFFER(r->pairs), ARG_INT(r->first_pair), \
    ARG_INT(r->pair_stride), AT(SPRING_FRAMES)

int spring_options(abut_dissipation dissipation, abut_reaction reaction)
{
  return (dissipation == ABUT_DISSIPATION_SMOOTH ? SPRING_SMOOTH : 0) |
         (reaction == ABUT_REACTION_PLANE ? SPRING_PLANE : 0);
}

void spring_run_bytes(size_t room, size_t real, bool slopes, size_t bytes[BANK_BUFFERS])
{
  bytes[SPRING_FRAMES] = SPRING_FRAME * real;
  bytes[SPRING_ROWS_OF_PHI] = room * real;
  bytes[SPRING_MEANS_OF] = SPRING_MEANS * real;
  bytes[SPRING_PARTS] = SPRING_SLICES * SPRING_WRENCH * real;
  bytes[SPRING_SUMS] = SPRING_WRENCH * real;
  if (slopes) {
    bytes[SPRING_SLOPE_PARTS] = SPRING_SLICES * SPRING_SLOPES * real;
  }
}

abut_status spring_run_separations(const spring_run *r)
{
  const size_t blocks = r->room / device_lanes(r->device);
  TRY(LAUNCH(r->device, KERNEL_SPRING_FRAMES, r->count, 1, AT(SPRING_POSES_1), AT(SPRING_POSES_2),
             ARG_INT(r->pose_width), AT(SPRING_TWISTS_1), AT(SPRING_TWISTS_2), ARG_BUFFER(r->law),
             ARG_INT(r->law_stride), ARG_INT(r->count), AT(SPRING_FRAMES)));
  TRY(LAUNCH(r->device, KERNEL_SPRING_SEPARATIONS, blocks, r->count, CLOUDS, ARG_INT(r->room),
             ARG_INT(r->count), AT(SPRING_ROWS_OF_PHI)));
  return LAUNCH(r->device, KERNEL_SPRING_SOFTEN, r->count, 1, CLOUDS, ARG_INT(r->room),
                ARG_INT(r->count), AT(SPRING_ROWS_OF_PHI), AT(SPRING_MEANS_OF));
}

abut_status spring_run_forces(const spring_run *r)
{
  TRY(LAUNCH(r->device, KERNEL_SPRING_FORCES, SPRING_SLICES, r->count, CLOUDS, ARG_INT(r->options),
             ARG_INT(r->room), ARG_INT(r->count), AT(SPRING_ROWS_OF_PHI), AT(SPRING_MEANS_OF),
             AT(SPRING_PARTS)));
  TRY(LAUNCH(r->device, KERNEL_SPRING_SUM, SPRING_WRENCH, r->count, AT(SPRING_PARTS),
             ARG_INT(SPRING_WRENCH), ARG_INT(r->count), AT(SPRING_SUMS)));
  return LAUNCH(r->device, KERNEL_SPRING_WRENCHES, r->count, 1, AT(SPRING_FRAMES), AT(SPRING_SUMS),
                AT(SPRING_MEANS_OF), ARG_INT(r->count), AT(SPRING_WRENCHES_1),
                AT(SPRING_WRENCHES_2), AT(SPRING_DISTANCES));
}

abut_status spring_run_slopes(const spring_run *r)
{
  TRY(LAUNCH(r->device, KERNEL_SPRING_SLOPES, SPRING_SLICES, r->count, CLOUDS, ARG_INT(r->options),
             ARG_INT(r->room), ARG_INT(r->count), AT(SPRING_ROWS_OF_PHI), AT(SPRING_MEANS_OF),
             AT(SPRING_SUMS), AT(SPRING_SLOPE_PARTS)));
  return LAUNCH(r->device, KERNEL_SPRING_SUM, SPRING_SLOPES, r->count, AT(SPRING_SLOPE_PARTS),
                ARG_INT(SPRING_SLOPES), ARG_INT(r->count), AT(SPRING_JACOBIANS));
}

abut_status spring_run_back(const spring_run *r)
{
  return LAUNCH(r->device, KERNEL_SPRING_BACK, r->count, 1, AT(SPRING_POSES_1), AT(SPRING_POSES_2),
                ARG_INT(r->pose_width), AT(SPRING_TWISTS_1), AT(SPRING_TWISTS_2), AT(SPRING_FRAMES),
                AT(SPRING_SUMS), AT(SPRING_JACOBIANS), AT(SPRING_WRENCHES_1_BAR),
                AT(SPRING_WRENCHES_2_BAR), AT(SPRING_DISTANCES_BAR), ARG_INT(r->count),
                AT(SPRING_POSES_1_BAR), AT(SPRING_POSES_2_BAR), AT(SPRING_TWISTS_1_BAR),
                AT(SPRING_TWISTS_2_BAR), AT(SPRING_LAWS_BAR));
}
