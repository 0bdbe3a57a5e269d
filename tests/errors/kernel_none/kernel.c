// the kernels moved to another file
static const int T = 64;
