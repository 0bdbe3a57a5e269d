static const int N = max(TM, 3);
void f(int *X) {
  int few[min(TM, 3)] = 0 ... min(TM, 3);
  int some[TM > 2 ? 2 : 8] = (long)TM ... (TM + 2u);
  int all[(short)TM * (TM >= 4 && N)] = N;
  *X = few[+] * 100 + some[+] * 10 + all[+];
}
