#include "query/spring/run.h"

#include "base/error.h"
#include "geometry/spring.h"

#define TWIST 6

#define AT(id) ARG_BUFFER(memory_buffer(r->memory, id))
#define CLOUDS_IN(frames)                                                                    \
  ARG_BUFFER(r->heads), ARG_BUFFER(r->shapes), ARG_BUFFER(r->pairs), ARG_INT(r->first_pair), \
    ARG_INT(r->pair_stride), AT(frames)
#define CLOUDS CLOUDS_IN(SPRING_FRAMES)

int spring_options(abut_dissipation dissipation, abut_reaction reaction)
{
  return (dissipation == ABUT_DISSIPATION_SMOOTH ? SPRING_SMOOTH : 0) |
         (reaction == ABUT_REACTION_PLANE ? SPRING_PLANE : 0);
}

void spring_run_bytes(size_t room, size_t real, bool slopes, size_t bytes[POOL_BUFFERS])
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

static abut_status find_wrenches(const spring_run *r)
{
  return LAUNCH(r->device, KERNEL_SPRING_WRENCHES, r->count, 1, AT(SPRING_FRAMES), AT(SPRING_SUMS),
                AT(SPRING_MEANS_OF), ARG_INT(r->count), AT(SPRING_WRENCHES_1),
                AT(SPRING_WRENCHES_2), AT(SPRING_DISTANCES));
}

abut_status spring_run_forces(const spring_run *r)
{
  TRY(LAUNCH(r->device, KERNEL_SPRING_FORCES, SPRING_SLICES, r->count, CLOUDS, ARG_INT(r->options),
             ARG_INT(r->room), ARG_INT(r->count), AT(SPRING_ROWS_OF_PHI), AT(SPRING_MEANS_OF),
             AT(SPRING_PARTS)));
  TRY(LAUNCH(r->device, KERNEL_SPRING_SUM, SPRING_WRENCH, r->count, AT(SPRING_PARTS),
             ARG_INT(SPRING_WRENCH), ARG_INT(r->count), AT(SPRING_SUMS)));
  return find_wrenches(r);
}

abut_status spring_run_slopes(const spring_run *r)
{
  TRY(LAUNCH(r->device, KERNEL_SPRING_SLOPES, SPRING_SLICES, r->count, CLOUDS, ARG_INT(r->options),
             ARG_INT(r->room), ARG_INT(r->count), AT(SPRING_ROWS_OF_PHI), AT(SPRING_MEANS_OF),
             AT(SPRING_SUMS), AT(SPRING_SLOPE_PARTS)));
  return LAUNCH(r->device, KERNEL_SPRING_SUM, SPRING_SLOPES, r->count, AT(SPRING_SLOPE_PARTS),
                ARG_INT(SPRING_SLOPES), ARG_INT(r->count), AT(SPRING_JACOBIANS));
}

/* ---- derivatives along twists ---- */

void spring_tangent_bytes(size_t room, size_t real, size_t bytes[POOL_BUFFERS])
{
  bytes[SPRING_TANGENT_1] = bytes[SPRING_TANGENT_2] = TWIST * real;
  bytes[SPRING_TANGENT_BARS_1] = bytes[SPRING_TANGENT_BARS_2] = TWIST * real;
  bytes[SPRING_TANGENT_FRAMES] = SPRING_FRAME * real;
  bytes[SPRING_DUAL_FRAMES] = 2 * SPRING_FRAME * real;
  bytes[SPRING_DUAL_PHI] = 2 * room * real;
  bytes[SPRING_DUAL_MEANS] = 2 * SPRING_MEANS * real;
  bytes[SPRING_DUAL_PARTS] = 2 * SPRING_SLICES * SPRING_WRENCH * real;
  bytes[SPRING_DUAL_SUMS] = 2 * SPRING_WRENCH * real;
  bytes[SPRING_DUAL_SLOPE_PARTS] = 2 * SPRING_SLICES * SPRING_SLOPES * real;
  bytes[SPRING_DUAL_JACOBIANS] = 2 * SPRING_SLOPES * real;
}

/* Makes rows of duals in which only positions `first` to `last` - 1 have derivatives. */
static abut_status lift(const spring_run *r, size_t values, size_t derivatives, size_t width,
                        size_t first, size_t last, size_t to)
{
  return LAUNCH(r->device, KERNEL_SPRING_LIFT, width, r->count, AT(values), AT(derivatives),
                ARG_INT(width), ARG_INT(first), ARG_INT(last), ARG_INT(r->count), AT(to));
}

/* Poses are constant here: of the kernels' inputs, only velocities of frames have derivatives. */
static abut_status lift_all(const spring_run *r)
{
  TRY(LAUNCH(r->device, KERNEL_SPRING_FRAMES, r->count, 1, AT(SPRING_POSES_1), AT(SPRING_POSES_2),
             ARG_INT(r->pose_width), AT(SPRING_TANGENT_1), AT(SPRING_TANGENT_2), ARG_BUFFER(r->law),
             ARG_INT(r->law_stride), ARG_INT(r->count), AT(SPRING_TANGENT_FRAMES)));
  TRY(lift(r, SPRING_FRAMES, SPRING_TANGENT_FRAMES, SPRING_FRAME, SPRING_SPEED, SPRING_SPIN + 3,
           SPRING_DUAL_FRAMES));
  TRY(lift(r, SPRING_ROWS_OF_PHI, SPRING_ROWS_OF_PHI, r->room, 0, 0, SPRING_DUAL_PHI));
  return lift(r, SPRING_MEANS_OF, SPRING_MEANS_OF, SPRING_MEANS, 0, 0, SPRING_DUAL_MEANS);
}

/* Computes sums and Jacobians on duals from separations and means that exist already. */
static abut_status dual_slopes(const spring_run *r)
{
  TRY(LAUNCH_IN(r->device, PROGRAM_DUAL, KERNEL_SPRING_FORCES, SPRING_SLICES, r->count,
                CLOUDS_IN(SPRING_DUAL_FRAMES), ARG_INT(r->options), ARG_INT(r->room),
                ARG_INT(r->count), AT(SPRING_DUAL_PHI), AT(SPRING_DUAL_MEANS),
                AT(SPRING_DUAL_PARTS)));
  TRY(LAUNCH_IN(r->device, PROGRAM_DUAL, KERNEL_SPRING_SUM, SPRING_WRENCH, r->count,
                AT(SPRING_DUAL_PARTS), ARG_INT(SPRING_WRENCH), ARG_INT(r->count),
                AT(SPRING_DUAL_SUMS)));
  TRY(LAUNCH_IN(r->device, PROGRAM_DUAL, KERNEL_SPRING_SLOPES, SPRING_SLICES, r->count,
                CLOUDS_IN(SPRING_DUAL_FRAMES), ARG_INT(r->options), ARG_INT(r->room),
                ARG_INT(r->count), AT(SPRING_DUAL_PHI), AT(SPRING_DUAL_MEANS), AT(SPRING_DUAL_SUMS),
                AT(SPRING_DUAL_SLOPE_PARTS)));
  return LAUNCH_IN(r->device, PROGRAM_DUAL, KERNEL_SPRING_SUM, SPRING_SLOPES, r->count,
                   AT(SPRING_DUAL_SLOPE_PARTS), ARG_INT(SPRING_SLOPES), ARG_INT(r->count),
                   AT(SPRING_DUAL_JACOBIANS));
}

abut_status spring_run_tangent(const spring_run *r)
{
  TRY(lift_all(r));
  return dual_slopes(r);
}

abut_status spring_run_second(const spring_run *r)
{
  const size_t blocks = r->room / device_lanes(r->device);
  TRY(LAUNCH(r->device, KERNEL_SPRING_DIRECT, r->count, 1, AT(SPRING_FRAMES), AT(SPRING_DIRECTIONS),
             ARG_INT(r->count), AT(SPRING_DUAL_FRAMES)));
  TRY(LAUNCH_IN(r->device, PROGRAM_DUAL, KERNEL_SPRING_SEPARATIONS, blocks, r->count,
                CLOUDS_IN(SPRING_DUAL_FRAMES), ARG_INT(r->room), ARG_INT(r->count),
                AT(SPRING_DUAL_PHI)));
  TRY(LAUNCH_IN(r->device, PROGRAM_DUAL, KERNEL_SPRING_SOFTEN, r->count, 1,
                CLOUDS_IN(SPRING_DUAL_FRAMES), ARG_INT(r->room), ARG_INT(r->count),
                AT(SPRING_DUAL_PHI), AT(SPRING_DUAL_MEANS)));
  TRY(dual_slopes(r));
  return LAUNCH(r->device, KERNEL_SPRING_PART, SPRING_SLOPES, r->count, AT(SPRING_DUAL_JACOBIANS),
                ARG_INT(SPRING_SLOPES), AT(SPRING_FRAMES), ARG_INT(r->count),
                AT(SPRING_JACOBIANS_TANGENT));
}

abut_status spring_run_ahead(const spring_run *r, double step)
{
  TRY(LAUNCH(r->device, KERNEL_SPRING_LOWER, SPRING_WRENCH, r->count, AT(SPRING_DUAL_SUMS),
             ARG_INT(SPRING_WRENCH), ARG_REAL(step), ARG_INT(r->count), AT(SPRING_SUMS)));
  TRY(LAUNCH(r->device, KERNEL_SPRING_LOWER, SPRING_SLOPES, r->count, AT(SPRING_DUAL_JACOBIANS),
             ARG_INT(SPRING_SLOPES), ARG_REAL(step), ARG_INT(r->count), AT(SPRING_JACOBIANS)));
  return find_wrenches(r);
}

abut_status spring_run_adjoint(const spring_run *r)
{
  return LAUNCH(r->device, KERNEL_SPRING_ADJOINT, r->count, 1, AT(SPRING_POSES_1),
                AT(SPRING_POSES_2), ARG_INT(r->pose_width), AT(SPRING_TWISTS_1),
                AT(SPRING_TWISTS_2), AT(SPRING_FRAMES), AT(SPRING_SUMS), AT(SPRING_JACOBIANS),
                AT(SPRING_WRENCHES_1_BAR), AT(SPRING_WRENCHES_2_BAR), AT(SPRING_DISTANCES_BAR),
                ARG_INT(r->count), AT(SPRING_POSES_1_BAR), AT(SPRING_POSES_2_BAR),
                AT(SPRING_TWISTS_1_BAR), AT(SPRING_TWISTS_2_BAR), AT(SPRING_LAWS_BAR));
}
