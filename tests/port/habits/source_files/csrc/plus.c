// Z = X + Y
__global__ void plus(TYPE *Z, TYPE *X, TYPE *Y, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Z + i) = *?(i < n)(X + i) + *?(i < n)(Y + i);
}
