"""What Triton does not have, in terms of what it has: block sizes, jumps, products, divisions."""
