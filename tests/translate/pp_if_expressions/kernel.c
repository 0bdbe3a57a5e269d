#if TZ == 1 || (AT && !defined(NOWHERE))
#define A 1
#elif (TZ >> 1) % 3 == 1 && defined(TZ) && NOWHERE == 0
#define A 2
#else
#define A 4
#endif
#if -1 > 0u
#define B 8
#else
#define B 16
#endif
#if TZ ? 0 : 1
#define D 32
#elif defined TZ
#if TZ < 3
#define D 64
#endif
#endif
void f(int *Y) {
  *Y = A;
  *(Y + 1) = B;
  *(Y + 2) = D;
}
