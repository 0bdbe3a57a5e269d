__global__ void act(TYPE *Y, TYPE *X, int n) {
    int i[TM] = get_program_id(0) * TM + 0 ... TM;
    TYPE x[TM] = i < n ? *(X + i) : 0;
#ifdef RELU
    x = x > 0 ? x : 0;
#endif
    *?(i < n)(Y + i) = x * 2;
}
