"""What the controller of requests works with: the outputs of profilers, and the deployment of generated graphs."""
