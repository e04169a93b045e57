"""Follows NVIDIA's releases of Dynamo: finds new ones, and compares the wheels of two of them."""
