void f(int *Y) {
  int i = get_program_id(0);
  int j = get_program_id(1);
  int k = get_program_id(2);
  *(Y + (i * get_num_programs(1) + j) * get_num_programs(2) + k) = get_num_programs(0) * 1000 + i * 100 + j * 10 + k;
}
