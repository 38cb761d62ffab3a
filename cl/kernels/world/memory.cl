// The memory layout of worlds. Work that is equal for all worlds is done by one work-item for LANES
// worlds at once, a block. A block's numbers are interleaved by world: `scratch` is (blocks,
// numbers, LANES). Rows are stored world by world, such as q (worlds, nq).

typedef struct world_block {
  GLOBAL real *at;
  int stride;      // from the values to their derivatives
  int first, last; // the block's first world, and the last world overall
} world_block;

static world_block block_at(GLOBAL real *scratch, GLOBAL const world_sizes *n, int block, int count)
{
  world_block b;
  b.stride = n->numbers * LANES;
  b.at = NUMS(scratch, block, b.stride);
  b.first = block * LANES;
  b.last = count - 1;
  return b;
}

static num block_get(const world_block *b, int i)
{
  return load(b->at + (size_t)i * LANES, b->stride);
}

static void block_put(const world_block *b, int i, num x)
{
  store(b->at + (size_t)i * LANES, b->stride, x);
}

static void block_add(const world_block *b, int i, num x)
{
  block_put(b, i, n_add(block_get(b, i), x));
}

static vec block_get3(const world_block *b, int i)
{
  return FN(make)(block_get(b, i), block_get(b, i + 1), block_get(b, i + 2));
}

static void block_put3(const world_block *b, int i, vec v)
{
  block_put(b, i, v.x);
  block_put(b, i + 1, v.y);
  block_put(b, i + 2, v.z);
}

static void block_add3(const world_block *b, int i, vec v)
{
  block_add(b, i, v.x);
  block_add(b, i + 1, v.y);
  block_add(b, i + 2, v.z);
}

// Reads number k of each of the block's worlds from rows of `width` numbers, each followed by its
// derivatives. Lanes behind the last world repeat it.
static num row_get(const world_block *b, GLOBAL const real *rows, int width, int k)
{
  return gather(rows + k, width, b->first, b->last, PARTS * width);
}

static vec row_get3(const world_block *b, GLOBAL const real *rows, int width, int k)
{
  return FN(make)(row_get(b, rows, width, k), row_get(b, rows, width, k + 1),
                  row_get(b, rows, width, k + 2));
}

static void row_put(const world_block *b, GLOBAL real *rows, int width, int k, num x)
{
  store_step(rows + k, width, NO_ORDER, 0, b->first, b->last + 1, PARTS * width, x);
}

static void row_put3(const world_block *b, GLOBAL real *rows, int width, int k, vec v)
{
  row_put(b, rows, width, k, v.x);
  row_put(b, rows, width, k + 1, v.y);
  row_put(b, rows, width, k + 2, v.z);
}

// Like row_get, but if `shared` is set, `rows` is one row for all worlds.
static num parameter_get(const world_block *b, GLOBAL const real *rows, int width, int k,
                         int shared)
{
  return shared ? n_lit(rows[k]) : row_get(b, rows, width, k);
}

static vec lit3(real x, real y, real z)
{
  return FN(make)(n_lit(x), n_lit(y), n_lit(z));
}

static vec real3(GLOBAL const real *p)
{
  return lit3(p[0], p[1], p[2]);
}

// Fills rows (worlds, nv) with zeros for the stopped worlds of the block.
static void rows_stop(const world_block *b, GLOBAL const int *status, int nv, GLOBAL real *rows)
{
  for (int world = b->first; world < b->first + LANES && world <= b->last; ++world) {
    for (int k = 0; k < nv && (status[world] & WORLD_STOPPED); ++k) {
      ROW(rows, world, nv)[k] = R(0.0);
    }
  }
}
