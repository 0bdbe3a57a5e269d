HEADER = """
#define OFFSETS int i[TN] = get_program_id(0) * TN + 0 ... TN; bool inside[TN] = i < n
#define LOAD(p) (inside ? *(p + i) : 0)
"""
FOOTER = """
}
"""
