"""Native Kubernetes objects, made from plans: one file for each kind or field that the function writes, one table of contents (`graph`)."""
