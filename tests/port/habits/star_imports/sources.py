__all__ = ['double_src', 'shift_src', 'defaults']
defaults = {'TN': 32}
double_src = """
__global__ void doubled(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = 2 * *?(i < n)(X + i);
}
"""
shift_src = """
__global__ void shifted(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = *?(i < n)(X + i) + 1;
}
"""
