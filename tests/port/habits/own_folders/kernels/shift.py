import triton

src = """
__global__ void shift(float *Y, float *X, float by, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = *?(i < n)(X + i) + by;
}
"""
kernel = triton.kernel(src, defines={'TN': 32})
