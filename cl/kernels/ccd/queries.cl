// Queries of two features. Each work-item handles CCD_SEGMENT rows. In doubled numbers it handles
// `each` rows, at most CCD_SEGMENT_AGAIN. Each kind has its own kernels, so that a device compiles
// only the requested kind.

#define CCD_ROWS                                                                                   \
  {                                                                                                \
    {x0, x1}, {x0_low, x1_low}, all,                                                               \
      {separations, keeps, tolerances, ends, errors, relative_errors}, given, lows, count, toi, n, \
      d0, status, rounds                                                                           \
  }

KERNEL void ccd_queries_pp(GLOBAL const real *x0, GLOBAL const real *x1, GLOBAL const real *x0_low,
                           GLOBAL const real *x1_low, GLOBAL const real *all,
                           GLOBAL const real *separations, GLOBAL const real *keeps,
                           GLOBAL const real *tolerances, GLOBAL const real *ends,
                           GLOBAL const real *errors, GLOBAL const real *relative_errors, int given,
                           int lows, int count, GLOBAL real *toi, GLOBAL real *n, GLOBAL real *d0,
                           GLOBAL unsigned char *status, GLOBAL int *rounds, int detailed,
                           int additive, int most, int plain)
{
  const ccd_rows rows = CCD_ROWS;
  ccd_segment_r_pp(&rows, (int)get_global_id(0), detailed, additive, most, plain);
}

KERNEL void ccd_decide_pp(GLOBAL const real *x0, GLOBAL const real *x1, GLOBAL const real *x0_low,
                          GLOBAL const real *x1_low, GLOBAL const real *all,
                          GLOBAL const real *separations, GLOBAL const real *keeps,
                          GLOBAL const real *tolerances, GLOBAL const real *ends,
                          GLOBAL const real *errors, GLOBAL const real *relative_errors, int given,
                          int lows, int count, GLOBAL real *toi, GLOBAL real *n, GLOBAL real *d0,
                          GLOBAL unsigned char *status, GLOBAL int *rounds, int each, int most)
{
  const ccd_rows rows = CCD_ROWS;
  ccd_decide_t_pp(&rows, (int)get_global_id(0), each, most);
}

KERNEL void ccd_queries_pe(GLOBAL const real *x0, GLOBAL const real *x1, GLOBAL const real *x0_low,
                           GLOBAL const real *x1_low, GLOBAL const real *all,
                           GLOBAL const real *separations, GLOBAL const real *keeps,
                           GLOBAL const real *tolerances, GLOBAL const real *ends,
                           GLOBAL const real *errors, GLOBAL const real *relative_errors, int given,
                           int lows, int count, GLOBAL real *toi, GLOBAL real *n, GLOBAL real *d0,
                           GLOBAL unsigned char *status, GLOBAL int *rounds, int detailed,
                           int additive, int most, int plain)
{
  const ccd_rows rows = CCD_ROWS;
  ccd_segment_r_pe(&rows, (int)get_global_id(0), detailed, additive, most, plain);
}

KERNEL void ccd_decide_pe(GLOBAL const real *x0, GLOBAL const real *x1, GLOBAL const real *x0_low,
                          GLOBAL const real *x1_low, GLOBAL const real *all,
                          GLOBAL const real *separations, GLOBAL const real *keeps,
                          GLOBAL const real *tolerances, GLOBAL const real *ends,
                          GLOBAL const real *errors, GLOBAL const real *relative_errors, int given,
                          int lows, int count, GLOBAL real *toi, GLOBAL real *n, GLOBAL real *d0,
                          GLOBAL unsigned char *status, GLOBAL int *rounds, int each, int most)
{
  const ccd_rows rows = CCD_ROWS;
  ccd_decide_t_pe(&rows, (int)get_global_id(0), each, most);
}

KERNEL void ccd_queries_pt(GLOBAL const real *x0, GLOBAL const real *x1, GLOBAL const real *x0_low,
                           GLOBAL const real *x1_low, GLOBAL const real *all,
                           GLOBAL const real *separations, GLOBAL const real *keeps,
                           GLOBAL const real *tolerances, GLOBAL const real *ends,
                           GLOBAL const real *errors, GLOBAL const real *relative_errors, int given,
                           int lows, int count, GLOBAL real *toi, GLOBAL real *n, GLOBAL real *d0,
                           GLOBAL unsigned char *status, GLOBAL int *rounds, int detailed,
                           int additive, int most, int plain)
{
  const ccd_rows rows = CCD_ROWS;
  ccd_segment_r_pt(&rows, (int)get_global_id(0), detailed, additive, most, plain);
}

KERNEL void ccd_decide_pt(GLOBAL const real *x0, GLOBAL const real *x1, GLOBAL const real *x0_low,
                          GLOBAL const real *x1_low, GLOBAL const real *all,
                          GLOBAL const real *separations, GLOBAL const real *keeps,
                          GLOBAL const real *tolerances, GLOBAL const real *ends,
                          GLOBAL const real *errors, GLOBAL const real *relative_errors, int given,
                          int lows, int count, GLOBAL real *toi, GLOBAL real *n, GLOBAL real *d0,
                          GLOBAL unsigned char *status, GLOBAL int *rounds, int each, int most)
{
  const ccd_rows rows = CCD_ROWS;
  ccd_decide_t_pt(&rows, (int)get_global_id(0), each, most);
}

KERNEL void ccd_queries_ee(GLOBAL const real *x0, GLOBAL const real *x1, GLOBAL const real *x0_low,
                           GLOBAL const real *x1_low, GLOBAL const real *all,
                           GLOBAL const real *separations, GLOBAL const real *keeps,
                           GLOBAL const real *tolerances, GLOBAL const real *ends,
                           GLOBAL const real *errors, GLOBAL const real *relative_errors, int given,
                           int lows, int count, GLOBAL real *toi, GLOBAL real *n, GLOBAL real *d0,
                           GLOBAL unsigned char *status, GLOBAL int *rounds, int detailed,
                           int additive, int most, int plain)
{
  const ccd_rows rows = CCD_ROWS;
  ccd_segment_r_ee(&rows, (int)get_global_id(0), detailed, additive, most, plain);
}

KERNEL void ccd_decide_ee(GLOBAL const real *x0, GLOBAL const real *x1, GLOBAL const real *x0_low,
                          GLOBAL const real *x1_low, GLOBAL const real *all,
                          GLOBAL const real *separations, GLOBAL const real *keeps,
                          GLOBAL const real *tolerances, GLOBAL const real *ends,
                          GLOBAL const real *errors, GLOBAL const real *relative_errors, int given,
                          int lows, int count, GLOBAL real *toi, GLOBAL real *n, GLOBAL real *d0,
                          GLOBAL unsigned char *status, GLOBAL int *rounds, int each, int most)
{
  const ccd_rows rows = CCD_ROWS;
  ccd_decide_t_ee(&rows, (int)get_global_id(0), each, most);
}

#undef CCD_ROWS
