#if TM / 0
#endif
#if 1 << 64
#endif
#if TM = 64
#endif
#if (TM == 64
#endif
#if
#endif
#if TM ==
#endif
#if 1.5 > 1
#endif
#if TYPE == "half"
#endif
#if defined
#endif
#ifdef
#endif
__global__ void pre(float* X) {
  *X = 1;
}
