"""What an API server refuses in a pod, beyond types and unknown fields."""
