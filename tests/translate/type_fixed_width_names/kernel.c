void f(int8 *A, int16 *B, int32 *C, int64 *D, uint8 *E, uint16 *F, uint32 *G, uint64 *H) {
  int8 a = -1;
  int16 b = -1;
  int32 c = -1;
  int64 d = -1;
  uint8 e = -1;
  uint16 f = -1;
  uint32 g = -1;
  uint64 h = -1;
  *A = a;
  *B = b;
  *C = c;
  *D = d;
  *E = e;
  *F = f;
  *G = g;
  *H = h;
}
