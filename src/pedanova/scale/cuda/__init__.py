"""Count arrays in the memory of a GPU, with the same results as on the CPU."""
