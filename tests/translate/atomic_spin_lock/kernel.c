void f(float *X, float *C, int *locks, int TZ) {
  int r[T] = 0 ... T;
  int pid = get_program_id(0);
  int z = get_program_id(1);
  float c[T] = *(X + (z * get_num_programs(0) + pid) * T + r);
  float *pc[T] = C + pid * T + r;
  int *plock = locks + pid;
  int *pcount = plock + get_num_programs(0);
  for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
  int count = *pcount;
  if (count == 0)
    *pc = c;
  else
    *pc = c + *pc;
  atomic_xchg(pcount, (count + 1) % TZ);
  atomic_xchg(plock, 0);
}
