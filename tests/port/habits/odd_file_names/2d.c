__global__ void b(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = 3 * *?(i < n)(X + i);
}
