"""What every other wing is built on: findings, reports, records, registries, and YAML. It imports no other wing."""
