/* How far apart two bodies are over a million places of the second, by ranks of MPI that take
 * blocks as they get free:
 *
 *   mpirun -n 16 mpi distances.f32 [COUNT]   (floats, place by place; run in the folder that has
 *                                            assets/) */
#include <abut/abut.h>
#include <abut/mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 4096 };
static float pose1[BLOCK][6], pose2[BLOCK][6], distance[BLOCK];

static abut_status read_poses(void *user, uint64_t first, abut_batch *block)
{
  const uint64_t *count = user;
  for (size_t i = 0; i < block->count; ++i) {
    pose2[i][0] = 2.0f * (float)(first + i) / (float)*count; /* along x [m] */
  }
  return ABUT_SUCCESS;
}

static abut_status write_distances(void *user, uint64_t first, const abut_batch *block)
{
  const size_t bytes = block->count * sizeof *distance; /* each rank writes its own rows */
  return pwrite(*(int *)user, distance, bytes, (off_t)(first * sizeof *distance)) == (ssize_t)bytes
           ? ABUT_SUCCESS
           : abut_set_error(ABUT_ERROR_WRITE, "mpi FILE [COUNT]: the file cannot be written");
}

static abut_status open_pair(abut_pair *pair)
{
  abut_context_def def = abut_default_context_def();
  abut_device_choice own;
  abut_context context;
  abut_body a, b;
  abut_smoothing smoothing;
  def.devices = &own; /* the rank's part of what its node has */
  def.device_count = 1;
  abut_status status = abut_mpi_find_device(MPI_COMM_WORLD, &own, NULL);
  status = status ? status : abut_create_context(&def, &context);
  status = status ? status : abut_load_body(context, "assets/figure.body.json", &a);
  status = status ? status : abut_load_body(context, "assets/part.body.json", &b);
  status = status ? status : abut_fit_smoothing(a, b, &smoothing);
  status = status ? status : abut_create_pair(a, b, &smoothing, pair);
  return abut_mpi_agree(MPI_COMM_WORLD, status); /* a rank that failed alone would leave the
                                                    others waiting */
}

int main(int argc, char **argv)
{
  int level, rank, file = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT, 0666) : -1;
  uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
  abut_pair pair;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  abut_status status = open_pair(&pair);
  if (status == ABUT_SUCCESS) {
    abut_batch batch = abut_default_batch();
    batch.count = BLOCK; /* rows of its arrays */
    batch.pose1 = pose1;
    batch.pose2 = pose2;
    batch.reductions.distance = distance;
    status = abut_mpi_contacts(MPI_COMM_WORLD, pair, &batch,
                               &(abut_mpi_source){count, read_poses, &count},
                               &(abut_mpi_sink){write_distances, &file, false});
  }
  if (status != ABUT_SUCCESS && rank == 0) {
    fprintf(stderr, "%s\n", abut_last_error());
  }
  MPI_Finalize();
  return status != ABUT_SUCCESS;
}
