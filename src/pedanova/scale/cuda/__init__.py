"""Count arrays in the memory of a GPU, with the same results as on the CPU.

For another make of GPU, copy this folder: `device.py` finds the device and compiles for it, `device_table.py` is the
engine, `order.py` and `tables.py` call the kernels.
"""
