// Undefines the names with which num/dual.inl was included.
#undef DN
#undef part
#undef part_mask
#undef part_lit
#undef part_select
#undef part_sqrt
#undef part_abs
#undef part_sin
#undef part_cos
