__global__ void scale(TYPE *Y, TYPE *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = 1.5 * *?(i < n)(X + i);
}
