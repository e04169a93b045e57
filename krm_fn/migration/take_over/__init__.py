"""Moves graphs between the Dynamo operator and Git without restarting a pod.

All changes go through kubectl: its `apply --server-side` takes over the fields that the operator's client wrote, and it knows each way to
sign in. A command checks everything before its first write, and can run again after an interruption.
"""
