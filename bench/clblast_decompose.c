/* J'J of a decomposition's last fit by CLBlast, dense, against the library's own product of the
 * pairs of primitives that meet: clblast_decompose MESH [DEVICE [ROUNDS [K...]]]
 *
 * For 1, 4, 8, 18 and 40 primitives, or those that are named, the mesh is decomposed, and the
 * equations of the set that was found are made anew at all samples of the last fit; of few
 * primitives also so blurred that all of them meet. The library's time is that of its whole
 * product: rows of the Jacobian, their products by blocks of 128 samples, and the sums of these on
 * the host; it is what making the equations takes beyond finding the fields. CLBlast gets the
 * Jacobian and the residual as one dense matrix that lies on the device already, which costs it
 * nothing here: by Ssyrk, by Sgemm, and by SgemmStridedBatched of blocks of 128 samples, whose
 * results nobody sums, where these fit in memory. All take turns; prints medians in JSON. */
#include "mesh/decompose/decompose.h"

#include "engine/device/context.h"
#include "support.h"
#include <abut/files.h>
#include <clblast_c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 0.004 /* of the last fit, and its union */
#define UNION 0.008
#define BLURRED 0.05 /* both, so that every primitive has a derivative in nearly every block */
#define FEW 8        /* primitives up to which that is measured, too */
#define MOST_ROUNDS 51
#define BATCH_BYTES ((size_t)256 << 20)

enum { EQUATIONS, FIELDS, SYRK, GEMM, BATCHED, WAYS };

typedef struct bench {
  abut_context context;
  device *on;
  surface of;
  solid inside;
  sample_set fine;
  abut_mesh_file mesh;
  double middle[3], diagonal;
  fitter fit;
  primitives set;
  double width;
  size_t columns, rows; /* of the dense matrix: 11 K + 1, samples */
  bool batches;
  cl_context cl;
  cl_command_queue queue;
  cl_mem matrix, product, batch;
} bench;

/* ---- samples, and a set ---- */

static void load(bench *b, const char *path)
{
  surface_report report;
  double square = 0.0;
  good(path, abut_load_mesh(path, 1.0, &b->mesh));
  abut_body_def def = b->mesh.def;
  double *x = room(3 * def.vertex_count, sizeof *x);
  for (size_t k = 0; k < 3; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < def.vertex_count; ++i) {
      low = fmin(low, def.vertices[3 * i + k]);
      high = fmax(high, def.vertices[3 * i + k]);
    }
    b->middle[k] = 0.5 * (low + high);
    square += (high - low) * (high - low);
  }
  b->diagonal = sqrt(square);
  for (size_t i = 0; i < 3 * def.vertex_count; ++i) {
    x[i] = (def.vertices[i] - b->middle[i % 3]) / b->diagonal;
  }
  def.vertices = x;
  good("surface", surface_create(&def, &b->of, &report));
  good("solid", solid_create(&b->inside, &b->of));
  good("samples", samples_by_octree(&b->inside, &b->of, 1.0 / 128.0, 0.006, 0, &b->fine));
  free(x);
}

static void rotation_of(const double q[4], double m[9])
{
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double turn[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),
                          2 * (x * z + w * y),     2 * (x * y + w * z),
                          1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                          2 * (x * z - w * y),     2 * (y * z + w * x),
                          1 - 2 * (x * x + y * y)};
  memcpy(m, turn, sizeof turn);
}

static void decompose(bench *b, uint32_t count)
{
  abut_decompose_options o = abut_default_decompose_options();
  abut_decomposition d;
  o.primitives = count;
  good("abut_decompose", abut_decompose(b->context, &b->mesh.def, &o, &d));
  b->set.count = d.def.superquadric_count;
  for (size_t l = 0; l < b->set.count; ++l) {
    const abut_superquadric *s = &d.def.superquadrics[l];
    primitive *p = &b->set.at[l];
    for (int k = 0; k < 3; ++k) {
      p->axes[k] = s->axes[k] / b->diagonal;
      p->centre[k] = (s->position[k] - b->middle[k]) / b->diagonal;
    }
    memcpy(p->exponents, s->exponents, sizeof p->exponents);
    rotation_of(s->quaternion, p->turn);
  }
  abut_free_decomposition(&d);
}

/* ---- the library's equations ---- */

static void make_equations(bench *b, equations *e)
{
  double loss;
  good("equations", fit_equations(&b->fit, &b->fine, b->set.at, b->set.count, b->width, &loss, e));
}

/* Fills the dense matrix, a column of the Jacobian a row of it and the residual the last, of what
 * the library has left on its device. Returns the mean of primitives that are active in a block. */
static double fill_matrix(bench *b, float *to)
{
  const fitter *f = &b->fit;
  const size_t most = f->most, blocks = b->fine.blocks;
  size_t used = 0, all = 0;
  for (size_t i = 0; i < blocks; ++i) {
    const size_t active = (size_t)(f->lists + LIST_INTS(most) * i)[LIST_ACTIVE];
    all += active ? PARAMETERS * active + 1 : 0;
  }
  float *rows = room(all * DECOMPOSE_BLOCK, sizeof *rows);
  good("rows", buffer_read(f->room[ROOM_ROWS], 0, all * DECOMPOSE_BLOCK * sizeof *rows, rows));
  double sum = 0.0;
  for (size_t i = 0; i < blocks; ++i) {
    const int *list = f->lists + LIST_INTS(most) * i;
    const size_t active = (size_t)list[LIST_ACTIVE];
    sum += (double)active / (double)blocks;
    for (size_t r = 0; active && r <= PARAMETERS * active; ++r) {
      const size_t primitive_at = r == PARAMETERS * active
                                    ? b->set.count
                                    : (size_t)list[LIST_AT + list[LIST_AT + most + r / PARAMETERS]];
      const size_t column =
        PARAMETERS * primitive_at + (r == PARAMETERS * active ? 0 : r % PARAMETERS);
      memcpy(to + column * b->rows + DECOMPOSE_BLOCK * i, rows + DECOMPOSE_BLOCK * used++,
             DECOMPOSE_BLOCK * sizeof *rows);
    }
  }
  free(rows);
  return sum;
}

/* ---- CLBlast ---- */

static void open_device(bench *b)
{
  cl_int code;
  cl_platform_id platforms[16];
  cl_device_id devices[16];
  cl_uint count = 0, found = 0;
  abut_device_info info;
  good("device", abut_context_device(b->context, &info));
  good("platforms", clGetPlatformIDs(16, platforms, &count));
  for (cl_uint p = 0; p < count && p < 16; ++p) {
    char name[512] = "";
    clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (!strstr(name, info.platform) ||
        clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &found)) {
      continue;
    }
    for (cl_uint i = 0; i < found && i < 16; ++i) {
      clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name, name, NULL);
      if (strstr(name, info.name)) {
        const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                    (cl_context_properties)platforms[p], 0};
        b->cl = clCreateContext(properties, 1, &devices[i], NULL, NULL, &code);
        good("context", code);
        b->queue = clCreateCommandQueue(b->cl, devices[i], 0, &code);
        good("queue", code);
        return;
      }
    }
  }
  stop("no such OpenCL device", 0);
}

static cl_mem buffer_of(const bench *b, size_t count, const float *from)
{
  cl_int code;
  cl_mem memory = clCreateBuffer(b->cl, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0),
                                 count * sizeof(float), (void *)(size_t)from, &code);
  good("buffer", code);
  return memory;
}

static void work(bench *b, int way)
{
  const size_t n = b->columns, m = b->rows;
  equations e;
  if (way == EQUATIONS) {
    make_equations(b, &e);
    equations_free(&e);
  } else if (way == FIELDS) {
    good("fields", fit_look(&b->fit, &b->fine, &b->set, b->width));
  } else if (way == SYRK) {
    good("CLBlastSsyrk",
         CLBlastSsyrk(CLBlastLayoutRowMajor, CLBlastTriangleLower, CLBlastTransposeNo, n, m, 1.0f,
                      b->matrix, 0, m, 0.0f, b->product, 0, n, &b->queue, NULL));
  } else if (way == GEMM) {
    good("CLBlastSgemm",
         CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes, n, n, m, 1.0f,
                      b->matrix, 0, m, b->matrix, 0, m, 0.0f, b->product, 0, n, &b->queue, NULL));
  } else if (b->batches) {
    good("CLBlastSgemmStridedBatched",
         CLBlastSgemmStridedBatched(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes,
                                    n, n, DECOMPOSE_BLOCK, 1.0f, b->matrix, 0, m, DECOMPOSE_BLOCK,
                                    b->matrix, 0, m, DECOMPOSE_BLOCK, 0.0f, b->batch, 0, n, n * n,
                                    b->fine.blocks, &b->queue, NULL));
  }
  if (way >= SYRK) {
    good("finish", clFinish(b->queue));
  }
}

/* The largest difference between a dense product and the library's, of the largest entry. */
static double difference(bench *b, const equations *e)
{
  const size_t n = b->columns, tile = (size_t)PARAMETERS * PARAMETERS;
  float *product = room(n * n, sizeof *product);
  double worst = 0.0, most = 0.0;
  good("read", clEnqueueReadBuffer(b->queue, b->product, CL_TRUE, 0, n * n * sizeof *product,
                                   product, 0, NULL, NULL));
  for (size_t i = 0; i + 1 < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const double want = e->blocks[tile * (i / PARAMETERS * e->count + j / PARAMETERS) +
                                    PARAMETERS * (i % PARAMETERS) + j % PARAMETERS];
      worst = fmax(worst, fabs(product[i * n + j] - want));
      most = fmax(most, fabs(want));
    }
  }
  free(product);
  return worst / most;
}

/* ---- all of it ---- */

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
  qsort(values, count, sizeof *values, ascending);
  return values[count / 2];
}

static double seconds[WAYS][MOST_ROUNDS], own[MOST_ROUNDS], ratio[MOST_ROUNDS];

static void print_ratio(const char *name, int way, size_t rounds, const char *end)
{
  for (size_t r = 0; r < rounds; ++r) {
    ratio[r] = seconds[way][r] / own[r];
  }
  double sorted[MOST_ROUNDS];
  memcpy(sorted, seconds[way], rounds * sizeof *sorted);
  printf("   \"%s_ms\": %.3f, \"%s_over_library\": %.2f%s\n", name, 1e3 * median(sorted, rounds),
         name, median(ratio, rounds), end);
}

static void run(bench *b, double width, double tau, size_t rounds, bool last)
{
  equations e;
  b->width = width;
  b->fit.tau = tau;
  b->columns = PARAMETERS * b->set.count + 1;
  b->rows = b->fine.blocks * DECOMPOSE_BLOCK;
  b->batches = b->fine.blocks * b->columns * b->columns * sizeof(float) <= BATCH_BYTES;
  float *dense = room(b->columns * b->rows, sizeof *dense);
  make_equations(b, &e);
  const double active = fill_matrix(b, dense);
  b->matrix = buffer_of(b, b->columns * b->rows, dense);
  b->product = buffer_of(b, b->columns * b->columns, NULL);
  b->batch = b->batches ? buffer_of(b, b->fine.blocks * b->columns * b->columns, NULL) : NULL;
  free(dense);
  double worst[2] = {0.0, 0.0};
  for (size_t r = 0; r <= rounds; ++r) { /* the first compiles CLBlast's kernels */
    for (int way = 0; way < WAYS; ++way) {
      const double begun = now();
      work(b, way);
      seconds[way][r ? r - 1 : 0] = now() - begun;
      if (!r && (way == SYRK || way == GEMM)) {
        worst[way - SYRK] = difference(b, &e);
      }
    }
    own[r ? r - 1 : 0] = seconds[EQUATIONS][r ? r - 1 : 0] - seconds[FIELDS][r ? r - 1 : 0];
  }
  double sorted[MOST_ROUNDS];
  memcpy(sorted, own, rounds * sizeof *sorted);
  printf("  {\"primitives\": %zu, \"width\": %g, \"union\": %g, \"samples\": %zu, \"columns\": "
         "%zu, \"active_in_a_block\": %.2f, \"dense_gflop\": %.2f,\n"
         "   \"library_ms\": %.3f, \"syrk_difference\": %.1e, \"gemm_difference\": %.1e,\n",
         b->set.count, width, tau, b->fine.count, b->columns, active,
         1e-9 * (double)b->rows * (double)(b->columns * b->columns), 1e3 * median(sorted, rounds),
         worst[0], worst[1]);
  print_ratio("syrk", SYRK, rounds, ",");
  print_ratio("gemm", GEMM, rounds, b->batches ? "," : "");
  if (b->batches) {
    print_ratio("batched", BATCHED, rounds, "");
  }
  printf("  }%s\n", last ? "" : ",");
  clReleaseMemObject(b->matrix);
  clReleaseMemObject(b->product);
  if (b->batches) {
    clReleaseMemObject(b->batch);
  }
  equations_free(&e);
}

int main(int argc, char **argv)
{
  static bench b;
  static const uint32_t usual[] = {1, 4, 8, 18, 40};
  const size_t kinds = argc > 4 ? (size_t)argc - 4 : sizeof usual / sizeof *usual;
  if (argc < 2) {
    fprintf(stderr, "clblast_decompose MESH [DEVICE [ROUNDS [K...]]]\n");
    return 2;
  }
  const char *name = argc > 2 ? argv[2] : "pocl";
  const size_t asked = argc > 3 ? strtoul(argv[3], NULL, 10) : 11;
  const size_t rounds = asked < 1 || asked > MOST_ROUNDS ? 11 : asked;
  abut_context_def def = abut_default_context_def();
  abut_device_info info;
  good(name, abut_find_device(name, &def.device));
  good("context", abut_create_context(&def, &b.context));
  good("device", abut_context_device(b.context, &info));
  b.on = context_get(b.context)->members[0].device;
  device_select(b.on, 0);
  load(&b, argv[1]);
  b.fit = (fitter){.device = b.on, .tau = UNION};
  good("upload", fitter_upload(&b.fit, &b.fine));
  open_device(&b);
  printf("{\n \"device\": \"%s\",\n \"driver\": \"%s %s\",\n \"rounds\": %zu,\n \"sets\": [\n",
         info.name, info.platform, info.driver, rounds);
  for (size_t i = 0; i < kinds; ++i) {
    decompose(&b, argc > 4 ? (uint32_t)strtoul(argv[4 + i], NULL, 10) : usual[i]);
    if (b.set.count <= FEW) {
      run(&b, BLURRED, BLURRED, rounds, false);
    }
    run(&b, WIDTH, UNION, rounds, i + 1 == kinds);
    fflush(stdout);
  }
  printf(" ]\n}\n");
  return 0;
}
