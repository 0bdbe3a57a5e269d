#define CLAMP(v, low, high) min(max(v, low), high)

__global__ void clamp(TYPE *Y, TYPE *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = CLAMP(*?(i < n)(X + i), -2, 2);
}

__global__ void triple(float *Y, float *X, bool twice, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = (twice ? 6 : 3) * *?(i < n)(X + i);
}

__global__ void whole(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    WORD w[TN] = i < n ? *(X + i) / 2 : 0;
    *?(i < n)(Y + i) = w;
}

__global__ void weigh(TYPE *Y, TYPE *X, WEIGHT *W, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    float x[TN] = *?(i < n)(X + i);
    float w[TN] = *?(i < n)(W + i);
    *?(i < n)(Y + i) = x * w;
}
