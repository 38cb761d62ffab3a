// The derivative of a row's time of impact by its vertices, at fixed r. With weights alpha, beta of
// the nearest points, G = n . (sum alpha a - sum beta b) equals r at the time t of impact for every
// motion. The changes of the weights and of n do not count (the envelope theorem), so dt = -(dG by
// vertices) / (dG by t).

// Reads a vertex's number k at both ends.
static void ccd_ends(const ccd_rows *rows, int row, int width, int at, wide to[2])
{
  for (int e = 0; e < 2; ++e) {
    to[e] = (wide)ROW(rows->x[e], row, width)[at] +
            (rows->lows ? (wide)ROW(rows->low[e], row, width)[at] : (wide)0);
  }
}

// Writes two gradients (count, V, 3). Each work-item handles one row.
ADJOINT_KERNEL void ccd_queries_gradient(GLOBAL const real *x0, GLOBAL const real *x1,
                                         GLOBAL const real *x0_low, GLOBAL const real *x1_low,
                                         int lows, int kind, int count, GLOBAL const real *toi,
                                         GLOBAL const real *n, GLOBAL unsigned char *status,
                                         GLOBAL real *by_x0, GLOBAL real *by_x1)
{
  const int row = (int)get_global_id(0);
  if (row >= count) {
    return;
  }
  const int first = kind == CCD_EDGE_EDGE ? 2 : 1;
  const int second = kind == CCD_POINT_POINT ? 1 : kind == CCD_POINT_TRIANGLE ? 3 : 2;
  const int width = 3 * (first + second), hits = (status[row] & ~CCD_ROUGH) == CCD_HIT;
  const ccd_rows rows = {
    {x0, x1}, {x0_low, x1_low}, x0, {x0, x0, x0, x0, x0, x0}, 0, lows, count, by_x0, by_x0, by_x0,
    status,   (GLOBAL int *)0};
  if (!hits) {
    for (int i = 0; i < width; ++i) {
      ROW(by_x0, row, width)[i] = ROW(by_x1, row, width)[i] = R(0.0);
    }
    return;
  }
  wide ends[12][2], rate = (wide)0, speed = (wide)0, given[3];
  const wide t = toi[row];
  ccd_corners c;
  c.first = first;
  c.second = second;
  c.size = (wide)0;
  for (int i = 0; i < width; ++i) {
    ccd_ends(&rows, row, width, i, ends[i]);
    c.size = wide_max(c.size, wide_max(wide_abs(ends[i][0]), wide_abs(ends[i][1])));
    c.x[i / 3][i % 3] = hits ? ends[i][0] + (ends[i][1] - ends[i][0]) * t : (wide)0;
  }
  for (int k = 0; k < 3; ++k) {
    given[k] = ROW(n, row, 3)[k];
  }
  const ccd_touch touch = ccd_touch_of(&c, given);
  for (int i = 0; i < width; ++i) {
    const wide v = ends[i][1] - ends[i][0],
               sign = i / 3 < first ? touch.weight[i / 3] : -touch.weight[i / 3];
    rate += sign * touch.n[i % 3] * v;
    speed = wide_max(speed, wide_abs(v));
  }
  const int good = hits && ccd_closes(&touch, rate, speed);
  for (int i = 0; i < width; ++i) {
    const wide sign = i / 3 < first ? touch.weight[i / 3] : -touch.weight[i / 3];
    const wide by = good ? -sign * touch.n[i % 3] / rate : (wide)0;
    ROW(by_x0, row, width)[i] = (real)(((wide)1 - t) * by);
    ROW(by_x1, row, width)[i] = (real)(t * by);
  }
  status[row] = (unsigned char)(hits && !good ? CCD_HIT | CCD_ROUGH : status[row]);
}
